// Products of support rows and points, and the expansions made of them, on several threads.
#pragma once
#include <vector>

#include "expansions.hpp"

namespace rosenblatt {

// Rows without their zeros; the columns of sparse rows must rise already.
template <class T>
struct CompressedRows {
  std::vector<T> values;
  std::vector<int32_t> columns;
  std::vector<int64_t> starts;
};
template <class T>
CompressedRows<T> compressed(const Rows& rows, const int64_t* ids, int64_t count);

// (gamma z . x + coef0) ^ degree; degree 0: the products as they are.
struct Polynomial {
  double gamma, coef0;
  int64_t degree;
};

// How many numbers a row of products of so many points takes: whole panels.
int64_t padded_points(int64_t count, int64_t bytes);

// out[j * padded + i] = K(z_j, x_i) for the support rows which[j] and the points ids[i].
template <class T>
void kernel_products(const Compressed<T>& support, const int64_t* which, int64_t n_which, const Rows& rows,
                     const int64_t* ids, int64_t count, const Polynomial& polynomial, T* out, int threads);

// The same of some rows with each other: out[i * padded + q] = K(x_i, x_q), each pair computed once.
template <class T>
void own_products(const Rows& rows, const int64_t* ids, int64_t count, const Polynomial& polynomial, T* out,
                  int threads);

}  // namespace rosenblatt
