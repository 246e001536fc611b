// Strings and numbers as JSON writes them.
#pragma once
#include <string_view>

#include "batch.hpp"

namespace rosenblatt {

// The first byte from p on that ends or changes a string: a quote, a backslash, or a control character; the newline or the
// zeros behind the text are such. 64 bytes behind it must be readable.
const char* plain_until(const char* p);

// Appends what the escape at p (a backslash) stands for, in UTF-8. Returns where it ends, or null if there is none.
const char* unescape(const char* p, const char* end, Growing<char>& out);

// The number at p by the rules of JSON: where it ends, or null if there is none, or none that is finite.
const char* read_json_number(const char* p, const char* end, double& value);

}  // namespace rosenblatt
