// The one file that knows Python: arrays in, arrays out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "equal_rows.hpp"
#include "instruction_sets.hpp"
#include "kernel_bindings.hpp"
#include "min_norm.hpp"
#include "nearest.hpp"
#include "packing_bindings.hpp"
#include "passes.hpp"
#include "products.hpp"
#include "python_rows.hpp"
#include "reading_bindings.hpp"
#include "replay_bindings.hpp"
#include "scan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {
namespace {

nb::dict to_dict(const std::vector<Mistake>& mistakes) {
  auto column = [&](auto field) {
    std::vector<std::decay_t<decltype(std::declval<Mistake>().*field)>> values;
    values.reserve(mistakes.size());
    for (const Mistake& m : mistakes) values.push_back(m.*field);
    return nb::cast(to_numpy(std::move(values)));
  };
  nb::dict out;
  out["row"] = column(&Mistake::row);
  out["visit"] = column(&Mistake::visit);
  out["step"] = column(&Mistake::step);
  out["up"] = column(&Mistake::up);
  out["down"] = column(&Mistake::down);
  return out;
}

// The weights of all problems and their counts: arrays that Python owns and the engine changes in place.
struct Weights {
  Output2<double> w;                      // vectors x (features rounded up to 8)
  Output1<double> b;                      // vectors
  std::optional<Output2<double>> w_late;  // behind the average
  std::optional<Output1<double>> b_late;
  Output1<int64_t> visits, updates;       // problems
  Output1<bool> active;                   // problems: in, which to run; out, which could go on
  std::optional<Output2<double>> beside;  // a copy of w: features x (vectors rounded up to 8)
};

struct Labels {
  Array1<int16_t> codes;  // the class of each row
  int32_t n_classes;
  bool joint;  // one problem for all classes; else each class against the rest
  std::optional<Array1<double>> sample_weight;
  Array1<double> class_weight;  // classes
  std::optional<Array1<int64_t>> subset;
};

struct Outcome {
  nb::list mistakes_per_pass, mistakes;  // a problem each
  std::vector<bool> converged;
  std::vector<int64_t> wrong;  // of the last pass, as are the losses
  std::vector<double> losses;
  bool finite = true;
  nb::object error = nb::none();  // what Ctrl-C or another signal raised
};

std::vector<Problem> problems_of(const Rows& rows, const Labels& labels, Weights& weights,
                                 std::vector<double>& scores) {
  const int64_t stride = static_cast<int64_t>(weights.w.shape(1));
  const size_t n_vectors = weights.w.shape(0);
  const bool binary = labels.n_classes == 2;
  const size_t n_problems = binary || labels.joint ? 1 : static_cast<size_t>(labels.n_classes);
  require(stride >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight columns");
  require(n_vectors == (binary ? 1 : static_cast<size_t>(labels.n_classes)), "wrong number of weight vectors");
  require(weights.b.shape(0) == n_vectors, "wrong number of intercepts");
  require(weights.visits.shape(0) == n_problems && weights.updates.shape(0) == n_problems &&
              weights.active.shape(0) == n_problems,
          "wrong number of counters");
  require(!weights.w_late || (weights.w_late->shape(0) == n_vectors && weights.w_late->shape(1) == weights.w.shape(1) &&
                              weights.b_late && weights.b_late->shape(0) == n_vectors),
          "the late sums must have the shape of the weights");
  require(labels.class_weight.shape(0) == static_cast<size_t>(labels.n_classes), "wrong number of class weights");
  require(!weights.beside || (weights.beside->shape(0) >= static_cast<size_t>(rows.d) &&
                              weights.beside->shape(1) >= n_vectors && weights.beside->shape(1) % 8 == 0),
          "weights side by side must have a row for each feature, and room for a multiple of eight vectors");
  const bool joint = labels.joint && !binary;
  const int64_t pitch = weights.beside ? static_cast<int64_t>(weights.beside->shape(1)) : 0;
  if (joint) scores.resize(std::max(n_vectors, static_cast<size_t>(pitch)));
  std::vector<Problem> problems;
  for (size_t k = 0; k < n_problems; ++k) {
    Problem p{};
    const int64_t offset = static_cast<int64_t>(k) * stride;
    p.n_vectors = joint ? labels.n_classes : 1;
    p.w = weights.w.data() + offset;
    p.b = weights.b.data() + k;
    p.w_late = weights.w_late ? weights.w_late->data() + offset : nullptr;
    p.b_late = weights.b_late ? weights.b_late->data() + k : nullptr;
    p.stride = stride;
    p.beside = weights.beside ? weights.beside->data() : nullptr;
    p.pitch = pitch;
    p.lane = static_cast<int32_t>(k);
    p.positive = binary ? int16_t{1} : static_cast<int16_t>(k);
    p.positive_weight = labels.class_weight(binary ? 1 : k);
    p.negative_weight = binary ? labels.class_weight(0) : 1.0;  // one against the rest: as scikit-learn
    p.class_weights = labels.class_weight.data();
    p.scores = scores.data();
    p.visits = weights.visits(k);
    p.updates = weights.updates(k);
    problems.push_back(p);
  }
  return problems;
}

void check_labels(const Rows& rows, const Labels& labels) {
  require(labels.codes.shape(0) == static_cast<size_t>(rows.n), "a class code for each row");
  require(!labels.sample_weight || labels.sample_weight->shape(0) == static_cast<size_t>(rows.n),
          "a weight for each row");
  bool inside = labels.n_classes >= 2 && labels.n_classes <= INT16_MAX;
  for (int64_t i = 0; i < rows.n; ++i) inside &= (labels.codes(i) >= 0) & (labels.codes(i) < labels.n_classes);
  require(inside, "a class code is not below the number of classes");
  if (!labels.subset) return;
  for (size_t i = 0; i < labels.subset->shape(0); ++i) {
    const int64_t row = (*labels.subset)(i);
    require(row >= 0 && row < rows.n, "a row number of the subset is not a row");
  }
}

void check_progressive(const Rows& rows, const Labels& labels, const Rule& rule, const Schedule& schedule,
                       const Output1<int16_t>& predicted) {
  require(schedule.max_passes == 1 && !schedule.shuffle && !rule.restart && rule.learn,
          "predicted is for one pass in the given order");
  require(predicted.shape(0) == static_cast<size_t>(rows.n), "a predicted class for each row");
  bool inside = true;
  for (int64_t i = 0; i < rows.n; ++i) inside &= (predicted(i) >= -1) & (predicted(i) < labels.n_classes);
  require(inside, "a predicted class is not below the number of classes");
}

Outcome run_passes(nb::handle rows_handle, const Labels& labels, const Rule& rule, Schedule schedule, Weights& weights,
                   bool keep_log, nb::object progress, std::optional<Output1<int16_t>> predicted,
                   std::optional<Array1<int64_t>> known_from) {
  const Rows& rows = rows_of(rows_handle);
  check_labels(rows, labels);
  const Examples examples{labels.codes.data(), labels.sample_weight ? labels.sample_weight->data() : nullptr};
  schedule.subset = labels.subset ? labels.subset->data() : nullptr;
  schedule.row_count = labels.subset ? static_cast<int64_t>(labels.subset->shape(0)) : rows.n;
  std::vector<double> scores;
  std::vector<Problem> problems = problems_of(rows, labels, weights, scores);
  std::vector<History> histories(problems.size());
  for (size_t k = 0; k < problems.size(); ++k) histories[k].active = weights.active(k);
  std::vector<int64_t> always(problems.size(), 0);
  Progressive progressive{nullptr, always.data()};
  if (predicted) {
    check_progressive(rows, labels, rule, schedule, *predicted);
    progressive.predicted = predicted->data();
    if (known_from) {
      require(known_from->shape(0) == problems.size(), "where each problem begins to be known");
      progressive.known_from = known_from->data();
    }
  }

  Outcome outcome;
  auto write_back = [&] {
    for (size_t k = 0; k < problems.size(); ++k) {
      weights.visits(k) = problems[k].visits;
      weights.updates(k) = problems[k].updates;
      weights.active(k) = histories[k].active;
    }
  };
  auto keep_going = [&] {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) {
      if (progress.is_none()) return true;
      if (schedule.threads <= 1) write_back();  // other threads are changing what it would read
      try {
        progress();
        return true;
      } catch (nb::python_error& e) {
        outcome.error = nb::borrow(e.value());
        return false;
      }
    }
    nb::python_error raised;
    outcome.error = nb::borrow(raised.value());
    return false;
  };
  End end;
  {
    nb::gil_scoped_release unlocked;
    end = run(rows, examples, rule, schedule, labels.joint && labels.n_classes > 2, keep_log,
              predicted ? &progressive : nullptr, problems, histories, keep_going);
  }
  write_back();
  outcome.finite = end != End::not_finite;
  for (size_t k = 0; k < problems.size(); ++k) {
    outcome.mistakes_per_pass.append(to_numpy(std::move(histories[k].mistakes_per_pass)));
    if (keep_log) outcome.mistakes.append(to_dict(histories[k].mistakes));
    outcome.converged.push_back(histories[k].converged);
    outcome.wrong.push_back(problems[k].wrong);
    outcome.losses.push_back(problems[k].loss);
  }
  return outcome;
}

NumpyArray<int64_t> order(uint64_t seed, int64_t pass, int64_t n) {
  require(n >= 0, "n must not be negative");
  const Schedule schedule{true, seed, pass, 1, nullptr, n, 1};
  std::vector<int64_t> out(static_cast<size_t>(n));
  Order places(schedule, pass);
  for (int64_t have = 0, more = 1; more > 0; have += more) more = places.next(out.data() + have, n - have);
  return to_numpy(std::move(out));
}

int64_t first_not_finite(AnyArray values) {
  const Values type = values_of(values);
  nb::gil_scoped_release unlocked;
  return kernels().first_not_finite(values.data(), type, static_cast<int64_t>(values.size()));
}

// Support rows times points, mistakes in sequence, and the survival time of every vector, the first guess included.
struct Votes {
  nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> products;
  Array1<int32_t> rows;
  Array1<double> steps;
  Array1<int64_t> survival;

