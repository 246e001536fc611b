#include "scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "blocks.hpp"
#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

// What one thread has seen. worst[c] is a heap with the highest of the kept scores on top.
struct Seen {
  ScoredRow lowest[2] = {{std::numeric_limits<double>::infinity(), -1}, {std::numeric_limits<double>::infinity(), -1}};
  std::vector<ScoredRow> worst[2];
  double bar[2];  // above it a row is of no interest
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
  std::vector<Seen> seen(static_cast<size_t>(n_workers(rows.n, threads)));
  for (Seen& mine : seen) mine.bar[0] = threshold[0], mine.bar[1] = threshold[classes - 1];
  const bool finished = each_block(rows.n, threads, keep_going, [&](int64_t t, int64_t, int64_t first, int64_t count) {
    Seen& mine = seen[static_cast<size_t>(t)];
    alignas(8) uint8_t below[kBlock];
    double scores[kBlock];
    double bar[2];
    for (int code = 0; code < 2; ++code) {
      const int c = classes == 1 ? 0 : code;
      bar[code] = room > 0 ? std::max(mine.lowest[c].score, mine.bar[c]) : mine.lowest[c].score;
    }
    kernels().scores(rows, w, first, count, scores);
    kernels().flag_below(scores, codes + first, count, bar, below);
    if (out) std::copy(scores, scores + count, out + first);
    std::fill(below + count, below + kBlock, uint8_t{0});
    for (int64_t i = 0; i < count; i += 8) {
      uint64_t any;
      std::memcpy(&any, below + i, 8);
      if (any == 0) continue;
      for (int64_t q = i; q < i + 8; ++q) {
        if (!below[q]) continue;
        const int c = classes == 1 ? 0 : codes[first + q] == 1;
        const ScoredRow row{scores[q], first + q};
        if (row < mine.lowest[c] || mine.lowest[c].row < 0) mine.lowest[c] = row;
        if (room == 0 || !(row.score < mine.bar[c])) continue;
        keep_worst(mine.worst[c], row, room);
        if (static_cast<int64_t>(mine.worst[c].size()) == room) {
          mine.bar[c] = std::min(mine.bar[c], mine.worst[c].front().score);
        }
      }
    }
  });

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
  return finished;
}

}  // namespace rosenblatt
