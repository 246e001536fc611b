#include "kernel_rules.hpp"

#include <algorithm>
#include <cmath>

#include "instruction_sets.hpp"
#include "rules.hpp"

namespace rosenblatt {
namespace {

void accumulate(const float* values, const Terms& terms, int64_t n, double* scores, int64_t stride) {
  kernels().expansions32.accumulate(values, 0, n, terms, scores, stride);
}
void accumulate(const double* values, const Terms& terms, int64_t n, double* scores, int64_t stride) {
  kernels().expansions64.accumulate(values, 0, n, terms, scores, stride);
}

// What a row counts: class weight times sample weight.
double weight(const BlockLabels& labels, int64_t i, double class_weight) {
  return labels.sample_weight ? class_weight * labels.sample_weight[i] : class_weight;
}

double signed_step(const BlockLabels& labels, const Rule& rule, int64_t i, double y) {
  const bool two =
      labels.n_classes == 2;  // one against the rest: only the positive class is weighted, as in scikit-learn
  const double of_class = y > 0 ? labels.class_weight[labels.positive] : two ? labels.class_weight[0] : 1.0;
  return rule.eta0 * y * weight(labels, i, of_class);
}

void note(BlockLog& log, int64_t i, double step, int32_t up, int32_t down, double loss) {
  log.row.push_back(static_cast<int32_t>(i));
  log.visit.push_back(log.visits);
  log.step.push_back(step);
  log.up.push_back(up);
  log.down.push_back(down);
  log.loss += loss;
  ++log.updates;
}

// One row of one binary problem: the step of its mistake, or 0.
double binary_step(double score, const BlockLabels& labels, const Rule& rule, int64_t i, BlockLog& log) {
  if (!std::isfinite(score)) {
    log.stop = Stop::not_finite;
    return 0;
  }
  ++log.visits;
  const double y = labels.codes[i] == labels.positive ? 1.0 : -1.0;
  if (!is_mistake(score, y, rule.tie)) return 0;
  const double step = signed_step(labels, rule, i, y);
  if (step != 0) note(log, i, step, -1, -1, std::fabs(score));
  return step;
}

template <class T>
void settle_binary(const T* own, int64_t stride, const BlockLabels& labels, const Rule& rule, double* scores,
                   BlockLog& log) {
  const int32_t zero = 0;
  for (int64_t i = 0; i < labels.n && log.stop == Stop::none; ++i) {
    const double step = binary_step(scores[i], labels, rule, i, log);
    if (step == 0) continue;
    accumulate(own + i * stride, {&zero, &step, nullptr, nullptr, nullptr, 1}, labels.n, scores, 0);
    if (log.updates == rule.max_updates) log.stop = Stop::budget;
  }
}

template <class T>
void settle_joint(const T* own, int64_t stride, const BlockLabels& labels, const Rule& rule, double* scores,
                  int64_t score_stride, BlockLog& log) {
  std::vector<double> of_row(static_cast<size_t>(labels.n_classes));
  const int32_t zero = 0;
  for (int64_t i = 0; i < labels.n && log.stop == Stop::none; ++i) {
    bool finite = true;
    for (int32_t k = 0; k < labels.n_classes; ++k) {
      of_row[static_cast<size_t>(k)] = scores[k * score_stride + i];
      finite &= std::isfinite(of_row[static_cast<size_t>(k)]);
    }
    if (!finite) {
      log.stop = Stop::not_finite;
      return;
    }
    ++log.visits;
    const int32_t truth = labels.codes[i];
    const Rival other = rival(of_row.data(), labels.n_classes, truth, rule.tie);
    const double step = rule.eta0 * weight(labels, i, labels.class_weight[truth]);
    if (!other.wins || step == 0) continue;
    note(log, i, step, truth, other.index,
         of_row[static_cast<size_t>(other.index)] - of_row[static_cast<size_t>(truth)]);
    accumulate(own + i * stride, {&zero, &step, &truth, &other.index, nullptr, 1}, labels.n, scores, score_stride);
    if (log.updates == rule.max_updates) log.stop = Stop::budget;
  }
}

}  // namespace

template <class T>
void settle_block(const T* own, int64_t stride, const BlockLabels& labels, const Rule& rule, double* scores,
                  int64_t score_stride, BlockLog& log) {
  if (labels.positive >= 0) return settle_binary(own, stride, labels, rule, scores, log);
  settle_joint(own, stride, labels, rule, scores, score_stride, log);
}

// Budgets --------------------------------------------------------------------------------------------------------------

int64_t random_victim(uint64_t seed, int64_t number, int64_t size) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(number) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(size));
}

