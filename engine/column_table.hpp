// Which columns a row has already, and where: so that each occurs once, however often it is named.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rosenblatt {

// Columns in the order of their first appearance. To forget them all costs nothing: a slot counts only if its stamp is not
// older than the row. Whether a column is new cannot be foreseen, so that it is not a matter of branches: only a slot that
// is taken by another column is.
class ColumnTable {
 public:
  void clear() {
    first_ += count_;
    count_ = 0;
    if (first_ > kLastStamp) {
      slots_.assign(slots_.size(), 0);
      first_ = 1;
    }
  }

  // How many columns came before this one when it came first: size() as it was before the call if that is now.
  uint32_t place(int32_t column) {
    make_room(1);
    uint32_t stamp = first_ + count_;
    const uint32_t found = stamp_of(static_cast<uint32_t>(column), stamp);
    count_ = stamp - first_;
    return found - first_;
  }

  // Writes those of the columns that are new to `fresh`, which has room for all; returns how many.
  size_t sift(const int32_t* columns, size_t count, int32_t* fresh) {
    make_room(count);
    uint32_t stamp = first_ + count_;
    const uint32_t before = stamp;
    for (size_t i = 0; i < count; ++i) {
      fresh[stamp - before] = columns[i];
      (void)stamp_of(static_cast<uint32_t>(columns[i]), stamp);
    }
    count_ = stamp - first_;
    return stamp - before;
  }

  uint32_t size() const { return count_; }

 private:
  static constexpr size_t kFirstSize = 2048;  // 16 kB: the words of a page of text at a low load
  static constexpr uint32_t kLastStamp = uint32_t{1} << 31;

  size_t slot_of(uint32_t column) const { return (column * 0x9e3779b1u) >> shift_; }

  // The stamp of a column. If it is new it gets `next`, which is then one higher.
  uint32_t stamp_of(uint32_t column, uint32_t& next) {
    uint64_t* const slots = slots_.data();
    const uint64_t oldest = uint64_t{first_} << 32;
    size_t at = slot_of(column);
    uint64_t slot = slots[at];
    // First whether it is the column's own slot, of this row or of an earlier one: mostly it is. Whether it is of this row
    // cannot be foreseen, and must not be asked before.
    while (static_cast<uint32_t>(slot) != column) [[unlikely]] {
      if (slot < oldest) break;
      at = (at + 1) & (slots_.size() - 1);
      slot = slots[at];
    }
    const uint64_t is_new = slot < oldest, mine = (uint64_t{next} << 32) | column;
    slot ^= (slot ^ mine) & (0 - is_new);
    slots[at] = slot;
    next += static_cast<uint32_t>(is_new);
    return static_cast<uint32_t>(slot >> 32);
  }

  void make_room(size_t more) {
    while (2 * (count_ + more) > slots_.size()) grow();
  }
  void grow() {
    std::vector<uint64_t> before(slots_.empty() ? kFirstSize : 2 * slots_.size(), 0);
    before.swap(slots_);
    shift_ = 32 - std::countr_zero(slots_.size());
    for (const uint64_t slot : before) {
      if (slot >> 32 < first_) continue;
      size_t at = slot_of(static_cast<uint32_t>(slot));
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<uint64_t> slots_;  // a stamp (its upper half) and a column
  uint32_t first_ = 1, count_ = 0;
  int shift_ = 32;
};

}  // namespace rosenblatt
