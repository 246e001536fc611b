// The loops over rows: predict, compare, and learn from the mistake. Compiled once for each instruction set.
//
// Nothing is allocated here, and nothing of the standard library's templates is used (instruction_sets.hpp says why).
#include <cfloat>
#include <cmath>

#include "compact_kernels.hpp"
#include "expansion_kernels.hpp"
#include "instruction_sets.hpp"
#include "measures.hpp"
#include "rows.hpp"
#include "rules.hpp"

namespace rosenblatt {
namespace {

// What a row counts: class weight times sample weight. A row that counts nothing is never a mistake.
inline double weight(const Examples& examples, int64_t row, double class_weight) {
  return examples.sample_weight ? class_weight * examples.sample_weight[row] : class_weight;
}
inline double class_weight(const Problem& problem, double y) {
  return y > 0 ? problem.positive_weight : problem.negative_weight;
}

// Asks for rows some way ahead, each once: after a mistake the loop comes back to rows that are on their way already.
class Ahead {
 public:
  explicit Ahead(int64_t distance) : distance_(distance), next_(distance) {}  // nearer rows: asked for last turn

  // A list jumps about, so its rows, their labels and where they start are asked for; a stream the machine sees itself.
  template <class View>
  ALWAYS_INLINE void fetch(const View& view, const Examples& examples, const Listed& ids, int64_t i, int64_t have) {
    const int64_t end = i + distance_ < have ? i + distance_ : have;
    for (; next_ < end; ++next_) {
      if (next_ + kFurther < have) view.announce(ids[next_ + kFurther]);
      view.fetch(ids[next_]);
      prefetch_far(examples.codes + ids[next_]);
    }
  }
  template <class View>
  ALWAYS_INLINE void fetch(const View&, const Examples&, const AsStored&, int64_t, int64_t) {}

  template <class View, class Ids>
  ALWAYS_INLINE void fetch_rows(const View& view, const Ids& ids, int64_t i, int64_t have) {
    const int64_t end = i + distance_ < have ? i + distance_ : have;
    for (; next_ < end; ++next_) view.fetch(ids[next_]);
  }

 private:
  static constexpr int64_t kFurther = 16;
  int64_t distance_, next_;
};

// w += step * x (000 eq. 3.6 and 3.7), and what the average needs.
//
// The average of w over all visits is (T w - w_late) / T: an update at visit t is part of w for the T - (t - 1) visits
// from t on, so w_late collects (t - 1) * step * x, at the cost of the row's non-zeros and not of d for every visit.
template <class View>
inline void update(const View& view, const Rule& rule, Problem& problem, int32_t vector, int64_t row, double step,
                   int64_t visit) {
  const double late = static_cast<double>(visit - 1) * step;
  view.add(row, step, problem.w + vector * problem.stride);
  if (problem.beside) view.add(row, step, problem.beside + problem.lane + vector, problem.pitch);
  if (rule.fit_intercept) problem.b[vector] += step;
  if (!problem.w_late) return;
  view.add(row, late, problem.w_late + vector * problem.stride);
  if (rule.fit_intercept) problem.b_late[vector] += late;
}

// One of several problems has scored a row that it has not learned from yet: the highest score gives the row its class,
// among equals the lowest code, whichever problem comes first.
ALWAYS_INLINE void compete(const Problem& problem, int64_t row, double score) {
  if (row < problem.known_from) return;
  double& best = problem.winners->score[row];
  int16_t& code = problem.winners->code[row];
  if (code >= 0 && (score < best || (score == best && problem.positive >= code))) return;
  best = score;
  code = problem.positive;
}

// The squared length of a row, computed once for all problems that ask.
template <class View>
class Square {
 public:
  explicit Square(const View& view) : view_(view) {}
  NEVER_INLINE double of(int64_t row) {
    if (row != row_) value_ = view_.square(row_ = row);
    return value_;
  }

