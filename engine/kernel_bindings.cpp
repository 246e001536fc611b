#include "kernel_bindings.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "kernel_products.hpp"
#include "kernel_rules.hpp"
#include "pieces.hpp"
#include "python_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {
namespace {

using AnyOutput = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Ints32 = std::optional<Array1<int32_t>>;

const ExpansionKernels<float>& loops(float) { return kernels().expansions32; }
const ExpansionKernels<double>& loops(double) { return kernels().expansions64; }

// Calls f with a null pointer of float or double, as the array holds.
template <class Array, class F>
auto with_type(const Array& array, F f) {
  if (array.dtype() == nb::dtype<float>()) return f(static_cast<float*>(nullptr));
  require(array.dtype() == nb::dtype<double>(), "values must be float32 or float64");
  return f(static_cast<double*>(nullptr));
}

template <class I>
void require_below(const Array1<I>& numbers, int64_t n, const char* message) {
  bool inside = true;
  for (size_t i = 0; i < numbers.shape(0); ++i) inside &= numbers(i) >= 0 && numbers(i) < n;
  require(inside, message);
}

nb::tuple compress(nb::handle rows_handle, Array1<int64_t> ids) {
  const Rows& rows = rows_of(rows_handle);
  require(rows.d <= INT32_MAX, "more than 2^31 - 1 columns");
  require_below(ids, rows.n, "a row number is not a row");
  auto of_type = [&](auto zero) {
    using T = decltype(zero);
    CompressedRows<T> made;
    {
      nb::gil_scoped_release unlocked;
      made = compressed<T>(rows, ids.data(), static_cast<int64_t>(ids.shape(0)));
    }
    return nb::make_tuple(to_numpy(std::move(made.values)), to_numpy(std::move(made.columns)),
                          to_numpy(std::move(made.starts)));
  };
  return rows.values == Values::float32 ? of_type(float{}) : of_type(double{});
}

// z . z of each row, added up as products are, so that z . z - 2 z . z + z . z is 0.
nb::object squares(AnyArray values, Array1<int64_t> starts) {
  const size_t n = starts.shape(0) - 1;
  require(starts.shape(0) > 0 && starts(n) <= static_cast<int64_t>(values.size()), "starts points past the end");
  return with_type(values, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* value = static_cast<const T*>(values.data());
    std::vector<T> out(n, T{0});
    for (size_t j = 0; j < n; ++j) {
      for (int64_t t = starts(j); t < starts(j + 1); ++t) out[j] += value[t] * value[t];
    }
    return nb::cast(to_numpy(std::move(out)));
  });
}

void kernel_values(AnyArray values, Array1<int32_t> columns, Array1<int64_t> starts, Array1<int64_t> which,
                   nb::handle rows_handle, Array1<int64_t> ids, AnyOutput out, double gamma, double coef0,
                   int64_t degree, int threads) {
  const Rows& rows = rows_of(rows_handle);
  const int64_t n = static_cast<int64_t>(starts.shape(0)) - 1, count = static_cast<int64_t>(ids.shape(0));
  require(n >= 0 && values.dtype() == out.dtype() && values.ndim() == 1, "support rows and values of one type");
  require(starts(static_cast<size_t>(n)) <= static_cast<int64_t>(std::min(values.size(), columns.shape(0))),
          "starts points past the end of the support");
  require_below(which, n, "a number is not that of a support row");
  require_below(ids, rows.n, "a row number is not a row");
  with_type(values, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    require(out.ndim() == 2 && out.shape(0) == which.shape(0) &&
                static_cast<int64_t>(out.shape(1)) == padded_points(count, sizeof(T)),
            "a row of values, in whole panels, for each support row");
    const Compressed<T> support{static_cast<const T*>(values.data()), columns.data(), starts.data(), n};
    nb::gil_scoped_release unlocked;
    kernel_products(support, which.data(), static_cast<int64_t>(which.shape(0)), rows, ids.data(), count,
                    {gamma, coef0, degree}, static_cast<T*>(out.data()), threads);
  });
}

