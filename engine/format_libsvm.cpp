// libsvm and svmlight:  label [qid:n] index:value index:value ...  [# comment]
//
// A label is any token without a colon. Indices rise within a row, as svmlight demands; `index_base` is subtracted from
// them. Without a label (a first token with a colon) a row is refused, unless labels are not needed. A qid is read over.
#include "batch.hpp"
#include "decimal.hpp"
#include "digits.hpp"

namespace rosenblatt {
namespace {

inline bool is_space(char c) { return c == ' ' || c == '\t'; }
inline bool ends_token(char c) { return is_space(c) || c == '\n' || c == '\r' || c == 0; }

inline const char* line_end(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<size_t>(end - p));
  return found ? static_cast<const char*>(found) : end;
}

inline std::string_view token_at(const char* p, const char* end) {
  const char* q = p;
  while (q < end && !ends_token(*q)) ++q;
  return {p, static_cast<size_t>(q - p)};
}

#ifdef ROSENBLATT_DIGITS_AT_ONCE
// Reads pairs as long as they look like " 123:0.456", " 123:-0.456" or " 123:4", as nearly all do, with at most eight digits
// in a part, a space or newline behind them, and indices that rise. Returns where it stopped. p[0] .. p[64] are readable.
const char* common_pairs(const char* p, int64_t base, int64_t& before, double*& values, int32_t*& columns) {
  constexpr int64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const auto ends_pair = [](char c) { return c == ' ' || c == '\n'; };
  const char* block = p;
  for (uint64_t colons = 0;;) {
    // The next three bytes that are no digits: a bit for each in 64 bytes, which hold those of four or five pairs.
    uint64_t points = colons & (colons - 1), stops = points & (points - 1);
    if (stops == 0) {
      block = p + 1;
      colons = digits::others(block);
      points = colons & (colons - 1), stops = points & (points - 1);
      if (stops == 0) return p;
    }
    const char *index = p + 1, *colon = block + std::countr_zero(colons), *number = colon + 1;
    const size_t places = static_cast<size_t>(colon - index);
    if (*p != ' ' || places - 1 >= 8 || *colon != ':') return p;
    const bool negative = *number == '-';
    if (negative) {
      ++number;
      points = stops, stops &= stops - 1;
      if (stops == 0 && block == index) return p;
      if (stops == 0) {
        colons = 0;  // once more, from here
        continue;
      }
    }
    const char *point = block + std::countr_zero(points), *stop = point;
    digits::Pair found;
    double size;
    if (*point == '.') {
      stop = block + std::countr_zero(stops);
      const size_t decimals = static_cast<size_t>(stop - point - 1);
      if (point != number + 1 || decimals - 1 >= 8 || !ends_pair(*stop)) return p;
      found = digits::values(digits::last(index, places), digits::last(point + 1, decimals));
      const int64_t mantissa = (*number - '0') * kPowers[decimals] + found.second;
      size = static_cast<double>(mantissa) / decimal::kPowersOfTen[decimals];  // both exact: rounded once
      colons = stops & (stops - 1);
    } else {
      const size_t wholes = static_cast<size_t>(point - number);
      if (wholes - 1 >= 8 || !ends_pair(*point)) return p;
      found = digits::values(digits::last(index, places), digits::last(number, wholes));
      size = found.second;
      colons = stops;
    }
    const int64_t column = found.first - base;
    if (column <= before) return p;
    before = column;
    *values++ = negative ? -size : size;
    *columns++ = static_cast<int32_t>(column);
    p = stop;
  }
}
#else
const char* common_pairs(const char* p, int64_t, int64_t&, double*&, int32_t*&) { return p; }
#endif

// One row, from its first byte that is not a space. Returns null after a fault noted in `where`, `expected`.
class Line {
 public:
  Line(const Options& options, Batch& batch, const char* end) : options_(options), batch_(batch), end_(end) {}

  const char* where = nullptr;
  const char* expected = nullptr;
  std::string_view found;

