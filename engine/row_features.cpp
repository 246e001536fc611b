#include "row_features.hpp"

#include <utility>

namespace rosenblatt {

std::string_view RowFeatures::joined(std::string_view name, std::string_view value) {
  std::string& both = batch_.workspace.name;
  both.assign(name);
  both += '=';
  both += value;
  return both;
}

const char* RowFeatures::finish() {
  if (interactions_ && hashed_) {
    if (seen_.size() > kMostToPair) return "at most 1,024 features in a row whose pairs are wanted";
    add_pairs();
  }
  if (!names_are_text_) return kNotText;
  if (overflow_) return "values whose sums and products are finite";
  return batch_.columns.size() <= kMostInBatch ? nullptr : "fewer features in a piece of the file";
}

void RowFeatures::add_pairs() {
  // From a copy: a pair may fall on a column of the row, and change its value.
  std::vector<std::pair<uint32_t, double>>& row = batch_.workspace.row;
  row.clear();
  for (size_t k = row_start(); k < batch_.columns.size(); ++k) {
    if (batch_.values[k] != 0.0) row.emplace_back(static_cast<uint32_t>(batch_.columns[k]), batch_.values[k]);
  }
  for (size_t i = 0; i < row.size(); ++i) {
    for (size_t j = i + 1; j < row.size(); ++j) {
      const auto [low, high] = std::minmax(row[i].first, row[j].first);
      const uint32_t hash = murmur::finished(murmur::mixed(murmur::mixed(0, low), high) ^ 8);
      const double product = row[i].second * row[j].second;
      overflow_ |= !std::isfinite(product);
      if (keep_names_) report_pair(column_of(hash), row[i].first, row[j].first);
      add(column_of(hash), product);
    }
  }
}

// "one × other", by the names that the row has: those of other rows of the chunk depend on where it begins.
void RowFeatures::report_pair(int32_t column, uint32_t one, uint32_t other) {
  Workspace& space = batch_.workspace;
  const uint32_t before = space.reported.size();
  if (space.reported.place(column) != before) return;
  const auto name = [&](uint32_t feature) -> const std::string& {
    return space.row_names[space.row_reported.place(static_cast<int32_t>(feature))];
  };
  batch_.named.emplace_back(column, name(one) + " \xc3\x97 " + name(other));
}

}  // namespace rosenblatt
