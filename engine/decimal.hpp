// Numbers from text, exactly: the float64 that is nearest to what is written, as Python's float() gives it.
#pragma once
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace rosenblatt {

namespace decimal {

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The careful way, for long mantissas and exponents. A number too small for float64 is 0; one too large is refused.
inline const char* read_slowly(const char* first, const char* end, double& value) {
  const bool negative = *first == '-';
  const char* start = first + (*first == '+' || *first == '-');
  const unsigned char lead = static_cast<unsigned char>(*start);
  if (start == end || !(lead == '.' || (lead >= '0' && lead <= '9'))) return nullptr;  // no inf, no nan, no second sign
  const std::from_chars_result found = std::from_chars(start, end, value);
  if (found.ec == std::errc::invalid_argument) return nullptr;
  if (found.ec == std::errc::result_out_of_range) {
    // Too large or too small? A mantissa of zeros apart, the sign of the exponent decides; from_chars does not say.
    const char* e = start;
    while (e < found.ptr && (*e | 32) != 'e') ++e;
    if (!(e + 1 < found.ptr && e[1] == '-')) {
      bool point_first = true;  // 0.000...: small without an exponent
      for (const char* p = start; p < e && *p != '.'; ++p) point_first &= *p == '0';
      if (!point_first || e != found.ptr) return nullptr;
    }
    value = 0;
  }
  if (negative) value = -value;
  return found.ptr;
}

// Applies the exponent at p (an e) to a mantissa with so many digits of a fraction. Where it ends, or null if there are not
// one to three digits or the power of ten is not exact.
inline const char* scale(const char* p, int64_t fraction, double& mantissa) {
  ++p;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* digits = p;
  int64_t exponent = 0;
  for (unsigned d; p - digits < 4 && (d = static_cast<unsigned char>(*p) - '0') < 10; ++p) exponent = exponent * 10 + d;
  const int64_t power = (negative ? -exponent : exponent) - fraction;
  if (p == digits || p - digits > 3 || power < -22 || power > 22) return nullptr;
  if (power < 0) {
    mantissa /= kPowersOfTen[-power];
  } else {
    mantissa *= kPowersOfTen[power];
  }
  return p;
}

}  // namespace decimal

// Reads the number that begins at `first`; returns where it ends, or null if there is none or it is not finite. Some byte
// that belongs to no number must follow `end`. Up to 15 digits and a power of ten up to 22 are both exact in float64, so
// that one division rounds once, correctly. A digit at a time: the processor guesses the lengths of numbers well and runs
// ahead, while eight digits at once make the next number wait for the length of this one (1.6 times slower, measured).
inline const char* read_number(const char* first, const char* end, double& value) {
  const char* p = first;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  uint64_t mantissa = 0;
  const char* digits = p;
  for (unsigned d; (d = static_cast<unsigned char>(*p) - '0') < 10; ++p) mantissa = mantissa * 10 + d;
  int64_t count = p - digits, fraction = 0;
  if (*p == '.') {
    const char* point = ++p;
    for (unsigned d; (d = static_cast<unsigned char>(*p) - '0') < 10; ++p) mantissa = mantissa * 10 + d;
    fraction = p - point;
    count += fraction;
  }
  if (count == 0 || p > end) return nullptr;
  if (count > 15) return decimal::read_slowly(first, end, value);
  double size = static_cast<double>(mantissa);
  if ((*p | 32) == 'e') {
    const char* stop = decimal::scale(p, fraction, size);
    if (!stop) return decimal::read_slowly(first, end, value);
    p = stop;
  } else {
    size /= decimal::kPowersOfTen[fraction];
  }
  value = negative ? -size : size;
  return p;
}

}  // namespace rosenblatt