void own_kernel_values(nb::handle rows_handle, Array1<int64_t> ids, AnyOutput out, double gamma, double coef0,
                       int64_t degree, int threads) {
  const Rows& rows = rows_of(rows_handle);
  const int64_t count = static_cast<int64_t>(ids.shape(0));
  require(rows.d <= INT32_MAX, "more than 2^31 - 1 columns");
  require_below(ids, rows.n, "a row number is not a row");
  with_type(out, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    require(out.ndim() == 2 && static_cast<int64_t>(out.shape(0)) == count &&
                static_cast<int64_t>(out.shape(1)) == padded_points(count, sizeof(T)),
            "a row of values, in whole panels, for each row");
    nb::gil_scoped_release unlocked;
    own_products(rows, ids.data(), count, {gamma, coef0, degree}, static_cast<T*>(out.data()), threads);
  });
}

// A run's mistakes on the rows of some kernel values.
Terms terms_of(const AnyArray& values, int64_t count, const Array1<int32_t>& rows, const Array1<double>& steps,
               const Ints32& up, const Ints32& down, int64_t n_classes) {
  require(values.ndim() == 2 && count <= static_cast<int64_t>(values.shape(1)), "a row of values for each support row");
  require(rows.shape(0) == steps.shape(0), "a step for each mistake");
  require_below(rows, static_cast<int64_t>(values.shape(0)), "a mistake names a row that is not there");
  require(up.has_value() == down.has_value() && (!up || up->shape(0) == rows.shape(0)) &&
              (!down || down->shape(0) == rows.shape(0)),
          "two classes for each mistake");
  if (up) require_below(*up, n_classes, "a mistake names a class that is not there");
  if (down) require_below(*down, n_classes, "a mistake names a class that is not there");
  return {rows.data(),
          steps.data(),
          up ? up->data() : nullptr,
          down ? down->data() : nullptr,
          nullptr,
          static_cast<int64_t>(rows.shape(0))};
}

// Calls work(first, count) for tiles of points; scores of a tile stay in the first cache.
template <class Work>
void each_tile(int64_t count, int64_t n_terms, int threads, const Work& work) {
  constexpr int64_t kTile = 128;
  const bool much = n_terms * count > (1 << 20);  // a thread costs as much as some 10,000 additions
  share_out((count + kTile - 1) / kTile, much ? threads : 1,
            [&](int64_t tile) { work(tile * kTile, std::min(kTile, count - tile * kTile)); });
}

void accumulate(AnyArray values, Array1<int32_t> rows, Array1<double> steps, Output2<double> scores, Ints32 up,
                Ints32 down, int threads) {
  const int64_t count = static_cast<int64_t>(scores.shape(1));
  const Terms terms = terms_of(values, count, rows, steps, up, down, static_cast<int64_t>(scores.shape(0)));
  require(up || scores.shape(0) == 1, "one row of scores for a binary problem");
  with_type(values, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* data = static_cast<const T*>(values.data());
    const int64_t stride = static_cast<int64_t>(values.shape(1));
    nb::gil_scoped_release unlocked;
    each_tile(count, terms.n, threads, [&](int64_t first, int64_t some) {
      loops(T{}).accumulate(data + first, stride, some, terms, scores.data() + first, count);
    });
  });
}

void expansion_vote(AnyArray values, Array1<int32_t> rows, Array1<double> steps, Array1<int64_t> survival, Tie tie,
                    Output2<double> scores, Output2<double> votes, Ints32 up, Ints32 down, int threads) {
  const int64_t count = static_cast<int64_t>(scores.shape(1)), n_classes = static_cast<int64_t>(scores.shape(0));
  Terms terms = terms_of(values, count, rows, steps, up, down, n_classes);
  require(up || n_classes == 1, "one row of scores for a binary problem");
  require(votes.shape(0) == scores.shape(0) && votes.shape(1) == scores.shape(1), "a vote for each score");
  require(survival.shape(0) == rows.shape(0) + 1, "a survival time for each vector");
  terms.survival = survival.data();
  with_type(values, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T* data = static_cast<const T*>(values.data());
    const int64_t stride = static_cast<int64_t>(values.shape(1));
    nb::gil_scoped_release unlocked;
    each_tile(count, terms.n, threads, [&](int64_t first, int64_t some) {
      loops(T{}).vote(data + first, stride, some, terms, tie, static_cast<int32_t>(n_classes), scores.data() + first,
                      votes.data() + first, count);
    });
  });
}

BlockLabels labels_of(const Array1<int16_t>& codes, const std::optional<Array1<double>>& sample_weight,
                      const Array1<double>& class_weight, int positive) {
  const int32_t n_classes = static_cast<int32_t>(class_weight.shape(0));
  require(positive >= -1 && positive < n_classes, "the positive class is not one of the classes");
  require_below(codes, n_classes, "a class code is not below the number of classes");
  require(!sample_weight || sample_weight->shape(0) == codes.shape(0), "a weight for each row");
  return {codes.data(),
          sample_weight ? sample_weight->data() : nullptr,
          static_cast<int64_t>(codes.shape(0)),
          class_weight.data(),
          n_classes,
          static_cast<int16_t>(positive)};
}