  void check() const {
    require(steps.shape(0) == rows.shape(0) && survival.shape(0) == rows.shape(0) + 1,
            "a step for each mistake, a survival time for each vector");
    bool inside = true;
    for (size_t k = 0; k < rows.shape(0); ++k)
      inside &= rows(k) >= 0 && rows(k) < static_cast<int64_t>(products.shape(0));
    require(inside, "a mistake names a support row that is not there");
  }
};

void vote(decltype(Votes::products) products, Array1<int32_t> rows, Array1<double> steps, Array1<int64_t> survival,
          Tie tie, Output1<double> scores, Output1<int64_t> votes) {
  Votes{products, rows, steps, survival}.check();
  const size_t n_points = products.shape(1);
  require(scores.shape(0) == n_points && votes.shape(0) == n_points, "a score and a vote for each point");
  nb::gil_scoped_release unlocked;
  kernels().vote(products.data(), static_cast<int64_t>(n_points), rows.data(), steps.data(), survival.data(),
                 static_cast<int64_t>(rows.shape(0)), tie, scores.data(), votes.data());
}

void joint_vote(decltype(Votes::products) products, Array1<int32_t> rows, Array1<int32_t> up, Array1<int32_t> down,
                Array1<double> steps, Array1<int64_t> survival, Tie tie, Output2<double> scores,
                Output2<int64_t> votes) {
  Votes{products, rows, steps, survival}.check();
  const size_t n_points = products.shape(1), n_classes = scores.shape(0);
  require(scores.shape(1) == n_points && votes.shape(0) == n_classes && votes.shape(1) == n_points,
          "a score and a vote for each class and point");
  bool inside = up.shape(0) == rows.shape(0) && down.shape(0) == rows.shape(0);
  for (size_t k = 0; inside && k < rows.shape(0); ++k) {
    inside = up(k) >= 0 && up(k) < static_cast<int64_t>(n_classes) && down(k) >= 0 &&
             down(k) < static_cast<int64_t>(n_classes);
  }
  require(inside, "a mistake names a class that is not there");
  nb::gil_scoped_release unlocked;
  kernels().joint_vote(products.data(), static_cast<int64_t>(n_points), rows.data(), up.data(), down.data(),
                       steps.data(), survival.data(), static_cast<int64_t>(rows.shape(0)),
                       static_cast<int32_t>(n_classes), tie, scores.data(), votes.data());
}

// Asked often, looks rarely: whether a signal has come in (Ctrl-C), or the time is over.
class Patience {
 public:
  explicit Patience(std::optional<double> seconds) {
    if (seconds) end_ = last_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  }
  bool operator()() {  // without the GIL
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(25)) return true;
    last_ = now;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      raised_ = std::make_unique<nb::python_error>();
      return false;
    }
    return !end_ || now < *end_;
  }
  void rethrow() {  // with the GIL
    if (raised_) throw nb::python_error(*raised_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  std::optional<Clock::time_point> end_;
  std::unique_ptr<nb::python_error> raised_;
};

void check_codes(const Array1<int16_t>& codes, int64_t n, int n_classes) {
  require(codes.shape(0) == static_cast<size_t>(n), "a class code for each row");
  require(n_classes == 1 || n_classes == 2, "one class or two");
  bool inside = true;
  for (int64_t i = 0; i < n; ++i) inside &= codes(i) == 0 || codes(i) == 1;
  require(inside, "a class code is neither 0 nor 1");
}

nb::tuple min_norm(nb::handle points_handle, Array1<int16_t> classes, int n_classes, Array1<int64_t> start,
                   Array1<double> start_weights, double gap, double zero, int64_t max_iterations,
                   std::optional<double> seconds) {
  const Rows& points = rows_of(points_handle);
  require(points.values == Values::float64 && points.index_type == Indices::none, "points must be dense float64");
  check_codes(classes, points.n, n_classes);
  require(start.shape(0) == start_weights.shape(0), "a weight for each point of the start");
  std::vector<int64_t> ids(start.data(), start.data() + start.shape(0));
  std::vector<double> weights(start_weights.data(), start_weights.data() + start_weights.shape(0));
  for (const int64_t i : ids) require(i >= 0 && i < points.n, "the start names a point that is not there");
  for (int64_t i = 0; i < points.n; ++i) require(classes(i) < n_classes, "a class code is not below n_classes");
  Patience patience(seconds);
  MinNormPoint found;
  {
    nb::gil_scoped_release unlocked;
    found = min_norm_point(points, classes.data(), n_classes, ids, weights, {gap, zero, max_iterations},
                           [&] { return patience(); });
  }
  patience.rethrow();
  return nb::make_tuple(to_numpy(std::move(found.support)), to_numpy(std::move(found.weights)),
                        to_numpy(std::move(found.x)), found.norm, nb::make_tuple(found.level[0], found.level[1]),
                        found.end, found.iterations);
}

nb::tuple scan_rows(nb::handle rows_handle, Array1<int16_t> codes, int n_classes, Array1<double> w,
                    Array1<double> threshold, int64_t room, std::optional<Output1<double>> scores, int threads) {
  const Rows& rows = rows_of(rows_handle);
  check_codes(codes, rows.n, n_classes);
  require(static_cast<int64_t>(w.shape(0)) >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight");
  require(threshold.shape(0) == static_cast<size_t>(n_classes), "a threshold for each class");
  require(!scores || scores->shape(0) == static_cast<size_t>(rows.n), "a score for each row");
  Patience patience(std::nullopt);
  Scan answer;
  {
    nb::gil_scoped_release unlocked;
    scan(
        rows, codes.data(), n_classes, w.data(), threshold.data(), room, scores ? scores->data() : nullptr, threads,
        [&] { return patience(); }, answer);
  }
  patience.rethrow();
  std::vector<double> lowest, worst_scores;
  std::vector<int64_t> lowest_rows, worst_rows;
  for (int c = 0; c < n_classes; ++c) {
    lowest.push_back(answer.lowest[c].score);
    lowest_rows.push_back(answer.lowest[c].row);
    for (const ScoredRow& row : answer.worst[c]) worst_rows.push_back(row.row);
  }
  return nb::make_tuple(to_numpy(std::move(lowest)), to_numpy(std::move(lowest_rows)), to_numpy(std::move(worst_rows)));
}

nb::tuple nearest_rows(nb::handle rows_handle, Array1<int16_t> codes, Array1<double> w, double b, double norm,
                       double roundings, double underflow, double likeness, int threads) {
  const Rows& rows = rows_of(rows_handle);
  check_codes(codes, rows.n, 2);
  require(static_cast<int64_t>(w.shape(0)) >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight");
  Patience patience(std::nullopt);
  Nearest found;
  {
    nb::gil_scoped_release unlocked;
    nearest(
        rows, codes.data(), w.data(), {b, norm, roundings, underflow, likeness}, threads, [&] { return patience(); },
        found);
  }
  patience.rethrow();
  return nb::make_tuple(to_numpy(std::move(found.open)), to_numpy(std::move(found.values)),
                        to_numpy(std::move(found.bounds)), to_numpy(std::move(found.longest)), found.square);
}

nb::object first_equal_rows(nb::handle rows_handle, Array1<int16_t> codes, Array1<uint64_t> factors) {
  const Rows& rows = rows_of(rows_handle);
  require(static_cast<int64_t>(codes.shape(0)) == rows.n, "a class code for each row");
  require(static_cast<int64_t>(factors.shape(0)) >= rows.d, "a factor for each column");
  Patience patience(std::nullopt);
  std::pair<int64_t, int64_t> found;
  {
    nb::gil_scoped_release unlocked;
    found = equal_rows(rows, codes.data(), factors.data(), [&] { return patience(); });
  }
  patience.rethrow();
  return found.first < 0 ? nb::none() : nb::object(nb::make_tuple(found.first, found.second));
}

nb::tuple sizes(AnyArray values) {
  const Values type = values_of(values);
  Sizes found;
  {
    nb::gil_scoped_release unlocked;
    found = kernels().sizes(values.data(), type, static_cast<int64_t>(values.size()));
  }
  return nb::make_tuple(found.finite, found.largest, found.has_zero);
}

nb::tuple descend(nb::handle rows_handle, Array1<int16_t> codes, Array1<double> norms, Output1<double> weights,
                  Output1<double> w, double b, double bias, Output1<int64_t> ids, std::optional<Array1<double>> cost,
                  double low, double high) {
  const Rows& rows = rows_of(rows_handle);
  const size_t n = static_cast<size_t>(rows.n);
  require(codes.shape(0) == n && norms.shape(0) == n && weights.shape(0) == n, "a code, norm and weight for each row");
  require(!cost || cost->shape(0) == n, "a cost for each row");
  require(static_cast<int64_t>(w.shape(0)) >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight");
  bool inside = true;
  for (size_t t = 0; t < ids.shape(0); ++t) inside &= ids(t) >= 0 && ids(t) < rows.n;
  require(inside, "a row number is not a row");
  Descent descent{codes.data(),
                  norms.data(),
                  cost ? cost->data() : nullptr,
                  weights.data(),
                  w.data(),
                  b,
                  bias,
                  low,
                  high,
                  HUGE_VAL,
                  -HUGE_VAL,
                  0,
                  0};
  {
    nb::gil_scoped_release unlocked;
    kernels().descend(rows, descent, ids.data(), static_cast<int64_t>(ids.shape(0)));
  }
  return nb::make_tuple(descent.b, descent.moved, descent.kept, descent.lowest, descent.highest);
}

void scores(nb::handle rows_handle, Array1<double> w, Output1<double> out, int threads) {
  const Rows& rows = rows_of(rows_handle);
  require(static_cast<int64_t>(w.shape(0)) >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight");
  require(out.shape(0) == static_cast<size_t>(rows.n), "a score for each row");
  nb::gil_scoped_release unlocked;
  score_rows(rows, w.data(), out.data(), threads);
}

NumpyArray<double> combine(nb::handle rows_handle, Array1<double> coefficients, int threads) {
  const Rows& rows = rows_of(rows_handle);
  require(coefficients.shape(0) == static_cast<size_t>(rows.n), "a coefficient for each row");
  std::vector<double> sum(static_cast<size_t>(rows.d));
  {
    nb::gil_scoped_release unlocked;
    combine_rows(rows, coefficients.data(), sum.data(), threads);
  }
  return to_numpy(std::move(sum));
}

void gram(const SparseRows& sparse, Array1<int64_t> ids, Array1<double> coefficients, Output2<double> out) {
  const Rows& rows = sparse.rows;
  const size_t d = static_cast<size_t>(rows.d);
  require(ids.shape(0) == coefficients.shape(0), "a coefficient for each row");
  require(out.shape(0) == d && out.shape(1) == d, "the matrix must have a row and a column for each feature");
  bool inside = true;
  for (size_t t = 0; t < ids.shape(0); ++t) inside &= ids(t) >= 0 && ids(t) < rows.n;
  require(inside, "a row number is not a row");
  nb::gil_scoped_release unlocked;
  kernels().gram(rows, ids.data(), coefficients.data(), static_cast<int64_t>(ids.shape(0)), out.data());
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Kernels* const* k = available_kernels(); *k; ++k) names.emplace_back((*k)->name);
  return names;
}

void use_instruction_set(const std::string& name) {
  require(use_kernels(name.c_str()), "this machine has no such instruction set; see instruction_sets()");
}

}  // namespace
}  // namespace rosenblatt

NB_MODULE(_engine, m) {
  using namespace rosenblatt;
  nb::set_leak_warnings(false);  // an exception kept by a debugger or a test runner is no leak of ours
  m.doc() = "The hot loops of rosenblatt, and nothing else.";

  nb::enum_<Tie>(m, "Tie")
      .value("mistake", Tie::mistake)
      .value("positive", Tie::positive)
      .value("negative", Tie::negative);

  nb::class_<DenseRows>(m, "DenseRows").def(nb::init<AnyArray>(), "x"_a);
  nb::class_<SparseRows>(m, "SparseRows")
      .def(nb::init<AnyArray, AnyArray, AnyArray, int64_t>(), "data"_a, "columns"_a, "starts"_a, "n_features"_a);

  nb::class_<Labels>(m, "Labels")
      .def(
          "__init__",
          [](Labels* self, Array1<int16_t> codes, int32_t n_classes, bool joint, Array1<double> class_weight,
             std::optional<Array1<double>> sample_weight, std::optional<Array1<int64_t>> subset) {
            new (self) Labels{codes, n_classes, joint, sample_weight, class_weight, subset};
          },
          "codes"_a, nb::kw_only(), "n_classes"_a, "joint"_a, "class_weight"_a, "sample_weight"_a = nb::none(),
          "subset"_a = nb::none());

  nb::class_<Rule>(m, "Rule").def(
      "__init__",
      [](Rule* self, Tie tie, bool fit_intercept, bool learn, bool restart, double eta0, int64_t max_updates,
         double margin) { new (self) Rule{tie, fit_intercept, learn, restart, eta0, max_updates, margin}; },
      nb::kw_only(), "tie"_a, "fit_intercept"_a, "learn"_a = true, "restart"_a = false, "eta0"_a = 1.0,
      "max_updates"_a = INT64_MAX, "margin"_a = 0.0);

  nb::class_<Schedule>(m, "Schedule")
      .def(
          "__init__",
          [](Schedule* self, int64_t max_passes, bool shuffle, uint64_t seed, int64_t first_pass, int threads) {
            new (self) Schedule{shuffle, seed, first_pass, max_passes, nullptr, 0, threads};
          },
          nb::kw_only(), "max_passes"_a, "shuffle"_a = false, "seed"_a = 0, "first_pass"_a = 0, "threads"_a = 1);

  nb::class_<Weights>(m, "Weights")
      .def(
          "__init__",
          [](Weights* self, Output2<double> w, Output1<double> b, Output1<int64_t> visits, Output1<int64_t> updates,
             Output1<bool> active, std::optional<Output2<double>> w_late, std::optional<Output1<double>> b_late,
             std::optional<Output2<double>> beside) {
            new (self) Weights{w, b, w_late, b_late, visits, updates, active, beside};
          },
          "w"_a, "b"_a, nb::kw_only(), "visits"_a, "updates"_a, "active"_a, "w_late"_a = nb::none(),
          "b_late"_a = nb::none(), "beside"_a = nb::none());

  nb::class_<Outcome>(m, "Outcome")
      .def_ro("mistakes_per_pass", &Outcome::mistakes_per_pass)
      .def_ro("mistakes", &Outcome::mistakes)
      .def_ro("converged", &Outcome::converged)
      .def_ro("wrong", &Outcome::wrong)
      .def_ro("losses", &Outcome::losses)
      .def_ro("finite", &Outcome::finite)
      .def_ro("error", &Outcome::error);

  bind_reading(m);
  bind_kernel_perceptron(m);
  bind_replay(m);
  bind_packing(m);
  m.def("run", &run_passes, "rows"_a, "labels"_a, "rule"_a, "schedule"_a, "weights"_a, nb::kw_only(),
        "keep_log"_a = false, "progress"_a = nb::none(), "predicted"_a = nb::none(), "known_from"_a = nb::none(),
        "Pass over the rows until every problem has converged or is out of budget.");
  m.def("order", &order, "seed"_a, "pass_"_a, "n"_a, "The shuffled order of a pass.");
  m.def("first_not_finite", &first_not_finite, "values"_a, "Position of the first NaN or infinity, or -1.");
  m.def("vote", &vote, "products"_a, "rows"_a, "steps"_a, "survival"_a, "tie"_a, "scores"_a, "votes"_a,
        "Add the votes of all vectors of a binary run to `votes`.");
  m.def("joint_vote", &joint_vote, "products"_a, "rows"_a, "up"_a, "down"_a, "steps"_a, "survival"_a, "tie"_a,
        "scores"_a, "votes"_a, "Add the votes of all vector sets of a joint run to `votes`.");
  nb::enum_<MinNormEnd>(m, "MinNormEnd")
      .value("gap", MinNormEnd::gap)
      .value("zero", MinNormEnd::zero)
      .value("stuck", MinNormEnd::stuck)
      .value("iterations", MinNormEnd::iterations)
      .value("interrupted", MinNormEnd::interrupted);
  m.def("min_norm", &min_norm, "points"_a, "classes"_a, nb::kw_only(), "n_classes"_a, "start"_a, "start_weights"_a,
        "gap"_a, "zero"_a = 1e-13, "max_iterations"_a = 100000, "seconds"_a = nb::none(),
        "The point nearest to the origin: support, weights, point, norm, levels, end, iterations.");
  m.def("scan", &scan_rows, "rows"_a, "codes"_a, nb::kw_only(), "n_classes"_a, "w"_a, "threshold"_a, "room"_a = 0,
        "scores"_a = nb::none(), "threads"_a = 1,
        "Score all rows: the lowest of each class, their rows, and the rows that score worst below the thresholds.");
  m.def("nearest", &nearest_rows, "rows"_a, "codes"_a, "w"_a, nb::kw_only(), "b"_a, "norm"_a, "roundings"_a,
        "underflow"_a, "likeness"_a, "threads"_a = 1,
        "The rows that may be nearest to a hyperplane, their values and error bounds; the longest rows, their square.");
  m.def("equal_rows", &first_equal_rows, "rows"_a, "codes"_a, "factors"_a,
        "Two equal rows with different codes, or None.");
  m.def("sizes", &sizes, "values"_a, "Whether all numbers are finite, the largest size, and whether there is a zero.");
  m.def("scores", &scores, "rows"_a, "w"_a, "out"_a, nb::kw_only(), "threads"_a = 1,
        "The products of all rows with w.");
  m.def("combine", &combine, "rows"_a, "coefficients"_a, nb::kw_only(), "threads"_a = 1,
        "The sum of all rows, each times its coefficient.");
  m.def("gram", &gram, "rows"_a, "ids"_a, "coefficients"_a, "out"_a,
        "Add the products x x' of some sparse rows, each times its coefficient, to the lower triangle of a matrix.");
  m.def("descend", &descend, "rows"_a, "codes"_a, "norms"_a, "weights"_a, "w"_a, nb::kw_only(), "b"_a, "bias"_a,
        "ids"_a, "cost"_a = nb::none(), "low"_a = -HUGE_VAL, "high"_a = HUGE_VAL,
        "Visit some rows once in dual coordinate descent: the offset, how many weights moved, how many rows were kept "
        "(the first of `ids` then), and the lowest and highest of their projected gradients.");
  m.def("instruction_sets", &instruction_sets, "What this machine can run, slowest first.");
  m.def("instruction_set", [] { return std::string(kernels().name); }, "What is in use.");
  m.def("use_instruction_set", &use_instruction_set, "name"_a, "For tests: every choice gives the same bits.");
}
