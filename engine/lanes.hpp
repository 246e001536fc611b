// Fixed lanes of double: the arithmetic behind every dense score.
//
// The floating-point promise: a dot product is a fixed number of partial sums, lane j taking the products of columns j,
// j + lanes, j + 2 lanes, ... in that order; each product is rounded and then each sum (never fused). At the end
//     eight lanes:                        ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7))
//     four lanes, for short rows:          (l0 + l2) + (l1 + l3)
// How many lanes a register holds changes nothing of this, so every instruction set gives the same bits.
#pragma once
#include <cfloat>
#include <cstdint>

#if defined(__AVX512F__) || defined(__AVX2__)
#define LANES_AVX
#include <immintrin.h>
#elif defined(__SSE2__) || defined(_M_X64)
#define LANES_SSE2
#include <emmintrin.h>
#endif

namespace rosenblatt {
namespace {  // internal: this header is compiled once for each instruction set, and the copies must not meet

// The sums of G rows that are scored together.
template <class Sum, int G>
struct Group {
  Sum row[G];
};

#if defined(LANES_AVX)

struct FourLanes {
  static constexpr int64_t kLanes = 4;
  __m256d a = _mm256_setzero_pd();
  static FourLanes load(const double* p) { return {_mm256_loadu_pd(p)}; }
  static FourLanes load(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
  void add_product(const FourLanes& x, const FourLanes& w) { a = _mm256_add_pd(a, _mm256_mul_pd(x.a, w.a)); }
  __m256d fours() const { return a; }
};

struct EightLanesInHalves {
  static constexpr int64_t kLanes = 8;
  __m256d a = _mm256_setzero_pd(), b = _mm256_setzero_pd();
  static EightLanesInHalves load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
  static EightLanesInHalves load(const float* p) {
    return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
  }
  static EightLanesInHalves all(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
  void add_product(const EightLanesInHalves& x, const EightLanesInHalves& w) {
    a = _mm256_add_pd(a, _mm256_mul_pd(x.a, w.a));
    b = _mm256_add_pd(b, _mm256_mul_pd(x.b, w.b));
  }
  void add(const EightLanesInHalves& x) { a = _mm256_add_pd(a, x.a), b = _mm256_add_pd(b, x.b); }
  void store(double* p) const { _mm256_storeu_pd(p, a), _mm256_storeu_pd(p + 4, b); }
  __m256d fours() const { return _mm256_add_pd(a, b); }
};

#if defined(__AVX512F__)
struct EightLanes {
  static constexpr int64_t kLanes = 8;
  __m512d a = _mm512_setzero_pd();
  static EightLanes load(const double* p) { return {_mm512_loadu_pd(p)}; }
  static EightLanes load(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
  static EightLanes all(double x) { return {_mm512_set1_pd(x)}; }
  void add_product(const EightLanes& x, const EightLanes& w) { a = _mm512_add_pd(a, _mm512_mul_pd(x.a, w.a)); }
  void add(const EightLanes& x) { a = _mm512_add_pd(a, x.a); }
  void store(double* p) const { _mm512_storeu_pd(p, a); }
  __m256d fours() const { return _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1)); }
};
#else
using EightLanes = EightLanesInHalves;
#endif

template <class Sum>
double total(const Sum& sum) {
  const __m256d four = sum.fours();
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

inline __m256d twos(__m256d s, __m256d t) {  // l0 + l2 and l1 + l3 of s, then of t
  return _mm256_add_pd(_mm256_permute2f128_pd(s, t, 0x20), _mm256_permute2f128_pd(s, t, 0x31));
}

// Finish rows, each in the order of total(): add b, write the scores, and say whether each is finite and on the side of
// its label.
template <class Sum>
bool finish(const Group<Sum, 4>& s, double b, const int16_t* codes, int16_t positive, double* score) {
  const __m256d even = twos(s.row[0].fours(), s.row[2].fours()), odd = twos(s.row[1].fours(), s.row[3].fours());
  __m256d sum = _mm256_add_pd(_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd));
  sum = _mm256_add_pd(sum, _mm256_set1_pd(b));
  _mm256_storeu_pd(score, sum);
  const __m128i code = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
  const __m256i up = _mm256_cvtepi16_epi64(_mm_cmpeq_epi16(code, _mm_set1_epi16(positive)));
  const __m256d z = _mm256_blendv_pd(_mm256_sub_pd(_mm256_setzero_pd(), sum), sum, _mm256_castsi256_pd(up));
  const __m256d right = _mm256_and_pd(_mm256_cmp_pd(z, _mm256_setzero_pd(), _CMP_GT_OQ),
                                      _mm256_cmp_pd(z, _mm256_set1_pd(DBL_MAX), _CMP_LE_OQ));
  return _mm256_movemask_pd(right) == 0xf;
}

#if defined(__AVX512F__)
inline __m512d fours(__m512d s, __m512d t) {  // l0 + l4, l1 + l5, l2 + l6, l3 + l7 of s, then of t
  return _mm512_add_pd(_mm512_shuffle_f64x2(s, t, 0x44), _mm512_shuffle_f64x2(s, t, 0xee));
}
inline __m512d twos(__m512d s, __m512d t) {
  return _mm512_add_pd(_mm512_shuffle_f64x2(s, t, 0x88), _mm512_shuffle_f64x2(s, t, 0xdd));
}
inline bool finish(const Group<EightLanes, 8>& s, double b, const int16_t* codes, int16_t positive, double* score) {
  const __m512d even = twos(fours(s.row[0].a, s.row[2].a), fours(s.row[4].a, s.row[6].a));
  const __m512d odd = twos(fours(s.row[1].a, s.row[3].a), fours(s.row[5].a, s.row[7].a));
  __m512d sum = _mm512_add_pd(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd));
  sum = _mm512_add_pd(sum, _mm512_set1_pd(b));
  _mm512_storeu_pd(score, sum);
  const __m128i code = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  const __mmask8 down = _mm_cmpneq_epi16_mask(code, _mm_set1_epi16(positive));
  const __m512d z = _mm512_mask_sub_pd(sum, down, _mm512_setzero_pd(), sum);
  return (_mm512_cmp_pd_mask(z, _mm512_setzero_pd(), _CMP_GT_OQ) &
          _mm512_cmp_pd_mask(z, _mm512_set1_pd(DBL_MAX), _CMP_LE_OQ)) == 0xff;
}
#endif

#elif defined(LANES_SSE2)

struct FourLanes {
  static constexpr int64_t kLanes = 4;
  __m128d a = _mm_setzero_pd(), b = _mm_setzero_pd();
  static FourLanes load(const double* p) { return {_mm_loadu_pd(p), _mm_loadu_pd(p + 2)}; }
  static FourLanes load(const float* p) {
    const __m128 x = _mm_loadu_ps(p);
    return {_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))};
  }
  void add_product(const FourLanes& x, const FourLanes& w) {
    a = _mm_add_pd(a, _mm_mul_pd(x.a, w.a));
    b = _mm_add_pd(b, _mm_mul_pd(x.b, w.b));
  }
  static FourLanes all(double x) { return {_mm_set1_pd(x), _mm_set1_pd(x)}; }
  void add(const FourLanes& x) { a = _mm_add_pd(a, x.a), b = _mm_add_pd(b, x.b); }
  void store(double* p) const { _mm_storeu_pd(p, a), _mm_storeu_pd(p + 2, b); }
  __m128d twos() const { return _mm_add_pd(a, b); }
};

