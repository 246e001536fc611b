// The loops of kernel expansions. A part of kernels.cpp, compiled with it.
//
// The floating-point promise: a product z . x adds z_c x_c column after column, in the type of the rows, each product
// and each sum rounded, from 0 on. Zeros are passed over, which changes no bit. A score adds step_t K(z_t, x) mistake
// after mistake in float64. So a score depends neither on blocks, panels and threads nor on the instruction set, nor on
// whether rows are stored dense or sparse; on whole numbers nothing is rounded while products stay below 2^24 (float32)
// or 2^53 (float64).
#pragma once
#include "expansions.hpp"
#include "lanes.hpp"

namespace rosenblatt {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#else
constexpr int kVectorBytes = 32;
#endif

// As many numbers as a register holds; elsewhere a plain array, which compilers turn into vector instructions.
#if defined(__GNUC__) || defined(__clang__)
template <class T, int kBytes>
struct Vector {
  static constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  typedef T Values __attribute__((vector_size(kBytes), aligned(sizeof(T))));
  Values v;
  static Vector zero() { return {Values{}}; }
  static Vector load(const T* p) { return {*reinterpret_cast<const Values*>(p)}; }
  void add_product(T factor, const T* p) { v += factor * *reinterpret_cast<const Values*>(p); }
  void store(T* p) const { *reinterpret_cast<Values*>(p) = v; }
};
#else
template <class T, int kBytes>
struct Vector {
  static constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  T v[kWidth];
  static Vector zero() { return {}; }
  static Vector load(const T* p) {
    Vector x;
    for (int q = 0; q < kWidth; ++q) x.v[q] = p[q];
    return x;
  }
  void add_product(T factor, const T* p) {
    for (int q = 0; q < kWidth; ++q) v[q] += factor * p[q];
  }
  void store(T* p) const {
    for (int q = 0; q < kWidth; ++q) p[q] = v[q];
  }
};
#endif

// A stretch of one support row and a panel of N vectors; only the first stretch starts from 0.
template <int N, class V, class T>
ALWAYS_INLINE void stretch_by_panel(const Stretches<T>& support, int64_t first, int64_t end, const T* panel, bool fresh,
                                    T* out) {
  constexpr int64_t kWidth = N * V::kWidth;
  V sum[N];
  for (int q = 0; q < N; ++q) sum[q] = fresh ? V::zero() : V::load(out + q * V::kWidth);
  for (int64_t t = first; t < end; ++t) {
    const T* x = panel + static_cast<int64_t>(support.columns[t]) * kWidth;
    const T value = support.values[t];
    for (int q = 0; q < N; ++q) sum[q].add_product(value, x + q * V::kWidth);
  }
  for (int q = 0; q < N; ++q) sum[q].store(out + q * V::kWidth);
}

// R support rows that have all columns, and two vectors of a panel: what is loaded is used R times.
template <int R, class V, class T>
ALWAYS_INLINE void full_rows_by_panel(const T* const* row, int64_t n, const T* panel, int64_t width, T* out,
                                      int64_t stride) {
  for (int64_t first = 0; first < width; first += 2 * V::kWidth) {
    V sum[R][2];
    for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = V::zero();
    for (int64_t c = 0; c < n; ++c) {
      const T* x = panel + c * width + first;
      for (int r = 0; r < R; ++r) {
        sum[r][0].add_product(row[r][c], x);
        sum[r][1].add_product(row[r][c], x + V::kWidth);
      }
    }
    for (int r = 0; r < R; ++r) {
      sum[r][0].store(out + r * stride + first);
      sum[r][1].store(out + r * stride + first + V::kWidth);
    }
  }
}

template <int N, class V, class T>
void rows_by_panel(const Stretches<T>& support, int64_t first, int64_t end, const T* panel, T* out, int64_t stride) {
  for (int64_t s = 0; s < support.n_stretches; ++s) {
    const int64_t* bound = support.bounds + first * (support.n_stretches + 1) + s;
    for (int64_t j = first; j < end; ++j, bound += support.n_stretches + 1) {
      if (s == 0 || bound[0] < bound[1]) {
        stretch_by_panel<N, V>(support, bound[0], bound[1], panel, s == 0, out + j * stride);
      }
    }
  }
}

// Rows that have all columns are taken four by four; the others, in between, a stretch at a time.
template <int N, class V, class T>
void group_by_panels(const Stretches<T>& support, const Panels<T>& points, T* out, int64_t stride) {
  constexpr int R = 4;
  const int64_t step = support.n_stretches + 1;
  auto is_full = [&](int64_t j) {
    return support.bounds[j * step + support.n_stretches] - support.bounds[j * step] == points.n_columns;
  };
  for (int64_t p = 0; p < points.n_panels; ++p) {
    const T* panel = points.values + p * points.n_columns * points.width;
    T* to = out + p * points.width;
    int64_t first = 0;  // of the rows that are still to do
    for (int64_t j = 0; N > 1 && j + R <= support.n;) {
      if (!(is_full(j) && is_full(j + 1) && is_full(j + 2) && is_full(j + 3))) {
        ++j;
        continue;
      }
      rows_by_panel<N, V>(support, first, j, panel, to, stride);
      const T* row[R];
      for (int r = 0; r < R; ++r) row[r] = support.values + support.bounds[(j + r) * step];
      full_rows_by_panel<R, V>(row, points.n_columns, panel, points.width, to + j * stride, stride);
      first = j += R;
    }
    rows_by_panel<N, V>(support, first, support.n, panel, to, stride);
  }
}

template <class T>
void products(const Stretches<T>& support, const Panels<T>& points, T* out, int64_t stride) {
  using Wide = Vector<T, kVectorBytes>;
  using Narrow = Vector<T, static_cast<int>(kNarrowBytes)>;
  if (points.width == Narrow::kWidth) return group_by_panels<1, Narrow>(support, points, out, stride);
  group_by_panels<static_cast<int>(kPanelBytes) / kVectorBytes, Wide>(support, points, out, stride);
}

template <class T>
void polynomial(T* values, int64_t count, double gamma, double coef0, int64_t degree) {
  const T scale = static_cast<T>(gamma), shift = static_cast<T>(coef0);
  for (int64_t i = 0; i < count; ++i) values[i] = scale * values[i] + shift;
  if (degree == 2) {
    for (int64_t i = 0; i < count; ++i) values[i] = values[i] * values[i];
    return;
  }
  constexpr int64_t kSome = 64;
  T power[kSome];
  for (int64_t first = 0; degree > 1 && first < count; first += kSome) {
    const int64_t some = first + kSome < count ? kSome : count - first;
    T* value = values + first;
    for (int64_t i = 0; i < some; ++i) power[i] = value[i];
    for (int64_t d = 1; d < degree; ++d) {
      for (int64_t i = 0; i < some; ++i) power[i] = power[i] * value[i];
    }
    for (int64_t i = 0; i < some; ++i) value[i] = power[i];
  }
}

template <class T>
inline void add_scaled_row(double step, const T* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += step * static_cast<double>(x[i]);
}

template <class T>
void accumulate(const T* values, int64_t stride, int64_t n_points, const Terms& terms, double* scores,
                int64_t score_stride) {
  for (int64_t t = 0; t < terms.n; ++t) {
    const T* k = values + terms.rows[t] * stride;
    if (!terms.up) {
      add_scaled_row(terms.steps[t], k, scores, n_points);
    } else {
      add_scaled_row(terms.steps[t], k, scores + terms.up[t] * score_stride, n_points);
      add_scaled_row(-terms.steps[t], k, scores + terms.down[t] * score_stride, n_points);
    }
  }
}

// Votes are whole numbers, exact in float64 up to 2^53 visits, and of the width of the scores.
template <Tie kTie>
inline void add_votes(double c, const double* scores, double* votes, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kTie == Tie::mistake) votes[i] += (scores[i] > 0 ? c : 0.0) - (scores[i] < 0 ? c : 0.0);
    if constexpr (kTie == Tie::positive) votes[i] += scores[i] >= 0 ? c : -c;
    if constexpr (kTie == Tie::negative) votes[i] += scores[i] > 0 ? c : -c;
  }
}

