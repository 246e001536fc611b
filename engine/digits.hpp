// Sixteen characters at a time, on x86: where digits end, and what two times eight of them are worth.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ROSENBLATT_DIGITS_AT_ONCE 1

namespace rosenblatt::digits {

// Bit i: p[i] is no digit. 16 bytes are read.
inline uint64_t others_of_16(const char* p) {  // '0' .. '9' become -128 .. -119; the rest is greater
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(128 - '0')));
  return static_cast<uint64_t>(_mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(-128 + 9))));
}
inline uint32_t others_of_32(const char* p) {
  return static_cast<uint32_t>(others_of_16(p) | others_of_16(p + 16) << 16);
}
inline uint64_t others(const char* p) { return others_of_32(p) | static_cast<uint64_t>(others_of_32(p + 32)) << 32; }

// `count` digits at p, 1 to 8, as the last of eight bytes; the bytes before them are 0. Eight bytes are read.
inline uint64_t last(const char* p, size_t count) {
  uint64_t bytes;
  std::memcpy(&bytes, p, 8);
  return bytes << (64 - 8 * count);
}

struct Pair {
  int32_t first, second;
};

// What two times eight digits are worth, the first ones the most significant; a byte of 0 counts as the digit 0.
inline Pair values(uint64_t first, uint64_t second) {
  __m128i x = _mm_set_epi64x(static_cast<int64_t>(second), static_cast<int64_t>(first));
  x = _mm_and_si128(x, _mm_set1_epi8(15));
  x = _mm_srli_epi16(_mm_mullo_epi16(x, _mm_set1_epi16(2561)), 8);             // below 100, in 16 bits
  x = _mm_madd_epi16(x, _mm_set1_epi32(100 | 1 << 16));                        // below 10^4, in 32 bits
  x = _mm_madd_epi16(_mm_packs_epi32(x, x), _mm_set1_epi32(10000 | 1 << 16));  // below 10^8, in 32 bits
  const int64_t both = _mm_cvtsi128_si64(x);
  return {static_cast<int32_t>(both), static_cast<int32_t>(both >> 32)};
}

// The number at p if it is short: a sign or none, 1 to 8 digits, and perhaps a point and 1 to 8 more, 15 at most; else null.
// 48 bytes are read. For numbers of all lengths, that a processor cannot guess.
inline const char* short_number(const char* p, double& value) {
  constexpr double kPowers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
  constexpr int64_t kWholePowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const bool negative = *p == '-';
  p += negative;
  const uint32_t stops = others_of_32(p);
  const size_t wholes = static_cast<size_t>(std::countr_zero(stops));
  if (wholes - 1 >= 8) return nullptr;
  double size;
  const char* stop = p + wholes;
  if (*stop == '.') {
    const size_t decimals = static_cast<size_t>(std::countr_zero(stops & (stops - 1))) - wholes - 1;
    if (decimals - 1 >= 8 || wholes + decimals > 15) return nullptr;
    const Pair both = values(last(p, wholes), last(stop + 1, decimals));
    size = static_cast<double>(both.first * kWholePowers[decimals] + both.second) / kPowers[decimals];
    stop += 1 + decimals;
  } else {
    size = values(0, last(p, wholes)).second;
  }
  if ((*stop | 32) == 'e') return nullptr;
  value = std::bit_cast<double>(std::bit_cast<uint64_t>(size) ^ (static_cast<uint64_t>(negative) << 63));
  return stop;
}

}  // namespace rosenblatt::digits
#else
namespace rosenblatt::digits {
inline const char* short_number(const char*, double&) { return nullptr; }
}  // namespace rosenblatt::digits
#endif
