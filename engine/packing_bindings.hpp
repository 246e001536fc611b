// What Python sees of rows in few bytes.
#pragma once
#include <nanobind/nanobind.h>

namespace rosenblatt {

void bind_packing(nanobind::module_& m);

}  // namespace rosenblatt
