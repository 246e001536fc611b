// Equal rows with different labels, which no hyperplane can separate.
#pragma once
#include <functional>
#include <utility>

#include "problems.hpp"

namespace rosenblatt {

// The first row that is equal to an earlier one of another label (codes), and the first of those: earlier and later row;
// -1 and -1 if there is none, or keep_going said no.
//
// Rows are equal if their values are, 0.0 and -0.0 being one value. Sparse rows must have sorted columns, each stored
// once; values of 0 may be stored. Rows meet in a table by their hash, and where hashes agree the rows are compared, so
// a bad hash costs time only.
std::pair<int64_t, int64_t> equal_rows(const Rows& rows, const int16_t* codes, const uint64_t* factors,
                                       const std::function<bool()>& keep_going);

}  // namespace rosenblatt
