// Comma- and tab-separated values, after RFC 4180: a field in quotes may hold delimiters, newlines, and quotes written
// twice. A quote opens a field only as its first byte; elsewhere, and everywhere if files are said to have no such quotes,
// it is a byte like any other.
//
// Where every feature is a number, rows are dense: the numbers in their order. Else they are sparse (row_features.hpp):
// a number is called as its column, a category column=value; of columns of text the words are features (words.hpp).
// A value is missing where a number is nothing, NA, N/A, NaN, nan, null, NULL, None or ?, or a category is nothing: an
// error, or 0. Spaces and tabs around a number do not matter; labels and categories are taken as they are.
#include "batch.hpp"
#include "decimal.hpp"
#include "digits.hpp"
#include "row_features.hpp"
#include "words.hpp"

namespace rosenblatt {
namespace {

constexpr std::string_view kMissing[] = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"};

bool is_missing(std::string_view field) {
  for (const std::string_view name : kMissing) {
    if (field == name) return true;
  }
  return false;
}

std::string_view stripped(std::string_view field) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!field.empty() && blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && blank(field.back())) field.remove_suffix(1);
  return field;
}

int64_t count_newlines(std::string_view bytes) {
  int64_t count = 0;
  for (size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) ++count;
  return count;
}

std::string fields(size_t count) { return std::to_string(count) + (count == 1 ? " field" : " fields"); }

class Table {
 public:
  Table(const Options& options, Batch& batch, const char* end)
      : options_(options), batch_(batch), features_(options, batch, options.hashed), end_(end) {
    int64_t numbers = 0, texts = 0, categories = 0;
    for (const Column kind : options.kinds) {
      numbers += kind == Column::number;
      texts += kind == Column::text;
      categories += kind == Column::category;
    }
    batch.dense = numbers > 0 && texts + categories == 0 && !options.interactions;
    batch.width = batch.dense ? numbers : 0;
    for (const std::string& name : options.names) texts_.emplace_back(name, texts == 1);
    // A delimiter that can be part of a number must be looked for first.
    numbers_first_ = std::string_view("0123456789+-.eE").find(options.delimiter) == std::string_view::npos;
  }

  // One row from p on, which is left at the row's end. If it is bad, where and why.
  bool read(const char*& p) {
    newlines = 0;
    if (!batch_.dense) features_.begin();
    const size_t last = options_.kinds.size() - 1;
    for (size_t k = 0; k <= last; ++k) {
      if (batch_.dense && numbers_first_) k = short_numbers(p, k);
      column_ = k;
      if (!value(p)) return false;
      if (k == last) break;
      if (p == end_ || *p != options_.delimiter) {
        return fail(p, "the end of the row after " + fields(k + 1), fields(last + 1));
      }
      ++p;
    }
    if (p < end_ && *p == options_.delimiter) return fail(p, "more than " + fields(last + 1), fields(last + 1));
    if (batch_.dense) return true;
    const char* instead = features_.finish();
    return !instead || fail(p, "more", instead);
  }

  const char* where = nullptr;
  std::string found, expected;
  int64_t newlines = 0;  // within the fields of a good row

 private:
  struct Field {
    const char* first;
    std::string_view content;  // as it is in the file, without the quotes around it
    bool quoted, doubled;      // doubled: it has quotes that are written twice
  };

  bool fail(const char* at, std::string what, std::string instead) {
    where = at;
    found = std::move(what);
    expected = std::move(instead);
    return false;
  }
  // `what` as the beginning of a sentence that names the column.
  bool fail(const Field& field, std::string_view what) {
    std::string instead(what);
    instead += " in column " + shown(options_.names[column_]);
    return fail(field.first, shown(field.content), std::move(instead));
  }

  bool ends_field(const char* p) const {
    return p >= end_ || *p == options_.delimiter || *p == '\n' || (*p == '\r' && (p + 1 == end_ || p[1] == '\n'));
  }

