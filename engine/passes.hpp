// The driver: which rows come next, when a problem has converged, when to stop. The loops over rows are in kernels.cpp.
#pragma once
#include <functional>
#include <vector>

#include "problems.hpp"

namespace rosenblatt {

struct Schedule {
  bool shuffle;
  uint64_t seed;
  int64_t first_pass;  // the number of the first pass: a shuffled order is a function of (seed, pass, row_count) alone
  int64_t max_passes;
  const int64_t* subset;  // the rows to visit, or null for all
  int64_t row_count;      // how many those are
  int threads;
};

// What became of one problem in a run.
struct History {
  std::vector<int64_t> mistakes_per_pass;
  std::vector<Mistake> mistakes;  // filled only when asked for
  bool active = true;             // cleared when converged or out of budget; an inactive problem is left alone
  bool converged = false;
};

enum class End : int { finished, interrupted, not_finite };

// Places of the order of one pass, the permutation behind shuffle=True.
class Order {
 public:
  Order(const Schedule& schedule, int64_t pass);
  int64_t next(int64_t* out, int64_t room);  // how many were written; 0 at the end of the pass

 private:
  const Schedule& schedule_;
  uint64_t key_, place_ = 0;
  int bits_;
};

// Fills in, after a run of one pass, the class that each row was given before it was learned from.
struct Progressive {
  int16_t* predicted;         // a row each: -1, or a class that begins with a score of 0
  const int64_t* known_from;  // a problem each: rows before this one are not given its class
};

// Runs passes over the rows until every problem has converged or is out of budget, or max_passes are over.
// keep_going is asked about forty times a second, on the calling thread; false ends the run between two rows.
End run(const Rows& rows, const Examples& examples, const Rule& rule, const Schedule& schedule, bool joint,
        bool keep_log, const Progressive* progressive, std::vector<Problem>& problems, std::vector<History>& histories,
        const std::function<bool()>& keep_going);

}  // namespace rosenblatt
