// One look at all rows: how a weight vector scores them, which rows it does worst on.
#pragma once
#include <functional>
#include <vector>

#include "problems.hpp"

namespace rosenblatt {

struct ScoredRow {
  double score;
  int64_t row;
  bool operator<(const ScoredRow& other) const {
    return score < other.score || (score == other.score && row < other.row);
  }
};

struct Scan {
  ScoredRow lowest[2];              // of each class; row -1 if it has none
  std::vector<ScoredRow> worst[2];  // of each class: the lowest scores below its threshold, sorted
};

// The scores y_i (w . x_i) of all rows, y_i = 1 if codes[i] is 1 and -1 if not; the lowest of each class, and its `room`
// lowest below `threshold`. classes = 1: all rows are one class (number 0); 2: the class number is the code.
// w is zero beyond column d, up to a multiple of eight. out: room for all scores, or null.
//
// Rows of equal score come in the order of their numbers, so the answer does not depend on the number of threads.
// keep_going is asked about forty times a second, on the calling thread; false ends the scan, whose answer is then void.
bool scan(const Rows& rows, const int16_t* codes, int classes, const double* w, const double* threshold, int64_t room,
          double* out, int threads, const std::function<bool()>& keep_going, Scan& answer);

}  // namespace rosenblatt
