#include "batch.hpp"

namespace rosenblatt {

void parse_json(const char*, const char*, const Options&, Batch&) {}

}  // namespace rosenblatt
