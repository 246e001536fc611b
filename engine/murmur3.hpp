// MurmurHash3_x86_32 (Austin Appleby, public domain): the hash of names and words, the same on every machine, in
// scikit-learn (sklearn.utils.murmurhash3_32) and in Vowpal Wabbit. A column is the hash without its upper bits.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rosenblatt {

namespace murmur {

inline uint32_t four_bytes(const char* p) {
  uint32_t k;
  std::memcpy(&k, p, 4);
  if constexpr (std::endian::native == std::endian::big) {
    k = (k >> 24) | ((k >> 8) & 0xff00u) | ((k << 8) & 0xff0000u) | (k << 24);
  }
  return k;
}

constexpr uint32_t scrambled(uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; }
constexpr uint32_t mixed(uint32_t h, uint32_t k) { return std::rotl(h ^ scrambled(k), 13) * 5 + 0xe6546b64u; }
constexpr uint32_t finished(uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

}  // namespace murmur

inline uint32_t murmur3(std::string_view bytes, uint32_t seed) {
  const char* p = bytes.data();
  uint32_t h = seed, rest = 0;
  for (const char* end = p + bytes.size() / 4 * 4; p < end; p += 4) h = murmur::mixed(h, murmur::four_bytes(p));
  for (size_t i = bytes.size() % 4; i-- > 0;) rest = (rest << 8) | static_cast<unsigned char>(p[i]);
  return murmur::finished(h ^ murmur::scrambled(rest) ^ static_cast<uint32_t>(bytes.size()));
}

// The same where 16 bytes from the first on can be read. Words are short and of all lengths: up to 15 bytes there is no
// branch that could be guessed wrongly, but masks (compilers make branches of conditions here).
inline uint32_t murmur3_of_word(const char* p, size_t count, uint32_t seed) {
  if (count >= 16) return murmur3({p, count}, seed);
  const size_t blocks = count / 4;
  uint32_t h = seed;
  for (size_t k = 0; k < 3; ++k) {
    const uint32_t there = 0u - static_cast<uint32_t>(blocks > k);
    h ^= (h ^ murmur::mixed(h, murmur::four_bytes(p + 4 * k))) & there;
  }
  const uint32_t rest = murmur::four_bytes(p + 4 * blocks) & ((uint32_t{1} << (8 * (count % 4))) - 1);
  return murmur::finished(h ^ murmur::scrambled(rest) ^ static_cast<uint32_t>(count));
}

}  // namespace rosenblatt
