// Work in pieces, which several threads take as they come.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rosenblatt {

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

}  // namespace rosenblatt
