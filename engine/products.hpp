// Products of all rows with a vector, from either side: X w, and X' a.
#pragma once
#include "problems.hpp"

namespace rosenblatt {

// out[i] = w . x_i for all rows. w is zero beyond column d, up to a multiple of eight. Each row is summed as in learning
// (lanes.hpp), so the answer does not depend on the number of threads.
void score_rows(const Rows& rows, const double* w, double* out, int threads);

// out = the sum of a_i x_i over the rows whose coefficient is not 0; out has d places.
//
// Rows are added one after the other within stretches, and the sums of the stretches in their order. Where a stretch ends
// depends on the rows alone, so the answer does not depend on the number of threads.
void combine_rows(const Rows& rows, const double* coefficients, double* out, int threads);

}  // namespace rosenblatt
