#include "products.hpp"

#include <algorithm>
#include <vector>

#include "instruction_sets.hpp"
#include "pieces.hpp"

namespace rosenblatt {

void score_rows(const Rows& rows, const double* w, double* out, int threads) {
  constexpr int64_t kBlock = 4096;
  share_out((rows.n + kBlock - 1) / kBlock, threads, [&](int64_t block) {
    const int64_t first = block * kBlock;
    kernels().scores(rows, w, first, std::min(kBlock, rows.n - first), out + first);
  });
}

void combine_rows(const Rows& rows, const double* coefficients, double* out, int threads) {
  constexpr int64_t kShortest = 4096, kMost = 32;
  const int64_t n_stretches = std::clamp<int64_t>(rows.n / std::max(kShortest, rows.d), 1, kMost);
  const size_t d = static_cast<size_t>(rows.d);
  std::vector<double> sums(static_cast<size_t>(n_stretches) * d);
  share_out(n_stretches, threads, [&](int64_t stretch) {
    const int64_t first = rows.n * stretch / n_stretches, end = rows.n * (stretch + 1) / n_stretches;
    kernels().combine(rows, coefficients + first, first, end - first, sums.data() + static_cast<size_t>(stretch) * d);
  });
  std::copy(sums.begin(), sums.begin() + rows.d, out);
  for (int64_t stretch = 1; stretch < n_stretches; ++stretch) {
    for (size_t j = 0; j < d; ++j) out[j] += sums[static_cast<size_t>(stretch) * d + j];
  }
}

}  // namespace rosenblatt
