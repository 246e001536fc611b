#include "replay.hpp"

#include <algorithm>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

void score(const Rows& rows, int64_t row, const Vectors& vectors, double* out) {
  for (int32_t k = 0; k < vectors.n; ++k) {
    kernels().scores(rows, vectors.w + k * vectors.stride, row, 1, out + k);
    out[k] += vectors.b[k];
  }
}

void move(const Rows& rows, int64_t row, double step, bool fit_intercept, Vectors& vectors, int32_t k) {
  kernels().combine(rows, &step, row, 1, vectors.w + k * vectors.stride);
  if (fit_intercept) vectors.b[k] += step;
}

}  // namespace

void replay(const Rows& rows, const Visits& visits, bool fit_intercept, Vectors& vectors, const Observations& seen) {
  const int64_t size = vectors.n * vectors.stride;
  for (int64_t t = 0; t < visits.count; ++t) {
    const int64_t row = visits.rows[t];
    const double step = visits.steps[t];
    double unused;
    if (seen.squares) kernels().measures(rows, vectors.w, row, 1, &unused, seen.squares + t);
    if (seen.before) score(rows, row, vectors, seen.before + t * vectors.n);
    if (step != 0) {
      move(rows, row, step, fit_intercept, vectors, visits.up ? visits.up[t] : 0);
      if (visits.down) move(rows, row, -step, fit_intercept, vectors, visits.down[t]);
    }
    if (seen.after) score(rows, row, vectors, seen.after + t * vectors.n);
    if (seen.w) std::copy(vectors.w, vectors.w + size, seen.w + t * size);
    if (seen.b) std::copy(vectors.b, vectors.b + vectors.n, seen.b + t * vectors.n);
  }
}

}  // namespace rosenblatt
