#include "packed_rows.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

int width_of(uint64_t size) { return size < 1u << 8 ? 1 : size < 1u << 16 ? 2 : size < 1u << 24 ? 3 : 4; }

void planes_of(const Growing<int32_t>& integers, size_t n, int width, Growing<uint8_t>& planes) {
  planes.resize(n * static_cast<size_t>(width));
  const int64_t count = static_cast<int64_t>(n);
  kernels().compact.to_planes(integers.data(), {count, width, 0, count}, planes.data());
}

bool all_are_float32(const double* numbers, size_t n) {
  constexpr size_t kBlock = 256;
  for (size_t first = 0; first < n; first += kBlock) {
    bool all = true;
    for (size_t i = first; i < std::min(n, first + kBlock); ++i) {
      const bool in_range = std::fabs(numbers[i]) <= 3.4028234663852886e38;  // what is larger, or NaN, has no float32
      all &= in_range && static_cast<double>(static_cast<float>(in_range ? numbers[i] : 0.0)) == numbers[i];
    }
    if (!all) return false;
  }
  return true;
}

size_t count_of(const Rows& rows) {
  if (rows.index_type == Indices::int32) return static_cast<size_t>(static_cast<const int32_t*>(rows.starts)[rows.n]);
  if (rows.index_type == Indices::int64) return static_cast<size_t>(static_cast<const int64_t*>(rows.starts)[rows.n]);
  return static_cast<size_t>(rows.n) * static_cast<size_t>(rows.d);
}

template <class From, class To>
void append(const From* from, size_t n, Growing<To>& to, size_t before) {
  to.resize(before + n);
  for (size_t i = 0; i < n; ++i) to[before + i] = static_cast<To>(from[i]);
}

template <class T>
void bytes_of(const double* numbers, size_t n, Growing<uint8_t>& bytes) {
  bytes.resize(n * sizeof(T));
  for (size_t i = 0; i < n; ++i) {
    const T number = static_cast<T>(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &number, sizeof(T));
  }
}

}  // namespace

bool Packer::takes(const Rows& rows, bool weighted) const {
  const bool dense = rows.index_type == Indices::none;
  return rows_ == 0 || (dense == dense_ && weighted == weighted_ && (!dense || rows.d == features_));
}

void Packer::add(const Rows& rows, const int16_t* codes, const double* weights) {
  const size_t before = static_cast<size_t>(rows_), n = static_cast<size_t>(rows.n);
  const size_t count = count_of(rows);
  if (rows.d > INT32_MAX)
    throw std::length_error("rows that are kept for later passes have at most 2**31 - 1 features");
  if (numbers_ + count > INT32_MAX)
    throw std::length_error("too many numbers at once: give the rows in smaller batches");
  if (before == 0) {
    dense_ = rows.index_type == Indices::none;
    weighted_ = weights != nullptr;
    starts_.push_back(0);
  }
  append(codes, n, codes_, before);
  if (weighted_) append(weights, n, weights_, before);
  if (rows.index_type == Indices::int32) add_places(static_cast<const int32_t*>(rows.starts), rows);
  if (rows.index_type == Indices::int64) add_places(static_cast<const int64_t*>(rows.starts), rows);
  if (rows.values == Values::float32) {
    add_numbers(static_cast<const float*>(rows.data), count);
  } else {
    add_numbers(static_cast<const double*>(rows.data), count);
  }
  numbers_ += count;
  rows_ += rows.n;
  features_ = std::max(features_, rows.d);
}

template <class I>
void Packer::add_places(const I* starts, const Rows& rows) {
  const size_t before = static_cast<size_t>(rows_), n = static_cast<size_t>(rows.n);
  starts_.resize(before + n + 1);
  for (size_t i = 1; i <= n; ++i) starts_[before + i] = static_cast<int32_t>(numbers_ + static_cast<size_t>(starts[i]));
  append(static_cast<const I*>(rows.columns), static_cast<size_t>(starts[n]), columns_, numbers_);
}

template <class T>
void Packer::add_numbers(const T* numbers, size_t n) {
  if (n == 0) return;
  if (decimal_) {
    m_.resize(numbers_ + n);
    const Decimals found = decimals(numbers, static_cast<int64_t>(n), places_, m_.data() + numbers_);
    if (found.places >= 0 && (found.places == places_ || scale(found.places))) {
      size_ |= found.size;
      all_are_one_ &= found.all_are_one;
      return;
    }
    give_up_decimals();
  }
  append(numbers, n, raw_, numbers_);
}

bool Packer::scale(int places) {
  int64_t factor = 1;
  for (int more = places - places_; more > 0; --more) factor *= 10;
  if (numbers_ > 0 && (int64_t{size_} + 1) * factor > INT32_MAX) return false;
  size_ = 0;
  for (size_t i = 0; i < numbers_; ++i) {
    m_[i] = static_cast<int32_t>(m_[i] * factor);
    size_ |= static_cast<uint32_t>(m_[i] ^ (m_[i] >> 31));
  }
  places_ = places;
  return true;
}

void Packer::give_up_decimals() {
  raw_.resize(numbers_);
  kernels().compact.to_numbers(m_.data(), static_cast<int64_t>(numbers_), places_, raw_.data());
  decimal_ = false;
}

int64_t Packer::bytes() const {
  const size_t a_number = dense_ ? sizeof(double) : sizeof(double) + sizeof(int32_t);
  const size_t a_row = sizeof(int16_t) + (dense_ ? 0 : sizeof(int32_t)) + (weighted_ ? sizeof(double) : 0);
  return static_cast<int64_t>(numbers_ * a_number) + rows_ * static_cast<int64_t>(a_row);
}

void Packer::finish(PackedRows& into) {
  into.rows = rows_, into.features = features_, into.numbers = numbers_;
  into.dense = dense_, into.weighted = weighted_;
  into.column_width = dense_ ? 0 : width_of(static_cast<uint64_t>(features_ - 1));
  into.places = 0;
  if (dense_) starts_.clear();
  std::swap(into.codes, codes_);
  std::swap(into.weights, weights_);
  std::swap(into.starts, starts_);
  into.columns.clear(), into.values.clear();
  if (!dense_) planes_of(columns_, numbers_, into.column_width, into.columns);
  if (!decimal_) {
    const bool single = all_are_float32(raw_.data(), numbers_);
    into.kind = single ? PackedRows::float32 : PackedRows::float64;
    single ? bytes_of<float>(raw_.data(), numbers_, into.values) : bytes_of<double>(raw_.data(), numbers_, into.values);
  } else if (all_are_one_ && !dense_) {  // dense ones are no less than a byte each: files are not believed to be larger
    into.kind = PackedRows::ones;
  } else {
    into.kind = width_of(2 * uint64_t{size_});  // with a bit for the sign
    into.places = places_;
    planes_of(m_, numbers_, into.kind, into.values);
  }
  rows_ = features_ = 0;
  numbers_ = 0;
  places_ = 0, size_ = 0;
  decimal_ = all_are_one_ = true;
  codes_.clear(), weights_.clear(), raw_.clear(), starts_.clear(), columns_.clear(), m_.clear();
}

}  // namespace rosenblatt
