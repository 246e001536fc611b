// One pass over a stream of two classes, in a thread of its own: the engine learns while Python is still loading.
//
// It knows one binary problem, the second class met against the first. What it has no rule for it leaves alone: at a
// third class, a weight, a row without a label or a line that cannot be read it stops before that batch, and whoever
// reads the stream goes on from there, with what was learned so far. Rows that it has learned from can be handed on, packed,
// for passes to come.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "chunks.hpp"
#include "packed_rows.hpp"
#include "pool.hpp"
#include "problems.hpp"

namespace rosenblatt {

// A batch as the loops read it.
Rows rows_of(const Batch& batch);

// A vector that begins at a cache line and grows with zeros, which take no memory before they are touched.
class WideVector {
 public:
  WideVector() = default;
  WideVector(WideVector&& other) noexcept
      : room_(std::move(other.room_)),
        begin_(std::exchange(other.begin_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  void grow(int64_t columns);  // to at least so many; rounded up to eight
  double* data() const { return begin_; }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> room_;
  double* begin_ = nullptr;
  int64_t size_ = 0;
};

class FirstPass {
 public:
  // What was learned from, and what came of it.
  struct State {
    WideVector w, w_late;  // w_late stays empty without an average
    double b = 0, b_late = 0;
    int64_t n_features = 0;
    int64_t visits = 0, updates = 0;
    int64_t wrong = 0;            // rows on the wrong side, which with a margin not all mistakes are
    int64_t right = 0;            // rows that were given their class before they were learned from
    int64_t rows[2] = {0, 0};     // of each class
    int64_t changes = 0;          // rows whose class is not that of the row before
    int16_t last = -1;            // the class of the last row
    int64_t smallest = -1;        // the smallest column number
    int64_t end = 0, lines = 0;   // where it stopped: bytes and lines of the stream
    bool finite = true;           // false: a row or a score is not; nothing of this is of use then
    std::unique_ptr<Batch> left;  // the batch that it left alone, or null
    std::exception_ptr error;     // what reading the stream has thrown
  };

  // Rows that are handed on: how many bytes of them at once, unpacked, and how many may wait, packed; 0: none are.
  struct Kept {
    int64_t piece, waiting;
  };

  // Begins at once. `width` features are known to be there. While it learns, `ahead` chunks are parsed ahead: it is as
  // fast as they come, and more would only take new memory.
  FirstPass(Chunks& chunks, const Rule& rule, bool average, int64_t width, Kept kept, int ahead);
  ~FirstPass();
  FirstPass(const FirstPass&) = delete;
  FirstPass& operator=(const FirstPass&) = delete;

  bool wait(std::chrono::milliseconds patience);  // whether it is over
  State& state() { return state_; }               // once it is over
  bool waits();                                   // whether rows wait to be taken
  std::shared_ptr<PackedRows> take(
      std::chrono::milliseconds patience);  // rows that were learned from, in order, or null
  int64_t rows_so_far() const { return rows_so_far_.load(std::memory_order_relaxed); }
  int64_t mistakes_so_far() const { return mistakes_so_far_.load(std::memory_order_relaxed); }

 private:
  void work();
  bool knows(const Batch& batch) const;
  bool learn(const Batch& batch);  // false: not finite
  void pack(const Batch& batch);
  void hand_on();

  Chunks& chunks_;
  const Rule rule_;
  const bool average_;
  const Kept kept_;
  const int ahead_after_;  // chunks, for who goes on from where it stops
  State state_;
  std::vector<int16_t> codes_, predicted_;
  std::atomic<int64_t> rows_so_far_{0}, mistakes_so_far_{0};
  std::atomic<bool> stop_{false};
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_over_ = false;
  Packer packer_;
  std::shared_ptr<Pool<PackedRows>> pool_ = std::make_shared<Pool<PackedRows>>(4);
  std::deque<std::unique_ptr<PackedRows>> learned_;
  int64_t waiting_ = 0;  // bytes of these
  std::thread thread_;
};

}  // namespace rosenblatt
