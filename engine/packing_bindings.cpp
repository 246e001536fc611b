#include "packing_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <optional>

#include "instruction_sets.hpp"
#include "packed_rows.hpp"
#include "python_rows.hpp"

namespace rosenblatt {
namespace {

using namespace nb::literals;

template <class T>
nb::object view(nb::handle owner, const Growing<T>& values, size_t count) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), {count}, owner));
}

void add(Packer& packer, nb::handle rows_handle, Array1<int16_t> codes, std::optional<Array1<double>> weights) {
  const Rows& rows = rows_of(rows_handle);
  const size_t n = static_cast<size_t>(rows.n);
  require(codes.size() == n && (!weights || weights->size() == n), "a code and a weight for each row");
  require(packer.takes(rows, weights.has_value()), "these rows are of another kind than those before: finish first");
  nb::gil_scoped_release unlocked;
  packer.add(rows, codes.data(), weights ? weights->data() : nullptr);
}

// The stretch that is asked for, which must be among the integers that the planes hold.
Planes stretch(size_t bytes, int width, int64_t first, size_t count) {
  require(width >= 1 && width <= 4, "an integer has a width of 1 to 4 bytes");
  const size_t size = static_cast<size_t>(width);
  require(bytes % size == 0, "planes must be whole");
  const int64_t total = static_cast<int64_t>(bytes / size), n = static_cast<int64_t>(count);
  require(first >= 0 && n <= total && first <= total - n, "the planes do not hold so many integers");
  return {total, width, first, n};
}

void read_columns(Array1<uint8_t> planes, int width, int64_t first, Output1<int32_t> columns) {
  const Planes where = stretch(planes.size(), width, first, columns.size());
  nb::gil_scoped_release unlocked;
  kernels().compact.columns_of_planes(planes.data(), where, columns.data());
}

void read_decimals(Array1<uint8_t> planes, int width, int places, int64_t first, Output1<double> numbers) {
  const Planes where = stretch(planes.size(), width, first, numbers.size());
  require(places >= 0 && places <= kMostPlaces, "places must be from 0 to 9");
  nb::gil_scoped_release unlocked;
  kernels().compact.decimals_of_planes(planes.data(), where, places, numbers.data());
}

}  // namespace

void bind_packing(nb::module_& m) {
  nb::class_<PackedRows>(m, "PackedRows")
      .def_ro("n_rows", &PackedRows::rows)
      .def_ro("n_features", &PackedRows::features)
      .def_ro("n_values", &PackedRows::numbers)
      .def_ro("dense", &PackedRows::dense)
      .def_ro("weighted", &PackedRows::weighted)
      .def_ro("column_width", &PackedRows::column_width)
      .def_ro("value_kind", &PackedRows::kind)
      .def_ro("places", &PackedRows::places)
      .def_prop_ro("arrays", [](nb::handle self) {
        const PackedRows& p = nb::cast<const PackedRows&>(self);
        nb::list out;
        const size_t n = static_cast<size_t>(p.rows);
        out.append(view(self, p.codes, n));
        if (p.weighted) out.append(view(self, p.weights, n));
        if (!p.dense) out.append(view(self, p.starts, n + 1));
        if (!p.dense) out.append(view(self, p.columns, p.columns.size()));
        out.append(view(self, p.values, p.values.size()));
        return out;
      });
  nb::class_<Packer>(m, "Packer")
      .def(nb::init<>())
      .def_prop_ro("n_bytes", &Packer::bytes)
      .def(
          "takes",
          [](const Packer& packer, nb::handle rows, bool weighted) { return packer.takes(rows_of(rows), weighted); },
          "rows"_a, "weighted"_a, "Whether these rows can be in one piece with those before.")
      .def("add", &add, "rows"_a, "codes"_a, "weights"_a = nb::none(), "Pack rows behind those before.")
      .def(
          "finish",
          [](Packer& packer, std::shared_ptr<PackedRows> into) {
            if (!into) into = std::make_shared<PackedRows>();
            packer.finish(*into);
            return into;
          },
          "into"_a = nb::none(), "All rows so far, in memory that may be used again; the packer begins anew.");
  m.def("columns_of_planes", &read_columns, "planes"_a, "width"_a, "first"_a, "columns"_a.noconvert(),
        "Read column numbers back, from a place on.");
  m.def("decimals_of_planes", &read_decimals, "planes"_a, "width"_a, "places"_a, "first"_a, "numbers"_a.noconvert(),
        "Read decimals back, from a place on.");
}

}  // namespace rosenblatt
