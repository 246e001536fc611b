// Row views: the one place that knows how rows are stored. An algorithm is written once, over a view.
//
// A view offers   score<N>(ids, first, ...)  the scores of N rows, and whether all are right
//                 judge<P>(ids, first, ...)  whether each of P problems is right on four rows (dense only)
//                 dots<V>(id, w, out)        out[q] = w[q] . x[id] for V weight vectors
//                 measure<N>(id, w, ...)     w . x and x . x of N rows
//                 square(id)                 x . x of a row
//                 each(id, f)                f(column, value) of what is stored of a row
//                 add(id, step, w, pitch)    w += step * x[id], the numbers of w being `pitch` apart
//                 dots_beside(id, w, ...)    the products with eight vectors that stand side by side (sparse only)
//                 fetch(id), ahead()         row id will be needed soon; how many rows ahead to say so
//                 announce(id)               row id will be fetched soon
// Sums are float64 for float32 rows too; the order of summation is fixed (dense: lanes.hpp; sparse: four lanes, below).
#pragma once
#include "lanes.hpp"
#include "problems.hpp"

namespace rosenblatt {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int16_t kNoCodes[8] = {};  // where scores are wanted and no verdict

// Who comes next: rows first, first + 1, ... as they are stored, or rows of a list.
struct AsStored {
  static constexpr bool kConsecutive = true;
  int64_t first;
  int64_t operator[](int64_t i) const { return first + i; }
  AsStored from(int64_t i) const { return {first + i}; }
  template <int N>
  const int16_t* codes(const Examples& examples, int64_t i, int16_t*) const {
    return examples.codes + first + i;
  }
};
struct Listed {
  static constexpr bool kConsecutive = false;
  const int64_t* ids;
  int64_t operator[](int64_t i) const { return ids[i]; }
  Listed from(int64_t i) const { return {ids + i}; }
  template <int N>
  const int16_t* codes(const Examples& examples, int64_t i, int16_t* room) const {
    for (int q = 0; q < N; ++q) room[q] = examples.codes[ids[i + q]];
    return room;
  }
};

// Dense rows of T, summed in the lanes of Sum, G rows together.
template <class T, class Sum, int G>
struct Dense {
  static constexpr int kAtOnce = G, kProblemsAtOnce = kTogether;
  static constexpr bool kCanBeBeside = false;
  static constexpr int64_t kLanes = Sum::kLanes, kSize = sizeof(T);
  const T *x, *tail;
  int64_t d, padded, safe;

  explicit Dense(const Rows& rows)
      : x(static_cast<const T*>(rows.data)),
        tail(static_cast<const T*>(rows.tail)),
        d(rows.d),
        padded((rows.d + kLanes - 1) / kLanes * kLanes),
        safe(rows.safe) {}

  const T* row(int64_t i) const { return i < safe ? x + i * d : tail + (i - safe) * d; }

  // Of rows in a stream: fetch 4 kB ahead, as much in each step of N rows as it uses up. Short rows stream by themselves.
  template <int N>
  ALWAYS_INLINE static void stream(const T* p) {
    if constexpr (kLanes == EightLanes::kLanes) {
      const char* next = reinterpret_cast<const char*>(p) + 4096;
      for (int64_t o = 0; o < kLanes * N * kSize; o += kCacheLine) prefetch(next + o);
    }
  }

  template <int N, class Ids>
  bool score(const Ids& ids, int64_t first, const Problem& problem, const int16_t* codes, double* score) const {
    const T* p[N];
    Group<Sum, N> sum;
    const int64_t id = ids[first];
    if (Ids::kConsecutive && id + N <= safe) {
      for (int q = 0; q < N; ++q) p[q] = x + id * d + q * d;
    } else {
      for (int q = 0; q < N; ++q) p[q] = row(ids[first + q]);
    }
    for (int64_t j = 0; j < padded; j += kLanes) {
      if constexpr (Ids::kConsecutive) stream<N>(p[0] + j * N);
      const Sum v = Sum::load(problem.w + j);
      for (int q = 0; q < N; ++q) sum.row[q].add_product(Sum::load(p[q] + j), v);
    }
    return finish(sum, problem.b[0], codes, problem.positive, score);
  }

  // The scores of four rows in P problems, each number of a row being read and widened once for all of them.
  // right[k]: whether all four are finite and on the side that problem k wants.
  template <int P, class Ids>
  void judge(const Ids& ids, int64_t first, const Problem* const* problems, const int16_t* codes, double (*score)[4],
             bool* right) const {
    const T* p[4];
    Group<Sum, 4> sum[P];
    for (int q = 0; q < 4; ++q) p[q] = row(ids[first + q]);
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Sum x0 = Sum::load(p[0] + j), x1 = Sum::load(p[1] + j), x2 = Sum::load(p[2] + j), x3 = Sum::load(p[3] + j);
      for (int k = 0; k < P; ++k) {
        const Sum v = Sum::load(problems[k]->w + j);
        sum[k].row[0].add_product(x0, v);
        sum[k].row[1].add_product(x1, v);
        sum[k].row[2].add_product(x2, v);
        sum[k].row[3].add_product(x3, v);
      }
    }
    for (int k = 0; k < P; ++k) right[k] = finish(sum[k], problems[k]->b[0], codes, problems[k]->positive, score[k]);
  }

