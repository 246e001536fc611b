#include "chunks.hpp"

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

namespace rosenblatt {
namespace {

constexpr int64_t kPadding = 64;
constexpr int64_t kMostToPair = 1 << 16;  // bytes of a chunk whose features are paired: each becomes hundreds

class Descriptor final : public Source {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  int64_t read(char* into, int64_t room) override {
    for (;;) {
#ifdef _WIN32
      const int64_t got = _read(descriptor_, into, static_cast<unsigned>(std::min<int64_t>(room, 1 << 30)));
#else
      const int64_t got = ::read(descriptor_, into, static_cast<size_t>(room));
#endif
      if (got >= 0) return got;
      if (errno != EINTR) throw std::system_error(errno, std::generic_category());
    }
  }

 private:
  int descriptor_;
};

}  // namespace

std::unique_ptr<Source> descriptor_source(int descriptor) { return std::make_unique<Descriptor>(descriptor); }

Chunks::Chunks(std::unique_ptr<Source> source, Options options, Beginning beginning, int threads, int64_t chunk,
               int slots)
    : source_(std::move(source)),
      options_(std::move(options)),
      chunk_(std::clamp<int64_t>(chunk, 1, options_.interactions ? kMostToPair : chunk)),
      slots_(static_cast<size_t>(std::max(1, slots))),
      lines_(beginning.line),
      offset_(beginning.offset) {
  for (const std::string& name : beginning.labels) labels_.number(name);
  for (const std::string& name : options_.dictionary) dictionary_.number(name);
  for (const std::string& name : beginning.dictionary) dictionary_.number(name);
  for (int t = 1; t < threads; ++t) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads; next() parses by itself
    }
  }
}

Chunks::~Chunks() { close(); }

int Chunks::look_ahead(int slots) {
  std::lock_guard<std::mutex> hold(lock_);
  const int before = static_cast<int>(slots_);
  slots_ = static_cast<size_t>(std::max(1, slots));
  changed_.notify_all();
  return before;
}

