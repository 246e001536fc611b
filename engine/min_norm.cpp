#include "min_norm.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

constexpr double kNoWeight = 1e-15;    // a weight up to this counts as 0: weights sum to 1
constexpr double kNoProgress = 1e-14;  // |x|^2 must fall by this part of itself for a step to count
constexpr double kRoundings = 32;      // how many roundings of its terms a residual must exceed to count as one
constexpr int64_t kFew = 64;           // points of a support that is solved with in place
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Vector = std::vector<double>;

// An affinely independent set of points, and the Cholesky factor of its Gram matrix.
class Support {
 public:
  Support(const Rows& points, const int16_t* classes, int k)
      : kernel_(kernels()),
        p_(static_cast<const double*>(points.data)),
        d_(points.d),
        k_(k),
        classes_(classes),
        room_(std::min(points.n, points.d + k) + 1),
        r_(static_cast<size_t>(room_ * room_)),
        squares_(static_cast<size_t>(points.n)) {
    double sum = 0;
    for (int64_t i = 0; i < points.n; ++i) {
      squares_[i] = kernel_.dot(point(i), point(i), d_);
      sum += squares_[i];
    }
    scale_ = sum > 0 ? sum / static_cast<double>(points.n) : 1.0;
    for (Vector* v : {&column_, &step_, &solution_, &gradient_}) v->resize(static_cast<size_t>(room_));
    for (Vector& v : to_classes_) v.resize(static_cast<size_t>(room_));
    residual_.resize(static_cast<size_t>(d_));
    x.resize(static_cast<size_t>((d_ + 7) / 8 * 8));
  }

  std::vector<int64_t> ids;
  Vector weights;  // feasible: not negative, each class sums to 1
  Vector target;   // the weights of the point of the affine hull nearest to the origin
  Vector x;        // the sum of weights (or targets, after solve) times points; zero beyond column d

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
  double square(int64_t i) const { return squares_[i]; }

  // Adds a point with weight 0; false if it depends on those there already, to rounding.
  bool append(int64_t i) {
    const int64_t s = size();
    if (s + 1 >= room_) return false;
    for (int64_t j = 0; j < s; ++j) {
      column_[j] = kernel_.dot(point(ids[j]), point(i), d_) + (classes_[ids[j]] == classes_[i] ? scale_ : 0.0);
    }
    forward(column_);
    std::copy_n(column_.begin(), s, solution_.begin());
    backward(solution_);
    std::copy_n(point(i), d_, residual_.begin());
    double in_class[2] = {0, 0};
    in_class[classes_[i]] = 1;
    double size_of_terms = std::sqrt(squares_[i] + scale_);
    for (int64_t j = 0; j < s; ++j) {
      kernel_.add_scaled(-solution_[j], point(ids[j]), residual_.data(), d_);
      in_class[classes_[ids[j]]] -= solution_[j];
      size_of_terms += std::fabs(solution_[j]) * std::sqrt(squares_[ids[j]] + scale_);
    }
    for (int64_t j = 0; j < s; ++j) {  // what of the residual is still in the span of the others
      step_[j] = kernel_.dot(point(ids[j]), residual_.data(), d_) + scale_ * in_class[classes_[ids[j]]];
    }
    forward(step_);
    for (int64_t j = 0; j < s; ++j) column_[j] += step_[j];
    backward(step_);
    for (int64_t j = 0; j < s; ++j) {
      kernel_.add_scaled(-step_[j], point(ids[j]), residual_.data(), d_);
      in_class[classes_[ids[j]]] -= step_[j];
    }
    const double pivot = std::sqrt(kernel_.dot(residual_.data(), residual_.data(), d_) +
                                   scale_ * (in_class[0] * in_class[0] + in_class[1] * in_class[1]));
    if (!(pivot > kRoundings * DBL_EPSILON * size_of_terms)) return false;
    for (int64_t j = 0; j < s; ++j) row(j)[s] = column_[j];
    row(s)[s] = pivot;
    ids.push_back(i);
    weights.push_back(0.0);
    return true;
  }

  void remove(int64_t place) {
    const int64_t s = size();
    for (int64_t i = 0; i < s; ++i) {
      double* r = row(i);
      std::copy(r + std::max(i, place + 1), r + s, r + std::max(i, place + 1) - 1);  // column `place` closes up
    }
    for (int64_t i = place; i + 1 < s; ++i) {
      // Row i holds columns i .. s - 2, row i + 1 too (its diagonal has moved to column i).
      double *upper = row(i), *lower = row(i + 1);
      const double a = upper[i], b = lower[i], r = std::sqrt(a * a + b * b);
      kernel_.rotate(a / r, b / r, upper + i, lower + i, s - 1 - i);
      upper[i] = r;
    }
    ids.erase(ids.begin() + place);
    weights.erase(weights.begin() + place);
  }

