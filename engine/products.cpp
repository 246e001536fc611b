#include "products.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

// Does pieces 0 .. n - 1 of some work, on several threads.
template <class Work>
void share_out(int64_t n, int threads, const Work& work) {
  std::atomic<int64_t> next{0};
  auto run = [&] {
    for (int64_t piece = next++; piece < n; piece = next++) work(piece);
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < std::min<int64_t>(threads, n); ++t) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

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
