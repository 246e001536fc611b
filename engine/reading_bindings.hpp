// What Python sees of reading: options, a reader, its batches.
#pragma once
#include <nanobind/nanobind.h>

namespace rosenblatt {

void bind_reading(nanobind::module_& m);

}  // namespace rosenblatt