template <Tie kTie, class T>
void binary_vote(const T* values, int64_t stride, int64_t n_points, const Terms& terms, double* scores, double* votes) {
  for (int64_t t = 0; t <= terms.n; ++t) {
    if (t > 0) add_scaled_row(terms.steps[t - 1], values + terms.rows[t - 1] * stride, scores, n_points);
    if (terms.survival[t] > 0) add_votes<kTie>(static_cast<double>(terms.survival[t]), scores, votes, n_points);
  }
}

template <class T>
void vote_jointly(const T* values, int64_t stride, int64_t n_points, const Terms& terms, Tie tie, int32_t n_classes,
                  double* scores, double* votes, int64_t score_stride) {
  for (int64_t t = 0; t <= terms.n; ++t) {
    if (t > 0) {
      const Terms one{terms.rows + t - 1, terms.steps + t - 1, terms.up + t - 1, terms.down + t - 1, nullptr, 1};
      accumulate(values, stride, n_points, one, scores, score_stride);
    }
    if (terms.survival[t] == 0) continue;
    for (int64_t i = 0; i < n_points; ++i) {
      int32_t best = 0;
      bool tied = false;
      for (int32_t c = 1; c < n_classes; ++c) {
        const double s = scores[c * score_stride + i], top = scores[best * score_stride + i];
        if (s > top || (s == top && tie == Tie::positive)) best = c;
        tied = s > top ? false : tied || s == top;
      }
      if (!(tied && tie == Tie::mistake)) votes[best * score_stride + i] += static_cast<double>(terms.survival[t]);
    }
  }
}

template <class T>
void expansion_vote(const T* values, int64_t stride, int64_t n_points, const Terms& terms, Tie tie, int32_t n_classes,
                    double* scores, double* votes, int64_t score_stride) {
  if (terms.up) return vote_jointly(values, stride, n_points, terms, tie, n_classes, scores, votes, score_stride);
  switch (tie) {
    case Tie::mistake: return binary_vote<Tie::mistake>(values, stride, n_points, terms, scores, votes);
    case Tie::positive: return binary_vote<Tie::positive>(values, stride, n_points, terms, scores, votes);
    case Tie::negative: return binary_vote<Tie::negative>(values, stride, n_points, terms, scores, votes);
  }
}

template <class T>
constexpr ExpansionKernels<T> expansion_kernels() {
  return {products<T>, polynomial<T>, accumulate<T>, expansion_vote<T>};
}

}  // namespace
}  // namespace rosenblatt
