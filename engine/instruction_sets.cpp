#include "instruction_sets.hpp"

#include <atomic>
#include <cstring>

#if defined(X86_KERNELS) && defined(_MSC_VER) && !defined(__clang__)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace rosenblatt {
namespace baseline {
extern const Kernels table;
}
#if defined(X86_KERNELS)
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

#if defined(X86_KERNELS)
#if defined(_MSC_VER) && !defined(__clang__)
// CPUID leaf 7, and whether the operating system saves the wide registers (XGETBV).
bool has(int ebx_bits, unsigned long long saved) {
  int leaf[4];
  __cpuid(leaf, 0);
  if (leaf[0] < 7) return false;
  __cpuid(leaf, 1);
  if (!(leaf[2] & (1 << 27)) || (_xgetbv(0) & saved) != saved) return false;
  __cpuidex(leaf, 7, 0);
  return (leaf[1] & ebx_bits) == ebx_bits;
}
bool has_avx2() { return has(1 << 5, 0x6); }
bool has_avx512() { return has((1 << 16) | (1 << 17) | (1 << 30) | static_cast<int>(1u << 31), 0xe6); }
#else
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

struct Available {
  const Kernels* list[4] = {};
  int count = 0;
  Available() {
    list[count++] = &baseline::table;
#if defined(X86_KERNELS)
    if (has_avx2()) list[count++] = &avx2::table;
    if (has_avx2() && has_avx512()) list[count++] = &avx512::table;
#endif
  }
};

const Available& available() {
  static const Available found;
  return found;
}

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

const Kernels& kernels() {
  const Kernels* now = chosen.load(std::memory_order_relaxed);
  return now ? *now : *available().list[available().count - 1];
}

const Kernels* const* available_kernels() { return available().list; }

bool use_kernels(const char* name) {
  for (const Kernels* const* k = available_kernels(); *k; ++k) {
    if (std::strcmp((*k)->name, name) == 0) {
      chosen.store(*k, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace rosenblatt
