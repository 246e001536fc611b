#include "passes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

constexpr int64_t kLookAhead = 64;

uint64_t mixed(uint64_t seed, uint64_t pass) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u * (pass + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t mean_row_length(const Rows& rows) {
  if (rows.index_type == Indices::none || rows.n == 0) return rows.d;
  const int64_t total = rows.index_type == Indices::int32 ? static_cast<const int32_t*>(rows.starts)[rows.n]
                                                          : static_cast<const int64_t*>(rows.starts)[rows.n];
  return total / rows.n;
}

// How many rows to give to a problem at a time. With several problems in one sweep these rows should stay in the first
// cache while each problem takes its turn, so that the memory is read once for all of them.
int64_t rows_per_turn(const Rows& rows, int64_t vectors, bool as_stored, bool beside) {
  const int64_t length = std::max<int64_t>(1, mean_row_length(rows));
  const int64_t bytes = length * (rows.values == Values::float32 ? 4 : 8);
  const int64_t fitting = vectors > 1 && !beside ? (24000 / bytes + 7) / 8 * 8 : as_stored ? 16384 : 1024;
  const int64_t prompt = 4000000 / (length * vectors);  // so that Ctrl-C is answered soon
  return std::max<int64_t>(4, std::min(fitting, prompt));
}

struct Log final : Listener {
  std::vector<Mistake>& mistakes;
  explicit Log(std::vector<Mistake>& to) : mistakes(to) {}
  void heard(const Mistake& mistake) override { mistakes.push_back(mistake); }
};

// Some problems that sweep over the rows together.
class Sweep {
 public:
  Sweep(const Rows& rows, const Examples& examples, const Rule& rule, const Schedule& schedule, bool joint,
        std::atomic<int>& end)
      : rows_(rows), examples_(examples), rule_(rule), schedule_(schedule), joint_(joint), end_(end) {}

  void add(Problem& problem, History& history) { members_.push_back({&problem, &history, false}); }

  template <class KeepGoing>
  void run(KeepGoing keep_going) {
    int64_t vectors = 0;
    for (const Member& m : members_) vectors += m.problem->n_vectors;
    const bool as_stored = !schedule_.shuffle && !schedule_.subset;
    std::vector<int64_t> ids;
    for (int64_t pass = 0; pass < schedule_.max_passes && begin_pass(); ++pass) {
      const bool beside = worth_scoring_together();
      const int64_t turn = rows_per_turn(rows_, vectors, as_stored, beside);
      if (!as_stored) ids.resize(static_cast<size_t>(turn + kLookAhead));
      Order order(schedule_, schedule_.first_pass + pass);
      int64_t first = 0, have = as_stored ? schedule_.row_count : order.next(ids.data(), turn + kLookAhead);
      while (have > 0 && in_pass_ > 0) {
        const int64_t count = std::min(have, turn);
        visit({as_stored ? nullptr : ids.data(), first, count, have, beside});
        if (end_.load(std::memory_order_relaxed) != 0 || !keep_going()) return end_pass(false);
        first += count;
        have -= count;
        if (as_stored) continue;
        std::memmove(ids.data(), ids.data() + count, static_cast<size_t>(have) * sizeof(int64_t));
        have += order.next(ids.data() + have, turn + kLookAhead - have);
      }
      end_pass(true);
    }
  }

 private:
  struct Member {
    Problem* problem;
    History* history;
    bool in_pass;
  };

  bool begin_pass() {
    in_pass_ = 0;
    for (Member& m : members_) {
      if (m.problem->updates >= rule_.max_updates) m.history->active = false;
      m.in_pass = m.history->active;
      m.problem->mistakes = m.problem->wrong = 0;
      m.problem->loss = 0;
      in_pass_ += m.in_pass;
    }
    return in_pass_ > 0;
  }

  // Side by side a row is scored for eight vectors at once, those of problems at rest too. They cost about as much as two
  // that stand alone.
  bool worth_scoring_together() const {
    if (!members_[0].problem->beside || rows_.index_type == Indices::none) return false;
    int eights = 0, last = -1;
    for (const Member& m : members_) {
      const int eight = m.problem->lane / kSideBySide;
      eights += m.in_pass && eight != last;
      if (m.in_pass) last = eight;
    }
    return joint_ || in_pass_ >= 2 * eights;
  }

  void visit(const Turn& turn) {
    const Kernels& kernel = kernels();
    visiting_.clear();
    for (Member& m : members_) {
      if (m.in_pass) visiting_.push_back(m.problem);
    }
    stops_.assign(visiting_.size(), Stop::none);
    if (joint_) {
      kernel.joint(rows_, examples_, rule_, *visiting_[0], turn, stops_.data());
    } else {
      kernel.binary(rows_, examples_, rule_, visiting_.data(), static_cast<int64_t>(visiting_.size()), turn,
                    stops_.data());
    }
    size_t k = 0;
    for (Member& m : members_) {
      if (!m.in_pass) continue;
      const Stop stop = stops_[k++];
      if (stop == Stop::none) continue;
      m.in_pass = false;
      --in_pass_;
      if (stop == Stop::budget || !rule_.learn) m.history->active = false;
      if (stop == Stop::not_finite) end_.store(static_cast<int>(End::not_finite));
    }
  }

  void end_pass(bool complete) {
    for (Member& m : members_) {
      if (!m.history->active && !m.problem->mistakes && !m.in_pass) continue;
      m.history->mistakes_per_pass.push_back(m.problem->mistakes);
      if (complete && m.in_pass && m.problem->mistakes == 0) {
        m.history->converged = true;
        m.history->active = false;
      }
    }
  }

  const Rows& rows_;
  const Examples& examples_;
  const Rule& rule_;
  const Schedule& schedule_;
  const bool joint_;
  std::atomic<int>& end_;
  std::vector<Member> members_;
  std::vector<Problem*> visiting_;
  std::vector<Stop> stops_;
  int in_pass_ = 0;
};

// The winners of each sweep, so that threads do not meet; put together at the end.
class Contest {
 public:
  Contest(const Rows& rows, const Schedule& schedule, const Progressive* progressive, size_t n_sweeps)
      : rows_(rows), schedule_(schedule), progressive_(progressive) {
    if (!progressive) return;
    const size_t n = static_cast<size_t>(rows.n);
    scores_.assign(n_sweeps * n, 0.0);
    codes_.assign(n_sweeps * n, -1);
    std::copy(progressive->predicted, progressive->predicted + n, codes_.begin());
    for (size_t s = 0; s < n_sweeps; ++s) winners_.push_back({scores_.data() + s * n, codes_.data() + s * n});
  }

  void enter(Problem& problem, size_t k, size_t sweep) {
    problem.winners = progressive_ ? &winners_[sweep] : nullptr;
    problem.known_from = progressive_ ? progressive_->known_from[k] : 0;
    visits_.push_back(problem.visits);
  }

  // Rows that a problem did not come to, being at rest or out of budget, it judges by its weights as they are.
  void finish(const std::vector<Problem>& problems, bool joint, Tie tie) {
    if (!progressive_) return;
    for (size_t k = 0; k < problems.size(); ++k) {
      for (int64_t i = problems[k].visits - visits_[k]; i < schedule_.row_count; ++i) {
        const int64_t row = schedule_.subset ? schedule_.subset[i] : i;
        joint ? judge_jointly(problems[k], row, tie) : judge(problems[k], row);
      }
    }
    for (int64_t i = 0; i < rows_.n; ++i) {
      Winners best{&winners_[0].score[i], &winners_[0].code[i]};
      for (size_t s = 1; s < winners_.size(); ++s) {
        const double score = winners_[s].score[i];
        const int16_t code = winners_[s].code[i];
        if (code < 0 || (*best.code >= 0 && (score < *best.score || (score == *best.score && code >= *best.code))))
          continue;
        *best.score = score, *best.code = code;
      }
      progressive_->predicted[i] = *best.code;
    }
  }

 private:
  void judge(const Problem& problem, int64_t row) const {
    if (row < problem.known_from) return;
    double score;
    kernels().scores(rows_, problem.w, row, 1, &score);
    score += problem.b[0];
    double& best = problem.winners->score[row];
    int16_t& code = problem.winners->code[row];
    if (code >= 0 && (score < best || (score == best && problem.positive >= code))) return;
    best = score, code = problem.positive;
  }

  void judge_jointly(const Problem& problem, int64_t row, Tie tie) const {
    double best = 0;
    for (int32_t v = 0; v < problem.n_vectors; ++v) {
      double score;
      kernels().scores(rows_, problem.w + v * problem.stride, row, 1, &score);
      score += problem.b[v];
      if (v > 0 && (tie == Tie::positive ? score < best : score <= best)) continue;
      best = score;
      problem.winners->code[row] = static_cast<int16_t>(v);
    }
  }

  const Rows& rows_;
  const Schedule& schedule_;
  const Progressive* progressive_;
  std::vector<double> scores_;
  std::vector<int16_t> codes_;
  std::vector<Winners> winners_;
  std::vector<int64_t> visits_;
};

}  // namespace

