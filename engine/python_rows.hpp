// Rows that Python owns, as the engine reads them, and the arrays that go in and out. For the files of bindings.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "instruction_sets.hpp"
#include "problems.hpp"

namespace rosenblatt {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
template <class T>
using NumpyArray = nb::ndarray<nb::numpy, T>;

inline void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyArray<T>(kept->data(), {kept->size()}, owner);
}

inline Values values_of(const AnyArray& array) {
  if (array.dtype() == nb::dtype<float>()) return Values::float32;
  require(array.dtype() == nb::dtype<double>(), "values must be float32 or float64");
  return Values::float64;
}

// Rows that the engine can read, and the arrays that keep them alive.
class DenseRows {
 public:
  explicit DenseRows(AnyArray x) : x_(x) {
    require(x.ndim() == 2, "dense rows must have two dimensions");
    const int64_t n = static_cast<int64_t>(x.shape(0)), d = static_cast<int64_t>(x.shape(1));
    require(d > 0, "dense rows must have a column");
    const int64_t padded = (d + 7) / 8 * 8;
    const int64_t unsafe = std::min(n, (padded - d + d - 1) / d);
    rows = {values_of(x), Indices::none, x.data(), nullptr, nullptr, n, d, n - unsafe, nullptr};
    const size_t size = rows.values == Values::float32 ? 4 : 8;
    tail_.resize(static_cast<size_t>(unsafe * d + padded - d) * size);
    if (unsafe > 0) {
      const char* first = static_cast<const char*>(x.data()) + static_cast<size_t>(rows.safe * d) * size;
      std::memcpy(tail_.data(), first, static_cast<size_t>(unsafe * d) * size);
    }
    rows.tail = tail_.data();
  }
  // Rows behind which eight numbers more can be read; `owner` keeps them alive.
  DenseRows(const Rows& padded, nb::object owner) : rows(padded), owner_(std::move(owner)) {}
  Rows rows;

 private:
  AnyArray x_;
  nb::object owner_;
  std::vector<char> tail_;
};

class SparseRows {
 public:
  SparseRows(AnyArray data, AnyArray columns, AnyArray starts, int64_t d)
      : data_(data), columns_(columns), starts_(starts) {
    require(data.ndim() == 1 && columns.ndim() == 1 && starts.ndim() == 1, "CSR arrays must have one dimension");
    require(columns.dtype() == starts.dtype(), "indices and indptr must be of one type");
    require(starts.shape(0) > 0, "indptr must have an element");
    const bool narrow = columns.dtype() == nb::dtype<int32_t>();
    require(narrow || columns.dtype() == nb::dtype<int64_t>(), "indices must be int32 or int64");
    rows = {values_of(data), narrow ? Indices::int32 : Indices::int64,  data.data(), columns.data(),
            starts.data(),   static_cast<int64_t>(starts.shape(0)) - 1, d,           0,
            nullptr};
    narrow ? check<int32_t>() : check<int64_t>();
  }
  // Rows that were made here, and need no check; `owner` keeps them alive.
  SparseRows(const Rows& made, nb::object owner) : rows(made), owner_(std::move(owner)) {}
  Rows rows;

 private:
  // The kernels trust these numbers, so they are looked at once, here.
  template <class I>
  void check() const {
    const I* starts = static_cast<const I*>(rows.starts);
    const I stored = static_cast<I>(std::min(data_.shape(0), columns_.shape(0)));
    require(starts[0] == 0, "indptr must start at 0");
    bool ordered = true;
    for (int64_t i = 0; i < rows.n; ++i) ordered &= starts[i] <= starts[i + 1];
    require(ordered, "indptr must not decrease");
    require(starts[rows.n] <= stored, "indptr points past the end of data or indices");
    require(kernels().all_below(rows.columns, rows.index_type, starts[rows.n], rows.d),
            "a column index is negative or not below the number of features");
  }
  AnyArray data_, columns_, starts_;
  nb::object owner_;
};

inline const Rows& rows_of(nb::handle h) {
  if (nb::isinstance<DenseRows>(h)) return nb::cast<DenseRows&>(h).rows;
  return nb::cast<SparseRows&>(h).rows;
}

}  // namespace rosenblatt
