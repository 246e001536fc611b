// JSON lines: an object a line, either flat, its members being features,  {"label": 1, "weight": 2, "length": 3.5, "colour": "red"}
// or with the features in an object of their own,                      {"label": 1, "weight": 2, "features": {"length": 3.5}}
//
// A number, true (1) or false (0) is a feature called as its key; a string is a category, key=value, or if the key is one
// of the text keys, its words are features (row_features.hpp, words.hpp). null and NaN are missing values: an error, or 0.
// Ignored keys may have any value, and no other key may have an array or an object.
// A label is a string, a number as it is written, true, false, or null (none; so is a string that says_nothing).
#include "batch.hpp"
#include "json_text.hpp"
#include "row_features.hpp"
#include "words.hpp"

namespace rosenblatt {
namespace {

class Object {
 public:
  Object(const Options& options, Batch& batch)
      : options_(options), batch_(batch), features_(options, batch, options.hashed) {
    for (const std::string& key : options.text_keys) texts_.emplace_back(key, options.text_keys.size() == 1);
  }

  // One line first .. end. If it is bad, where and why.
  bool read(const char* first, const char* end) {
    p_ = first, end_ = end;
    labelled_ = weighted_ = nested_ = false;
    flat_ = nullptr;
    features_.begin();
    blanks();
    if (p_ >= end_ || *p_ != '{') return fail(p_, "an object, {\"key\": value, ...}, on one line");
    if (!members(true)) return false;
    blanks();
    if (p_ < end_) return fail(p_, "the end of the line after the object");
    if (nested_ && flat_) {
      return fail(flat_, "no features beside the object " + shown(options_.features_key));
    }
    if (!labelled_ && options_.require_label) return fail(first, "a label, called " + shown(options_.label_key));
    const char* instead = features_.finish();
    return !instead || fail(first, instead);
  }

  const char* where = nullptr;
  std::string found, expected;

 private:
  bool fail(const char* at, std::string instead) {
    where = at;
    expected = std::move(instead);
    const char* stop = at;
    while (stop < end_ && *stop != ',' && *stop != '}' && *stop != ' ') ++stop;
    if (stop == at && at < end_) ++stop;
    found = at < end_ ? shown({at, static_cast<size_t>(stop - at)}) : "the end of the line";
    return false;
  }

  void blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }

  // The members of the object at p; `outer`: of the line's own object.
  bool members(bool outer) {
    ++p_;
    blanks();
    if (p_ < end_ && *p_ == '}') return ++p_, true;
    for (;; ++p_) {
      blanks();
      if (!member(outer)) return false;
      blanks();
      if (p_ < end_ && *p_ == '}') return ++p_, true;
      if (p_ >= end_ || *p_ != ',') return fail(p_, "',' or '}'");
    }
  }

  bool member(bool outer) {
    const char* start = p_;
    std::string_view key;
    if (p_ >= end_ || *p_ != '"') return fail(p_, "a key in double quotes");
    if (!string(key)) return false;
    if (escaped_) {  // its bytes are needed while the value is read
      batch_.workspace.key.assign(key);
      key = batch_.workspace.key;
    }
    blanks();
    if (p_ >= end_ || *p_ != ':') return fail(p_, "':' after the key");
    ++p_;
    blanks();
    if (outer && key == options_.label_key) return once(labelled_, start) && label();
    if (outer && !options_.weight_key.empty() && key == options_.weight_key) return once(weighted_, start) && weight();
    if (outer && key == options_.features_key && p_ < end_ && *p_ == '{') return once(nested_, start) && members(false);
    for (const std::string& ignored : options_.ignored_keys) {
      if (key == ignored) return skip();
    }
    return feature(start, key, outer);
  }

  // Past the value at p, whatever it is. Of an array or object only where it ends is looked at.
  bool skip() {
    std::string_view content;
    double value;
    if (p_ < end_ && *p_ != '{' && *p_ != '[') {
      if (*p_ == '"') return string(content);
      return word("true") || word("false") || word("null") || word("NaN") || number(value) || fail(p_, "a value");
    }
    for (int64_t depth = 0; p_ < end_;) {
      if (*p_ == '"') {
        if (!string(content)) return false;
        continue;
      }
      depth += *p_ == '{' || *p_ == '[';
      depth -= *p_ == '}' || *p_ == ']';
      ++p_;
      if (depth == 0) return true;
    }
    return fail(p_, "the end of the value");
  }

  bool once(bool& seen, const char* key) {
    if (seen) return fail(key, "each key once");
    return seen = true;
  }