  // A carriage return before the newline belongs to the newline.
  static const char* past_return(const char* p, const char* end) {
    return p + (p < end && *p == '\r' && (p + 1 == end || p[1] == '\n'));
  }

  bool field(const char*& p, Field& field) {
    field = {p, {}, options_.quotes && p < end_ && *p == '"', false};
    return field.quoted ? quoted(p, field) : plain(p, field);
  }

  bool plain(const char*& p, Field& field) {
    const char delimiter = options_.delimiter;
    while (p < end_ && *p != delimiter && *p != '\n') ++p;
    const char* stop = p;
    if ((p == end_ || *p == '\n') && stop > field.first && stop[-1] == '\r') --stop;
    field.content = {field.first, static_cast<size_t>(stop - field.first)};
    return true;
  }

  bool quoted(const char*& p, Field& field) {
    ++p;
    for (;; p += 2, field.doubled = true) {
      const void* quote = std::memchr(p, '"', static_cast<size_t>(end_ - p));
      if (!quote) {
        const std::string_view rest(field.first, static_cast<size_t>(end_ - field.first));
        return fail(field.first, shown(rest), "a quote that ends the field");
      }
      p = static_cast<const char*>(quote);
      if (p + 1 >= end_ || p[1] != '"') break;
    }
    field.content = {field.first + 1, static_cast<size_t>(p - field.first - 1)};
    newlines += count_newlines(field.content);
    ++p;
    if (!ends_field(p)) {
      const char* stop = p;
      while (!ends_field(stop)) ++stop;
      return fail(p, shown({p, static_cast<size_t>(stop - p)}), "a delimiter after the quote that ends a field");
    }
    p = past_return(p, end_);
    return true;
  }

  // Of a field with quotes written twice, the bytes that it stands for. 64 bytes behind it can be read.
  std::string_view unquoted(const Field& field) {
    if (!field.doubled) return field.content;
    Growing<char>& bytes = batch_.workspace.unescaped;
    bytes.clear();
    bytes.reserve(field.content.size() + 64);
    for (size_t i = 0; i < field.content.size(); ++i) {
      bytes.push_back(field.content[i]);
      i += field.content[i] == '"';
    }
    return {bytes.data(), bytes.size()};
  }

  // The value of the column at hand; p is left behind it.
  bool value(const char*& p) {
    switch (options_.kinds[column_]) {
      case Column::number: return number(p);
      case Column::label: return label(p);
      case Column::category: return category(p);
      case Column::text: return text(p);
      case Column::weight: return weight(p);
      case Column::ignored: break;
    }
    Field ignored;
    return field(p, ignored);
  }

  // Takes the columns from k on that are short numbers with a delimiter behind them, and not the last one of the row;
  // returns the column after them.
  size_t short_numbers(const char*& p, size_t k) {
    Growing<double>& values = batch_.values;
    values.reserve(values.size() + static_cast<size_t>(batch_.width));
    const char delimiter = options_.delimiter, *at = p, *stop;
    double* value = values.data() + values.size();
    const Column *kind = options_.kinds.data() + k, *last = options_.kinds.data() + options_.kinds.size() - 1;
    for (; kind < last && *kind == Column::number; ++kind, ++value, at = stop + 1) {
      stop = digits::short_number(at, *value);
      if (!stop || *stop != delimiter || stop >= end_) break;
    }
    const size_t found = static_cast<size_t>(value - values.data()) - values.size();
    values.resize(values.size() + found);
    p = at;
    return k + found;
  }

  bool number(const char*& p) {
    double value;
    if (numbers_first_) {  // nearly always there is nothing but the number
      const char* stop = digits::short_number(p, value);
      if (!stop) stop = read_number(p, end_, value);
      if (stop) stop = past_return(stop, end_);
      if (stop && stop < end_ && (*stop == options_.delimiter || *stop == '\n')) {
        p = stop;
        return add(value, true);
      }
    }
    Field found;
    if (!field(p, found)) return false;
    const std::string_view bare = stripped(found.content);
    if (is_missing(bare)) {
      return options_.missing_is_zero ? add(0.0, false) : fail(found, "a number, and none is missing,");
    }
    return (read_whole(bare, value) || fail(found, "a finite number")) && add(value, true);
  }