Order::Order(const Schedule& schedule, int64_t pass)
    : schedule_(schedule), key_(mixed(schedule.seed, static_cast<uint64_t>(pass))), bits_(8) {
  while (bits_ < 62 && (int64_t{1} << bits_) < schedule.row_count) ++bits_;
}

// Shuffled: the permutation of 0 .. 2^bits - 1, less the places that are not rows.
int64_t Order::next(int64_t* out, int64_t room) {
  const uint64_t n = static_cast<uint64_t>(schedule_.row_count);
  int64_t written = 0;
  if (!schedule_.shuffle) {
    written = std::min<int64_t>(room, static_cast<int64_t>(n - place_));
    std::iota(out, out + written, static_cast<int64_t>(place_));
    place_ += static_cast<uint64_t>(written);
  } else {
    uint64_t some[256];
    const uint64_t domain = uint64_t{1} << bits_;
    while (written < room && place_ < domain) {
      const int64_t count = std::min<int64_t>({256, room - written, static_cast<int64_t>(domain - place_)});
      kernels().permute(key_, bits_, place_, count, some);
      place_ += static_cast<uint64_t>(count);
      for (int64_t i = 0; i < count; ++i) {
        out[written] = static_cast<int64_t>(some[i]);
        written += some[i] < n;
      }
    }
  }
  if (schedule_.subset) {
    for (int64_t i = 0; i < written; ++i) out[i] = schedule_.subset[out[i]];
  }
  return written;
}