namespace {

// The steps of the problems that are mistaken on a row, 0 for the others, and what is late in them.
struct Steps {
  std::vector<double> now, late;
};

void append(Kept& kept, int32_t column, const Steps& steps) {
  kept.columns[kept.size] = column;
  for (int64_t k = 0; k < kept.n_problems; ++k) {
    kept.coefficients[k * kept.room + kept.size] = steps.now[static_cast<size_t>(k)];
    if (kept.late) kept.late[k * kept.room + kept.size] = steps.late[static_cast<size_t>(k)];
  }
  ++kept.size;
}

void drop(Kept& kept, int64_t t) {
  auto close = [&](auto* values) { std::copy(values + t + 1, values + kept.size, values + t); };
  close(kept.columns);
  for (int64_t k = 0; k < kept.n_problems; ++k) close(kept.coefficients + k * kept.room);
  if (kept.slots) {
    const int64_t slot = kept.slots[t];
    close(kept.slots);
    kept.slots[kept.size - 1] = slot;  // free now
  }
  --kept.size;
}

// The Forgetron (Dekel, Shalev-Shwartz and Singer, SIAM J. Computing 37 (2008), self-tuned): before the oldest row r goes,
// all coefficients shrink by the largest phi <= 1 with psi(phi s, phi m) + Q <= 15/32 M, where psi(s, m) = s^2 + 2 s - 2 s m,
// s is the size of r's coefficient, m = y_r f(x_r) and M counts the rows that were mistaken; Q adds up what psi was. The
// paper has K(x, x) <= 1; other kernels are divided by the largest K(x, x) of a mistake, and coefficients by eta0. Problems
// that share rows have a Q each, and one M: a row can go without a mistake of their own.
void shrink(const Kept& kept, int64_t problem, double eta0) {
  double *coefficients = kept.coefficients + problem * kept.room, &spent = kept.state[1 + problem];
  const double* oldest = kept.gram + kept.slots[0] * kept.room;
  double score = 0;
  for (int64_t t = 0; t < kept.size; ++t) score += coefficients[t] * oldest[kept.slots[t]];
  const double scale = kept.state[0] > 0 ? kept.state[0] : 1.0, mistaken = static_cast<double>(kept.mistaken + 1);
  const double size = std::fabs(coefficients[0]) / eta0;
  const double margin = (coefficients[0] < 0 ? -score : score) / (eta0 * scale);
  const double a = size * size - 2 * size * margin, b = 2 * size, c = spent - 15.0 / 32.0 * mistaken;
  double phi = 1;
  if (a + b + c > 0) phi = -2 * c / (b + std::sqrt(std::max(0.0, b * b - 4 * a * c)));
  spent += phi * (a * phi + b);
  for (int64_t t = 0; t < kept.size; ++t) coefficients[t] *= phi;
}

template <class T>
void add_and_forget(const T* values, int32_t own, const Steps& steps, double eta0, Kept& kept) {
  const int64_t slot = kept.slots[kept.size];
  for (int64_t t = 0; t < kept.size; ++t) {
    const double value = static_cast<double>(values[kept.columns[t]]);
    kept.gram[slot * kept.room + kept.slots[t]] = kept.gram[kept.slots[t] * kept.room + slot] = value;
  }
  kept.gram[slot * kept.room + slot] = static_cast<double>(values[own]);
  append(kept, own, steps);
  if (kept.size <= kept.max_support) return;
  for (int64_t k = 0; k < kept.n_problems; ++k) shrink(kept, k, eta0);
  drop(kept, 0);
}

// The Projectron (Orabona, Keshet and Caputo, JMLR 10 (2009)): a mistake that is nearly in the span of the support, or any
// when the support is full, moves the coefficients of its projection K^-1 k; otherwise it becomes a support row, and the
// inverse grows by one row. Sums over the support run in its order.
template <class T>
void add_or_project(const T* values, int32_t own, const Steps& steps, Kept& kept, std::vector<double>& room) {
  constexpr double kInSpan = 1e-4;  // of K(x, x): the squared distance from the span, as a part of the squared length
  const int64_t n = kept.size;
  room.assign(static_cast<size_t>(n), 0.0);
  double* projection = room.data();
  for (int64_t t = 0; t < n; ++t) {
    kernels().add_scaled(static_cast<double>(values[kept.columns[t]]), kept.gram + t * kept.room, projection, n);
  }
  const double square = static_cast<double>(values[own]);
  double distance = square;
  for (int64_t t = 0; t < n; ++t) distance -= static_cast<double>(values[kept.columns[t]]) * projection[t];
  if (n == kept.max_support || !(distance > kInSpan * square)) {
    for (int64_t k = 0; k < kept.n_problems; ++k) {
      const double step = steps.now[static_cast<size_t>(k)];
      if (step == 0) continue;
      kernels().add_scaled(step, projection, kept.coefficients + k * kept.room, n);
      if (kept.late) {
        kernels().add_scaled(steps.late[static_cast<size_t>(k)], projection, kept.late + k * kept.room, n);
      }
    }
    return;
  }
  for (int64_t t = 0; t < n; ++t) {
    double* row = kept.gram + t * kept.room;
    kernels().add_scaled(projection[t] / distance, projection, row, n);
    row[n] = kept.gram[n * kept.room + t] = -projection[t] / distance;
  }
  kept.gram[n * kept.room + n] = 1 / distance;
  append(kept, own, steps);
}

template <class T>
void learn_within_budget(const T* values, int32_t own, const Steps& steps, double eta0, Kept& kept,
                         std::vector<double>& room) {
  kept.state[0] = std::max(kept.state[0], static_cast<double>(values[own]));
  const int64_t known = std::find(kept.columns, kept.columns + kept.size, own) - kept.columns;
  for (int64_t k = 0; k < kept.n_problems; ++k) {
    const double step = steps.now[static_cast<size_t>(k)];
    if (step == 0) continue;
    if (known == kept.size) continue;
    kept.coefficients[k * kept.room + known] += step;
    if (kept.late) kept.late[k * kept.room + known] += steps.late[static_cast<size_t>(k)];
  }
  if (known < kept.size) return;
  if (kept.budget == Budget::forget) return add_and_forget(values, own, steps, eta0, kept);
  if (kept.budget == Budget::project) return add_or_project(values, own, steps, kept, room);
  if (kept.size == kept.max_support) drop(kept, random_victim(kept.seed, kept.mistaken, kept.size));
  append(kept, own, steps);
}

}  // namespace

