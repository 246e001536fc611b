// What Python sees of replaying.
#pragma once
#include <nanobind/nanobind.h>

namespace rosenblatt {

void bind_replay(nanobind::module_& m);

}  // namespace rosenblatt
