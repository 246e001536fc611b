#include "kernel_products.hpp"

#include <algorithm>

#include "instruction_sets.hpp"
#include "pieces.hpp"

namespace rosenblatt {
namespace {

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

// The points of a block in panels. Of sparse points only the columns that occur have a place.
template <class T>
class PackedPoints {
 public:
  PackedPoints(const Rows& rows, const int64_t* ids, int64_t count) {
    const int64_t width = panel_width(count), n_panels = (count + width - 1) / width;
    int64_t n_columns = rows.d;
    if (rows.index_type != Indices::none) n_columns = find_places(rows, ids, count);
    values_.assign(static_cast<size_t>(n_panels * n_columns * width), T{0});
    for (int64_t i = 0; i < count; ++i) {
      T* lane = values_.data() + (i / width) * n_columns * width + i % width;
      each_value(rows, ids[i], [&](int64_t c, auto value) { lane[place(c) * width] = static_cast<T>(value); });
    }
    panels = {values_.data(), n_columns, n_panels, width};
  }
  int64_t place(int64_t column) const { return places_.empty() ? column : places_[static_cast<size_t>(column)]; }
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

// Some support rows with the places of their columns in the panels; what meets only zeros is left out.
template <class T>
void gather(const Compressed<T>& support, const int64_t* which, int64_t count, const PackedPoints<T>& points,
            CompressedRows<T>& out) {
  out.values.clear();
  out.columns.clear();
  out.starts.assign(1, 0);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t t = support.starts[which[r]]; t < support.starts[which[r] + 1]; ++t) {
      const int64_t place = points.place(support.columns[t]);
      if (place < 0) continue;
      out.values.push_back(support.values[t]);
      out.columns.push_back(static_cast<int32_t>(place));
    }
    out.starts.push_back(static_cast<int64_t>(out.values.size()));
  }
}

}  // namespace

template <class T>
CompressedRows<T> compressed(const Rows& rows, const int64_t* ids, int64_t count) {
  CompressedRows<T> out;
  out.starts.reserve(static_cast<size_t>(count) + 1);
  out.starts.push_back(0);
  for (int64_t i = 0; i < count; ++i) {
    each_value(rows, ids[i], [&](int64_t c, auto value) {
      out.values.push_back(static_cast<T>(value));
      out.columns.push_back(static_cast<int32_t>(c));
    });
    out.starts.push_back(static_cast<int64_t>(out.values.size()));
  }
  return out;
}

int64_t padded_points(int64_t count, int64_t bytes) {
  const int64_t width = bytes == 4 ? PackedPoints<float>::panel_width(count) : PackedPoints<double>::panel_width(count);
  return (count + width - 1) / width * width;
}

template <class T>
void kernel_products(const Compressed<T>& support, const int64_t* which, int64_t n_which, const Rows& rows,
                     const int64_t* ids, int64_t count, const Polynomial& polynomial, T* out, int threads) {
  constexpr int64_t kGroup = 64;  // support rows that are with a panel in the second cache
  const PackedPoints<T> points(rows, ids, count);
  const int64_t padded = points.panels.n_panels * points.panels.width;
  const ExpansionKernels<T>& loop = loops(T{});
  share_out((n_which + kGroup - 1) / kGroup, threads, [&](int64_t group) {
    const int64_t first = group * kGroup, some = std::min(kGroup, n_which - first);
    CompressedRows<T> rows_here;
    gather(support, which + first, some, points, rows_here);
    const Compressed<T> here{rows_here.values.data(), rows_here.columns.data(), rows_here.starts.data(), some};
    T* to = out + first * padded;
    loop.products(here, points.panels, to, padded);
    if (polynomial.degree > 0) {
      loop.polynomial(to, some * padded, polynomial.gamma, polynomial.coef0, polynomial.degree);
    }
  });
}

template CompressedRows<float> compressed(const Rows&, const int64_t*, int64_t);
template CompressedRows<double> compressed(const Rows&, const int64_t*, int64_t);
template void kernel_products(const Compressed<float>&, const int64_t*, int64_t, const Rows&, const int64_t*, int64_t,
                              const Polynomial&, float*, int);
template void kernel_products(const Compressed<double>&, const int64_t*, int64_t, const Rows&, const int64_t*, int64_t,
                              const Polynomial&, double*, int);

}  // namespace rosenblatt
