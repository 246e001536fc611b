// Byte strings, numbered in the order of their first appearance.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace rosenblatt {

class Names {
 public:
  // The number of a name, given one if it is new.
  int32_t number(std::string_view name) {
    if (last_ >= 0 && names_[static_cast<size_t>(last_)] == name) return last_;  // labels come in runs
    if (2 * (names_.size() + 1) > slots_.size()) grow();
    size_t slot = hash(name) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (names_[static_cast<size_t>(slots_[slot])] == name) return last_ = slots_[slot];
    }
    slots_[slot] = last_ = static_cast<int32_t>(names_.size());
    names_.emplace_back(name);
    bytes_ += name.size();
    return last_;
  }

  // Forgets all names but the first `size`. The last one that came is taken out first: no other is looked for past its slot.
  void shrink(size_t size) {
    if (names_.size() > size) last_ = -1;
    for (; names_.size() > size; names_.pop_back()) {
      bytes_ -= names_.back().size();
      size_t slot = hash(names_.back()) & (slots_.size() - 1);
      while (slots_[slot] != static_cast<int32_t>(names_.size() - 1)) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = -1;
    }
  }

  const std::vector<std::string>& list() const { return names_; }
  size_t size() const { return names_.size(); }
  size_t bytes() const { return bytes_; }  // of all names

  void clear() {
    names_.clear();
    slots_.clear();
    last_ = -1;
    bytes_ = 0;
  }

 private:
  static size_t hash(std::string_view name) {  // FNV-1a, only for this table: it decides nothing that is seen outside
    uint64_t h = 0xcbf29ce484222325u;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return static_cast<size_t>(h ^ (h >> 32));
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), -1);
    for (size_t k = 0; k < names_.size(); ++k) {
      size_t slot = hash(names_[k]) & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int32_t>(k);
    }
  }

  std::vector<std::string> names_;
  std::vector<int32_t> slots_;  // numbers, or -1: free
  int32_t last_ = -1;
  size_t bytes_ = 0;
};

}  // namespace rosenblatt