struct EightLanesInHalves {
  static constexpr int64_t kLanes = 8;
  FourLanes low, high;
  static EightLanesInHalves load(const double* p) { return {FourLanes::load(p), FourLanes::load(p + 4)}; }
  static EightLanesInHalves load(const float* p) { return {FourLanes::load(p), FourLanes::load(p + 4)}; }
  void add_product(const EightLanesInHalves& x, const EightLanesInHalves& w) {
    low.add_product(x.low, w.low);
    high.add_product(x.high, w.high);
  }
  static EightLanesInHalves all(double x) { return {FourLanes::all(x), FourLanes::all(x)}; }
  void add(const EightLanesInHalves& x) { low.add(x.low), high.add(x.high); }
  void store(double* p) const { low.store(p), high.store(p + 4); }
  __m128d twos() const { return _mm_add_pd(_mm_add_pd(low.a, high.a), _mm_add_pd(low.b, high.b)); }
};
using EightLanes = EightLanesInHalves;

template <class Sum>
double total(const Sum& sum) {
  const __m128d two = sum.twos();
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

#else  // any other machine: plain loops, which compilers turn into its vector instructions

template <int64_t N>
struct PlainLanes {
  static constexpr int64_t kLanes = N;
  double lane[N] = {};
  template <class T>
  static PlainLanes load(const T* p) {
    PlainLanes x;
    for (int j = 0; j < N; ++j) x.lane[j] = static_cast<double>(p[j]);
    return x;
  }
  static PlainLanes all(double x) {
    PlainLanes same;
    for (double& one : same.lane) one = x;
    return same;
  }
  void add_product(const PlainLanes& x, const PlainLanes& w) {
    for (int j = 0; j < N; ++j) lane[j] = lane[j] + x.lane[j] * w.lane[j];
  }
  void add(const PlainLanes& x) {
    for (int j = 0; j < N; ++j) lane[j] = lane[j] + x.lane[j];
  }
  void store(double* p) const {
    for (int j = 0; j < N; ++j) p[j] = lane[j];
  }
};
using FourLanes = PlainLanes<4>;
using EightLanes = PlainLanes<8>;
using EightLanesInHalves = EightLanes;

inline double total(const FourLanes& s) { return (s.lane[0] + s.lane[2]) + (s.lane[1] + s.lane[3]); }
inline double total(const EightLanes& s) {
  const double* l = s.lane;
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

#endif

#if !defined(LANES_AVX)
template <class Sum, int G>
bool finish(const Group<Sum, G>& s, double b, const int16_t* codes, int16_t positive, double* score) {
  bool right = true;
  for (int q = 0; q < G; ++q) {
    score[q] = total(s.row[q]) + b;
    const double z = codes[q] == positive ? score[q] : -score[q];
    right &= (z > 0) & (z <= DBL_MAX);
  }
  return right;
}
#endif

// How many rows are scored together, and how many problems, by measurement: enough to hide the latency of the sums, not
// more than the registers hold.
#if defined(__AVX512F__)
constexpr int kManyRows = 8, kSomeRows = 4, kTogether = 4;
#elif defined(__AVX2__)
constexpr int kManyRows = 4, kSomeRows = 4, kTogether = 1;
#else
constexpr int kManyRows = 2, kSomeRows = 2, kTogether = 1;
#endif

// gcc takes a function that only prefetches for one without effects and drops calls to it, so these must be inlined.
#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
ALWAYS_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 3); }
ALWAYS_INLINE void prefetch_far(const void* p) { __builtin_prefetch(p, 0, 2); }  // into the second-level cache
#elif defined(LANES_SSE2) || defined(LANES_AVX)
#define ALWAYS_INLINE __forceinline
#define NEVER_INLINE __declspec(noinline)
inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }
inline void prefetch_far(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
#else
#define ALWAYS_INLINE inline
#define NEVER_INLINE
inline void prefetch(const void*) {}
inline void prefetch_far(const void*) {}
#endif

}  // namespace
}  // namespace rosenblatt
