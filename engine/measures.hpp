// Kernels that only look at rows: their scores, lengths, sizes and hashes. A part of kernels.cpp, compiled with it.
#pragma once
#include <cstring>

#include "rows.hpp"

namespace rosenblatt {
namespace {

// The scores of rows first .. first + count, as many at once as the registers hold; the order of summation is that of
// learning (lanes.hpp), so a row has the same score here, there, and for any number of threads.
void scores(const Rows& rows, const double* w, int64_t first, int64_t count, double* out) {
  double zero = 0;
  Problem problem{};
  problem.w = const_cast<double*>(w);
  problem.b = &zero;
  with_view(rows, false, [&](auto view) {
    constexpr int G = decltype(view)::kAtOnce;
    int64_t i = 0;
    for (; i + G <= count; i += G) view.template score<G>(AsStored{first}, i, problem, kNoCodes, out + i);
    for (; i < count; ++i) view.template dots<1>(first + i, &w, out + i);
  });
}

// The same, and the squared lengths of the rows, each number being read once. Both are sums of at most d products (of
// the stored numbers, for sparse rows) in the lanes of the view, so the usual bound holds: d roundings and a few.
void measures(const Rows& rows, const double* w, int64_t first, int64_t count, double* score, double* square) {
  with_view(rows, false, [&](auto view) {
    constexpr int G = decltype(view)::kAtOnce;
    int64_t i = 0;
    for (; i + G <= count; i += G) view.template measure<G>(first + i, w, score + i, square + i);
    for (; i < count; ++i) view.template measure<1>(first + i, w, score + i, square + i);
  });
}

// Scores become y_i times scores (y_i = 1 where the code is 1, else -1); says which are not at or above
// the bar of their class (so a NaN is one of them).
void flag_below(double* scores, const int16_t* codes, int64_t count, const double* bar, uint8_t* below) {
  const double negative = bar[0], positive = bar[1];
  for (int64_t i = 0; i < count; ++i) scores[i] = codes[i] == 1 ? scores[i] : -scores[i];
  for (int64_t i = 0; i < count; ++i) below[i] = !(scores[i] >= (codes[i] == 1 ? positive : negative));
}

// The lowest of y_i (score_i + b), and the largest square; both arrays are used up. Pairs are compared, not a running
// minimum, which would wait for itself.
void extremes(double* scores, double* squares, const int16_t* codes, int64_t count, double b, double* lowest,
              double* largest) {
  for (int64_t i = 0; i < count; ++i) scores[i] = codes[i] == 1 ? scores[i] + b : -(scores[i] + b);
  for (int64_t n = count; n > 1;) {
    const int64_t half = n / 2, rest = n - half;
    for (int64_t i = 0; i < half; ++i) scores[i] = scores[rest + i] < scores[i] ? scores[rest + i] : scores[i];
    for (int64_t i = 0; i < half; ++i) squares[i] = squares[rest + i] > squares[i] ? squares[rest + i] : squares[i];
    n = rest;
  }
  *lowest = scores[0];
  *largest = squares[0];
}

// As integers the bits of |value| have the order of the numbers, NaN and infinity being greater than any.
template <class T, class Bits>
Sizes sizes(const void* values, int64_t count, Bits infinity) {
  const Bits* bits = static_cast<const Bits*>(values);
  const Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits least = magnitude, greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Bits size = bits[i] & magnitude;
    least = size < least ? size : least;
    greatest = size > greatest ? size : greatest;
  }
  T largest;
  std::memcpy(&largest, &greatest, sizeof(largest));
  return {static_cast<double>(largest), greatest < infinity, least == 0};
}

Sizes sizes(const void* values, Values type, int64_t count) {
  return type == Values::float32 ? sizes<float, uint32_t>(values, count, 0x7f800000u)
                                 : sizes<double, uint64_t>(values, count, 0x7ff0000000000000u);
}

// A number for each row, the same for rows of equal values whatever their storage: the sum of mixed bits times a factor
// of the column. Values that are 0 count for nothing.
inline uint64_t mixed(double value, uint64_t factor) {
  const double canonical = value + 0.0;  // -0.0 becomes 0.0
  uint64_t bits;
  std::memcpy(&bits, &canonical, sizeof(bits));
  bits = (bits ^ (bits >> 32)) * factor;
  return bits ^ (bits >> 29);
}

void hashes(const Rows& rows, const uint64_t* factors, int64_t first, int64_t count, uint64_t* out) {
  with_view(rows, false, [&](auto view) {
    for (int64_t i = 0; i < count; ++i) {
      uint64_t sum = 0;
      view.each(first + i, [&](int64_t j, double value) { sum += mixed(value, factors[j]); });
      out[i] = sum;
    }
  });
}

}  // namespace
}  // namespace rosenblatt
