#include "nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "blocks.hpp"
#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLarge = 1e300;  // no sum of this size overflows

constexpr int64_t kPart = 64;  // rows that are looked at again together

struct Extremes {
  double lowest, largest;
};

double bound(const NearestChoices& choices, double largest) {
  const double reach = std::sqrt(largest * (1 + 2 * choices.roundings) + choices.underflow) * choices.norm;
  if (!(reach + std::fabs(choices.b) < kLarge)) return kInfinity;
  return choices.roundings * (reach + std::fabs(choices.b)) + choices.underflow;
}

}  // namespace

bool nearest(const Rows& rows, const int16_t* codes, const double* w, const NearestChoices& choices, int threads,
             const std::function<bool()>& keep_going, Nearest& answer) {
  static_assert(kBlock % kPart == 0);
  std::vector<Extremes> extremes(static_cast<size_t>((rows.n + kPart - 1) / kPart));
  const bool finished = each_block(rows.n, threads, keep_going, [&](int64_t, int64_t, int64_t first, int64_t count) {
    double scores[kBlock], squares[kBlock];
    kernels().measures(rows, w, first, count, scores, squares);
    for (int64_t i = 0; i < count; i += kPart) {
      Extremes& own = extremes[static_cast<size_t>((first + i) / kPart)];
      kernels().extremes(scores + i, squares + i, codes + first + i, std::min(kPart, count - i), choices.b, &own.lowest,
                         &own.largest);
    }
  });
  if (!finished) return false;

  double bar = kInfinity;
  answer = Nearest{};
  for (const Extremes& own : extremes) {
    const double above = own.lowest + bound(choices, own.largest);
    if (above < bar) bar = above;
    answer.square = std::max(answer.square, own.largest);
  }
  bar = std::max(bar, 0.0);
  const double like = answer.square * (1 - choices.likeness);
  for (int64_t first = 0; first < rows.n; first += kPart) {
    const Extremes& own = extremes[static_cast<size_t>(first / kPart)];
    const double error = bound(choices, own.largest);
    const bool is_open = !(own.lowest - error > bar), is_long = !(own.largest < like);
    if (!is_open && !is_long) continue;
    double scores[kPart], squares[kPart];
    const int64_t count = std::min(kPart, rows.n - first);
    kernels().measures(rows, w, first, count, scores, squares);
    for (int64_t i = 0; i < count; ++i) {
      const double score = scores[i] + choices.b, value = codes[first + i] == 1 ? score : -score;
      if (!(value - error > bar)) {
        answer.open.push_back(first + i);
        answer.values.push_back(value);
        answer.bounds.push_back(error);
      }
      if (!(squares[i] < like)) answer.longest.push_back(first + i);
    }
  }
  return true;
}

}  // namespace rosenblatt
