// One look at all rows for a proof: which are nearest to a hyperplane, and which are longest.
#pragma once
#include <functional>
#include <vector>

#include "problems.hpp"

namespace rosenblatt {

struct NearestChoices {
  double b;
  double norm;       // not below |w|
  double roundings;  // the relative error of a score, as a part of |x| |w| + |b|
  double underflow;  // and the absolute one
  double likeness;   // squares within this part of the largest count as the largest
};

struct Nearest {
  std::vector<int64_t> open;           // the rows that may have the least y(w . x + b), or one that is not positive
  std::vector<double> values, bounds;  // theirs: y(w . x + b) as computed, and how wrong it can be at most
  std::vector<int64_t> longest;        // the rows whose squared length is the largest, or like it
  double square;                       // the largest squared length, as computed; may be infinite
};

// The rows with y_i (w . x_i + b) - e_i <= max(0, min_j (y_j (w . x_j + b) + e_j)), where e_i is
//
//     roundings (max |x| |w| + |b|) + underflow
//
// with the longest |x| of the 64 rows that row i is one of: |x| |w| is no less than |w| . |x_i| for any of them, by Cauchy
// and Schwarz. Where that is so large that a sum may overflow, e_i is infinite and the row stays open. y_i = 1 where the
// code is 1, else -1.
//
// Blocks are taken as they come by several threads; each leaves extremes of 64 rows, and those that matter are looked at
// again at the end, in order. So the answer does not depend on the number of threads.
bool nearest(const Rows& rows, const int16_t* codes, const double* w, const NearestChoices& choices, int threads,
             const std::function<bool()>& keep_going, Nearest& answer);

}  // namespace rosenblatt
