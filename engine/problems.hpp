// What a run works on: rows, problems and rules. Plain data, shared by the driver (passes.cpp) and the kernels.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rosenblatt {

// A score of exactly 0 is a mistake (notes 000, 002), counts as +1 (001, 004) or as -1 (003).
enum class Tie : int { mistake, positive, negative };

enum class Values : int { float32, float64 };
enum class Indices : int { none, int32, int64 };  // none: dense rows

// Rows as the caller stores them; never copied, never changed.
struct Rows {
  Values values;
  Indices index_type;
  const void* data;     // dense: n x d, row after row; sparse: the non-zeros
  const void* columns;  // sparse: their column numbers
  const void* starts;   // sparse: row i owns starts[i] .. starts[i + 1]
  int64_t n, d;
  // Dense rows are read in whole groups of eight columns, past their end into the next row, against weights that are
  // zero there. From row `safe` on that would leave the array, so those rows are read from a padded copy.
  int64_t safe;
  const void* tail;
};

constexpr int32_t kSideBySide = 8;  // vectors that are scored at once where they stand side by side

struct Mistake {
  int64_t row;
  int64_t visit;     // how many rows this problem had visited, this one included
  double step;       // what the row was multiplied with: eta0 * weight, signed by the label in a binary problem
  int32_t up, down;  // joint multi-class: the true class and the rival; -1 in a binary problem
};

// Told of mistakes as they happen. Implemented outside the kernels (see instruction_sets.hpp for why).
struct Listener {
  virtual ~Listener() = default;
  virtual void heard(const Mistake& mistake) = 0;
};

// The class that each row is given before it is learned from: the best score of any problem so far, and whose it is.
struct Winners {
  double* score;
  int16_t* code;  // -1: nobody's yet
};

// One problem: a binary one (n_vectors = 1) or the joint multi-class one (a vector for each class).
struct Problem {
  int32_t n_vectors;
  double* w;       // n_vectors x stride, zero beyond column d
  double* b;       // n_vectors
  double* w_late;  // sum of (visits before the update) * step * x, or null: behind the average, see update()
  double* b_late;
  int64_t stride;
  // Or null: a copy of w for sparse rows, the numbers of all problems' vectors at a column side by side, a multiple of
  // eight of them (pitch). A row then finds what it needs in a few cache lines for each column, not in one for each
  // vector. The first vector of this problem is at `lane`, which is its place among the problems.
  double* beside;
  int64_t pitch;
  int32_t lane;
  int16_t positive;                         // binary: the class code that counts as +1
  double positive_weight, negative_weight;  // class weights
  const double* class_weights;              // joint: a weight for each class
  double* scores;                           // joint: room for a score of each class, or beside for `pitch` of them
  int64_t visits, updates, mistakes;        // mistakes: of this pass
  int64_t wrong;                            // of this pass: the mistakes that are not right by too little, but wrong
  double loss;                              // of this pass: sum of max(0, -y * score), note 003 eq. 3
  Listener* listener;                       // or null
  const Winners* winners;                   // or null
  int64_t known_from;                       // rows before this one are not given this problem's class
};

struct Rule {
  Tie tie;
  bool fit_intercept;
  bool learn;    // false: only look, and stop at the first mistake
  bool restart;  // note 000, Algorithm 1: stop the scan at a mistake
  double eta0;
  int64_t max_updates;
  double margin;  // right by no more than so many times what learning would add is a mistake, too; 0: right is right
};

struct Examples {
  const int16_t* codes;         // the class of each row; narrow, because they are read with every row
  const double* sample_weight;  // or null
};

// The rows a problem visits before another takes its turn: ids[0 .. count), or first .. first + count when ids is null.
// The rows up to `have` come next and may be fetched ahead.
struct Turn {
  const int64_t* ids;
  int64_t first, count, have;
  bool beside;  // binary problems: score from the copy in which vectors stand side by side
};

// The state of a dual coordinate descent (kernels.cpp, descend).
struct Descent {
  const int16_t* codes;    // 1 for rows of label +1
  const double* norms;     // |x_i|^2 + bias
  const double* cost;      // the highest weight of each row; null: any weight, the hard margin
  double* weights;         // the dual variables, one for each row
  double* w;               // sum of weights_i y_i x_i, zero beyond column d
  double b;                // the offset
  double bias;             // s^2 for the constant feature s; 0: no offset
  double low, high;        // a row at a bound whose gradient is beyond these is dropped
  double lowest, highest;  // of the projected gradients of the rows that are kept
  int64_t moved, kept;     // how many rows changed their weight; how many were kept
};

// The sizes of some numbers.
struct Sizes {
  double largest;  // |value|
  bool finite, has_zero;
};

enum class Stop : int { none, mistake, budget, not_finite };

}  // namespace rosenblatt
