#include "batch.hpp"

namespace rosenblatt {

void parse_csv(const char*, const char*, const Options&, Batch&) {}

}  // namespace rosenblatt
