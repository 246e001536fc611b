#include "batch.hpp"

namespace rosenblatt {

void parse_vw(const char*, const char*, const Options&, Batch&) {}

}  // namespace rosenblatt
