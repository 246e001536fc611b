// What Python sees of kernel expansions.
#pragma once
#include <nanobind/nanobind.h>

namespace rosenblatt {

void bind_kernel_perceptron(nanobind::module_& m);

}  // namespace rosenblatt