  template <int V>
  void dots(int64_t id, const double* const* w, double* out) const {
    const T* p = row(id);
    Sum sum[V];
    for (int64_t j = 0; j < padded; j += kLanes) {
      const Sum v = Sum::load(p + j);
      for (int q = 0; q < V; ++q) sum[q].add_product(v, Sum::load(w[q] + j));
    }
    for (int q = 0; q < V; ++q) out[q] = total(sum[q]);
  }

  // Beyond the last column stands the next row, which w takes as zeros; for x . x the lanes of it are masked.
  Sum within(const Sum& part, int64_t j) const {
    static constexpr double kMask[16] = {1, 1, 1, 1, 1, 1, 1, 1};
    Sum masked;
    masked.add_product(part, Sum::load(kMask + 8 - (d - j)));
    return masked;
  }

  double square(int64_t id) const {
    const T* p = row(id);
    Sum sum;
    int64_t j = 0;
    for (; j + kLanes <= d; j += kLanes) {
      const Sum part = Sum::load(p + j);
      sum.add_product(part, part);
    }
    if (j < d) {
      const Sum part = within(Sum::load(p + j), j);
      sum.add_product(part, part);
    }
    return total(sum);
  }

  template <int N>
  void measure(int64_t id, const double* w, double* score, double* square) const {
    const T* p[N];
    Group<Sum, N> sum, own;
    for (int q = 0; q < N; ++q) p[q] = row(id + q);
    for (int64_t j = 0; j < padded; j += kLanes) {
      stream<N>(p[0] + j * N);
      const Sum v = Sum::load(w + j);
      if (j + kLanes <= d) {
        for (int q = 0; q < N; ++q) {
          const Sum part = Sum::load(p[q] + j);
          sum.row[q].add_product(part, v);
          own.row[q].add_product(part, part);
        }
      } else {
        for (int q = 0; q < N; ++q) {
          const Sum part = Sum::load(p[q] + j), masked = within(part, j);
          sum.row[q].add_product(part, v);
          own.row[q].add_product(masked, masked);
        }
      }
    }
    if constexpr (N == 1) {
      score[0] = total(sum.row[0]);
      square[0] = total(own.row[0]);
    } else {
      finish(sum, 0.0, kNoCodes, 0, score);
      finish(own, 0.0, kNoCodes, 0, square);
    }
  }

  template <class F>
  void each(int64_t id, F f) const {
    const T* p = row(id);
    for (int64_t j = 0; j < d; ++j) f(j, static_cast<double>(p[j]));
  }

  void add(int64_t id, double step, double* w) const {
    const T* p = row(id);
    for (int64_t j = 0; j < d; ++j) w[j] += step * static_cast<double>(p[j]);
  }
  void add(int64_t id, double step, double* w, int64_t pitch) const {
    const T* p = row(id);
    for (int64_t j = 0; j < d; ++j) w[j * pitch] += step * static_cast<double>(p[j]);
  }

  int64_t ahead() const {  // about 20 kB: far enough to hide the memory's latency, near enough to stay in the cache
    const int64_t rows = 20000 / (d * kSize + 1);
    return rows < G ? G : rows > 64 - G ? 64 - G : rows;
  }
  ALWAYS_INLINE void announce(int64_t) const {}
  ALWAYS_INLINE void fetch(int64_t id) const {
    const char* p = reinterpret_cast<const char*>(row(id));
    const char* end = p + d * kSize;
    for (; p < end; p += kCacheLine) prefetch_far(p);
    prefetch_far(end - 1);
  }
};

// Compressed sparse rows: values of T, column numbers and row starts of I.
template <class T, class I>
struct Sparse {
  static constexpr int kAtOnce = 1, kProblemsAtOnce = 1;  // rows differ in length; nothing to share between them
  static constexpr bool kCanBeBeside = true;
  const T* data;
  const I *columns, *starts;

  explicit Sparse(const Rows& rows)
      : data(static_cast<const T*>(rows.data)),
        columns(static_cast<const I*>(rows.columns)),
        starts(static_cast<const I*>(rows.starts)) {}