  // Each class sums to 1 again; false if a class has no weight.
  bool normalise() {
    double sum[2] = {0, 0};
    for (int64_t j = 0; j < size(); ++j) sum[classes_[ids[j]]] += weights[j];
    for (int c = 0; c < k_; ++c) {
      if (!(sum[c] > 0)) return false;
    }
    for (int64_t j = 0; j < size(); ++j) weights[j] /= sum[classes_[ids[j]]];
    return true;
  }

  // target: the weights, of any sign, of the nearest point of the affine hull; x: that point.
  void solve() {
    const int64_t s = size();
    double m[2][2] = {};
    for (int c = 0; c < k_; ++c) {
      for (int64_t j = 0; j < s; ++j) to_classes_[c][j] = classes_[ids[j]] == c ? 1.0 : 0.0;
      forward(to_classes_[c]);
      backward(to_classes_[c]);
      for (int64_t j = 0; j < s; ++j) m[classes_[ids[j]]][c] += to_classes_[c][j];
    }
    target.assign(static_cast<size_t>(s), 0.0);
    correct(m);
    form_x(target);
    double level[2], sum[2] = {0, 0}, total[2] = {0, 0};
    for (int64_t j = 0; j < s; ++j) {
      gradient_[j] = kernel_.dot(point(ids[j]), x.data(), d_);
      sum[classes_[ids[j]]] += gradient_[j];
      total[classes_[ids[j]]] += 1;
    }
    for (int c = 0; c < k_; ++c) level[c] = sum[c] / total[c];
    for (int64_t j = 0; j < s; ++j) step_[j] = level[classes_[ids[j]]] - gradient_[j];
    forward(step_);
    backward(step_);
    for (int64_t j = 0; j < s; ++j) target[j] += step_[j];
    correct(m);
    form_x(target);
  }

  void form_x(const Vector& of) {
    std::fill(x.begin(), x.end(), 0.0);
    for (int64_t j = 0; j < size(); ++j) kernel_.add_scaled(of[j], point(ids[j]), x.data(), d_);
  }

 private:
  const double* point(int64_t i) const { return p_ + i * d_; }
  double* row(int64_t i) { return r_.data() + i * room_; }

  // A call for each row costs more than a short row itself, so few rows are solved with in place.
  void forward(Vector& v) {  // v <- R'^-1 v
    const int64_t s = size();
    if (s <= kFew) {
      for (int64_t i = 0; i < s; ++i) {
        const double* r = row(i);
        const double own = v[i] /= r[i];
        for (int64_t j = i + 1; j < s; ++j) v[j] -= own * r[j];
      }
      return;
    }
    for (int64_t i = 0; i < s; ++i) {
      v[i] /= row(i)[i];
      kernel_.add_scaled(-v[i], row(i) + i + 1, v.data() + i + 1, s - i - 1);
    }
  }
  void backward(Vector& v) {  // v <- R^-1 v
    if (size() <= kFew) {
      for (int64_t j = size() - 1; j >= 0; --j) {
        const double own = v[j] /= row(j)[j];
        for (int64_t i = 0; i < j; ++i) v[i] -= own * row(i)[j];
      }
      return;
    }
    for (int64_t i = size() - 1; i >= 0; --i) {
      v[i] = (v[i] - kernel_.dot(row(i) + i + 1, v.data() + i + 1, size() - i - 1)) / row(i)[i];
    }
  }

  // Adds multiples of the solutions for the classes to the target, so that each class sums to 1.
  void correct(const double (&m)[2][2]) {
    double missing[2] = {1, 1}, nu[2];
    for (int64_t j = 0; j < size(); ++j) missing[classes_[ids[j]]] -= target[j];
    if (k_ == 1) {
      nu[0] = missing[0] / m[0][0];
    } else {
      const double determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
      nu[0] = (missing[0] * m[1][1] - missing[1] * m[0][1]) / determinant;
      nu[1] = (missing[1] * m[0][0] - missing[0] * m[1][0]) / determinant;
    }
    for (int c = 0; c < k_; ++c) kernel_.add_scaled(nu[c], to_classes_[c].data(), target.data(), size());
  }

  const Kernels& kernel_;
  const double* p_;
  const int64_t d_;
  const int k_;
  const int16_t* classes_;
  const int64_t room_;
  Vector r_;  // room x room, the upper triangle row after row
  Vector squares_;
  double scale_;
  Vector column_, step_, solution_, gradient_, residual_, to_classes_[2];
};

