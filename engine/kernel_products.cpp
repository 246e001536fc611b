#include "kernel_products.hpp"

#include <algorithm>
#include <numeric>

#include "instruction_sets.hpp"
#include "pieces.hpp"

namespace rosenblatt {
namespace {

constexpr size_t kCacheLine = 64;

const ExpansionKernels<float>& loops(float) { return kernels().expansions32; }
const ExpansionKernels<double>& loops(double) { return kernels().expansions64; }

template <class V, class F>
void each_dense(const Rows& rows, int64_t id, F f) {
  const V* x = static_cast<const V*>(rows.data) + id * rows.d;
  for (int64_t c = 0; c < rows.d; ++c) {
    if (x[c] != 0) f(c, x[c]);
  }
}

template <class V, class I, class F>
void each_sparse(const Rows& rows, int64_t id, F f) {
  const I* starts = static_cast<const I*>(rows.starts);
  for (I k = starts[id]; k < starts[id + 1]; ++k) {
    const V value = static_cast<const V*>(rows.data)[k];
    if (value != 0) f(static_cast<int64_t>(static_cast<const I*>(rows.columns)[k]), value);
  }
}

// f(column, value) of what is not zero in a row.
template <class V, class F>
void each_value(const Rows& rows, int64_t id, F f) {
  switch (rows.index_type) {
    case Indices::none: return each_dense<V>(rows, id, f);
    case Indices::int32: return each_sparse<V, int32_t>(rows, id, f);
    case Indices::int64: return each_sparse<V, int64_t>(rows, id, f);
  }
}
template <class F>
void each_value(const Rows& rows, int64_t id, F f) {
  return rows.values == Values::float32 ? each_value<float>(rows, id, f) : each_value<double>(rows, id, f);
}

// How many numbers of a row are stored.
int64_t row_length(const Rows& rows, int64_t id) {
  auto sparse = [&](auto starts) { return static_cast<int64_t>(starts[id + 1] - starts[id]); };
  switch (rows.index_type) {
    case Indices::int32: return sparse(static_cast<const int32_t*>(rows.starts));
    case Indices::int64: return sparse(static_cast<const int64_t*>(rows.starts));
    default: return rows.d;
  }
}

// The points of a block in panels. Of sparse points only the columns that occur have a place.
template <class T>
class PackedPoints {
 public:
  PackedPoints(const Rows& rows, const int64_t* ids, int64_t count) {
    const int64_t width = panel_width(count), n_panels = (count + width - 1) / width;
    int64_t n_columns = rows.d;
    if (rows.index_type != Indices::none) n_columns = find_places(rows, ids, count);
    values_.assign(static_cast<size_t>(n_panels * n_columns * width) + kCacheLine / sizeof(T), T{0});
    T* values = values_.data();  // from a cache line on: what straddles two of them is slow to load
    while (reinterpret_cast<uintptr_t>(values) % kCacheLine != 0) ++values;
    for (int64_t i = 0; i < count; ++i) {
      T* lane = values + (i / width) * n_columns * width + i % width;
      each_value(rows, ids[i], [&](int64_t c, auto value) { lane[place(c) * width] = static_cast<T>(value); });
    }
    panels = {values, n_columns, n_panels, width};
  }
  int64_t place(int64_t column) const { return !has_places() ? column : places_[static_cast<size_t>(column)]; }
  bool has_places() const { return !places_.empty(); }
  static int64_t panel_width(int64_t count) {
    const int64_t narrow = kNarrowBytes / static_cast<int64_t>(sizeof(T));
    return count <= 2 * narrow ? narrow : kPanelBytes / static_cast<int64_t>(sizeof(T));
  }
  Panels<T> panels;

 private:
  // Places rise with the columns, so that a row that has them all has them in order.
  int64_t find_places(const Rows& rows, const int64_t* ids, int64_t count) {
    places_.assign(static_cast<size_t>(rows.d), -1);
    std::vector<int64_t> used;
    for (int64_t i = 0; i < count; ++i) {
      each_value(rows, ids[i], [&](int64_t c, auto) {
        int32_t& place = places_[static_cast<size_t>(c)];
        if (place < 0) place = 0, used.push_back(c);
      });
    }
    std::sort(used.begin(), used.end());
    for (size_t k = 0; k < used.size(); ++k) places_[static_cast<size_t>(used[k])] = static_cast<int32_t>(k);
    return static_cast<int64_t>(used.size());
  }
  std::vector<T> values_;
  std::vector<int32_t> places_;
};

// Some support rows, their columns as places in the panels, cut into stretches. Dense points have a place for every
// column, and the numbers stay where they are; else they are copied, and what meets only zeros is left out.
template <class T>
class Group {
 public:
  Group(const Compressed<T>& support, const int64_t* which, int64_t count, const PackedPoints<T>& points)
      : n_stretches_(std::max<int64_t>(1, (points.panels.n_columns + kStretch - 1) / kStretch)) {
    stretches = {support.values, support.columns, nullptr, count, n_stretches_};
    if (points.has_places()) copy(support, which, count, points);
    bounds_.reserve(static_cast<size_t>(count * (n_stretches_ + 1)));
    for (int64_t r = 0; r < count; ++r) {
      const int64_t* row = points.has_places() ? starts_.data() + r : support.starts + which[r];
      cut(row[0], row[1]);
    }
    stretches.bounds = bounds_.data();
  }
  Stretches<T> stretches;

