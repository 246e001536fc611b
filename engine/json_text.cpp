#include "json_text.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ROSENBLATT_SSE2
#endif

#include <bit>

#include "decimal.hpp"
#include "digits.hpp"

namespace rosenblatt {
namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

int hex(char c) {
  if (is_digit(c)) return c - '0';
  const char small = static_cast<char>(c | 32);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// The four hexadecimal digits at p, or -1.
int32_t code_unit(const char* p, const char* end) {
  if (end - p < 4) return -1;
  int32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    if (hex(p[i]) < 0) return -1;
    unit = unit * 16 + hex(p[i]);
  }
  return unit;
}

void append(int32_t code, Growing<char>& out) {
  const auto put = [&](int32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto rest = [&](int shift) { put(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | (code >> 6)), rest(0);
  if (code < 0x10000) return put(0xe0 | (code >> 12)), rest(6), rest(0);
  put(0xf0 | (code >> 18)), rest(12), rest(6), rest(0);
}

// \uXXXX, p being behind the u; beyond the first 65,536 characters it takes two of them, a pair of surrogates.
const char* unicode(const char* p, const char* end, Growing<char>& out) {
  int32_t code = code_unit(p, end);
  if (code < 0 || (code >= 0xdc00 && code < 0xe000)) return nullptr;
  p += 4;
  if (code >= 0xd800 && code < 0xdc00) {
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return nullptr;
    const int32_t low = code_unit(p + 2, end);
    if (low < 0xdc00 || low >= 0xe000) return nullptr;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    p += 6;
  }
  append(code, out);
  return p;
}

}  // namespace

const char* plain_until(const char* p) {
#ifdef ROSENBLATT_SSE2
  for (;; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    const unsigned marks = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(special, control)));
    if (marks != 0) return p + std::countr_zero(marks);
  }
#else
  while (*p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
  return p;
#endif
}

const char* unescape(const char* p, const char* end, Growing<char>& out) {
  if (++p >= end) return nullptr;
  switch (*p++) {
    case '"': out.push_back('"'); break;
    case '\\': out.push_back('\\'); break;
    case '/': out.push_back('/'); break;
    case 'b': out.push_back('\b'); break;
    case 'f': out.push_back('\f'); break;
    case 'n': out.push_back('\n'); break;
    case 'r': out.push_back('\r'); break;
    case 't': out.push_back('\t'); break;
    case 'u': return unicode(p, end, out);
    default: return nullptr;
  }
  return p;
}

const char* read_json_number(const char* p, const char* end, double& value) {
  const char* digits = p + (*p == '-');
  if (!is_digit(*digits) || (*digits == '0' && is_digit(digits[1]))) return nullptr;  // no plus, no zeros in front
  const char* stop = digits::short_number(p, value);
  if (stop) return stop;
  stop = read_number(p, end, value);
  if (!stop) return nullptr;
  while (is_digit(*digits)) ++digits;
  return *digits == '.' && !is_digit(digits[1]) ? nullptr : stop;
}

}  // namespace rosenblatt