 private:
  const View& view_;
  int64_t row_ = -1;
  double value_ = 0;
};

// With a margin: whether a row that the tie rule calls right is right by enough. `lead` is y * score, or how far the true
// class is above its highest rival; learning with `step` would add step * |z|^2 to it, for z = (x, 1), or x without an
// offset. The margin asks for more than so many times that (Krauth and Mézard 1987). The square is not inlined: the loops
// without a margin stay as small as they are.
template <class View>
inline bool right_by_enough(Square<View>& square, const Rule& rule, int64_t row, double lead, double step) {
  return lead > rule.margin * (step * (square.of(row) + (rule.fit_intercept ? 1.0 : 0.0)));
}

struct Settled {
  int64_t rows;  // how many rows of the group are dealt with
  Stop stop;
};

// Rows i, i + 1, ... of a group have these scores, and one at least is not clearly right, or by how much must be seen.
// Learns from the first mistake among them; the scores behind it are then out of date.
template <class View, class Ids>
Settled settle(const View& view, const Examples& examples, const Rule& rule, Problem& problem, const Ids& ids,
               int64_t i, int group, const double* score, Square<View>& square) {
  for (int q = 0; q < group; ++q) {
    const int64_t row = ids[i + q];
    const double y = examples.codes[row] == problem.positive ? 1.0 : -1.0;
    if (!std::isfinite(score[q])) return {q, Stop::not_finite};
    if (problem.winners) compete(problem, row, score[q]);
    const bool wrong = is_mistake(score[q], y, rule.tie);
    if (!wrong && !(rule.margin > 0)) continue;  // right, or a tie that this rule forgives
    const double step = rule.eta0 * y * weight(examples, row, class_weight(problem, y)), lead = y * score[q];
    if (step == 0 || (!wrong && right_by_enough(square, rule, row, lead, y * step))) continue;
    problem.visits += q + 1;
    if (!rule.learn) return {q + 1, Stop::mistake};
    update(view, rule, problem, 0, row, step, problem.visits);
    ++problem.updates;
    ++problem.mistakes;
    problem.wrong += wrong;
    if (lead < 0) problem.loss -= lead;
    if (problem.listener) problem.listener->heard({row, problem.visits, step, -1, -1});
    const bool spent = problem.updates == rule.max_updates;
    return {q + 1, spent ? Stop::budget : rule.restart ? Stop::mistake : Stop::none};
  }
  problem.visits += group;
  return {group, Stop::none};
}

// One binary problem visits rows in the given order (002 Algorithm 5, lines 4 to 10).
//
// Several rows are scored together, which is how the memory's speed is reached; a mistake at one of them throws away the
// scores behind it, so the result is that of one row at a time. The score of a row with a NaN or an infinity is not
// finite, so looking for z <= DBL_MAX checks the data for nothing.
template <class View, class Ids>
Stop learn_binary(const View& view, const Examples& examples, const Rule& rule, Problem& problem, const Ids& ids,
                  int64_t count, int64_t have) {
  constexpr int G = View::kAtOnce, kFew = G < 4 ? G : 4;
  const bool right_is_enough = !(rule.margin > 0);
  Ahead ahead(view.ahead());
  Square<View> square(view);
  for (int64_t i = 0; i < count;) {
    if (have > count) ahead.fetch(view, examples, ids, i + G, have);
    const int64_t left = count - i;
    const int group = left < kFew ? static_cast<int>(left) : left < G ? kFew : G;
    double score[G];
    int16_t codes[G];
    bool all_right;
    if (group == G) {
      all_right = view.template score<G>(ids, i, problem, ids.template codes<G>(examples, i, codes), score);
    } else if (group == kFew) {
      all_right = view.template score<kFew>(ids, i, problem, ids.template codes<kFew>(examples, i, codes), score);
    } else {  // the last rows of a turn; copies of one row fill the group, and what these score is not looked at
      int64_t few[kFew];
      for (int q = 0; q < kFew; ++q) few[q] = ids[i + (q < group ? q : 0)];
      all_right =
          view.template score<kFew>(Listed{few}, 0, problem, Listed{few}.codes<kFew>(examples, 0, codes), score);
    }
    if (all_right && right_is_enough) {
      if (problem.winners) {
        for (int q = 0; q < group; ++q) compete(problem, ids[i + q], score[q]);
      }
      problem.visits += group;
      i += group;
      continue;
    }
    const Settled settled = settle(view, examples, rule, problem, ids, i, group, score, square);
    if (settled.stop != Stop::none) return settled.stop;
    i += settled.rows;
  }
  return Stop::none;
}

inline int16_t highest(const double* score, int32_t n, Tie tie) {
  int32_t best = 0;
  for (int32_t k = 1; k < n; ++k) {
    if (score[k] > score[best] || (tie == Tie::positive && score[k] == score[best])) best = k;
  }
  return static_cast<int16_t>(best);
}

// The joint multi-class problem (Kesler's construction): one mistake moves the true class up and the highest rival down.
template <class View, class Ids>
Stop learn_joint(const View& view, const Examples& examples, const Rule& rule, Problem& problem, const Ids& ids,
                 int64_t count, int64_t have) {
  constexpr int G = 4;
  Ahead ahead(view.ahead());
  Square<View> square(view);
  const int32_t n = problem.n_vectors;
  double* score = problem.scores;
  for (int64_t i = 0; i < count; ++i) {
    if (have > count) ahead.fetch(view, examples, ids, i + 1, have);
    const int64_t row = ids[i];
    int32_t k = 0;
    if constexpr (View::kCanBeBeside) {
      if (problem.beside) {
        for (; k < n; k += kSideBySide) view.dots_beside(row, problem.beside + k, problem.pitch, score + k);
      }
    }
    for (; k + G <= n; k += G) {
      const double* w = problem.w + k * problem.stride;
      const double* group[G] = {w, w + problem.stride, w + 2 * problem.stride, w + 3 * problem.stride};
      view.template dots<G>(row, group, score + k);
    }
    for (; k < n; ++k) {
      const double* w = problem.w + k * problem.stride;
      view.template dots<1>(row, &w, score + k);
    }
    bool finite = true;
    for (k = 0; k < n; ++k) {
      score[k] += problem.b[k];
      finite &= std::fabs(score[k]) <= DBL_MAX;
    }
    if (!finite) return Stop::not_finite;
    ++problem.visits;
    if (problem.winners) problem.winners->code[row] = highest(score, n, rule.tie);
    const int32_t truth = examples.codes[row];
    const Rival other = rival(score, n, truth, rule.tie);
    const double step = rule.eta0 * weight(examples, row, problem.class_weights[truth]);
    const double lead = score[truth] - score[other.index];
    if (step == 0 || (!other.wins && (!(rule.margin > 0) || right_by_enough(square, rule, row, lead, 2 * step))))
      continue;
    if (!rule.learn) return Stop::mistake;
    update(view, rule, problem, truth, row, step, problem.visits);
    update(view, rule, problem, other.index, row, -step, problem.visits);
    ++problem.updates;
    ++problem.mistakes;
    problem.wrong += other.wins;
    if (lead < 0) problem.loss -= lead;
    if (problem.listener) problem.listener->heard({row, problem.visits, step, truth, other.index});
    if (problem.updates == rule.max_updates) return Stop::budget;
    if (rule.restart) return Stop::mistake;
  }
  return Stop::none;
}

// P problems at once: four rows are scored for all of them together, and a problem that makes a mistake goes on by itself
// to the end of the four. Problems do not know of each other, so this is each of them alone, only faster.
template <int P, class View, class Ids>
void visit_together(const View& view, const Examples& examples, const Rule& rule, Problem* const* problems,
                    const Ids& ids, int64_t count, int64_t have, Stop* stops) {
  const bool right_is_enough = !(rule.margin > 0);
  Ahead ahead(view.ahead());
  Square<View> square(view);
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    if (have > count) ahead.fetch_rows(view, ids, i + 4, have);
    bool right[P];
    double score[P][4];
    int16_t codes[4];
    view.template judge<P>(ids, i, problems, ids.template codes<4>(examples, i, codes), score, right);
    for (int k = 0; k < P; ++k) {
      if (stops[k] != Stop::none) continue;
      if (right[k] && right_is_enough) {
        if (problems[k]->winners) {
          for (int q = 0; q < 4; ++q) compete(*problems[k], ids[i + q], score[k][q]);
        }
        problems[k]->visits += 4;
        continue;
      }
      const Settled settled = settle(view, examples, rule, *problems[k], ids, i, 4, score[k], square);
      stops[k] = settled.stop;
      if (settled.rows == 4 || settled.stop != Stop::none) continue;
      const int64_t left = 4 - settled.rows;
      stops[k] = learn_binary(view, examples, rule, *problems[k], ids.from(i + settled.rows), left, left);
    }
  }
  for (int k = 0; k < P && i < count; ++k) {
    if (stops[k] != Stop::none) continue;
    stops[k] = learn_binary(view, examples, rule, *problems[k], ids.from(i), count - i, count - i);
  }
}

// Problems whose vectors stand side by side: one row is scored for eight of them at once, and each learns from it as it
// would alone.
template <class View, class Ids>
void visit_beside(const View& view, const Examples& examples, const Rule& rule, Problem* const* problems, int64_t n,
                  const Ids& ids, int64_t count, int64_t have, Stop* stops) {
  const bool right_is_enough = !(rule.margin > 0);
  const double* w = problems[0]->beside;
  const int64_t pitch = problems[0]->pitch;
  double scores[kSideBySide];
  Ahead ahead(view.ahead());
  Square<View> square(view);
  int64_t running = n;
  for (int64_t i = 0; i < count && running > 0; ++i) {
    if (have > count) ahead.fetch(view, examples, ids, i + 1, have);
    const int64_t row = ids[i];
    int32_t eight = -1;
    for (int64_t k = 0; k < n; ++k) {
      if (stops[k] != Stop::none) continue;
      Problem& problem = *problems[k];
      if (problem.lane / kSideBySide != eight) {
        eight = problem.lane / kSideBySide;
        view.dots_beside(row, w + eight * kSideBySide, pitch, scores);
      }
      const double score = scores[problem.lane % kSideBySide] + problem.b[0];
      const double z = examples.codes[row] == problem.positive ? score : -score;
      if (right_is_enough && (z > 0) & (z <= DBL_MAX)) {
        if (problem.winners) compete(problem, row, score);
        ++problem.visits;
        continue;
      }
      stops[k] = settle(view, examples, rule, problem, ids, i, 1, &score, square).stop;
      running -= stops[k] != Stop::none;
    }
  }
}

template <class View, class Ids>
void visit_all(const View& view, const Examples& examples, const Rule& rule, Problem* const* problems, int64_t n,
               const Ids& ids, int64_t count, int64_t have, bool beside, Stop* stops) {
  int64_t k = 0;
  if constexpr (View::kCanBeBeside) {
    if (beside) return visit_beside(view, examples, rule, problems, n, ids, count, have, stops);
  }
  if constexpr (View::kProblemsAtOnce > 1) {
    constexpr int P = View::kProblemsAtOnce;
    for (; k + P <= n; k += P, have = count) {
      visit_together<P>(view, examples, rule, problems + k, ids, count, have, stops + k);
    }
    for (; k + 2 <= n; k += 2, have = count) {
      visit_together<2>(view, examples, rule, problems + k, ids, count, have, stops + k);
    }
  }
  for (; k < n; ++k, have = count) stops[k] = learn_binary(view, examples, rule, *problems[k], ids, count, have);
}

// `have = count` after the first: the rows to come are on their way, the other problems need not ask for them again.
void binary(const Rows& rows, const Examples& examples, const Rule& rule, Problem* const* problems, int64_t n,
            const Turn& turn, Stop* stops) {
  const bool often_mistaken = n == 1 && problems[0]->updates * 16 > problems[0]->visits;
  with_view(rows, often_mistaken, [&](auto view) {
    if (turn.ids) {
      visit_all(view, examples, rule, problems, n, Listed{turn.ids}, turn.count, turn.have, turn.beside, stops);
    } else {
      visit_all(view, examples, rule, problems, n, AsStored{turn.first}, turn.count, turn.have, turn.beside, stops);
    }
  });
}

void joint(const Rows& rows, const Examples& examples, const Rule& rule, Problem& problem, const Turn& turn,
           Stop* stop) {
  with_view(rows, false, [&](auto view) {
    *stop = turn.ids ? learn_joint(view, examples, rule, problem, Listed{turn.ids}, turn.count, turn.have)
                     : learn_joint(view, examples, rule, problem, AsStored{turn.first}, turn.count, turn.have);
  });
}

// A Feistel network: six rounds, each mixing one half of the bits into the other. Whatever the round function, it is a
// bijection of 0 .. 2^bits - 1, needs no memory, and any place of it can be computed alone.
void permute(uint64_t key, int bits, uint64_t first, int64_t count, uint64_t* out) {
  constexpr int kRounds = 6;
  const int low_bits = bits / 2, high_bits = bits - low_bits;
  uint32_t keys[kRounds];
  for (uint32_t& k : keys) {  // splitmix64
    key += 0x9e3779b97f4a7c15u;
    uint64_t z = key;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    k = static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
  }
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t place = first + static_cast<uint64_t>(i);
    uint32_t low = static_cast<uint32_t>(place & ((uint64_t{1} << low_bits) - 1));
    uint32_t high = static_cast<uint32_t>(place >> low_bits);
    for (int r = 0; r < kRounds; r += 2) {
      uint32_t h = (low ^ keys[r]) * 0x9e3779b1u;
      h = (h ^ (h >> 15)) * 0x85ebca77u;
      high ^= h >> (32 - high_bits);
      h = (high ^ keys[r + 1]) * 0xc2b2ae3du;
      h = (h ^ (h >> 15)) * 0x27d4eb2fu;
      low ^= h >> (32 - low_bits);
    }
    out[i] = (static_cast<uint64_t>(high) << low_bits) | low;
  }
}