 private:
  void copy(const Compressed<T>& support, const int64_t* which, int64_t count, const PackedPoints<T>& points) {
    starts_.push_back(0);
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t t = support.starts[which[r]]; t < support.starts[which[r] + 1]; ++t) {
        const int64_t place = points.place(support.columns[t]);
        if (place < 0) continue;
        values_.push_back(support.values[t]);
        columns_.push_back(static_cast<int32_t>(place));
      }
      starts_.push_back(static_cast<int64_t>(values_.size()));
    }
    stretches.values = values_.data();
    stretches.columns = columns_.data();
  }
  void cut(int64_t first, int64_t end) {
    bounds_.push_back(first);
    for (int64_t s = 1; s < n_stretches_; ++s) {
      const int32_t* from = stretches.columns + bounds_.back();
      const int64_t n = std::lower_bound(from, stretches.columns + end, s * kStretch) - from;
      bounds_.push_back(bounds_.back() + n);
    }
    bounds_.push_back(end);
  }
  int64_t n_stretches_;
  std::vector<T> values_;
  std::vector<int32_t> columns_;
  std::vector<int64_t> starts_, bounds_;
};

}  // namespace

template <class T>
CompressedRows<T> compressed(const Rows& rows, const int64_t* ids, int64_t count) {
  CompressedRows<T> out;
  out.starts.push_back(0);
  size_t used = 0;
  for (int64_t i = 0; i < count; ++i) {
    const size_t most = used + static_cast<size_t>(row_length(rows, ids[i]));
    if (most > out.values.size()) {
      out.values.resize(2 * most);
      out.columns.resize(2 * most);
    }
    T* value_at = out.values.data();
    int32_t* column_at = out.columns.data();
    each_value(rows, ids[i], [&](int64_t c, auto value) {
      value_at[used] = static_cast<T>(value);
      column_at[used++] = static_cast<int32_t>(c);
    });
    out.starts.push_back(static_cast<int64_t>(used));
  }
  out.values.resize(used);
  out.columns.resize(used);
  return out;
}

int64_t padded_points(int64_t count, int64_t bytes) {
  const int64_t width = bytes == 4 ? PackedPoints<float>::panel_width(count) : PackedPoints<double>::panel_width(count);
  return (count + width - 1) / width * width;
}

namespace {

constexpr int64_t kGroup = 64;  // support rows that are with a panel in the second cache

// Some groups of support rows with all panels, or, among the points themselves, with those from their own on.
template <class T>
void products_of_groups(const Compressed<T>& support, const int64_t* which, int64_t n_which,
                        const PackedPoints<T>& points, bool own, const Polynomial& polynomial, T* out, int threads) {
  const Panels<T>& all = points.panels;
  const int64_t padded = all.n_panels * all.width;
  const ExpansionKernels<T>& loop = loops(T{});
  share_out((n_which + kGroup - 1) / kGroup, threads, [&](int64_t group) {
    const int64_t first = group * kGroup, some = std::min(kGroup, n_which - first);
    const int64_t panel = own ? first / all.width : 0;
    const Panels<T> panels{all.values + panel * all.n_columns * all.width, all.n_columns, all.n_panels - panel,
                           all.width};
    const Group<T> rows(support, which + first, some, points);
    T* to = out + first * padded + panel * all.width;
    loop.products(rows.stretches, panels, to, padded);
    if (polynomial.degree == 0) return;
    for (int64_t r = 0; r < some; ++r) {
      loop.polynomial(to + r * padded, panels.n_panels * all.width, polynomial.gamma, polynomial.coef0,
                      polynomial.degree);
    }
  });
}

}  // namespace

template <class T>
void kernel_products(const Compressed<T>& support, const int64_t* which, int64_t n_which, const Rows& rows,
                     const int64_t* ids, int64_t count, const Polynomial& polynomial, T* out, int threads) {
  const PackedPoints<T> points(rows, ids, count);
  products_of_groups(support, which, n_which, points, false, polynomial, out, threads);
}

template <class T>
void own_products(const Rows& rows, const int64_t* ids, int64_t count, const Polynomial& polynomial, T* out,
                  int threads) {
  const CompressedRows<T> own = compressed<T>(rows, ids, count);
  std::vector<int64_t> which(static_cast<size_t>(count));
  std::iota(which.begin(), which.end(), 0);
  const PackedPoints<T> points(rows, ids, count);
  const Compressed<T> support{own.values.data(), own.columns.data(), own.starts.data(), count};
  products_of_groups(support, which.data(), count, points, true, polynomial, out, threads);
  const int64_t padded = points.panels.n_panels * points.panels.width;
  for (int64_t i = kGroup; i < count; ++i) {  // z . x has the bits of x . z
    const int64_t missing = i / kGroup * kGroup / points.panels.width * points.panels.width;
    for (int64_t q = 0; q < missing; ++q) out[i * padded + q] = out[q * padded + i];
  }
}

template CompressedRows<float> compressed(const Rows&, const int64_t*, int64_t);
template CompressedRows<double> compressed(const Rows&, const int64_t*, int64_t);
template void own_products(const Rows&, const int64_t*, int64_t, const Polynomial&, float*, int);
template void own_products(const Rows&, const int64_t*, int64_t, const Polynomial&, double*, int);
template void kernel_products(const Compressed<float>&, const int64_t*, int64_t, const Rows&, const int64_t*, int64_t,
                              const Polynomial&, float*, int);
template void kernel_products(const Compressed<double>&, const int64_t*, int64_t, const Rows&, const int64_t*, int64_t,
                              const Polynomial&, double*, int);

}  // namespace rosenblatt
