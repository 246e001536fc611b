#include "equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "blocks.hpp"
#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

template <class T>
bool equal_dense(const Rows& rows, int64_t a, int64_t b) {
  const T* x = static_cast<const T*>(rows.data);
  return std::equal(x + a * rows.d, x + (a + 1) * rows.d, x + b * rows.d);
}

template <class T, class I>
bool equal_sparse(const Rows& rows, int64_t a, int64_t b) {
  const T* values = static_cast<const T*>(rows.data);
  const I *columns = static_cast<const I*>(rows.columns), *starts = static_cast<const I*>(rows.starts);
  I i = starts[a], j = starts[b];
  const I i_end = starts[a + 1], j_end = starts[b + 1];
  for (;; ++i, ++j) {
    while (i < i_end && values[i] == 0) ++i;
    while (j < j_end && values[j] == 0) ++j;
    if (i == i_end || j == j_end) return i == i_end && j == j_end;
    if (columns[i] != columns[j] || values[i] != values[j]) return false;
  }
}

bool equal(const Rows& rows, int64_t a, int64_t b) {
  const bool narrow = rows.values == Values::float32;
  switch (rows.index_type) {
    case Indices::none: return narrow ? equal_dense<float>(rows, a, b) : equal_dense<double>(rows, a, b);
    case Indices::int32:
      return narrow ? equal_sparse<float, int32_t>(rows, a, b) : equal_sparse<double, int32_t>(rows, a, b);
    default: return narrow ? equal_sparse<float, int64_t>(rows, a, b) : equal_sparse<double, int64_t>(rows, a, b);
  }
}

constexpr int kRowBits = 40;  // of an entry of the table: the row's number plus 1; the rest is a part of its hash

}  // namespace

std::pair<int64_t, int64_t> equal_rows(const Rows& rows, const int16_t* codes, const uint64_t* factors,
                                       const std::function<bool()>& keep_going) {
  constexpr uint64_t kRow = (uint64_t{1} << kRowBits) - 1;
  std::vector<uint64_t> hashes(static_cast<size_t>(rows.n));
  std::vector<uint64_t> table(std::bit_ceil(static_cast<size_t>(2 * rows.n + 1)));
  for (int64_t first = 0; first < rows.n; first += kBlock) {
    if (!keep_going()) break;
    const int64_t end = std::min(first + kBlock, rows.n);
    kernels().hashes(rows, factors, first, end - first, hashes.data() + first);
    for (int64_t i = first; i < end; ++i) {
      const uint64_t hash = hashes[static_cast<size_t>(i)];
      const uint64_t entry = (hash & ~kRow) | static_cast<uint64_t>(i + 1);
      size_t place = (hash ^ (hash >> 32)) & (table.size() - 1);
      bool is_known = false;
      for (; table[place] != 0 && !is_known; place = (place + 1) & (table.size() - 1)) {
        if ((table[place] ^ entry) > kRow) continue;
        const int64_t other = static_cast<int64_t>(table[place] & kRow) - 1;
        if (hashes[static_cast<size_t>(other)] != hash || !equal(rows, other, i)) continue;
        if (codes[other] != codes[i]) return {other, i};
        is_known = true;
      }
      if (!is_known) table[place] = entry;
    }
  }
  return {-1, -1};
}

}  // namespace rosenblatt