nb::dict to_dict(BlockLog&& log) {
  nb::dict out;
  out["row"] = to_numpy(std::move(log.row));
  out["visit"] = to_numpy(std::move(log.visit));
  out["step"] = to_numpy(std::move(log.step));
  out["up"] = to_numpy(std::move(log.up));
  out["down"] = to_numpy(std::move(log.down));
  out["visits"] = log.visits;
  out["updates"] = log.updates;
  out["loss"] = log.loss;
  out["finite"] = log.stop != Stop::not_finite;
  out["spent"] = log.stop == Stop::budget;
  return out;
}

nb::dict settle(AnyArray own, Array1<int16_t> codes, std::optional<Array1<double>> sample_weight,
                Array1<double> class_weight, int positive, const Rule& rule, Output2<double> scores, int64_t visits,
                int64_t updates) {
  const BlockLabels labels = labels_of(codes, sample_weight, class_weight, positive);
  require(own.ndim() == 2 && own.shape(0) >= codes.shape(0) && own.shape(1) >= codes.shape(0),
          "kernel values of each row with each row of the block");
  require(scores.shape(0) == (positive >= 0 ? 1 : class_weight.shape(0)) && scores.shape(1) == codes.shape(0),
          "a score for each row");
  BlockLog log;
  log.visits = visits;
  log.updates = updates;
  with_type(own, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    nb::gil_scoped_release unlocked;
    settle_block(static_cast<const T*>(own.data()), static_cast<int64_t>(own.shape(1)), labels, rule, scores.data(),
                 static_cast<int64_t>(scores.shape(1)), log);
  });
  return to_dict(std::move(log));
}

nb::tuple settle_kept(AnyArray values, Array1<int16_t> codes, std::optional<Array1<double>> sample_weight,
                      Array1<double> class_weight, Array1<int64_t> positives, Array1<bool> active, const Rule& rule,
                      Array1<int32_t> own_columns, Budget budget, int64_t max_support, int64_t size, int64_t mistaken,
                      Output1<int32_t> columns, Output2<double> coefficients, std::optional<Output2<double>> late,
                      std::optional<Output1<int64_t>> slots, std::optional<Output2<double>> gram, Output1<double> state,
                      uint64_t seed, Array1<int64_t> visits, Array1<int64_t> updates) {
  const size_t n_problems = positives.shape(0), room = columns.shape(0);
  const int64_t n_columns = static_cast<int64_t>(values.ndim() == 2 ? values.shape(1) : 0);
  require(n_problems >= 1 && active.shape(0) == n_problems && visits.shape(0) == n_problems &&
              updates.shape(0) == n_problems,
          "counts for each problem");
  require(values.ndim() == 2 && values.shape(0) == codes.shape(0), "a row of kernel values for each row");
  require(own_columns.shape(0) == codes.shape(0), "a column for each row");
  require_below(own_columns, n_columns, "a row has no column");
  const int64_t most = std::min(max_support, size + static_cast<int64_t>(codes.shape(0)));
  require(max_support >= 1 && size >= 0 && size <= max_support && most < static_cast<int64_t>(room),
          "more rows are kept than there is room");
  auto one_each = [&](const Output2<double>& a, size_t width) {
    return a.shape(0) == n_problems && a.shape(1) == width;
  };
  require(one_each(coefficients, room) && (!late || one_each(*late, room)), "a coefficient for each kept row");
  require(state.shape(0) == n_problems + 1, "a number of state for each problem, and one more");
  require((budget == Budget::random) == !slots && slots.has_value() == gram.has_value(), "only random keeps no Gram");
  require(!slots || (slots->shape(0) == room && gram->shape(0) == room && gram->shape(1) == room),
          "a row and a column of the Gram matrix for each kept row");
  bool inside = true;
  for (int64_t t = 0; t < size; ++t) {
    inside &= columns(static_cast<size_t>(t)) >= 0 && columns(static_cast<size_t>(t)) < n_columns;
  }
  for (size_t t = 0; slots && t < room; ++t) inside &= (*slots)(t) >= 0 && (*slots)(t) < static_cast<int64_t>(room);
  require(inside, "a kept row has no column or no slot");
  std::vector<BlockLabels> labels;
  std::vector<BlockLog> logs(n_problems);
  for (size_t k = 0; k < n_problems; ++k) {
    require(positives(k) >= 0, "a budget is that of binary problems");
    labels.push_back(labels_of(codes, sample_weight, class_weight, static_cast<int>(positives(k))));
    logs[k].visits = visits(k);
    logs[k].updates = updates(k);
    logs[k].stop = active(k) ? Stop::none : Stop::mistake;
  }
  Kept kept{budget,
            static_cast<int64_t>(n_problems),
            max_support,
            size,
            static_cast<int64_t>(room),
            mistaken,
            seed,
            columns.data(),
            coefficients.data(),
            late ? late->data() : nullptr,
            slots ? slots->data() : nullptr,
            gram ? gram->data() : nullptr,
            state.data()};
  with_type(values, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    nb::gil_scoped_release unlocked;
    settle_within_budget(static_cast<const T*>(values.data()), n_columns, labels.data(), own_columns.data(), rule, kept,
                         logs.data());
  });
  nb::list out;
  for (BlockLog& log : logs) out.append(to_dict(std::move(log)));
  return nb::make_tuple(out, kept.size, kept.mistaken);
}

}  // namespace

