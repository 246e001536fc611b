// Rows in few bytes, as a cache keeps them for later passes; whatever is packed comes back to the bit.
//
// Column numbers take as few bytes as the widest row needs. Numbers take none if all are 1, one to four bytes as decimals
// (compact.hpp), which is how most files have them, else those of float32 where every one is a float32, or of float64.
#pragma once
#include <cstdint>

#include "growing.hpp"
#include "problems.hpp"

namespace rosenblatt {

struct PackedRows {
  enum Kind { ones = 0, float32 = 32, float64 = 64 };  // else a decimal's width in bytes

  int64_t rows = 0, features = 0;
  size_t numbers = 0;
  bool dense = false, weighted = false;
  int column_width = 0;  // bytes; 0: dense
  int kind = ones, places = 0;
  Growing<int16_t> codes;
  Growing<double> weights;
  Growing<int32_t> starts;
  Growing<uint8_t> columns, values;

  int64_t bytes() const {
    const size_t a_row = 2 * codes.size() + 8 * weights.size() + 4 * starts.size();
    return static_cast<int64_t>(a_row + columns.size() + values.size());
  }
};

// Packs rows, one batch behind the other.
class Packer {
 public:
  bool takes(const Rows& rows, bool weighted) const;  // whether they can be in one piece with those before
  void add(const Rows& rows, const int16_t* codes, const double* weights);
  int64_t bytes() const;  // of the rows so far, unpacked
  void finish(PackedRows& into);

 private:
  template <class T>
  void add_numbers(const T* numbers, size_t n);
  template <class I>
  void add_places(const I* starts, const Rows& rows);
  bool scale(int places);  // the decimals so far to more places; false if they get too large
  void give_up_decimals();

  int64_t rows_ = 0, features_ = 0;
  size_t numbers_ = 0;
  bool dense_ = false, weighted_ = false, decimal_ = true, all_are_one_ = true;
  int places_ = 0;
  uint32_t size_ = 0;
  Growing<int16_t> codes_;
  Growing<double> weights_, raw_;
  Growing<int32_t> starts_, columns_, m_;
};

}  // namespace rosenblatt
