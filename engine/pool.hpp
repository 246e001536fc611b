// Things that nobody uses any more, for their memory to be used again.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rosenblatt {

template <class T>
class Pool {
 public:
  explicit Pool(size_t kept) : kept_(kept) {}

  std::unique_ptr<T> take() {
    std::lock_guard<std::mutex> hold(lock_);
    if (spare_.empty()) return std::make_unique<T>();
    std::unique_ptr<T> one = std::move(spare_.back());
    spare_.pop_back();
    return one;
  }
  void give(std::unique_ptr<T> one) {
    std::lock_guard<std::mutex> hold(lock_);
    if (spare_.size() < kept_) spare_.push_back(std::move(one));
  }

 private:
  const size_t kept_;
  std::mutex lock_;
  std::vector<std::unique_ptr<T>> spare_;
};

}  // namespace rosenblatt