template <class T>
void settle_within_budget(const T* values, int64_t stride, const BlockLabels* labels, const int32_t* own_column,
                          const Rule& rule, Kept& kept, BlockLog* logs) {
  const size_t n_problems = static_cast<size_t>(kept.n_problems);
  Steps steps{std::vector<double>(n_problems), std::vector<double>(n_problems)};
  std::vector<double> room;
  for (int64_t i = 0; i < labels[0].n; ++i) {
    const T* row = values + i * stride;
    bool mistaken = false;
    for (size_t k = 0; k < n_problems; ++k) {
      steps.now[k] = 0;
      if (logs[k].stop != Stop::none) continue;
      const double* coefficients = kept.coefficients + static_cast<int64_t>(k) * kept.room;
      double score = 0;
      for (int64_t t = 0; t < kept.size; ++t) score += coefficients[t] * static_cast<double>(row[kept.columns[t]]);
      steps.now[k] = binary_step(score, labels[k], rule, i, logs[k]);
      steps.late[k] = static_cast<double>(logs[k].visits - 1) * steps.now[k];
      if (logs[k].stop == Stop::not_finite) return;
      mistaken |= steps.now[k] != 0;
      if (logs[k].updates == rule.max_updates) logs[k].stop = Stop::budget;
    }
    if (!mistaken) continue;
    learn_within_budget(row, own_column[i], steps, rule.eta0, kept, room);
    ++kept.mistaken;
  }
}

template void settle_block(const float*, int64_t, const BlockLabels&, const Rule&, double*, int64_t, BlockLog&);
template void settle_block(const double*, int64_t, const BlockLabels&, const Rule&, double*, int64_t, BlockLog&);
template void settle_within_budget(const float*, int64_t, const BlockLabels*, const int32_t*, const Rule&, Kept&,
                                   BlockLog*);
template void settle_within_budget(const double*, int64_t, const BlockLabels*, const int32_t*, const Rule&, Kept&,
                                   BlockLog*);

}  // namespace rosenblatt
