// What the kernel perceptron does with the rows of a block, one after the other, once their kernel values are known.
#pragma once
#include <vector>

#include "expansions.hpp"

namespace rosenblatt {

// The rows of a block, as one problem sees them.
struct BlockLabels {
  const int16_t* codes;         // the class of each row
  const double* sample_weight;  // or null
  int64_t n;
  const double* class_weight;  // one for each class
  int32_t n_classes;
  int16_t positive;  // binary: the class that counts as +1; -1: the joint problem
};

// The mistakes made in a block, and the counts of their problem.
struct BlockLog {
  std::vector<int32_t> row, up, down;  // row: its place in the block
  std::vector<int64_t> visit;
  std::vector<double> step;
  int64_t visits = 0, updates = 0;
  double loss = 0;
  Stop stop = Stop::none;
};

// own[i * stride + q] = K(x_i, x_q) of the block's rows. scores (joint: a row for each class) hold those before the
// block, and are brought up to date: each mistake adds step * K to the scores of all rows of the block.
template <class T>
void settle_block(const T* own, int64_t stride, const BlockLabels& labels, const Rule& rule, double* scores,
                  int64_t score_stride, BlockLog& log);

// Which of so many rows a random budget drops at the mistaken row of this number.
int64_t random_victim(uint64_t seed, int64_t number, int64_t size);

enum class Budget : int { forget, project, random };

// Support rows that the binary problems of a run share, at most max_support of them, oldest first. The arrays have `room`
// places, enough for all rows of a block and one more than may stay.
struct Kept {
  Budget budget;
  int64_t n_problems, max_support, size, room;
  int64_t mistaken;  // rows on which some problem has been mistaken
  uint64_t seed;
  int32_t* columns;      // where the kernel values of each row are, in a block
  double* coefficients;  // n_problems x room: f_k(x) = sum of coefficients[k, t] K(z_t, x)
  double* late;          // behind the average (kernels.cpp, update), or null
  int64_t* slots;        // forget and project: the row of `gram` of each
  double* gram;          // room^2: kernel values among the rows; project: their inverse
  double* state;         // forget: the largest K(x, x) of a mistake, then Q of each problem
};

// values[i * stride + c] = K(z_c, x_i), where c is a kept row or, for c >= first_own, row c - first_own of the block
// itself; own_column[i] says where row i is, kept already or not. A row is visited by all problems, and then learned
// by those that are mistaken on it. labels and logs: one for each problem; a problem whose log has a stop is left alone.
template <class T>
void settle_within_budget(const T* values, int64_t stride, const BlockLabels* labels, const int32_t* own_column,
                          const Rule& rule, Kept& kept, BlockLog* logs);

}  // namespace rosenblatt
