// When is it a mistake, and of which class: the rules that every learner shares.
#pragma once
#include "problems.hpp"

namespace rosenblatt {
namespace {  // internal: compiled once for each instruction set, and the copies must not meet

inline bool is_mistake(double score, double y, Tie tie) {
  switch (tie) {
    case Tie::mistake: return !(y * score > 0);
    case Tie::positive: return (score >= 0) != (y > 0);
    case Tie::negative: return (score > 0) != (y > 0);
  }
  return false;
}

// The highest rival of the true class (lowest index first; highest first when ties are positive), and whether it wins.
struct Rival {
  int32_t index;
  bool wins;
};
inline Rival rival(const double* score, int32_t n, int32_t truth, Tie tie) {
  int32_t best = truth == 0 ? 1 : 0;
  for (int32_t k = best + 1; k < n; ++k) {
    if (k != truth && (score[k] > score[best] || (tie == Tie::positive && score[k] == score[best]))) best = k;
  }
  if (score[best] != score[truth]) return {best, score[best] > score[truth]};
  return {best, tie == Tie::mistake || (tie == Tie::positive ? best > truth : best < truth)};
}

}  // namespace
}  // namespace rosenblatt