// Goes to the nearest point of the affine hull, dropping points whose weight would become negative on the way.
// False if the support came apart: no weight left in a class.
bool descend_to_hull(Support& support) {
  for (;;) {
    support.solve();
    double part = 1.0;
    int64_t leaving = -1;
    for (int64_t j = 0; j < support.size(); ++j) {
      if (support.target[j] > kNoWeight) continue;
      const double way = support.weights[j] - support.target[j];
      const double reach = way > 0 ? support.weights[j] / way : 0.0;
      if (leaving < 0 || reach < part) {
        part = std::min(part, reach);
        leaving = j;
      }
    }
    if (leaving < 0) {
      support.weights = support.target;
      return true;
    }
    for (int64_t j = 0; j < support.size(); ++j) {
      support.weights[j] = std::max(0.0, (1 - part) * support.weights[j] + part * support.target[j]);
    }
    support.remove(leaving);
    if (!support.normalise()) return false;
  }
}

}  // namespace

MinNormPoint min_norm_point(const Rows& points, const int16_t* classes, int k, const std::vector<int64_t>& start,
                            const std::vector<double>& start_weights, const MinNormChoices& choices,
                            const std::function<bool()>& keep_going) {
  Support support(points, classes, k);
  for (size_t t = 0; t < start.size(); ++t) {
    if (support.append(start[t])) support.weights.back() = start_weights[t];
  }
  const size_t m = static_cast<size_t>(points.n);
  std::vector<double> products(m);
  std::vector<char> aside(m, 0);  // in the support, or of no use for now
  MinNormPoint best{};
  best.norm = kInfinity;
  best.end = MinNormEnd::stuck;
  int64_t entered = -1;
  bool whole = support.normalise();

  while (whole) {
    if (best.iterations++ >= choices.max_iterations) {
      best.end = MinNormEnd::iterations;
      break;
    }
    if (!keep_going()) {
      best.end = MinNormEnd::interrupted;
      break;
    }
    whole = descend_to_hull(support);
    if (!whole) break;
    const double square = kernels().dot(support.x.data(), support.x.data(), points.d), norm = std::sqrt(square);
    const bool progress = square < (1 - kNoProgress) * best.norm * best.norm;
    if (progress || norm < best.norm) {
      best.norm = norm;
      best.support = support.ids;
      best.weights = support.weights;
      best.x.assign(support.x.begin(), support.x.begin() + points.d);
    }
    if (progress) std::fill(aside.begin(), aside.end(), char{0});
    if (!progress && entered >= 0) aside[static_cast<size_t>(entered)] = 1;

    double size = 0;
    for (int64_t j = 0; j < support.size(); ++j) size += support.weights[j] * std::sqrt(support.square(support.ids[j]));
    if (norm <= choices.zero * size) {
      best.end = MinNormEnd::zero;
      break;
    }
    kernels().scores(points, support.x.data(), 0, points.n, products.data());
    double level[2] = {0, 0}, lowest[2] = {kInfinity, kInfinity};
    for (int64_t j = 0; j < support.size(); ++j) {
      level[classes[support.ids[j]]] += support.weights[j] * products[support.ids[j]];
    }
    int64_t lowest_row[2] = {-1, -1};
    for (int64_t i = 0; i < points.n; ++i) {
      const int c = classes[i];
      if (products[i] < lowest[c]) {
        lowest[c] = products[i];
        lowest_row[c] = i;
      }
    }
    double gap = square;
    for (int c = 0; c < k; ++c) gap -= lowest[c];
    if (gap <= choices.gap * square) {
      best.end = MinNormEnd::gap;
      break;
    }
    // The most promising point enters, if it is not in the support already and not set aside.
    const int c = k == 2 && lowest[1] - level[1] < lowest[0] - level[0];
    entered = lowest[c] < level[c] ? lowest_row[c] : -1;
    const bool is_inside = std::find(support.ids.begin(), support.ids.end(), entered) != support.ids.end();
    if (entered >= 0 && !is_inside && !aside[entered] && support.append(entered)) continue;
    std::vector<char> barred = aside;
    for (const int64_t i : support.ids) barred[static_cast<size_t>(i)] = 1;
    if (entered >= 0 && !is_inside) barred[static_cast<size_t>(entered)] = aside[static_cast<size_t>(entered)] = 1;
    do {
      entered = -1;
      double worst = 0;
      for (int64_t i = 0; i < points.n; ++i) {
        if (!barred[i] && products[i] - level[classes[i]] < worst) {
          worst = products[i] - level[classes[i]];
          entered = i;
        }
      }
      if (entered < 0 || support.append(entered)) break;
      barred[static_cast<size_t>(entered)] = aside[static_cast<size_t>(entered)] = 1;
    } while (true);
    if (entered < 0) break;
  }
  // What is returned is the best point met, and the levels of its own support.
  best.level[0] = best.level[1] = 0;
  for (size_t j = 0; j < best.support.size(); ++j) {
    const double* p = static_cast<const double*>(points.data) + best.support[j] * points.d;
    best.level[classes[best.support[j]]] += best.weights[j] * kernels().dot(p, best.x.data(), points.d);
  }
  return best;
}

}  // namespace rosenblatt
