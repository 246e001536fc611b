#include "scan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

constexpr int64_t kBlock = 1024;  // scores stay in the first cache between being made and being looked at

// What one thread has seen. worst[c] is a heap with the highest of the kept scores on top.
struct Seen {
  ScoredRow lowest[2] = {{std::numeric_limits<double>::infinity(), -1}, {std::numeric_limits<double>::infinity(), -1}};
  std::vector<ScoredRow> worst[2];
};

void keep_worst(std::vector<ScoredRow>& heap, ScoredRow row, int64_t room) {
  if (static_cast<int64_t>(heap.size()) == room) {
    if (!(row < heap.front())) return;
    std::pop_heap(heap.begin(), heap.end());
    heap.back() = row;
  } else {
    heap.push_back(row);
  }
  std::push_heap(heap.begin(), heap.end());
}

}  // namespace

bool scan(const Rows& rows, const int16_t* codes, int classes, const double* w, const double* threshold, int64_t room,
          double* out, int threads, const std::function<bool()>& keep_going, Scan& answer) {
  const int64_t n_blocks = (rows.n + kBlock - 1) / kBlock;
  const int64_t n_threads = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, n_blocks / 8));
  std::vector<Seen> seen(static_cast<size_t>(n_threads));
  std::atomic<int64_t> next{0};
  std::atomic<bool> stopped{false};

  auto work = [&](Seen& mine, auto ask) {
    double scores[kBlock];
    double bar[2] = {threshold[0], threshold[classes - 1]};  // above it a row is of no interest
    for (int64_t block = next++; block < n_blocks && !stopped; block = next++) {
      const int64_t first = block * kBlock, count = std::min(kBlock, rows.n - first);
      kernels().scores(rows, w, first, count, scores);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = first + i;
        const bool positive = codes[row] == 1;
        const int c = classes == 1 ? 0 : positive;
        const double score = positive ? scores[i] : -scores[i];
        scores[i] = score;
        if (score < mine.lowest[c].score || mine.lowest[c].row < 0 ||
            (score == mine.lowest[c].score && row < mine.lowest[c].row)) {
          mine.lowest[c] = {score, row};
        }
        if (room > 0 && score <= bar[c] && score < threshold[c]) {
          keep_worst(mine.worst[c], {score, row}, room);
          if (static_cast<int64_t>(mine.worst[c].size()) == room) bar[c] = mine.worst[c].front().score;
        }
      }
      if (out) std::copy(scores, scores + count, out + first);
      if (!ask()) stopped = true;
    }
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < n_threads; ++t) {
    helpers.emplace_back([&, t] { work(seen[static_cast<size_t>(t)], [] { return true; }); });
  }
  work(seen[0], keep_going);
  for (std::thread& helper : helpers) helper.join();

  answer = Scan{{seen[0].lowest[0], seen[0].lowest[1]}, {}};
  for (const Seen& part : seen) {
    for (int c = 0; c < classes; ++c) {
      if (part.lowest[c].row >= 0 && (answer.lowest[c].row < 0 || part.lowest[c] < answer.lowest[c])) {
        answer.lowest[c] = part.lowest[c];
      }
      answer.worst[c].insert(answer.worst[c].end(), part.worst[c].begin(), part.worst[c].end());
    }
  }
  for (int c = 0; c < classes; ++c) {
    std::sort(answer.worst[c].begin(), answer.worst[c].end());
    if (static_cast<int64_t>(answer.worst[c].size()) > room) answer.worst[c].resize(static_cast<size_t>(room));
  }
  return !stopped;
}

}  // namespace rosenblatt