  bool add(double value, bool given) {
    if (batch_.dense) {
      batch_.values.push_back(value);
    } else if (given) {
      features_.add(options_.names[column_], value);
    }
    return true;
  }

  // A number that is all of a field.
  bool read_whole(std::string_view bare, double& value) {
    Growing<char>& bytes = batch_.workspace.unescaped;
    bytes.resize(bare.size() + 1);
    std::memcpy(bytes.data(), bare.data(), bare.size());
    bytes[bare.size()] = 0;
    const char* stop = bytes.data() + bare.size();
    return read_number(bytes.data(), stop, value) == stop;
  }

  bool label(const char*& p) {
    Field found;
    if (!field(p, found)) return false;
    if (!says_nothing(found.content)) return batch_.label(unquoted(found)) || fail(found, "a label in UTF-8");
    return !options_.require_label || fail(found, "a label");
  }

  bool category(const char*& p) {
    Field found;
    if (!field(p, found)) return false;
    if (found.content.empty()) {
      return options_.missing_is_zero || fail(found, "a category, and none is missing,");
    }
    features_.add_category(options_.names[column_], unquoted(found));
    return features_.names_are_text() || fail(found, "UTF-8, as only hashed categories may be any bytes,");
  }

  bool text(const char*& p) {
    Field found;
    if (!field(p, found)) return false;
    add_words(found.content, texts_[column_], options_, features_);  // a quote is between words, once or twice
    return true;
  }

  bool weight(const char*& p) {
    Field found;
    if (!field(p, found)) return false;
    double value;
    const std::string_view bare = stripped(found.content);
    if (bare.empty() || !read_whole(bare, value) || value < 0) return fail(found, "a weight (a number from 0 on)");
    batch_.weight(value);
    return true;
  }

  const Options& options_;
  Batch& batch_;
  RowFeatures features_;
  const char* end_;
  std::vector<TextColumn> texts_;  // of every column, for those that are text
  bool numbers_first_ = true;
  size_t column_ = 0;
};

// The newline that ends the row at p, or the end: the same rule as whole_rows (formats.cpp), so that a bad row ends where
// the next one begins for any size of chunks.
const char* row_end(const char* p, const char* end, const Options& options) {
  bool begins = options.quotes;
  for (; p < end && *p != '\n'; ++p) {
    if (begins && *p == '"') {
      for (++p;; p += 2) {
        const void* quote = p < end ? std::memchr(p, '"', static_cast<size_t>(end - p)) : nullptr;
        if (!quote) return end;
        p = static_cast<const char*>(quote);
        if (p + 1 >= end || p[1] != '"') break;
      }
    }
    begins = options.quotes && *p == options.delimiter;
  }
  return p;
}

}  // namespace

void parse_csv(const char* first, const char* end, const Options& options, Batch& batch) {
  if (options.kinds.empty()) return;
  Table table(options, batch, end);
  const char* p = first;
  while (p < end) {
    ++batch.lines;
    const char* start = p;
    if (p < end && *p != '\n' && !(*p == '\r' && (p + 1 == end || p[1] == '\n'))) {
      if (table.read(p)) {
        batch.end_row();
        batch.lines += table.newlines;
      } else {
        p = row_end(start, end, options);
        const std::string_view row(start, static_cast<size_t>(p - start));
        if (!batch.reject(row, table.where, std::move(table.found), std::move(table.expected))) return;
        batch.lines += count_newlines(row);
      }
    }
    p += p < end && *p == '\r';
    ++p;
  }
}

}  // namespace rosenblatt
