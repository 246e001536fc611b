// Numbers in few bytes, from which they come back to the bit.
//
// A number that somebody wrote with few digits, such as 0.12345, is m / 10^k with small integers m and k, rounded once:
// one division gives it back. Integers are kept in one to four bytes each. Three bytes are two planes, the low 16 bits of
// all integers and then the high 8 bits of all, so that many are read at once and any stretch can be read alone.
//
// Plain data, shared by the driver (compact.cpp) and the loops (compact_kernels.hpp).
#pragma once
#include <cstdint>

namespace rosenblatt {

constexpr int kMostPlaces = 9;

struct Decimals {
  int places;        // k; -1: the numbers are no such decimals
  uint32_t size;     // all m are in -size - 1 .. size, which is a power of two less one or has bits to spare
  bool all_are_one;  // the numbers
};

// The smallest k from `at_least` on with which all n > 0 numbers are m / 10^k, at most nine, and the m.
Decimals decimals(const double* numbers, int64_t n, int at_least, int32_t* m);
Decimals decimals(const float* numbers, int64_t n, int at_least, int32_t* m);

// What some numbers have in common, as decimals of some places.
struct Numerators {
  bool exact;        // all are m / 10^places
  uint32_t size;     // as above
  uint32_t not_one;  // 0: every m is 1
};

// Integers of one to four bytes: `width` bytes each of places first .. first + n of the planes of `total`.
struct Planes {
  int64_t total;
  int width;
  int64_t first, n;
};

struct CompactKernels {
  // The m of some numbers, and whether m / 10^places gives them back.
  Numerators (*numerators)(const double* numbers, int64_t n, int places, int32_t* m);
  Numerators (*numerators_of_floats)(const float* numbers, int64_t n, int places, int32_t* m);
  // And back: m / 10^places.
  void (*to_numbers)(const int32_t* m, int64_t n, int places, double* numbers);
  // Writes the low bytes of integers, and reads them: column numbers, which have no sign, and decimals.
  void (*to_planes)(const int32_t* integers, const Planes& where, uint8_t* planes);
  void (*columns_of_planes)(const uint8_t* planes, const Planes& where, int32_t* columns);
  void (*decimals_of_planes)(const uint8_t* planes, const Planes& where, int places, double* numbers);
};

}  // namespace rosenblatt
