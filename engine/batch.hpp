// What a chunk of text becomes: rows, labels, weights, and what was wrong with it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "column_table.hpp"
#include "formats.hpp"
#include "growing.hpp"
#include "names.hpp"
#include "utf8.hpp"

namespace rosenblatt {

// Where text could not be read. Lines count from 1 within the stream once the batch is delivered, columns are bytes from 1.
struct Fault {
  int64_t line, column;
  std::string text;  // the line, cut short if it is long
  std::string found, expected;
};

// What parsers write on while they work: part of a batch, so that its memory is used again.
struct Workspace {
  ColumnTable columns;                 // of the row
  ColumnTable reported, row_reported;  // keep_names: of the chunk; of the row, where features are to be paired
  std::vector<std::string> row_names;  // the first name in each of the latter
  Growing<char> small, line;           // text in small letters; its words
  Growing<uint32_t> word_ends;
  Growing<int32_t> words;                        // their columns
  Growing<char> unescaped;                       // the content of a string or field
  std::string key, name;                         // of a feature
  std::vector<std::pair<uint32_t, double>> row;  // the features to be paired
};

class Batch {
 public:
  static constexpr int32_t kNoLabel = -1;

  // Rows: sparse (columns and starts), or dense (`width` values a row).
  Growing<double> values;
  Growing<int32_t> columns, starts;
  bool dense = false;
  int64_t width = 0;
  Growing<int32_t> labels;  // numbers of label_names (once delivered: of the stream's), or kNoLabel
  Growing<double> weights;  // empty: all 1
  Names label_names, dictionary;
  std::vector<std::pair<int32_t, std::string>> named;  // keep_names: names behind hashed columns, as they appeared

  int64_t lines = 0;                    // physical lines; once delivered: of the stream up to here
  int64_t end = 0;                      // once delivered: bytes of the stream up to here
  int64_t smallest = -1, largest = -1;  // of the column numbers seen
  std::vector<Fault> rejected;          // bad lines that were passed over
  std::unique_ptr<Fault> fault;         // the bad line that ended it
  Workspace workspace;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  int64_t features() const { return dense ? width : largest + 1; }

  void reset(const Options& options) {
    values.clear(), columns.clear(), starts.clear(), labels.clear(), weights.clear();
    label_names.clear(), dictionary.clear(), named.clear(), rejected.clear();
    fault.reset();
    dense = false, weighted_ = false;
    width = lines = end = 0;
    smallest = largest = -1;
    starts.push_back(0);
    for (const std::string& name : options.dictionary) dictionary.number(name);
    kept_labels_ = 0, kept_names_ = dictionary.size();
    skip_ = options.skip_bad_lines;
  }

  // A label of the row at hand; without one it is kNoLabel. False if it is not UTF-8: then it is no name of a class.
  [[nodiscard]] bool label(std::string_view token) {
    const size_t known = label_names.size();
    label_ = label_names.number(token);
    return label_names.size() == known || is_utf8(token);
  }
  // How much the row at hand counts.
  void weight(double weight) {
    weight_ = weight;
    if (weight != 1.0 && !weighted_) {
      weighted_ = true;
      for (int64_t i = 0; i < rows(); ++i) weights.push_back(1.0);
    }
  }
  // A feature of the row at hand. column must not be negative.
  void add(int32_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
    note(column);
  }
  void note(int32_t column) {
    if (column > largest) largest = column;
    if (smallest < 0 || column < smallest) smallest = column;
  }

  void end_row() {
    labels.push_back(label_);
    if (weighted_) weights.push_back(weight_);
    if (!dense) starts.push_back(static_cast<int32_t>(columns.size()));
    label_ = kNoLabel, weight_ = 1.0;
    kept_labels_ = label_names.size(), kept_names_ = dictionary.size();
  }
  // Forget what the row at hand has so far, labels and names that came with it too.
  void drop_row() {
    const size_t size = dense ? labels.size() * static_cast<size_t>(width) : static_cast<size_t>(starts.back());
    values.resize(size);
    if (!dense) columns.resize(size);
    label_ = kNoLabel, weight_ = 1.0;
    label_names.shrink(kept_labels_), dictionary.shrink(kept_names_);
  }

  // The line cannot be read, because at `where` there is `found` and not what was expected. Whether to go on with the next
  // line: yes if bad lines are to be skipped. `lines` must count this line already; of a row that goes over several lines
  // (csv) it counts the first, and the fault names the one that `where` is in.
  bool reject(std::string_view line, const char* where, std::string found, std::string expected) {
    drop_row();
    constexpr size_t kShown = 1 << 16;
    const std::string_view before = line.substr(0, static_cast<size_t>(where - line.data()));
    const size_t newline = before.rfind('\n');
    const size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    Fault bad{lines + std::count(before.begin(), before.end(), '\n'), static_cast<int64_t>(column),
              std::string(line.substr(0, kShown)), std::move(found), std::move(expected)};
    if (skip_) {
      rejected.push_back(std::move(bad));
    } else {
      fault = std::make_unique<Fault>(std::move(bad));
    }
    return skip_;
  }

 private:
  int32_t label_ = kNoLabel;
  double weight_ = 1.0;
  bool weighted_ = false, skip_ = false;
  size_t kept_labels_ = 0, kept_names_ = 0;
};

// Whether a label says that there is none: nothing at all, or not a number.
inline bool says_nothing(std::string_view label) {
  if (label.size() == 4 && (label[0] == '+' || label[0] == '-')) label.remove_prefix(1);
  if (label.size() != 3) return label.empty();
  return (label[0] | 32) == 'n' && (label[1] | 32) == 'a' && (label[2] | 32) == 'n';
}

// Some bytes as a message shows them: printable, in quotes, and not long.
inline std::string shown(std::string_view bytes) {
  constexpr size_t kMost = 40;
  std::string out = "'";
  for (const char c : bytes.substr(0, kMost)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out += c == '\t' ? std::string("\\t") : std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (bytes.size() > kMost ? "...'" : "'");
}

}  // namespace rosenblatt
