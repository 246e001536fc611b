#include "words.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ROSENBLATT_SSE2
#endif

#include <array>
#include <bit>

namespace rosenblatt {
namespace {

constexpr size_t kBlock = 64;

// Copies 64 bytes with capital letters made small. Returns a bit for each: whether it belongs to a word.
#ifdef ROSENBLATT_SSE2
inline uint64_t lower(const char* from, char* to) {
  const auto between = [](__m128i x, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8(static_cast<char>(first - 1))),
                         _mm_cmplt_epi8(x, _mm_set1_epi8(static_cast<char>(last + 1))));
  };
  uint64_t marks = 0;
  for (int q = 0; q < 4; ++q) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * q));
    const __m128i small = _mm_or_si128(bytes, _mm_and_si128(between(bytes, 'A', 'Z'), _mm_set1_epi8(0x20)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * q), small);
    __m128i word = _mm_or_si128(between(small, 'a', 'z'), between(bytes, '0', '9'));
    word = _mm_or_si128(word, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
    word = _mm_or_si128(word, bytes);  // the sign bit: not ASCII
    marks |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(word))) << (16 * q);
  }
  return marks;
}
#else
// The small letter, or 0 of what belongs to no word.
constexpr std::array<unsigned char, 256> kInWords = [] {
  std::array<unsigned char, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80) {
      table[c] = static_cast<unsigned char>(capital ? c + 32 : c);
    }
  }
  return table;
}();

inline uint64_t lower(const char* from, char* to) {
  uint64_t marks = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const unsigned char letter = kInWords[static_cast<unsigned char>(from[i])];
    to[i] = static_cast<char>(letter);
    marks |= static_cast<uint64_t>(letter != 0) << i;
  }
  return marks;
}
#endif

// Calls f(first, count) for each word of at least two bytes, in small letters, 16 bytes being readable from its first on.
template <class F>
void each_word(std::string_view text, Growing<char>& buffer, F f) {
  buffer.resize(text.size() + 2 * kBlock);
  char* const small = buffer.data();
  const auto give = [&](const char* first, const char* end) {
    if (end - first >= 2) f(first, static_cast<size_t>(end - first));
  };
  uint64_t before = 0;  // whether the byte before the block belongs to a word
  const char* open = small;
  for (size_t at = 0; at < text.size(); at += kBlock) {
    const char* block = small + at;
    uint64_t marks = lower(text.data() + at, small + at);
    if (text.size() - at < kBlock) marks &= (uint64_t{1} << (text.size() - at)) - 1;
    uint64_t begins = marks & ~((marks << 1) | before), ends = ~marks & ((marks << 1) | before);
    if (before != 0 && ends != 0) {  // of the word that began in an earlier block
      give(open, block + std::countr_zero(ends));
      ends &= ends - 1;
    }
    for (; ends != 0; ends &= ends - 1, begins &= begins - 1) {
      give(block + std::countr_zero(begins), block + std::countr_zero(ends));
    }
    if (begins != 0) open = block + std::countr_zero(begins);
    before = marks >> 63;
  }
  if (before != 0) give(open, small + text.size());
}

// The words one after the other with a space between them: an n-gram is then a stretch of bytes.
template <class F>
void each_gram(std::string_view text, int longest, Workspace& workspace, F f) {
  Growing<char>& line = workspace.line;
  Growing<uint32_t>& ends = workspace.word_ends;
  line.clear(), ends.clear();
  line.reserve(text.size() + 2 * kBlock);
  each_word(text, workspace.small, [&](const char* first, size_t count) {
    const size_t size = line.size();
    line.resize(size + count + 1);
    std::memcpy(line.data() + size, first, count);
    line[size + count] = ' ';
    ends.push_back(static_cast<uint32_t>(size + count));
  });
  for (size_t n = 1; n <= static_cast<size_t>(longest); ++n) {
    size_t first = 0;
    for (size_t k = n - 1; k < ends.size(); ++k) {
      f(line.data() + first, ends[k] - first);
      first = ends[k - (n - 1)] + 1;
    }
  }
}

template <class F>
void each_feature(std::string_view text, int ngrams, Workspace& workspace, F f) {
  if (ngrams == 1) {
    each_word(text, workspace.small, f);
  } else {
    each_gram(text, ngrams, workspace, f);
  }
}

// The columns of the words, in three ways; each returns behind the last one.
int32_t* hash_words(std::string_view text, uint32_t seed, uint32_t mask, int ngrams, Workspace& workspace) {
  int32_t* word = workspace.words.data();
  each_feature(text, ngrams, workspace, [&](const char* first, size_t count) {
    *word++ = static_cast<int32_t>(murmur3_of_word(first, count, seed) & mask);
  });
  return word;
}

int32_t* hash_and_name_words(std::string_view text, const TextColumn& column, int ngrams, RowFeatures& row) {
  Workspace& workspace = row.batch().workspace;
  int32_t* word = workspace.words.data();
  each_feature(text, ngrams, workspace, [&](const char* first, size_t count) {
    const std::string_view gram(first, count);
    *word = row.column_of(murmur3_of_word(first, count, column.seed));
    row.report(*word++, column.only ? gram : row.joined(column.name, gram));
  });
  return word;
}

int32_t* number_words(std::string_view text, const TextColumn& column, int ngrams, RowFeatures& row) {
  Workspace& workspace = row.batch().workspace;
  int32_t* word = workspace.words.data();
  each_feature(text, ngrams, workspace, [&](const char* first, size_t count) {
    *word++ = row.column_of(row.joined(column.name, {first, count}));
  });
  return word;
}

}  // namespace

// First all columns, then which of them are new: each is a loop that the processor can run ahead in.
void add_words(std::string_view text, const TextColumn& column, const Options& options, RowFeatures& row) {
  Workspace& workspace = row.batch().workspace;
  const int ngrams = options.ngrams;
  workspace.words.resize((text.size() / 3 + 1) * static_cast<size_t>(ngrams));
  const int32_t* end = !row.hashed()      ? number_words(text, column, ngrams, row)
                       : row.keep_names() ? hash_and_name_words(text, column, ngrams, row)
                                          : hash_words(text, column.seed, row.mask(), ngrams, workspace);
  const size_t count = static_cast<size_t>(end - workspace.words.data());
  if (options.word_counts) {
    row.count(workspace.words.data(), count);
  } else {
    row.mark(workspace.words.data(), count);
  }
}

}  // namespace rosenblatt