void Chunks::close() {
  {
    std::lock_guard<std::mutex> hold(lock_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  ahead_.clear();
}

// Whole lines into the slot: what was carried over and one chunk more, as much as the longest line needs, or what there
// is before a pause. Whether this was the end of the stream. The caller is the only reader.
bool Chunks::fill(Slot& slot) {
  std::vector<char>& bytes = slot.bytes;
  int64_t have = static_cast<int64_t>(carried_.size());
  bytes.resize(static_cast<size_t>(std::max(have + chunk_, static_cast<int64_t>(bytes.size()) - kPadding) + kPadding));
  std::copy(carried_.begin(), carried_.end(), bytes.begin());
  carried_.clear();
  int64_t whole = 0, got = 1;
  for (int64_t target = have + chunk_; whole == 0;) {
    slot.paused = false;
    while (have < target && got > 0 && !slot.paused) {
      const int64_t room = target - have;
      char* to = bytes.data() + have;
      got = source_->read(to, room);
      slot.paused = got > 0 && got < room && source_->pauses() && std::memchr(to, '\n', static_cast<size_t>(got));
      have += got;
    }
    slot.too_long = got > 0 && have > options_.max_line;
    whole = got > 0 ? whole_rows(bytes.data(), have, options_) : have;  // a last line needs no newline
    if (got == 0 || slot.too_long) break;
    target = std::min(2 * target, options_.max_line + chunk_ + 1);
    bytes.resize(static_cast<size_t>(target + kPadding));
  }
  slot.too_long &= whole == 0;
  carried_.assign(bytes.data() + whole, bytes.data() + have);
  std::memset(bytes.data() + whole, 0, kPadding);
  slot.count = whole;
  return got == 0 || slot.too_long;
}

Chunks::Place Chunks::claim(std::unique_lock<std::mutex>& hold) {
  if (closed_ || finished_ || reading_ || ahead_.size() >= slots_) return nullptr;
  Place slot = std::make_shared<Slot>();
  if (!spare_.empty()) {
    slot->bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  reading_ = true;
  hold.unlock();
  bool at_end = true;
  try {
    at_end = fill(*slot);
  } catch (...) {
    slot->error = std::current_exception();
    slot->ready = true;
  }
  hold.lock();
  reading_ = false;
  paused_ = slot->paused;
  finished_ = at_end;
  const bool some = slot->count > 0 || slot->too_long;
  if (some || slot->error) ahead_.push_back(slot);
  changed_.notify_all();
  return some && !slot->error ? slot : nullptr;
}

void Chunks::parse_slot(Slot& slot) {
  try {
    slot.batch = pool_->take();
    Batch& batch = *slot.batch;
    batch.reset(options_);
    const char* first = slot.bytes.data();
    if (slot.too_long) {
      batch.lines = 1;
      batch.fault = std::make_unique<Fault>(Fault{1, 1, std::string(first, 100), "a line without an end",
                                                  "lines of at most " + std::to_string(options_.max_line) + " bytes"});
    } else {
      parse(first, first + slot.count, options_, batch);
    }
    batch.end = slot.count;
    constexpr size_t kAfter = 8;  // dense rows are read in groups of eight
    batch.values.reserve(batch.values.size() + kAfter);
    std::memset(batch.values.data() + batch.values.size(), 0, kAfter * sizeof(double));
  } catch (...) {
    slot.error = std::current_exception();
  }
}

// Its text is not needed any more: the next chunk is read into it while it is still in the cache.
void Chunks::parsed(Slot& slot) {
  spare_.push_back(std::move(slot.bytes));
  slot.ready = true;
}

void Chunks::work() {
  std::unique_lock<std::mutex> hold(lock_);
  for (;;) {
    changed_.wait(hold, [&] { return closed_ || finished_ || (!reading_ && ahead_.size() < slots_); });
    if (closed_ || finished_) return;
    const Place slot = claim(hold);
    if (!slot) continue;
    hold.unlock();
    parse_slot(*slot);
    hold.lock();
    parsed(*slot);
    changed_.notify_all();
  }
}

std::unique_ptr<Batch> Chunks::next(const std::function<bool()>& waiting) {
  std::unique_lock<std::mutex> hold(lock_);
  for (;;) {
    if (closed_) return nullptr;
    if (!ahead_.empty() && ahead_.front()->ready) {
      const Place slot = ahead_.front();
      ahead_.pop_front();
      changed_.notify_all();
      hold.unlock();
      return deliver(*slot);
    }
    if (ahead_.empty() && finished_) return nullptr;
    const bool comes = paused_ && !ahead_.empty();  // what is parsed elsewhere is not kept waiting for a read
    if (const Place slot = comes ? nullptr : claim(hold)) {
      hold.unlock();
      parse_slot(*slot);
      hold.lock();
      parsed(*slot);
      continue;
    }
    if (changed_.wait_for(hold, std::chrono::milliseconds(25)) == std::cv_status::timeout) {
      hold.unlock();
      if (!waiting()) return nullptr;
      hold.lock();
    }
  }
}

// From the numbers of a chunk to those of the stream: labels, columns with names, lines, bytes.
std::unique_ptr<Batch> Chunks::deliver(Slot& slot) {
  if (slot.error) std::rethrow_exception(slot.error);
  std::unique_ptr<Batch> batch = std::move(slot.batch);
  std::vector<int32_t> number;
  for (const std::string& name : batch->label_names.list()) number.push_back(labels_.number(name));
  for (size_t i = 0; i < batch->labels.size(); ++i) {
    if (batch->labels[i] >= 0) batch->labels[i] = number[static_cast<size_t>(batch->labels[i])];
  }
  if (batch->dictionary.size() > 0) {
    number.clear();
    for (const std::string& name : batch->dictionary.list()) number.push_back(dictionary_.number(name));
    for (size_t i = 0; i < batch->columns.size(); ++i) {
      batch->columns[i] = number[static_cast<size_t>(batch->columns[i])];
    }
    batch->largest = -1;
    for (size_t i = 0; i < batch->columns.size(); ++i) batch->note(batch->columns[i]);
  }
  for (Fault& bad : batch->rejected) bad.line += lines_;
  if (batch->fault) batch->fault->line += lines_;
  batch->lines = lines_ += batch->lines;
  batch->end = offset_ += batch->end;
  return batch;
}

}  // namespace rosenblatt
