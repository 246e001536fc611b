// A run replayed from its log: the same rows, the same steps, in the same order, and so the same bits.
#pragma once
#include "problems.hpp"

namespace rosenblatt {

// Some visits in sequence. A step of 0 is a visit without an update.
struct Visits {
  const int64_t* rows;
  const double* steps;
  const int32_t *up, *down;  // joint: the vectors that an update moves; null: vector 0 moves, by the signed step
  int64_t count;
};

// The vectors that are moved.
struct Vectors {
  double* w;  // n x stride, zero beyond column d
  double* b;  // n
  int32_t n;
  int64_t stride;
};

// What is written for each visit, where it is not null.
struct Observations {
  double* before;   // visits x n: w . x + b of every vector, before the update
  double* after;    // visits x n: and after it
  double* squares;  // visits: x . x
  double* w;        // visits x n x stride: the vectors after the update
  double* b;        // visits x n
};

// Visit by visit, by no rule: whether a visit is an update was decided when the log was written. Scores and sums are those
// of learning (lanes.hpp), so the vectors after all visits are, to the bit, those that the run ended with.
void replay(const Rows& rows, const Visits& visits, bool fit_intercept, Vectors& vectors, const Observations& seen);

}  // namespace rosenblatt
