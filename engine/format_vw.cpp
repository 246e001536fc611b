// Vowpal Wabbit's text format, hashed as it does by default (--hash strings, --hash_seed 0):
//
//   label [importance [initial]] ['tag]|namespace[:scale] feature[:value] feature=... |namespace ...
//
// The hash of a namespace is murmur3(name, seed 0), of the nameless one 0. A feature is murmur3(name, seed: the hash of its
// namespace); if its name is all digits, that number plus the hash of its namespace (the same holds of names of namespaces);
// feature:text is murmur3(text, seed: the hash of the feature), and counts 1. The column is the hash & (2^bits - 1), the value
// 1 or as given, times the scale. A feature whose value is 0 is left out, one that occurs twice adds up.
// Not hashed, a feature has the column of its name: namespace^feature^text, what is empty being left out (VW's --audit).
// As in VW, the last token before the first bar is a tag if it touches the bar or begins with ', and what stands before a
// tab in front of the bar does not count. Unlike VW, a line that it would complain about is an error.
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ROSENBLATT_SSE2
#endif

#include <bit>

#include "batch.hpp"
#include "decimal.hpp"
#include "digits.hpp"
#include "row_features.hpp"

namespace rosenblatt {
namespace {

// The first blank, colon or bar from p on; if there is none before it, some place from `end` on.
inline const char* name_end(const char* p, const char* end) {
#ifdef ROSENBLATT_SSE2
  for (; p < end; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto equal = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    const __m128i ends = _mm_or_si128(_mm_or_si128(equal(' '), equal('\t')), _mm_or_si128(equal(':'), equal('|')));
    const unsigned marks = static_cast<unsigned>(_mm_movemask_epi8(ends));
    if (marks != 0) return p + std::countr_zero(marks);
  }
#else
  while (p < end && *p != ' ' && *p != '\t' && *p != ':' && *p != '|') ++p;
#endif
  return p;
}

constexpr bool ends_token(char c) { return c == ' ' || c == '\t' || c == '|'; }

// 16 bytes from the first on must be readable.
inline uint64_t hash_of(std::string_view name, uint64_t seed) {
  // VW takes blanks and control characters off both ends.
  while (!name.empty() && static_cast<unsigned char>(name.front()) <= 0x20) name.remove_prefix(1);
  while (!name.empty() && static_cast<unsigned char>(name.back()) <= 0x20) name.remove_suffix(1);
  uint64_t number = 0;
  for (const char c : name) {
    const unsigned digit = static_cast<unsigned char>(c) - '0';
    if (digit >= 10) return murmur3_of_word(name.data(), name.size(), static_cast<uint32_t>(seed));
    number = 10 * number + digit;
  }
  return number + seed;
}

class Line {
 public:
  Line(const Options& options, Batch& batch)
      : options_(options), batch_(batch), features_(options, batch, options.hashed) {}

  // One line first .. end, the bar being the first one. If it is bad, where and why.
  bool read(const char* first, const char* end) {
    p_ = first, end_ = end;
    features_.begin();
    const void* bar = std::memchr(first, '|', static_cast<size_t>(end - first));
    if (!bar) return fail(end, "a label, then '|' and features");
    if (!label(first, static_cast<const char*>(bar))) return false;
    for (p_ = static_cast<const char*>(bar); p_ < end_;) {
      ++p_;
      if (!names()) return false;
    }
    const char* instead = features_.finish();
    return !instead || fail(first, instead);
  }

  const char* where = nullptr;
  std::string found, expected;

 private:
  bool fail(const char* at, std::string instead) {
    where = at;
    expected = std::move(instead);
    const char* stop = at;
    while (stop < end_ && !ends_token(*stop)) ++stop;
    if (stop == at && at < end_) ++stop;
    found = at < end_ ? shown({at, static_cast<size_t>(stop - at)}) : "the end of the line";
    return false;
  }

  bool label(const char* first, const char* bar) {
    const void* tab = std::memchr(first, '\t', static_cast<size_t>(bar - first));
    if (tab) first = static_cast<const char*>(tab) + 1;
    const char* p = first;
    int count = 0;
    for (;; ++count) {
      while (p < bar && *p == ' ') ++p;
      if (p == bar) break;
      const char* start = p;
      while (p < bar && *p != ' ') ++p;
      if (*start == '\'' || p == bar) {  // a tag, if nothing comes after it
        const char* rest = p;
        while (rest < bar && *rest == ' ') ++rest;
        if (rest == bar) {
          if (count == 0 && *start != '\'' && options_.require_label) {
            return fail(start, "a space between the label and '|' (without it VW takes it for a tag)");
          }
          break;
        }
      }
      if (!token({start, static_cast<size_t>(p - start)}, count)) return false;
    }
    if (count == 0 && options_.require_label) return fail(first, "a label before '|'");
    return true;
  }

