// The point nearest to the origin in a small polytope: the heart of the certificates of separability.
#pragma once
#include <functional>
#include <vector>

#include "problems.hpp"

namespace rosenblatt {

enum class MinNormEnd : int {
  gap,          // no point improves it by more than the gap asked for
  zero,         // the nearest point is the origin, to working accuracy
  stuck,        // a point should improve it, but none does in this arithmetic
  iterations,   // out of iterations
  interrupted,  // keep_going said so
};

struct MinNormPoint {
  std::vector<int64_t> support;  // the points with a positive weight, affinely independent
  std::vector<double> weights;   // theirs: each class sums to 1
  std::vector<double> x;         // the sum of weights times points
  double norm;                   // |x|
  double level[2];               // of each class: the weighted mean of p . x over its support
  int64_t iterations;
  MinNormEnd end;
};

struct MinNormChoices {
  double gap;   // stop when 1 - lower / upper is at most this; see min_norm_point
  double zero;  // |x| counts as 0 at this multiple of sum weights_i |p_i|
  int64_t max_iterations;
};

// The problem, with points p_1 .. p_m in classes 0 .. k - 1 (k is 1 or 2, each class has a point):
//
//     min |sum l_i p_i|   l >= 0,  the l_i of each class sum to 1
//
// One class: the point of a polytope nearest to the origin. Two classes, one of them mirrored: the distance between two
// polytopes. Returned is the point with its weights. For every x, sum_c min_{i in c} p_i . x / |x| is a lower bound of
// the optimum and |sum l_i p_i| an upper one; `gap` compares the two on these points.
//
// Method: Wolfe, "Finding the nearest point in a polytope" (Mathematical Programming 11, 1976), with a row of equality
// constraints for each class. The support S is affinely independent, so it never has more than d + k points. With
// a_i = (p_i, sqrt(s) e_class) and s the mean |p_i|^2, R is the Cholesky factor of A_S A_S' (upper triangular): a point
// is appended by one triangular solve, its pivot being taken from the residual itself with one correction (Björck's
// corrected seminormal equations, 1987), because a pivot from the Gram matrix is lost in rounding below 1e-8; a point is
// deleted by Givens rotations. The equations P_S P_S' l = E' nu, E l = 1 are solved with R and refined once with
// x = P_S' l formed from the points: x from the Gram matrix alone would be good to 1e-8 only.
//
// Special cases: all points 0, or a start that is dependent: taken up to there. A candidate that is dependent on S, or
// that does not improve |x|, is set aside until another one does; when none is left, the end is `stuck`.
//
// Floating point: sums have fixed lanes (lanes.hpp), nothing is fused: the same bits on every machine. What is returned
// is a candidate: a proof is made elsewhere.
//
// points: dense float64 rows. start: a feasible support to start from, a point of each class at least, and its weights.
MinNormPoint min_norm_point(const Rows& points, const int16_t* classes, int k, const std::vector<int64_t>& start,
                            const std::vector<double>& start_weights, const MinNormChoices& choices,
                            const std::function<bool()>& keep_going);

}  // namespace rosenblatt
