#include "replay_bindings.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "python_rows.hpp"
#include "replay.hpp"

namespace rosenblatt {
namespace {

using namespace nb::literals;

template <class T>
double* place_of(std::optional<T>& array, size_t visits, size_t width, const char* message) {
  if (!array) return nullptr;
  require(array->shape(0) == visits && array->size() == visits * width, message);
  return array->data();
}

void replay_visits(nb::handle rows_handle, Array1<int64_t> ids, Array1<double> steps, Output2<double> w,
                   Output1<double> b, bool fit_intercept, std::optional<Array1<int32_t>> up,
                   std::optional<Array1<int32_t>> down, std::optional<Output2<double>> before,
                   std::optional<Output2<double>> after, std::optional<Output1<double>> squares,
                   std::optional<Output2<double>> path_w, std::optional<Output2<double>> path_b) {
  const Rows& rows = rows_of(rows_handle);
  const size_t count = ids.shape(0), n = w.shape(0);
  require(steps.shape(0) == count, "a step for each visit");
  require(static_cast<int64_t>(w.shape(1)) >= (rows.d + 7) / 8 * 8, "weights must be padded to a multiple of eight");
  require(n >= 1 && b.shape(0) == n, "an intercept for each vector");
  require(up.has_value() == down.has_value(), "up and down come together");
  require(up || n == 1, "several vectors need up and down");
  require(!up || (up->shape(0) == count && down->shape(0) == count), "up and down for each visit");
  bool inside = true;
  for (size_t t = 0; t < count; ++t) {
    inside &= ids(t) >= 0 && ids(t) < rows.n;
    if (!up || steps(t) == 0) continue;
    inside &= (*up)(t) >= 0 && (*up)(t) < static_cast<int32_t>(n) && (*down)(t) >= 0;
    inside &= (*down)(t) < static_cast<int32_t>(n);
  }
  require(inside, "a visit names a row or a vector that is not there");
  const Visits visits{ids.data(), steps.data(), up ? up->data() : nullptr, down ? down->data() : nullptr,
                      static_cast<int64_t>(count)};
  Vectors vectors{w.data(), b.data(), static_cast<int32_t>(n), static_cast<int64_t>(w.shape(1))};
  const Observations seen{place_of(before, count, n, "a score for each visit and vector"),
                          place_of(after, count, n, "a score for each visit and vector"),
                          place_of(squares, count, 1, "a square for each visit"),
                          place_of(path_w, count, n * w.shape(1), "the weights of each visit"),
                          place_of(path_b, count, n, "the intercepts of each visit")};
  nb::gil_scoped_release unlocked;
  replay(rows, visits, fit_intercept, vectors, seen);
}

}  // namespace

void bind_replay(nb::module_& m) {
  m.def("replay", &replay_visits, "rows"_a, "ids"_a, "steps"_a, "w"_a, "b"_a, nb::kw_only(), "fit_intercept"_a,
        "up"_a = nb::none(), "down"_a = nb::none(), "before"_a = nb::none(), "after"_a = nb::none(),
        "squares"_a = nb::none(), "path_w"_a = nb::none(), "path_b"_a = nb::none(),
        "Visit rows again with the steps of a log; w and b are changed in place.");
}

}  // namespace rosenblatt