  // The token of this number before the bar: label, importance, initial prediction.
  bool token(std::string_view text, int number) {
    const char* end = text.data() + text.size();
    if (number == 0) {
      if (text.find(':') != std::string_view::npos) return fail(text.data(), "a simple label (a class, without costs)");
      if (says_nothing(text)) return !options_.require_label || fail(text.data(), "a label");
      return batch_.label(text) || fail(text.data(), "a label in UTF-8");
    }
    double value;
    const bool given = read_number(text.data(), end, value) == end;
    if (number == 1) {
      if (!given || value < 0) return fail(text.data(), "an importance (a number from 0 on)");
      return batch_.weight(value), true;
    }
    if (number == 2)
      return (given && value == 0) || fail(text.data(), "an initial prediction of 0 (others are not supported)");
    return fail(text.data(), "'|' after label, importance and initial prediction");
  }

  std::string_view name() {
    const char* start = p_;
    p_ = std::min(name_end(p_, end_), end_);
    return {start, static_cast<size_t>(p_ - start)};
  }

  // The namespace at p, behind its bar, up to the next bar or the end.
  bool names() {
    space_ = name();
    seed_ = space_.empty() ? 0 : hash_of(space_, 0);
    nameless_ = 0;
    scale_ = 1.0;
    if (p_ < end_ && *p_ == ':') {
      if (space_.empty()) return fail(p_, "the name of a namespace, or a space, after '|'");
      const char* start = ++p_;
      if (!number(scale_)) return fail(start, "a finite number, by which the namespace is scaled");
    }
    while (p_ < end_ && *p_ != '|') {
      if (*p_ == ' ' || *p_ == '\t') {
        ++p_;
      } else if (!feature()) {
        return false;
      }
    }
    return true;
  }

  bool number(double& value) {
    const char* stop = digits::short_number(p_, value);
    if (!stop) stop = p_ < end_ ? read_number(p_, end_, value) : nullptr;
    if (!stop || !(stop == end_ || ends_token(*stop))) return false;
    p_ = stop;
    return true;
  }

  bool feature() {
    feature_ = p_;
    const std::string_view called = name();
    const uint64_t hash = called.empty() ? 0 : hash_of(called, seed_);
    if (p_ >= end_ || *p_ != ':') return add(hash, scale_, called, {});
    const char* start = ++p_;
    double value;
    if (number(value)) {
      value *= scale_;
      if (!std::isfinite(value)) return fail(start, "a value that is finite when scaled");
      if (!called.empty()) return add(hash, value, called, {});
      const uint64_t place = nameless_++;  // as if it were called so
      return add(seed_ + place, value, std::to_string(place), {});
    }
    while (p_ < end_ && !ends_token(*p_)) ++p_;
    const std::string_view text(start, static_cast<size_t>(p_ - start));
    if (text.empty() || looks_like_number(text)) return fail(start, "a finite number or a word after the colon");
    return add(hash_of(text, hash_of(called, seed_)), 1.0, called, text);
  }

  static bool looks_like_number(std::string_view text) {
    constexpr std::string_view kSigns = "+-.0123456789";
    if (kSigns.find(text.front()) != std::string_view::npos) return true;
    std::string small;
    for (const char c : text.substr(0, 9)) small += static_cast<char>(c | 32);
    return small == "nan" || small == "inf" || small == "infinity";
  }

  bool add(uint64_t hash, double value, std::string_view called, std::string_view text) {
    if (value == 0) return true;
    if (!features_.hashed()) {
      features_.add(whole_name(called, text), value);
      return features_.names_are_text() || fail(feature_, kNotText);
    }
    const int32_t column = features_.column_of(static_cast<uint32_t>(hash));
    if (features_.keep_names()) features_.report(column, whole_name(called, text));
    features_.add(column, value);
    return true;
  }

  std::string_view whole_name(std::string_view called, std::string_view text) {
    std::string& whole = batch_.workspace.name;
    whole.assign(space_);
    for (const std::string_view part : {called, text}) {
      if (part.empty()) continue;
      if (!whole.empty()) whole += '^';
      whole += part;
    }
    return whole;
  }

  const Options& options_;
  Batch& batch_;
  RowFeatures features_;
  const char *p_ = nullptr, *end_ = nullptr, *feature_ = nullptr;
  std::string_view space_;
  uint64_t seed_ = 0, nameless_ = 0;
  double scale_ = 1.0;
};

}  // namespace

void parse_vw(const char* first, const char* end, const Options& options, Batch& batch) {
  Line line(options, batch);
  for (const char *p = first, *stop; p < end; p = stop + 1) {
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
    stop = newline ? static_cast<const char*>(newline) : end;
    ++batch.lines;
    const char* last = stop > p && stop[-1] == '\r' ? stop - 1 : stop;
    const std::string_view text(p, static_cast<size_t>(last - p));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (line.read(p, last)) {
      batch.end_row();
    } else if (!batch.reject(text, line.where, std::move(line.found), std::move(line.expected))) {
      return;
    }
  }
}

}  // namespace rosenblatt
