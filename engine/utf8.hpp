// Whether bytes are text: UTF-8 as RFC 3629 has it, without surrogates and longer forms than needed.
#pragma once
#include <cstddef>
#include <string_view>

namespace rosenblatt {

inline bool is_utf8(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  for (size_t i = 0; i < bytes.size();) {
    const unsigned first = at(i);
    const size_t size = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
    if (size == 0 || size > bytes.size() - i) return false;
    for (size_t k = 1; k < size; ++k) {
      if ((at(i + k) & 0xc0) != 0x80) return false;
    }
    if (size > 2) {
      const unsigned start = first << 8 | at(i + 1);  // what follows the first byte is not free
      if (start < 0xe0a0 || (start >= 0xeda0 && start < 0xee00) || (start >= 0xf000 && start < 0xf090)) return false;
      if (start >= 0xf490) return false;
    }
    i += size;
  }
  return true;
}

}  // namespace rosenblatt
