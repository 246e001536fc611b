// The features of a row from names: a name is hashed into one of 2^bits columns, or numbered as it appears.
//
// Hashed, the column of a name is murmur3(name, seed 0) & (2^bits - 1). Names that share a column add up; so does a name
// that occurs twice. The name of a number is that of its column or key; a category is called name=value and counts 1.
// A pair of features (interactions) is in column murmur3(the lower column, the higher one: four bytes each, the least
// significant first; seed 0) & (2^bits - 1), and its value is their product; a feature forms no pair with itself.
#pragma once
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "batch.hpp"
#include "murmur3.hpp"

namespace rosenblatt {

inline constexpr const char* kNotText = "a name in UTF-8, as only hashed names may be any bytes";

class RowFeatures {
 public:
  // More features in a row would make more pairs than memory should hold.
  static constexpr uint32_t kMostToPair = 1024;
  // Row starts are int32.
  static constexpr size_t kMostInBatch = size_t{1} << 30;

  RowFeatures(const Options& options, Batch& batch, bool hashed)
      : batch_(batch),
        seen_(batch.workspace.columns),
        mask_((uint32_t{1} << options.bits) - 1),
        hashed_(hashed),
        interactions_(options.interactions),
        keep_names_(hashed && options.keep_names) {
    if (hashed) batch.largest = static_cast<int64_t>(mask_);
    batch.workspace.reported.clear();
  }

  bool hashed() const { return hashed_; }
  bool keep_names() const { return keep_names_; }
  bool names_are_text() const { return names_are_text_; }  // of the row so far; hashed ones may be any bytes
  uint32_t mask() const { return mask_; }
  Batch& batch() { return batch_; }

  void begin() {
    seen_.clear();
    overflow_ = false;
    names_are_text_ = true;
    if (keep_names_ && interactions_) batch_.workspace.row_reported.clear(), batch_.workspace.row_names.clear();
  }

  // A feature in a column. Whether the row did not have it yet; if it had, the values add up.
  bool add(int32_t column, double value) {
    const uint32_t before = seen_.size();
    const size_t start = row_start();
    batch_.columns.reserve(start + before + 1);
    batch_.values.reserve(start + before + 1);
    overflow_ |= !std::isfinite(put(column, value, batch_.columns.data() + start, batch_.values.data() + start));
    batch_.columns.resize(start + seen_.size());
    batch_.values.resize(start + seen_.size());
    return seen_.size() > before;
  }

  // Columns that are there, however often they are named.
  void mark(const int32_t* columns, size_t count) {
    const size_t size = batch_.columns.size();
    batch_.columns.reserve(size + count);
    const size_t found = seen_.sift(columns, count, batch_.columns.data() + size);
    batch_.columns.resize(size + found);
    batch_.values.resize(size + found);
    std::fill_n(batch_.values.data() + size, found, 1.0);
  }

  // Columns that count as often as they are named.
  void count(const int32_t* columns, size_t count) {
    const size_t start = row_start();
    batch_.columns.reserve(start + seen_.size() + count);
    batch_.values.reserve(start + seen_.size() + count);
    int32_t* const row_columns = batch_.columns.data() + start;
    double* const row_values = batch_.values.data() + start;
    for (size_t i = 0; i < count; ++i) put(columns[i], 1.0, row_columns, row_values);
    batch_.columns.resize(start + seen_.size());
    batch_.values.resize(start + seen_.size());
  }

  int32_t column_of(uint32_t hash) const { return static_cast<int32_t>(hash & mask_); }
  int32_t column_of(std::string_view name) {
    if (!hashed_) return numbered(name);
    const int32_t column = column_of(murmur3(name, 0));
    if (keep_names_) report(column, name);
    return column;
  }

  // A feature with a name. False if the name is numbered and the row has it already.
  bool add(std::string_view name, double value) { return add(column_of(name), value) || hashed_; }
  // The same, called name=value, and 1.
  bool add_category(std::string_view name, std::string_view value) { return add(joined(name, value), 1.0); }
  std::string_view joined(std::string_view name, std::string_view value);

  // keep_names: the first name of the chunk that is in this column, and of the row.
  void report(int32_t column, std::string_view name) {
    Workspace& space = batch_.workspace;
    const uint32_t before = space.reported.size();
    if (space.reported.place(column) == before) batch_.named.emplace_back(column, name);
    if (interactions_ && space.row_reported.place(column) == space.row_names.size()) space.row_names.emplace_back(name);
  }

  // The row is complete but for its pairs. Null, or what was expected instead.
  const char* finish();

 private:
  static constexpr uint64_t kMinusZero = uint64_t{1} << 63;  // -0.0 + x is x, for every x

  // Adds to the value of a column, whose place is made if it is new. Masks, as compilers make branches of conditions here,
  // and those cannot be guessed (see ColumnTable).
  double put(int32_t column, double value, int32_t* columns, double* values) {
    const uint32_t before = seen_.size(), place = seen_.place(column);
    const uint64_t fresh = 0 - static_cast<uint64_t>(place == before);
    uint64_t sum;
    std::memcpy(&sum, values + place, sizeof sum);
    columns[place] = column;
    return values[place] = std::bit_cast<double>((sum & ~fresh) | (kMinusZero & fresh)) + value;
  }

  size_t row_start() const { return static_cast<size_t>(batch_.starts[batch_.starts.size() - 1]); }

  // Rows tend to name the same things in the same order: the name after the last one is tried first.
  int32_t numbered(std::string_view name) {
    const std::vector<std::string>& names = batch_.dictionary.list();
    if (guess_ >= names.size() || names[guess_] != name) {
      const size_t known = names.size();
      guess_ = static_cast<size_t>(batch_.dictionary.number(name));
      names_are_text_ &= names.size() == known || is_utf8(name);
    }
    return static_cast<int32_t>(guess_++);
  }
  void add_pairs();
  void report_pair(int32_t column, uint32_t one, uint32_t other);

  Batch& batch_;
  ColumnTable& seen_;
  const uint32_t mask_;
  const bool hashed_, interactions_, keep_names_;
  bool overflow_ = false, names_are_text_ = true;
  size_t guess_ = 0;
};

}  // namespace rosenblatt
