#include "first_pass.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "passes.hpp"

namespace rosenblatt {
namespace {

constexpr size_t kMostNames = size_t{24} << 20;  // of more, whoever called says that no model file has room for them

}  // namespace

Rows rows_of(const Batch& batch) {
  const int64_t n = batch.rows(), d = std::max<int64_t>(1, batch.features());
  if (batch.dense) return {Values::float64, Indices::none, batch.values.data(), nullptr, nullptr, n, d, n, nullptr};
  return {Values::float64, Indices::int32, batch.values.data(), batch.columns.data(), batch.starts.data(), n, d, 0,
          nullptr};
}

void WideVector::grow(int64_t columns) {
  constexpr int64_t kLine = 8;
  if (columns <= size_) return;
  const int64_t wanted = (std::max(columns, size_ + size_ / 2) + kLine - 1) / kLine * kLine;
  std::unique_ptr<void, Free> room(std::calloc(static_cast<size_t>(wanted + kLine), sizeof(double)));
  if (!room) throw std::bad_alloc();
  double* begin = static_cast<double*>(room.get());
  while (reinterpret_cast<uintptr_t>(begin) % 64 != 0) ++begin;
  if (size_ > 0) std::memcpy(begin, begin_, static_cast<size_t>(size_) * sizeof(double));
  room_ = std::move(room);
  begin_ = begin;
  size_ = wanted;
}

FirstPass::FirstPass(Chunks& chunks, const Rule& rule, bool average, int64_t width, Kept kept, int ahead)
    : chunks_(chunks), rule_(rule), average_(average), kept_(kept), ahead_after_(chunks.look_ahead(ahead)) {
  state_.n_features = width;
  thread_ = std::thread([this] {
    try {
      work();
      if (kept_.waiting > 0) hand_on();
    } catch (...) {
      state_.error = std::current_exception();
    }
    chunks_.look_ahead(ahead_after_);
    std::lock_guard<std::mutex> hold(lock_);
    is_over_ = true;
    changed_.notify_all();
  });
}

FirstPass::~FirstPass() {
  {
    std::lock_guard<std::mutex> hold(lock_);
    stop_.store(true);
  }
  changed_.notify_all();
  thread_.join();
}

bool FirstPass::wait(std::chrono::milliseconds patience) {
  std::unique_lock<std::mutex> hold(lock_);
  return changed_.wait_for(hold, patience, [&] { return is_over_; });
}

std::shared_ptr<PackedRows> FirstPass::take(std::chrono::milliseconds patience) {
  std::unique_lock<std::mutex> hold(lock_);
  changed_.wait_for(hold, patience, [&] { return is_over_ || !learned_.empty(); });
  if (learned_.empty()) return nullptr;
  PackedRows* rows = learned_.front().release();
  learned_.pop_front();
  waiting_ -= rows->bytes();
  changed_.notify_all();
  return {rows, [pool = pool_](PackedRows* done) { pool->give(std::unique_ptr<PackedRows>(done)); }};
}

bool FirstPass::waits() {
  std::lock_guard<std::mutex> hold(lock_);
  return !learned_.empty();
}

// While the rows are in a cache.
void FirstPass::pack(const Batch& batch) {
  Rows rows = rows_of(batch);
  if (!batch.dense) rows.d = std::max<int64_t>(1, state_.n_features);
  if (packer_.bytes() >= kept_.piece || !packer_.takes(rows, false)) hand_on();
  packer_.add(rows, codes_.data(), nullptr);
}

void FirstPass::hand_on() {
  if (packer_.bytes() == 0) return;
  std::unique_ptr<PackedRows> rows = pool_->take();
  packer_.finish(*rows);
  std::unique_lock<std::mutex> hold(lock_);
  changed_.wait(hold, [&] { return waiting_ < kept_.waiting || stop_.load(); });
  waiting_ += rows->bytes();
  learned_.push_back(std::move(rows));
  changed_.notify_all();
}

void FirstPass::work() {
  while (!stop_.load(std::memory_order_relaxed)) {
    std::unique_ptr<Batch> batch = chunks_.next([&] { return !stop_.load(std::memory_order_relaxed); });
    if (!batch) return;
    if (!knows(*batch)) {
      state_.left = std::move(batch);
      return;
    }
    if (batch->rows() > 0 && !learn(*batch)) {
      state_.finite = false;
      return;
    }
    state_.end = batch->end;
    state_.lines = batch->lines;
    if (kept_.waiting > 0 && batch->rows() > 0) pack(*batch);
    chunks_.pool()->give(std::move(batch));
  }
}

bool FirstPass::knows(const Batch& batch) const {
  if (batch.fault || !batch.rejected.empty() || !batch.named.empty() || batch.weights.size() > 0) return false;
  if (chunks_.dictionary().bytes() > kMostNames) return false;
  bool known = true;
  for (size_t i = 0; i < batch.labels.size(); ++i) known &= static_cast<uint32_t>(batch.labels[i]) < 2;
  return known;
}

bool FirstPass::learn(const Batch& batch) {
  State& s = state_;
  const Rows rows = rows_of(batch);
  const size_t n = static_cast<size_t>(rows.n);
  codes_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    codes_[i] = static_cast<int16_t>(batch.labels[i]);
    s.changes += codes_[i] != s.last && s.last >= 0;
    s.last = codes_[i];
  }
  const auto second = std::find(codes_.begin(), codes_.end(), int16_t{1});
  const int64_t known_from = s.rows[1] > 0 ? 0 : second - codes_.begin() + 1;  // the row behind its first
  const int64_t ones = std::count(second, codes_.end(), int16_t{1});
  s.rows[0] += rows.n - ones;
  s.rows[1] += ones;
  if (batch.smallest >= 0 && (s.smallest < 0 || batch.smallest < s.smallest)) s.smallest = batch.smallest;
  s.n_features = std::max(s.n_features, batch.features());
  s.w.grow(std::max<int64_t>(1, s.n_features));
  if (average_) s.w_late.grow(s.w.size());

  // The first class is given to every row but the very first, unless the second is known and has a score above 0.
  predicted_.assign(n, 0);
  if (s.visits == 0) predicted_[0] = -1;
  const Progressive progressive{predicted_.data(), &known_from};
  Problem problem{};
  problem.n_vectors = 1;
  problem.w = s.w.data(), problem.b = &s.b;
  if (average_) problem.w_late = s.w_late.data(), problem.b_late = &s.b_late;
  problem.stride = s.w.size();
  problem.positive = 1;
  problem.positive_weight = problem.negative_weight = 1.0;
  problem.visits = s.visits, problem.updates = s.updates;
  std::vector<Problem> problems{problem};
  std::vector<History> histories(1);
  const Schedule schedule{false, 0, 0, 1, nullptr, rows.n, 1};
  const End end = run(rows, {codes_.data(), nullptr}, rule_, schedule, false, false, &progressive, problems, histories,
                      [&] { return !stop_.load(std::memory_order_relaxed); });
  s.visits = problems[0].visits, s.updates = problems[0].updates;
  s.wrong += problems[0].wrong;
  for (size_t i = 0; i < n; ++i) s.right += predicted_[i] == codes_[i];
  rows_so_far_.fetch_add(rows.n, std::memory_order_relaxed);
  mistakes_so_far_.store(s.updates, std::memory_order_relaxed);
  return end != End::not_finite;
}

}  // namespace rosenblatt