template <class T>
int64_t first_not_finite(const T* values, int64_t count) {
  constexpr int64_t kBlock = 1024;
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t end = i + kBlock < count ? i + kBlock : count;
    // x - x is 0 for a finite x and NaN for any other. Lanes, so that the compiler may keep them in registers.
    T sum[16] = {};
    int64_t j = i;
    for (; j + 16 <= end; j += 16) {
      for (int q = 0; q < 16; ++q) sum[q] += values[j + q] - values[j + q];
    }
    T all = 0;
    for (; j < end; ++j) all += values[j] - values[j];
    for (int q = 0; q < 16; ++q) all += sum[q];
    if (all == 0) continue;
    for (j = i; j < end; ++j) {
      if (!std::isfinite(values[j])) return j;
    }
  }
  return -1;
}

int64_t first_not_finite(const void* values, Values type, int64_t count) {
  return type == Values::float32 ? first_not_finite(static_cast<const float*>(values), count)
                                 : first_not_finite(static_cast<const double*>(values), count);
}

// Whether all column numbers are in 0 .. d - 1: as unsigned numbers, negative ones are large.
template <class Unsigned>
bool all_below(const Unsigned* numbers, int64_t count, Unsigned d) {
  Unsigned highest = 0;
  for (int64_t i = 0; i < count; ++i) highest = numbers[i] > highest ? numbers[i] : highest;
  return count == 0 || highest < d;
}

