// The kernels, compiled once for each instruction set, and the choice between them.
//
// kernels.cpp must not instantiate templates of the standard library: the linker keeps one copy of each, and a copy made
// for AVX-512 would crash an older machine. So what grows (logs, histories) lives in the driver.
#pragma once
#include "compact.hpp"
#include "expansions.hpp"
#include "problems.hpp"

namespace rosenblatt {

struct Kernels {
  const char* name;
  // Problems visit the rows of a turn, in order, learning from their mistakes. stops, Stop::none at first: why each
  // stopped before the end.
  void (*binary)(const Rows&, const Examples&, const Rule&, Problem* const* problems, int64_t n, const Turn&,
                 Stop* stops);
  void (*joint)(const Rows&, const Examples&, const Rule&, Problem& problem, const Turn&, Stop* stop);
  // The keyed permutation: places first .. first + count of it into out (passes.hpp, Order).
  void (*permute)(uint64_t key, int bits, uint64_t first, int64_t count, uint64_t* out);
  // The position of the first value that is NaN or infinite, or -1.
  int64_t (*first_not_finite)(const void* values, Values type, int64_t count);
  // Whether all of these column numbers are in 0 .. d - 1.
  bool (*all_below)(const void* numbers, Indices type, int64_t count, int64_t d);
  void (*vote)(const double* products, int64_t n_points, const int32_t* rows, const double* steps,
               const int64_t* survival, int64_t n_mistakes, Tie tie, double* scores, int64_t* votes);
  void (*joint_vote)(const double* products, int64_t n_points, const int32_t* rows, const int32_t* up,
                     const int32_t* down, const double* steps, const int64_t* survival, int64_t n_mistakes,
                     int32_t n_classes, Tie tie, double* scores, int64_t* votes);
  // out[i] = w . x of row first + i. w is zero beyond column d, up to a multiple of eight.
  void (*scores)(const Rows&, const double* w, int64_t first, int64_t count, double* out);
  // out += the sum of coefficients[i] times row first + i, in this order; out has d places.
  void (*combine)(const Rows&, const double* coefficients, int64_t first, int64_t count, double* out);
  // out += the sum of coefficients[i] x x' over sparse rows x = row ids[i]; d x d, only below the diagonal and on it
  // where the columns of a row rise.
  void (*gram)(const Rows&, const int64_t* ids, const double* coefficients, int64_t count, double* out);
  // Scores and squared lengths of rows, likewise (measures.hpp, also for the rest).
  void (*measures)(const Rows&, const double* w, int64_t first, int64_t count, double* score, double* square);
  void (*flag_below)(double* scores, const int16_t* codes, int64_t count, const double* bar, uint8_t* below);
  void (*extremes)(double* scores, double* squares, const int16_t* codes, int64_t count, double b, double* lowest,
                   double* largest);
  Sizes (*sizes)(const void* values, Values type, int64_t count);
  void (*hashes)(const Rows&, const uint64_t* factors, int64_t first, int64_t count, uint64_t* out);
  // Dual coordinate descent over some rows, in their order; the rows kept are moved to the front.
  void (*descend)(const Rows&, Descent&, int64_t* ids, int64_t count);
  // Of vectors of n numbers: x . y, y += step * x, and the rotation (x, y) <- (c x + s y, c y - s x).
  double (*dot)(const double* x, const double* y, int64_t n);
  void (*add_scaled)(double step, const double* x, double* y, int64_t n);
  void (*rotate)(double c, double s, double* x, double* y, int64_t n);
  // Kernel expansions in float32 and in float64.
  ExpansionKernels<float> expansions32;
  ExpansionKernels<double> expansions64;
  // Numbers in few bytes.
  CompactKernels compact;
};

const Kernels& kernels();                   // the ones in use
const Kernels* const* available_kernels();  // null-terminated, slowest first; those this machine can run
bool use_kernels(const char* name);         // for tests; false if not available

}  // namespace rosenblatt