void bind_kernel_perceptron(nb::module_& m) {
  nb::enum_<Budget>(m, "Budget")
      .value("forget", Budget::forget)
      .value("project", Budget::project)
      .value("random", Budget::random);
  m.def("compress", &compress, "rows"_a, "ids"_a, "Some rows without their zeros: values, columns, starts.");
  m.def("squares", &squares, "values"_a, "starts"_a, "The products of rows without their zeros with themselves.");
  m.def("padded_points", &padded_points, "count"_a, "bytes"_a, "How long a row of kernel values of `count` points is.");
  m.def("kernel_values", &kernel_values, "values"_a, "columns"_a, "starts"_a, "which"_a, "rows"_a, "ids"_a,
        "out"_a.noconvert(), nb::kw_only(), "gamma"_a = 1.0, "coef0"_a = 0.0, "degree"_a = 0, "threads"_a = 1,
        "(gamma z . x + coef0) ^ degree of some support rows and points; degree 0: the products.");
  m.def("own_kernel_values", &own_kernel_values, "rows"_a, "ids"_a, "out"_a.noconvert(), nb::kw_only(), "gamma"_a = 1.0,
        "coef0"_a = 0.0, "degree"_a = 0, "threads"_a = 1, "The same of some rows with each other.");
  m.def("accumulate", &accumulate, "values"_a, "rows"_a, "steps"_a, "scores"_a.noconvert(), nb::kw_only(),
        "up"_a = nb::none(), "down"_a = nb::none(), "threads"_a = 1, "Add an expansion to the scores of points.");
  m.def("expansion_vote", &expansion_vote, "values"_a, "rows"_a, "steps"_a, "survival"_a, "tie"_a,
        "scores"_a.noconvert(), "votes"_a.noconvert(), nb::kw_only(), "up"_a = nb::none(), "down"_a = nb::none(),
        "threads"_a = 1, "Add the votes of all vectors of a run to `votes`.");
  m.def("settle", &settle, "own"_a, "codes"_a, "sample_weight"_a.none(), "class_weight"_a, nb::kw_only(), "positive"_a,
        "rule"_a, "scores"_a.noconvert(), "visits"_a, "updates"_a, "Visit the rows of a block, one after the other.");
  m.def("settle_within_budget", &settle_kept, "values"_a, "codes"_a, "sample_weight"_a.none(), "class_weight"_a,
        nb::kw_only(), "positives"_a, "active"_a, "rule"_a, "own_columns"_a, "budget"_a, "max_support"_a, "size"_a,
        "mistaken"_a, "columns"_a.noconvert(), "coefficients"_a.noconvert(), "late"_a.noconvert().none(),
        "slots"_a.noconvert().none(), "gram"_a.noconvert().none(), "state"_a.noconvert(), "seed"_a, "visits"_a,
        "updates"_a, "The same, for problems that share a support of limited size: logs, size, rows mistaken so far.");
  m.def("random_victim", &random_victim, "seed"_a, "number"_a, "size"_a,
        "Which of so many kept rows a random budget drops at a mistaken row.");
}

}  // namespace rosenblatt