bool all_below(const void* numbers, Indices type, int64_t count, int64_t d) {
  return type == Indices::int32 ? all_below(static_cast<const uint32_t*>(numbers), count, static_cast<uint32_t>(d))
                                : all_below(static_cast<const uint64_t*>(numbers), count, static_cast<uint64_t>(d));
}

// The vote of all vectors by survival time (002): scores hold the first guess's scores of n_points points and are carried
// from vector to vector, w(k + 1) . x = w(k) . x + step * (z . x), where products has a row of z . x for each support row z.
void vote(const double* products, int64_t n_points, const int32_t* rows, const double* steps, const int64_t* survival,
          int64_t n_mistakes, Tie tie, double* scores, int64_t* votes) {
  const int64_t at_zero = tie == Tie::mistake ? 0 : tie == Tie::positive ? 1 : -1;
  for (int64_t k = 0; k <= n_mistakes; ++k) {
    if (k > 0) {
      const double* product = products + rows[k - 1] * n_points;
      const double step = steps[k - 1];
      for (int64_t i = 0; i < n_points; ++i) scores[i] += step * product[i];
    }
    const int64_t c = survival[k];
    if (c == 0) continue;
    for (int64_t i = 0; i < n_points; ++i) votes[i] += scores[i] > 0 ? c : scores[i] < 0 ? -c : c * at_zero;
  }
}

