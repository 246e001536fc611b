// Text as features: its words, hashed.
//
// A word is a run of at least two bytes that are ASCII letters (made small), digits, _ or not ASCII (0x80 to 0xff, as they
// are): those of scikit-learn's default token_pattern wherever the text is ASCII. An n-gram is n words with a space
// between them; with ngrams = n those of 1, 2, .. n words are features. The column of a word or n-gram is
// murmur3(its bytes, seed) & (2^bits - 1). The seed is 0 if there is one column of text; if there are several, the same
// word is another feature in each, and the seed is murmur3(name of the column, seed 0). The value is 1, or with
// word_counts how often the words of the column occur. Where names are numbered and not hashed, a word is called
// column=word; that is also its name for keep_names if there are several columns of text.
#pragma once
#include <string_view>

#include "row_features.hpp"

namespace rosenblatt {

// How the words of one column of text become features.
struct TextColumn {
  std::string_view name;
  uint32_t seed;
  bool only;  // the only column of text
  TextColumn(std::string_view column, bool is_only)
      : name(column), seed(is_only ? 0 : murmur3(column, 0)), only(is_only) {}
};

// Adds the words of a text to the row. 64 bytes behind its end must be readable.
void add_words(std::string_view text, const TextColumn& column, const Options& options, RowFeatures& row);

}  // namespace rosenblatt