End run(const Rows& rows, const Examples& examples, const Rule& rule, const Schedule& schedule, bool joint,
        bool keep_log, const Progressive* progressive, std::vector<Problem>& problems, std::vector<History>& histories,
        const std::function<bool()>& keep_going) {
  std::atomic<int> end{static_cast<int>(End::finished)};
  // A scan that restarts at its own mistakes shares no sweep; otherwise one sweep a thread.
  // Vectors that stand side by side are scored, and so changed, by one thread for each eight.
  const size_t together = rule.restart || !problems[0].beside ? 1 : kSideBySide;
  const size_t sweeps_wanted = rule.restart ? problems.size() : static_cast<size_t>(std::max(1, schedule.threads));
  const size_t n_sweeps = std::min(sweeps_wanted, (problems.size() + together - 1) / together);
  std::vector<Sweep> sweeps(n_sweeps, Sweep(rows, examples, rule, schedule, joint, end));
  Contest contest(rows, schedule, progressive, n_sweeps);
  std::vector<Log> logs;
  logs.reserve(problems.size());
  for (size_t k = 0; k < problems.size(); ++k) {
    logs.emplace_back(histories[k].mistakes);
    problems[k].listener = keep_log ? &logs[k] : nullptr;
    const size_t sweep = k / together % n_sweeps;
    contest.enter(problems[k], k, sweep);
    sweeps[sweep].add(problems[k], histories[k]);
  }

  auto last = std::chrono::steady_clock::now();
  auto ask = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(25)) return true;
    last = now;
    if (keep_going()) return true;
    end.store(static_cast<int>(End::interrupted));
    return false;
  };

  // Each thread takes the next sweep; the answer does not depend on which.
  std::atomic<size_t> next{0};
  std::mutex lock;
  std::exception_ptr failure;
  auto work = [&](auto answer) noexcept {
    try {
      for (size_t s; end.load() == 0 && (s = next.fetch_add(1)) < n_sweeps;) sweeps[s].run(answer);
    } catch (...) {  // out of memory, say: everybody stops, and the caller hears of it
      std::lock_guard<std::mutex> hold(lock);
      failure = std::current_exception();
      end.store(static_cast<int>(End::interrupted));
    }
  };
  std::condition_variable finished;
  size_t working = 0;
  std::vector<std::thread> helpers;
  const size_t n_threads = std::min(n_sweeps, static_cast<size_t>(std::max(1, schedule.threads)));
  helpers.reserve(n_threads);
  for (size_t t = 1; t < n_threads; ++t) {
    try {
      helpers.emplace_back([&] {
        work([] { return true; });
        std::lock_guard<std::mutex> hold(lock);
        --working;
        finished.notify_one();
      });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads; those there are will do
    }
    std::lock_guard<std::mutex> hold(lock);
    ++working;
  }
  work(ask);
  {  // The caller's thread goes on answering Ctrl-C while the others finish.
    std::unique_lock<std::mutex> hold(lock);
    while (!finished.wait_for(hold, std::chrono::milliseconds(25), [&] { return working == 0; })) {
      hold.unlock();
      if (end.load() == 0) ask();
      hold.lock();
    }
  }
  for (std::thread& t : helpers) t.join();
  if (failure) std::rethrow_exception(failure);
  if (end.load() == static_cast<int>(End::finished)) contest.finish(problems, joint, rule.tie);
  return static_cast<End>(end.load());
}

}  // namespace rosenblatt
