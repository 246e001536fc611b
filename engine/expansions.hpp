// Kernel expansions f(x) = sum of step_t K(z_t, x): what the kernel perceptron learns, and how it is evaluated.
//
// Plain data, shared by the driver (kernel_products.cpp, kernel_rules.cpp) and the loops (expansion_kernels.hpp).
#pragma once
#include "problems.hpp"

namespace rosenblatt {

// Support rows without their zeros, in ascending order of columns: row j owns starts[j] .. starts[j + 1].
template <class T>
struct Compressed {
  const T* values;
  const int32_t* columns;
  const int64_t* starts;
  int64_t n;
};

// Points side by side: panel p has the values of points p * width .. (p + 1) * width, column after column, so that one
// number of a support row meets a whole panel. Points that fill no panel are zeros.
constexpr int64_t kPanelBytes = 256, kNarrowBytes = 32;  // narrow: for a few points
template <class T>
struct Panels {
  const T* values;
  int64_t n_columns, n_panels, width;  // width: points in a panel
};

// The mistakes of a run on a block of points: which row of the kernel values, and the step.
struct Terms {
  const int32_t* rows;
  const double* steps;
  const int32_t *up, *down;  // joint: the classes moved; else null
  const int64_t* survival;   // for votes: of the first guess and of the vector after each mistake
  int64_t n;
};

// Some support rows, cut into stretches of kStretch columns of the panels: what a panel has of these stays in the first
// cache while each row meets it. Stretch s of row j is bounds[j * (n_stretches + 1) + s] up to the next bound.
constexpr int64_t kStretch = 192;
template <class T>
struct Stretches {
  const T* values;
  const int32_t* columns;
  const int64_t* bounds;
  int64_t n, n_stretches;
};

template <class T>
struct ExpansionKernels {
  // out[j * stride + i] = z_j . x_i
  void (*products)(const Stretches<T>& support, const Panels<T>& points, T* out, int64_t stride);
  // values[i] = (gamma * values[i] + coef0) ^ degree
  void (*polynomial)(T* values, int64_t count, double gamma, double coef0, int64_t degree);
  // scores[i] += sum of steps[t] * values[rows[t] * stride + i], in this order; joint: a row of scores for each class.
  void (*accumulate)(const T* values, int64_t stride, int64_t n_points, const Terms& terms, double* scores,
                     int64_t score_stride);
  // The same, all vectors voting on the way; binary: for +1 less for -1; joint: a row of votes for each class.
  void (*vote)(const T* values, int64_t stride, int64_t n_points, const Terms& terms, Tie tie, int32_t n_classes,
               double* scores, double* votes, int64_t score_stride);
};

}  // namespace rosenblatt