// The same for the joint problem: each vector set votes for its highest class; scores and votes have a row for each class.
void joint_vote(const double* products, int64_t n_points, const int32_t* rows, const int32_t* up, const int32_t* down,
                const double* steps, const int64_t* survival, int64_t n_mistakes, int32_t n_classes, Tie tie,
                double* scores, int64_t* votes) {
  for (int64_t k = 0; k <= n_mistakes; ++k) {
    if (k > 0) {
      const double* product = products + rows[k - 1] * n_points;
      double *high = scores + up[k - 1] * n_points, *low = scores + down[k - 1] * n_points;
      for (int64_t i = 0; i < n_points; ++i) {
        high[i] += steps[k - 1] * product[i];
        low[i] -= steps[k - 1] * product[i];
      }
    }
    if (survival[k] == 0) continue;
    for (int64_t i = 0; i < n_points; ++i) {
      int32_t best = 0;
      bool tied = false;
      for (int32_t c = 1; c < n_classes; ++c) {
        const double s = scores[c * n_points + i], top = scores[best * n_points + i];
        if (s > top || (s == top && tie == Tie::positive)) best = c;
        tied = s > top ? false : tied || s == top;
      }
      if (!(tied && tie == Tie::mistake)) votes[best * n_points + i] += survival[k];
    }
  }
}

