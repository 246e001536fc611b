#include "formats.hpp"

#include <cstring>

#include "batch.hpp"

namespace rosenblatt {
namespace {

// The last newline before `end`, or null.
const char* last_newline(const char* first, const char* end) {
  while (end > first && end[-1] != '\n') --end;
  return end > first ? end - 1 : nullptr;
}

const char* next(const char* p, const char* end, char wanted) {
  const void* found = p < end ? std::memchr(p, wanted, static_cast<size_t>(end - p)) : nullptr;
  return found ? static_cast<const char*>(found) : end;
}

// Of csv: a quote opens a field only at its beginning; within quotes a newline is part of the field, and a quote that is
// followed by another one stands for itself.
int64_t whole_quoted_rows(const char* bytes, int64_t count, char delimiter) {
  const char *p = bytes, *end = bytes + count, *whole = bytes;
  while (p < end) {
    const char* quote = next(p, end, '"');
    if (const char* newline = last_newline(p, quote)) whole = newline + 1;
    if (quote == end) break;
    const bool opens = quote == bytes || quote[-1] == delimiter || quote[-1] == '\n';
    p = quote + 1;
    while (opens) {
      p = next(p, end, '"');
      if (p == end) return whole - bytes;
      if (p + 1 == end || p[1] != '"') break;
      p += 2;
    }
    p += opens;
  }
  return whole - bytes;
}

}  // namespace

int64_t whole_rows(const char* bytes, int64_t count, const Options& options) {
  if (options.format == Format::csv && options.quotes) return whole_quoted_rows(bytes, count, options.delimiter);
  const char* newline = last_newline(bytes, bytes + count);
  return newline ? newline + 1 - bytes : 0;
}

void parse(const char* first, const char* end, const Options& options, Batch& batch) {
  switch (options.format) {
    case Format::libsvm: return parse_libsvm(first, end, options, batch);
    case Format::csv: return parse_csv(first, end, options, batch);
    case Format::json: return parse_json(first, end, options, batch);
    case Format::vw: return parse_vw(first, end, options, batch);
  }
}

}  // namespace rosenblatt