  // The string at p, which is at its first quote.
  bool string(std::string_view& content) {
    const char* start = ++p_;
    p_ = plain_until(p_);
    escaped_ = p_ < end_ && *p_ == '\\';
    if (escaped_) {
      Growing<char>& bytes = batch_.workspace.unescaped;
      bytes.clear();
      for (;;) {
        const size_t size = bytes.size(), count = static_cast<size_t>(p_ - start);
        bytes.resize(size + count);
        std::copy_n(start, count, bytes.data() + size);
        if (p_ >= end_ || *p_ != '\\') break;
        start = unescape(p_, end_, bytes);
        if (!start)
          return fail(p_, "an escape of JSON: \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits");
        p_ = plain_until(start);
      }
      bytes.reserve(bytes.size() + 64);  // readable, as words need it
      content = {bytes.data(), bytes.size()};
    } else {
      content = {start, static_cast<size_t>(p_ - start)};
    }
    if (p_ >= end_) return fail(p_, "a quote that ends the string");
    if (*p_ != '"') return fail(p_, "no control character in a string (but an escape like \\n or \\t)");
    return ++p_, true;
  }

  // Whether this word is at p, which is then left behind it.
  bool word(std::string_view wanted) {
    if (static_cast<size_t>(end_ - p_) < wanted.size() || std::memcmp(p_, wanted.data(), wanted.size()) != 0)
      return false;
    p_ += wanted.size();
    return true;
  }

  bool number(double& value) {
    const char* stop = p_ < end_ ? read_json_number(p_, end_, value) : nullptr;
    if (stop) p_ = stop;
    return stop != nullptr;
  }

  bool label() {
    const char* start = p_;
    std::string_view token;
    double value;
    if (p_ < end_ && *p_ == '"') {
      if (!string(token)) return false;
    } else if (word("true") || word("false") || number(value)) {
      token = {start, static_cast<size_t>(p_ - start)};
    } else if (!word("null")) {
      return fail(p_, "a label: a string, a number, true or false");
    }
    if (!says_nothing(token)) return batch_.label(token) || fail(start, "a label in UTF-8");
    return !options_.require_label || fail(start, "a label: a string, a number, true or false");
  }

  bool weight() {
    const char* start = p_;
    double value;
    if (!number(value) || value < 0) return fail(start, "a weight (a number from 0 on)");
    return batch_.weight(value), true;
  }

  bool feature(const char* start, std::string_view key, bool outer) {
    const TextColumn* text = nullptr;
    for (const TextColumn& column : texts_) {
      if (column.name == key) text = &column;
    }
    if (outer && !text && !flat_) flat_ = start;
    const char* at = p_;
    double value;
    if (p_ < end_ && *p_ == '"') {
      std::string_view content;
      if (!string(content)) return false;
      if (text) return add_words(content, *text, options_, features_), true;
      return added(features_.add_category(key, content), start);
    }
    if (word("null") || word("NaN")) {
      return text || options_.missing_is_zero || fail(at, "a value, and none is missing");
    }
    if (text) return fail(p_, "a string, as " + shown(key) + " is text");
    if (word("true")) {
      value = 1;
    } else if (word("false")) {
      value = 0;
    } else if (!number(value)) {
      return fail(p_, "a finite number, a string, true, false or null");
    }
    return added(features_.add(key, value), start);
  }

  bool added(bool is_new, const char* start) {
    if (!is_new) return fail(start, "each key once");
    return features_.names_are_text() || fail(start, kNotText);
  }

  const Options& options_;
  Batch& batch_;
  RowFeatures features_;
  std::vector<TextColumn> texts_;
  const char *p_ = nullptr, *end_ = nullptr;
  bool labelled_ = false, weighted_ = false, nested_ = false;
  const char* flat_ = nullptr;  // the first feature that is a member of the line's own object
  bool escaped_ = false;        // of the string read last
};

}  // namespace

void parse_json(const char* first, const char* end, const Options& options, Batch& batch) {
  Object object(options, batch);
  for (const char *p = first, *stop; p < end; p = stop + 1) {
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
    stop = newline ? static_cast<const char*>(newline) : end;
    ++batch.lines;
    const std::string_view line(p, static_cast<size_t>(stop - p));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (object.read(p, stop)) {
      batch.end_row();
    } else if (!batch.reject(line, object.where, std::move(object.found), std::move(object.expected))) {
      return;
    }
  }
}

}  // namespace rosenblatt
