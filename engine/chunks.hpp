// A stream of bytes as batches of rows: read in chunks of whole lines, parsed by several threads, delivered in order.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "batch.hpp"
#include "formats.hpp"
#include "pool.hpp"

namespace rosenblatt {

// Where bytes come from. read is called by one thread at a time, and gives 0 at the end; it may throw. If it gives less
// than there is room for, `pauses` says whether no more is there for now: whole lines are then not kept waiting.
struct Source {
  virtual ~Source() = default;
  virtual int64_t read(char* into, int64_t room) = 0;
  virtual bool pauses() const { return false; }
};

std::unique_ptr<Source> descriptor_source(int descriptor);

// Where a stream begins, or goes on from.
struct Beginning {
  std::vector<std::string> labels, dictionary;  // those that have numbers already
  int64_t line = 0, offset = 0;
};

// Threads begin to parse when it is made. At most `slots` chunks are ahead of what was delivered, so memory is bounded.
// The batches do not depend on the number of threads; the rows do not depend on the size of the chunks either.
class Chunks {
 public:
  Chunks(std::unique_ptr<Source> source, Options options, Beginning beginning, int threads, int64_t chunk, int slots);
  ~Chunks();
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;

  // The next batch, or null at the end. The calling thread parses too where its batch is not ready. `waiting` is asked
  // about forty times a second while it has to wait; false gives up, and null is returned.
  std::unique_ptr<Batch> next(const std::function<bool()>& waiting);
  int look_ahead(int slots);  // from now on at most so many; gives how many before
  void close();               // stop the threads; next gives null from then on

  const Names& labels() const { return labels_; }
  const Names& dictionary() const { return dictionary_; }
  const std::shared_ptr<Pool<Batch>>& pool() const { return pool_; }

 private:
  struct Slot {
    std::vector<char> bytes;  // whole lines, then 64 zeros
    int64_t count = 0;
    std::unique_ptr<Batch> batch;
    std::exception_ptr error;
    bool ready = false, too_long = false, paused = false;
  };
  using Place = std::shared_ptr<Slot>;

  Place claim(std::unique_lock<std::mutex>& hold);  // the next chunk of bytes, or null if there is none to be had now
  bool fill(Slot& slot);
  void parse_slot(Slot& slot);
  void parsed(Slot& slot);
  void work();
  std::unique_ptr<Batch> deliver(Slot& slot);

  std::unique_ptr<Source> source_;
  const Options options_;
  const int64_t chunk_;
  size_t slots_;
  // More than are ahead: memory that is freed and asked for again scatters what is used.
  std::shared_ptr<Pool<Batch>> pool_ = std::make_shared<Pool<Batch>>(96);
  Names labels_, dictionary_;
  int64_t lines_, offset_;

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Place> ahead_;               // claimed and not yet delivered, in order
  std::vector<std::vector<char>> spare_;  // buffers to use again
  std::vector<char> carried_;             // the beginning of a line whose end is not read yet
  bool reading_ = false, finished_ = false, closed_ = false;
  bool paused_ = false;  // the last read gave less than was asked for: the next one may take long
  std::vector<std::thread> threads_;
};

}  // namespace rosenblatt