  // The row whose first byte is p; it ends at p then. There must be room for a value in every four bytes of the text.
  bool read(const char*& p) {
    if (!label(p)) return false;
    int64_t before = -1;
    const size_t first = batch_.values.size();
    double* values = batch_.values.data() + first;
    int32_t* columns = batch_.columns.data() + first;
    for (;;) {
      p = common_pairs(p, options_.index_base, before, values, columns);
      while (is_space(*p)) ++p;
      const char* start = p;
      uint64_t index = 0;
      for (unsigned d; (d = static_cast<unsigned char>(*p) - '0') < 10; ++p) index = index * 10 + d;
      if (p == start) {
        if (p >= end_ || *p == '\n' || *p == '#' || (*p == '\r' && (p + 1 >= end_ || p[1] == '\n'))) break;
        if (!query(p)) return false;
        continue;
      }
      if (*p != ':') return fail(start, "index:value");
      const int64_t column = static_cast<int64_t>(index) - options_.index_base;
      if (p - start > 10 || column >= INT32_MAX) return fail(start, "an index below 2,147,483,647");
      if (column < 0) return fail(start, "indices that begin at 1 (or say that they begin at 0)");
      if (column <= before) return fail(start, "indices that rise within a row");
      before = column;
      const char* stop = read_number(++p, end_, *values);
      if (!stop || !(ends_token(*stop) || *stop == '#')) return fail(p, "a finite number after the colon");
      p = stop;
      ++values;
      *columns++ = static_cast<int32_t>(column);
    }
    const size_t size = static_cast<size_t>(values - batch_.values.data());
    batch_.values.resize(size);
    batch_.columns.resize(size);
    if (size > first) {  // the indices rise
      batch_.note(batch_.columns[first]);
      batch_.note(batch_.columns.back());
    }
    return true;
  }

 private:
  bool fail(const char* at, const char* instead) {
    where = at;
    expected = instead;
    found = token_at(at, end_);
    return false;
  }

  bool label(const char*& p) {
    const char* start = p;
    while (!ends_token(*p) && *p != ':') ++p;
    if (*p == 0 && p < end_) return fail(start, "text without NUL bytes");
    if (*p == ':') {
      p = start;  // index:value, so there is no label
      return !options_.require_label || fail(start, "a label, then index:value pairs");
    }
    const std::string_view token(start, static_cast<size_t>(p - start));
    if (says_nothing(token)) return !options_.require_label || fail(start, "a label");
    return batch_.label(token) || fail(start, "a label in UTF-8");
  }

  bool query(const char*& p) {
    if (std::strncmp(p, "qid:", 4) != 0) return fail(p, "index:value");
    const char* start = p;
    p += 4;
    if (*p == '-') ++p;
    const char* digits = p;
    while (*p >= '0' && *p <= '9') ++p;
    return (p > digits && ends_token(*p)) || fail(start, "qid:number");
  }

  const Options& options_;
  Batch& batch_;
  const char* end_;
};

}  // namespace

void parse_libsvm(const char* first, const char* end, const Options& options, Batch& batch) {
  const size_t room = batch.values.size() + static_cast<size_t>(end - first) / 4 + 1;
  batch.values.reserve(room);
  batch.columns.reserve(room);
  const char* p = first;
  while (p < end) {
    ++batch.lines;
    const char* start = p;
    while (is_space(*p)) ++p;
    if (*p == '\n' || *p == '#' || p >= end || (*p == '\r' && p + 1 < end && p[1] == '\n')) {
      p = line_end(p, end) + 1;
      continue;
    }
    Line line(options, batch, end);
    if (line.read(p)) {
      batch.end_row();
      if (*p != '\n') p = line_end(p, end);
    } else {
      p = line_end(start, end);
      if (!batch.reject({start, static_cast<size_t>(p - start)}, line.where, shown(line.found), line.expected)) return;
    }
    ++p;
  }
}

}  // namespace rosenblatt
