// Rows in blocks, which several threads take as they come.
#pragma once
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "problems.hpp"

namespace rosenblatt {

constexpr int64_t kBlock = 1024;  // what is computed of its rows stays in the first cache until it is looked at

inline int64_t n_blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }

// How many threads are of use.
inline int64_t n_workers(int64_t n, int threads) {
  return std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, n_blocks(n) / 8));
}

// Calls work(worker, block, first row, count) for every block, each worker taking its blocks in ascending order.
// keep_going is asked after each block on the calling thread; false ends it all, and is what is returned then.
template <class Work>
bool each_block(int64_t n, int threads, const std::function<bool()>& keep_going, Work work) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stopped{false};
  auto run = [&](int64_t worker, auto ask) {
    for (int64_t block = next++; block < n_blocks(n) && !stopped; block = next++) {
      work(worker, block, block * kBlock, std::min(kBlock, n - block * kBlock));
      if (!ask()) stopped = true;
    }
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < n_workers(n, threads); ++t) helpers.emplace_back([&, t] { run(t, [] { return true; }); });
  run(0, keep_going);
  for (std::thread& helper : helpers) helper.join();
  return !stopped;
}

}  // namespace rosenblatt