  // Lane k mod 4 takes the k-th non-zero of the row, times its factor; the end is (l0 + l2) + (l1 + l3).
  template <class F>
  ALWAYS_INLINE double sum(int64_t id, F factor) const {
    I k = starts[id];
    const I end = starts[id + 1];
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    for (; end - k >= 4; k += 4) {
      a0 += factor(k) * static_cast<double>(data[k]);
      a1 += factor(k + 1) * static_cast<double>(data[k + 1]);
      a2 += factor(k + 2) * static_cast<double>(data[k + 2]);
      a3 += factor(k + 3) * static_cast<double>(data[k + 3]);
    }
    if (end - k > 0) a0 += factor(k) * static_cast<double>(data[k]);
    if (end - k > 1) a1 += factor(k + 1) * static_cast<double>(data[k + 1]);
    if (end - k > 2) a2 += factor(k + 2) * static_cast<double>(data[k + 2]);
    return (a0 + a2) + (a1 + a3);
  }
  double dot(int64_t id, const double* w) const {
    return sum(id, [&](I k) { return w[columns[k]]; });
  }

  // out[v] = w[v] . x[id] for eight vectors side by side, each in the order of `sum`.
  void dots_beside(int64_t id, const double* w, int64_t pitch, double* out) const {
    const I end = starts[id + 1];
    EightLanes a0, a1, a2, a3;
    auto add = [&](EightLanes& a, I k) {
      a.add_product(EightLanes::load(w + columns[k] * pitch), EightLanes::all(static_cast<double>(data[k])));
    };
    I k = starts[id];
    for (; end - k >= 4; k += 4) {
      add(a0, k);
      add(a1, k + 1);
      add(a2, k + 2);
      add(a3, k + 3);
    }
    if (end - k > 0) add(a0, k);
    if (end - k > 1) add(a1, k + 1);
    if (end - k > 2) add(a2, k + 2);
    a0.add(a2);
    a1.add(a3);
    a0.add(a1);
    a0.store(out);
  }
  double square(int64_t id) const {
    return sum(id, [&](I k) { return static_cast<double>(data[k]); });
  }

  template <int N, class Ids>
  bool score(const Ids& ids, int64_t first, const Problem& problem, const int16_t* codes, double* score) const {
    score[0] = dot(ids[first], problem.w) + problem.b[0];
    const double z = codes[0] == problem.positive ? score[0] : -score[0];
    return (z > 0) & (z <= DBL_MAX);
  }

  template <int V>
  void dots(int64_t id, const double* const* w, double* out) const {
    for (int q = 0; q < V; ++q) out[q] = dot(id, w[q]);
  }

  template <int N>
  void measure(int64_t id, const double* w, double* score, double* square) const {
    score[0] = dot(id, w);
    square[0] = this->square(id);
  }

  template <class F>
  void each(int64_t id, F f) const {
    for (I k = starts[id]; k < starts[id + 1]; ++k) f(static_cast<int64_t>(columns[k]), static_cast<double>(data[k]));
  }

  void add(int64_t id, double step, double* w) const {
    for (I k = starts[id]; k < starts[id + 1]; ++k) w[columns[k]] += step * static_cast<double>(data[k]);
  }
  void add(int64_t id, double step, double* w, int64_t pitch) const {
    for (I k = starts[id]; k < starts[id + 1]; ++k) w[columns[k] * pitch] += step * static_cast<double>(data[k]);
  }

  int64_t ahead() const { return 16; }
  ALWAYS_INLINE void announce(int64_t id) const { prefetch(starts + id); }
  ALWAYS_INLINE void fetch(int64_t id) const {
    const char* v = reinterpret_cast<const char*>(data + starts[id]);
    const char* c = reinterpret_cast<const char*>(columns + starts[id]);
    const char* v_end = reinterpret_cast<const char*>(data + starts[id + 1]);
    const char* c_end = reinterpret_cast<const char*>(columns + starts[id + 1]);
    for (; v < v_end; v += kCacheLine) prefetch_far(v);
    for (; c < c_end; c += kCacheLine) prefetch_far(c);
  }
};

// Calls f with the view that fits the rows. The number of lanes depends on the number of columns alone. Wide registers
// are best for a stream of right answers and for several problems together; where mistakes are frequent, halves are
// (measured: 0.83 of the time at 18 % mistakes).
template <class F>
void with_view(const Rows& rows, bool often_mistaken, F f) {
  constexpr int64_t kShort = 32;
  if (rows.values == Values::float32) {
    switch (rows.index_type) {
      case Indices::none:
        if (rows.d <= kShort) return f(Dense<float, FourLanes, kSomeRows>(rows));
        return often_mistaken ? f(Dense<float, EightLanesInHalves, kSomeRows>(rows))
                              : f(Dense<float, EightLanes, kManyRows>(rows));
      case Indices::int32: return f(Sparse<float, int32_t>(rows));
      case Indices::int64: return f(Sparse<float, int64_t>(rows));
    }
  }
  switch (rows.index_type) {
    case Indices::int32: return f(Sparse<double, int32_t>(rows));
    case Indices::int64: return f(Sparse<double, int64_t>(rows));
    default:
      return rows.d <= kShort ? f(Dense<double, FourLanes, kSomeRows>(rows))
                              : f(Dense<double, EightLanes, kSomeRows>(rows));
  }
}

}  // namespace
}  // namespace rosenblatt