// Rows added one after the other, those of coefficient 0 passed over without a look at them.
void combine(const Rows& rows, const double* coefficients, int64_t first, int64_t count, double* out) {
  with_view(rows, true, [&](auto view) {
    for (int64_t i = 0; i < count; ++i) {
      if (coefficients[i] != 0) view.add(first + i, coefficients[i], out);
    }
  });
}

// Products of the non-zeros of a row with each other: a row of k non-zeros costs k (k + 1) / 2, whatever d is. One row
// after the other, so the order of each sum is that of the list.
template <class T, class I>
void gram_of(const Sparse<T, I>& view, int64_t d, const int64_t* ids, const double* coefficients, int64_t count,
             double* out) {
  for (int64_t i = 0; i < count; ++i) {
    const I first = view.starts[ids[i]], end = view.starts[ids[i] + 1];
    for (I k = first; k < end; ++k) {
      const double step = coefficients[i] * static_cast<double>(view.data[k]);
      double* row = out + static_cast<int64_t>(view.columns[k]) * d;
      for (I l = first; l <= k; ++l) row[view.columns[l]] += step * static_cast<double>(view.data[l]);
    }
  }
}
template <class View>
void gram_of(const View&, int64_t, const int64_t*, const double*, int64_t, double*) {}  // dense rows are for BLAS

void gram(const Rows& rows, const int64_t* ids, const double* coefficients, int64_t count, double* out) {
  with_view(rows, true, [&](auto view) { gram_of(view, rows.d, ids, coefficients, count, out); });
}

