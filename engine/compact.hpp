// Numbers in few bytes, from which they come back to the bit.
//
// A number that somebody wrote with few digits, such as 0.12345, is m / 10^k with small integers m and k, rounded once:
// one division gives it back. Integers are kept in one to four bytes each. Three bytes are two planes, the low 16 bits of
// all integers and then the high 8 bits of all, so that compilers read many at once and any stretch can be read alone.
#pragma once
#include <cstdint>

namespace rosenblatt {

struct Decimals {
  int places;        // k; -1: the numbers are no such decimals
  uint32_t size;     // all m are in -size - 1 .. size, which is a power of two less one or has bits to spare
  bool all_are_one;  // the numbers
};

// The smallest k from `at_least` on with which all n > 0 numbers are m / 10^k, at most nine, and the m.
Decimals decimals(const double* numbers, int64_t n, int at_least, int32_t* m);
Decimals decimals(const float* numbers, int64_t n, int at_least, int32_t* m);

// And back: m / 10^k.
void to_numbers(const int32_t* m, int64_t n, int places, double* numbers);

// Writes the low `width` (1 to 4) bytes of some integers to places first .. first + n of the planes of `total`.
void to_planes(const int32_t* integers, int64_t n, int width, uint8_t* planes, int64_t total, int64_t first);

// Reads them back: column numbers, which have no sign, and decimals.
void columns_of_planes(const uint8_t* planes, int64_t total, int width, int64_t first, int64_t n, int32_t* columns);
void decimals_of_planes(const uint8_t* planes, int64_t total, int width, int64_t first, int64_t n, int places,
                        double* numbers);

}  // namespace rosenblatt
