// The formats of text, each a pure function from whole lines and options to rows. Written so that bytes from anywhere give
// rows or a fault: nothing outside first .. end + 64 is read, and memory grows only with the input.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace rosenblatt {

class Batch;

enum class Format : int { libsvm, csv, json, vw };

// What a column of a table is.
enum class Column : int { ignored, number, category, text, label, weight };

// How bytes become rows. Plain data, the same for all chunks.
struct Options {
  Format format = Format::libsvm;
  int64_t index_base = 0;           // libsvm: what the first column is called
  char delimiter = ',';             // csv
  bool quotes = true;               // csv: a field may be enclosed in quotes; else they are bytes like any other
  std::vector<Column> kinds;        // csv: of each column
  std::vector<std::string> names;   // csv: of each column
  std::string label_key = "label";  // json
  std::string features_key = "features", weight_key;
  std::vector<std::string> text_keys, ignored_keys;
  bool hashed = false;  // columns with names: hashed into 2^bits, or numbered as they appear
  int bits = 18;
  std::vector<std::string> dictionary;  // names that are numbered before any other
  int ngrams = 1;
  bool word_counts = false;   // how often a word occurs, not only that it does
  bool interactions = false;  // pairs of features too (hashed)
  bool missing_is_zero = false;
  bool keep_names = false;  // hashed: report the names behind columns
  bool require_label = true;
  bool skip_bad_lines = false;
  int64_t max_line = int64_t{1} << 26;  // bytes
};

// Rows of the whole lines first .. end, added to the batch. end[-1] is a newline, or the file ends there; the 64 bytes from
// `end` on are readable and zero.
void parse_libsvm(const char* first, const char* end, const Options& options, Batch& batch);
void parse_csv(const char* first, const char* end, const Options& options, Batch& batch);
void parse_json(const char* first, const char* end, const Options& options, Batch& batch);
void parse_vw(const char* first, const char* end, const Options& options, Batch& batch);

void parse(const char* first, const char* end, const Options& options, Batch& batch);

// How many of these bytes are whole rows: up to and with the last newline that ends one (of csv: outside quotes).
int64_t whole_rows(const char* bytes, int64_t count, const Options& options);

}  // namespace rosenblatt
