// Memory of arrays that is used again.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace rosenblatt {

// An array that grows and can be used again, whose new places are not set: a page that is never written costs nothing.
template <class T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  void reserve(size_t room) {
    if (room <= room_) return;
    // With some to spare: chunks differ by a few bytes, and arrays that move for these leave used memory behind.
    const size_t wanted = std::max(room + room / 8, room_ + room_ / 2);
    void* moved = std::realloc(data_.get(), wanted * sizeof(T));
    if (!moved) throw std::bad_alloc();
    (void)data_.release();
    data_.reset(static_cast<T*>(moved));
    room_ = wanted;
  }
  void push_back(T value) {
    if (size_ == room_) reserve(size_ + 16);
    data_.get()[size_++] = value;
  }
  void resize(size_t size) {  // new places are not set
    reserve(size);
    size_ = size;
  }
  void clear() { size_ = 0; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  size_t size() const { return size_; }
  size_t room() const { return room_; }
  T& back() { return data_.get()[size_ - 1]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0, room_ = 0;
};

}  // namespace rosenblatt
