// The loops between numbers and few bytes (compact.hpp). A part of kernels.cpp, compiled with it.
#pragma once
#include <cmath>
#include <cstring>

#include "compact.hpp"
#include "lanes.hpp"

namespace rosenblatt {
namespace {

constexpr double kPowersOfTen[kMostPlaces + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// The m of a number; 0 if there is none. To add and take away 1.5 * 2^52 rounds to an integer with any instruction set.
inline double numerator(double number, double power) {
  constexpr double kRounds = 6755399441055744.0;
  const double m = (number * power + kRounds) - kRounds;
  return std::fabs(m) <= INT32_MAX ? m : 0.0;
}

template <class To, class From>
inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

template <class T>
Numerators numerators(const T* numbers, int64_t n, int places, int32_t* m) {
  const double power = kPowersOfTen[places];
  uint64_t differs = 0;  // or-ed together, as are the others: loops that compilers do several at once
  uint32_t size = 0, not_one = 0;
  for (int64_t i = 0; i < n; ++i) {  // m / 10^k is never -0, NaN or infinity, to the bit
    const double number = static_cast<double>(numbers[i]), exact = numerator(number, power);
    m[i] = static_cast<int32_t>(exact);
    differs |= bits_as<uint64_t>(exact / power) ^ bits_as<uint64_t>(number);
  }
  for (int64_t i = 0; i < n; ++i) {
    size |= static_cast<uint32_t>(m[i] ^ (m[i] >> 31));
    not_one |= static_cast<uint32_t>(m[i] ^ 1);
  }
  return {differs == 0, size, not_one};
}

void to_numbers(const int32_t* m, int64_t n, int places, double* numbers) {
  const double power = kPowersOfTen[places];
  for (int64_t i = 0; i < n; ++i) numbers[i] = m[i] / power;
}

template <class T>
inline T loaded(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Integers of a type for each width, the top bytes of which decide whether there is a sign.
template <class One, class Two, class Write>
ALWAYS_INLINE void read_planes(const uint8_t* planes, const Planes& where, Write write) {
  const int width = where.width;
  const int64_t n = where.n;
  const uint8_t* from = planes + (width == 3 ? 2 : width) * where.first;
  const uint8_t* high = planes + 2 * where.total + where.first;
  if (width == 1) {
    for (int64_t i = 0; i < n; ++i) write(i, static_cast<One>(from[i]));
  } else if (width == 2) {
    for (int64_t i = 0; i < n; ++i) write(i, loaded<Two>(from + 2 * i));
  } else if (width == 3) {
    for (int64_t i = 0; i < n; ++i) write(i, static_cast<One>(high[i]) * 65536 + loaded<uint16_t>(from + 2 * i));
  } else {
    for (int64_t i = 0; i < n; ++i) write(i, loaded<int32_t>(from + 4 * i));
  }
}

void columns_of_planes(const uint8_t* planes, const Planes& where, int32_t* columns) {
  read_planes<uint8_t, uint16_t>(planes, where, [columns](int64_t i, int32_t column) { columns[i] = column; });
}

void decimals_of_planes(const uint8_t* planes, const Planes& where, int places, double* numbers) {
  const double power = kPowersOfTen[places];
  read_planes<int8_t, int16_t>(planes, where, [=](int64_t i, int32_t m) { numbers[i] = m / power; });
}

template <class T>
inline void write_plane(const int32_t* integers, int64_t n, int shift, uint8_t* to) {
  for (int64_t i = 0; i < n; ++i) {
    const T bits = static_cast<T>(integers[i] >> shift);
    std::memcpy(to + static_cast<int64_t>(sizeof(T)) * i, &bits, sizeof(T));
  }
}

void to_planes(const int32_t* integers, const Planes& where, uint8_t* planes) {
  const auto [total, width, first, n] = where;
  if (width == 1) write_plane<uint8_t>(integers, n, 0, planes + first);
  if (width == 2 || width == 3) write_plane<uint16_t>(integers, n, 0, planes + 2 * first);
  if (width == 3) write_plane<uint8_t>(integers, n, 16, planes + 2 * total + first);
  if (width == 4) write_plane<int32_t>(integers, n, 0, planes + 4 * first);
}

constexpr CompactKernels compact_kernels() {
  return {numerators<double>, numerators<float>, to_numbers, to_planes, columns_of_planes, decimals_of_planes};
}

}  // namespace
}  // namespace rosenblatt
