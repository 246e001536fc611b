#include "compact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace rosenblatt {
namespace {

constexpr int kMostPlaces = 9;
constexpr double kPowersOfTen[kMostPlaces + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// The m of a number; 0 if there is none. To add and take away 1.5 * 2^52 rounds to an integer with any instruction set.
inline double numerator(double number, double power) {
  constexpr double kRounds = 6755399441055744.0;
  const double m = (number * power + kRounds) - kRounds;
  return std::fabs(m) <= INT32_MAX ? m : 0.0;
}

// 0 if m / 10^k is the number to the bit: never so for -0, NaN and infinity.
inline uint64_t difference(double m, double power, double number) {
  return std::bit_cast<uint64_t>(m / power) ^ std::bit_cast<uint64_t>(number);
}

int places_of(double number, int at_least) {
  int places = at_least;
  for (; places <= kMostPlaces; ++places) {
    const double power = kPowersOfTen[places];
    if (difference(numerator(number, power), power, number) == 0) break;
  }
  return places;
}

template <class T>
Decimals decimals_of(const T* numbers, int64_t n, int at_least, int32_t* m) {
  constexpr int64_t kBlock = 256;
  Decimals found{at_least, 0, true};
  uint32_t not_one = 0;
  for (int64_t first = 0; first < n;) {
    const int64_t end = std::min(n, first + kBlock);
    const double power = kPowersOfTen[found.places];
    uint64_t differs = 0;  // or-ed together, as are the others: loops that compilers do several at once
    uint32_t size = 0;
    for (int64_t i = first; i < end; ++i) {
      const double number = static_cast<double>(numbers[i]), exact = numerator(number, power);
      m[i] = static_cast<int32_t>(exact);
      differs |= difference(exact, power, number);
    }
    for (int64_t i = first; i < end; ++i) {
      size |= static_cast<uint32_t>(m[i] ^ (m[i] >> 31));
      not_one |= static_cast<uint32_t>(m[i] ^ 1);
    }
    if (differs == 0) {
      found.size |= size;
      first = end;
      continue;
    }
    int places = found.places;  // begin anew with as many places as this block needs
    for (int64_t i = first; i < end && places <= kMostPlaces; ++i)
      places = places_of(static_cast<double>(numbers[i]), places);
    if (places > kMostPlaces || places == found.places) return {-1, 0, false};
    found = {places, 0, true};
    first = 0;
  }
  found.all_are_one = found.places == 0 && not_one == 0;
  return found;
}

template <class T>
inline T loaded(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Integers of a type for each width, the top bytes of which decide whether there is a sign.
template <class One, class Two, class Write>
inline void read(const uint8_t* planes, int64_t total, int width, int64_t first, int64_t n, Write write) {
  const uint8_t* from = planes + (width == 3 ? 2 : width) * first;
  const uint8_t* high = planes + 2 * total + first;
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

template <class T>
inline void write(const int32_t* integers, int64_t n, int shift, uint8_t* to) {
  for (int64_t i = 0; i < n; ++i) {
    const T bits = static_cast<T>(integers[i] >> shift);
    std::memcpy(to + static_cast<int64_t>(sizeof(T)) * i, &bits, sizeof(T));
  }
}

}  // namespace

Decimals decimals(const double* numbers, int64_t n, int at_least, int32_t* m) {
  return decimals_of(numbers, n, at_least, m);
}
Decimals decimals(const float* numbers, int64_t n, int at_least, int32_t* m) {
  return decimals_of(numbers, n, at_least, m);
}

void to_numbers(const int32_t* m, int64_t n, int places, double* numbers) {
  const double power = kPowersOfTen[places];
  for (int64_t i = 0; i < n; ++i) numbers[i] = m[i] / power;
}

void to_planes(const int32_t* integers, int64_t n, int width, uint8_t* planes, int64_t total, int64_t first) {
  if (width == 1) write<uint8_t>(integers, n, 0, planes + first);
  if (width == 2 || width == 3) write<uint16_t>(integers, n, 0, planes + 2 * first);
  if (width == 3) write<uint8_t>(integers, n, 16, planes + 2 * total + first);
  if (width == 4) write<int32_t>(integers, n, 0, planes + 4 * first);
}

void columns_of_planes(const uint8_t* planes, int64_t total, int width, int64_t first, int64_t n, int32_t* columns) {
  read<uint8_t, uint16_t>(planes, total, width, first, n,
                          [columns](int64_t i, int32_t column) { columns[i] = column; });
}

void decimals_of_planes(const uint8_t* planes, int64_t total, int width, int64_t first, int64_t n, int places,
                        double* numbers) {
  const double power = kPowersOfTen[places];
  read<int8_t, int16_t>(planes, total, width, first, n, [=](int64_t i, int32_t m) { numbers[i] = m / power; });
}

}  // namespace rosenblatt
