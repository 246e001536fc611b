#include "compact.hpp"

#include <algorithm>

#include "instruction_sets.hpp"

namespace rosenblatt {
namespace {

constexpr int64_t kBlock = 256;

Numerators numerators(const double* numbers, int64_t n, int places, int32_t* m) {
  return kernels().compact.numerators(numbers, n, places, m);
}
Numerators numerators(const float* numbers, int64_t n, int places, int32_t* m) {
  return kernels().compact.numerators_of_floats(numbers, n, places, m);
}

template <class T>
Decimals decimals_of(const T* numbers, int64_t n, int at_least, int32_t* m) {
  Decimals found{at_least, 0, true};
  uint32_t not_one = 0;
  for (int64_t first = 0; first < n;) {
    const int64_t count = std::min(n - first, kBlock);
    const Numerators block = numerators(numbers + first, count, found.places, m + first);
    if (block.exact) {
      found.size |= block.size;
      not_one |= block.not_one;
      first += count;
      continue;
    }
    int places = found.places;  // begin anew with as many places as this block needs
    for (int64_t i = first; i < first + count && places <= kMostPlaces; ++i) {
      while (places <= kMostPlaces && !numerators(numbers + i, 1, places, m + i).exact) ++places;
    }
    if (places > kMostPlaces) return {-1, 0, false};
    found = {places, 0, true};
    not_one = 0;
    first = 0;
  }
  found.all_are_one = found.places == 0 && not_one == 0;
  return found;
}

}  // namespace

Decimals decimals(const double* numbers, int64_t n, int at_least, int32_t* m) {
  return decimals_of(numbers, n, at_least, m);
}
Decimals decimals(const float* numbers, int64_t n, int at_least, int32_t* m) {
  return decimals_of(numbers, n, at_least, m);
}

}  // namespace rosenblatt