// Dual coordinate descent for the soft and the hard margin, one visit to each of some rows.
//
//     min_a  1/2 |sum a_i y_i (x_i, s)|^2 - sum a_i,  0 <= a_i <= c_i,   w = sum a_i y_i x_i,  b = b_0 + s^2 sum a_i y_i
//
// Hsieh, Chang, Lin, Keerthi, Sundararajan (ICML 2008), Algorithm 1: row i is given the weight that makes
// y_i (w . x_i + b) = 1, or the bound that is next to it. Without costs (U = infinity) this is the hard margin, and a row
// of zeros, which no weight brings to 1, is passed over. With s = 0 there is no offset.
//
// Shrinking (their Algorithm 3): a row at a bound whose gradient y_i (w . x_i + b) - 1 says by more than `low` or `high`
// that it stays there is neither changed nor kept. The rows kept are left at the front of ids, in their order.
// The sums are those of the rows (lanes.hpp); nothing is fused.
void descend(const Rows& rows, Descent& descent, int64_t* ids, int64_t count) {
  with_view(rows, true, [&](auto view) {
    constexpr int64_t kFurther = 16;
    const int64_t distance = view.ahead();
    for (int64_t t = 0; t < count; ++t) {
      if (t + distance < count) view.fetch(ids[t + distance]);
      if (t + distance + kFurther < count) view.announce(ids[t + distance + kFurther]);
      const int64_t i = ids[t];
      const double y = descent.codes[i] == 1 ? 1.0 : -1.0, weight = descent.weights[i];
      const double cost = descent.cost ? descent.cost[i] : HUGE_VAL;
      if (!(descent.norms[i] > 0) && cost == HUGE_VAL) continue;
      double score;
      view.template dots<1>(i, const_cast<const double* const*>(&descent.w), &score);
      const double gradient = y * (score + descent.b) - 1.0;
      double projected = gradient;
      if (weight <= 0) {
        if (gradient > descent.high) continue;
        if (gradient > 0) projected = 0;
      } else if (weight >= cost) {
        if (gradient < descent.low) continue;
        if (gradient < 0) projected = 0;
      }
      ids[descent.kept++] = i;
      if (projected < descent.lowest) descent.lowest = projected;
      if (projected > descent.highest) descent.highest = projected;
      if (projected == 0) continue;
      double step = -gradient / descent.norms[i], moved = weight + step;
      if (moved < 0) moved = 0, step = -weight;
      if (moved > cost) moved = cost, step = cost - weight;
      if (step == 0) continue;
      ++descent.moved;
      descent.weights[i] = moved;
      view.add(i, step * y, descent.w);
      descent.b += step * y * descent.bias;
    }
  });
}

// Eight lanes, and the numbers that fill no group of eight in the lanes they would have, one by one: to fill a register
// from a copy would wait for the copy.
double dot(const double* x, const double* y, int64_t n) {
  EightLanes sum;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) sum.add_product(EightLanes::load(x + j), EightLanes::load(y + j));
  if (j == n) return total(sum);
  double l[8];
  std::memcpy(l, &sum, sizeof(l));
  for (int64_t q = 0; j + q < n; ++q) l[q] += x[j + q] * y[j + q];
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

void add_scaled(double step, const double* x, double* y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) y[j] += step * x[j];
}

void rotate(double c, double s, double* x, double* y, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double u = x[j], v = y[j];
    x[j] = c * u + s * v;
    y[j] = c * v - s * u;
  }
}

}  // namespace

namespace INSTRUCTION_SET {
#define AS_TEXT(name) #name
#define NAME_OF(name) AS_TEXT(name)
extern const Kernels table;
const Kernels table = {NAME_OF(INSTRUCTION_SET),
                       binary,
                       joint,
                       permute,
                       first_not_finite,
                       all_below,
                       vote,
                       joint_vote,
                       scores,
                       combine,
                       gram,
                       measures,
                       flag_below,
                       extremes,
                       sizes,
                       hashes,
                       descend,
                       dot,
                       add_scaled,
                       rotate,
                       expansion_kernels<float>(),
                       expansion_kernels<double>(),
                       compact_kernels()};
}  // namespace INSTRUCTION_SET

}  // namespace rosenblatt
