#include "reading_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "chunks.hpp"
#include "first_pass.hpp"
#include "python_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rosenblatt {
namespace {

using Bytes = std::vector<nb::bytes>;

std::vector<std::string> strings(const Bytes& given) {
  std::vector<std::string> out;
  for (const nb::bytes& b : given) out.emplace_back(b.c_str(), b.size());
  return out;
}

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::list to_list(const std::vector<std::string>& texts, size_t first = 0) {
  nb::list out;
  for (size_t i = first; i < texts.size(); ++i) out.append(to_bytes(texts[i]));
  return out;
}

Format format_of(const std::string& name) {
  if (name == "libsvm") return Format::libsvm;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  require(name == "vw", "the format must be libsvm, csv, json or vw");
  return Format::vw;
}

// Bytes that a Python function hands out.
class Callable final : public Source {
 public:
  explicit Callable(nb::object read) : read_(std::move(read)) {}
  ~Callable() override {
    nb::gil_scoped_acquire gil;
    read_.reset();
  }
  int64_t read(char* into, int64_t room) override {
    nb::gil_scoped_acquire gil;
    const nb::bytes got = nb::cast<nb::bytes>(read_(room));
    const int64_t count = static_cast<int64_t>(got.size());
    if (count > room) throw nb::value_error("read(n) gave more than n bytes");
    std::memcpy(into, got.c_str(), got.size());
    return count;
  }
  bool pauses() const override { return true; }

 private:
  nb::object read_;
};

// A batch that Python holds. Its memory goes back to the pool of its reader.
struct Held {
  std::unique_ptr<Batch> batch;
  std::shared_ptr<Pool<Batch>> pool;
  Held(std::unique_ptr<Batch> b, std::shared_ptr<Pool<Batch>> p) : batch(std::move(b)), pool(std::move(p)) {}
  ~Held() {
    if (batch) pool->give(std::move(batch));
  }
};

class Reader {
 public:
  Reader(nb::object source, const Options& options, int threads, int64_t chunk, int slots, const Bytes& labels,
         const Bytes& dictionary, int64_t line, int64_t offset)
      : threads_(threads) {
    std::unique_ptr<Source> bytes;
    if (nb::isinstance<nb::int_>(source)) {
      bytes = descriptor_source(nb::cast<int>(source));
    } else {
      require(nb::isinstance<nb::callable>(source), "the source must be a file descriptor or a function read(n)");
      bytes = std::make_unique<Callable>(source);
    }
    require(chunk > 0 && chunk <= (int64_t{1} << 28), "chunk must be from 1 to 2**28 bytes");
    require(threads >= 1 && slots >= 1, "threads and slots must be positive");
    chunks_ =
        std::make_unique<Chunks>(std::move(bytes), options,
                                 Beginning{strings(labels), strings(dictionary), line, offset}, threads, chunk, slots);
  }
  ~Reader() {
    nb::gil_scoped_release unlocked;  // a thread may be waiting for it in read(n)
    first_pass_.reset();
    chunks_.reset();
  }

  // Learn from the rows to come, in a thread of its own (first_pass.hpp). Whoever reads on first waits until it is over.
  // With `keep`, `take` gives the rows that were learned from, and must be called until it is over.
  void learn(const Rule& rule, bool average, int64_t width, int64_t keep, int64_t piece) {
    require(!first_pass_, "it learns already");
    require(width >= 0 && rule.learn && !rule.restart && rule.tie == Tie::mistake,
            "the first pass visits the rows in order, and a score of 0 is a mistake");
    first_pass_ = std::make_unique<FirstPass>(*chunks_, rule, average, width, FirstPass::Kept{piece, keep},
                                              std::max(4, 2 * threads_));
  }
  nb::object take(double seconds) {
    std::shared_ptr<PackedRows> rows;
    {
      nb::gil_scoped_release unlocked;
      rows = learned_by().take(std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
    }
    return rows ? nb::cast(rows) : nb::none();
  }
  bool wait(double seconds) {
    nb::gil_scoped_release unlocked;
    return learned_by().wait(std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3)));
  }
  nb::tuple so_far() { return nb::make_tuple(learned_by().rows_so_far(), learned_by().mistakes_so_far()); }
  nb::object learned() {
    require(learned_by().wait(std::chrono::milliseconds(0)), "it is not over yet");
    FirstPass::State& s = first_pass_->state();
    if (!s.finite || s.error) return nb::none();
    auto vector = [](WideVector& w) {  // its memory is Python's from here on
      auto* kept = new WideVector(std::move(w));
      nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<WideVector*>(p); });
      return nb::cast(NumpyArray<double>(kept->data(), {static_cast<size_t>(kept->size())}, owner));
    };
    nb::dict out;
    out["weights"] = vector(s.w);
    out["late_weights"] = s.w_late.size() > 0 ? vector(s.w_late) : nb::none();
    out["intercept"] = s.b;
    out["late_intercept"] = s.b_late;
    out["n_features"] = s.n_features;
    out["visits"] = s.visits;
    out["updates"] = s.updates;
    out["right"] = s.right;
    out["wrong"] = s.wrong;
    out["counts"] = nb::make_tuple(s.rows[0], s.rows[1]);
    out["changes"] = s.changes;
    out["last"] = static_cast<int>(s.last);
    out["smallest"] = s.smallest;
    out["end"] = s.end;
    out["lines"] = s.lines;
    out["whole"] = !s.left;
    return out;
  }

  nb::object next() {
    std::unique_ptr<Batch> batch;
    bool interrupted = false;
    if (first_pass_) {
      while (!wait(0.025)) {
        require(!first_pass_->waits(), "rows that it has learned from wait to be taken");
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      }
      if (first_pass_->state().error) std::rethrow_exception(first_pass_->state().error);
      batch = std::move(first_pass_->state().left);
    }
    if (!batch) {
      nb::gil_scoped_release unlocked;
      batch = chunks_->next([&] {
        nb::gil_scoped_acquire gil;
        interrupted = PyErr_CheckSignals() != 0;
        return !interrupted;
      });
    }
    if (interrupted) throw nb::python_error();
    if (!batch) return nb::none();
    return nb::cast(new Held(std::move(batch), chunks_->pool()), nb::rv_policy::take_ownership);
  }
  void close() {
    nb::gil_scoped_release unlocked;
    first_pass_.reset();
    chunks_->close();
  }
  nb::list labels(size_t first) const { return to_list(chunks_->labels().list(), first); }
  nb::list dictionary(size_t first) const { return to_list(chunks_->dictionary().list(), first); }
  size_t n_labels() const { return chunks_->labels().size(); }
  size_t n_names() const { return chunks_->dictionary().size(); }

 private:
  FirstPass& learned_by() {
    require(first_pass_ != nullptr, "it does not learn");
    return *first_pass_;
  }

  const int threads_;
  std::unique_ptr<Chunks> chunks_;
  std::unique_ptr<FirstPass> first_pass_;
};

template <class T>
nb::object view(nb::handle owner, const Growing<T>& values, size_t count) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), {count}, owner));
}

nb::object rows_of_batch(nb::handle self) {
  const Batch& batch = *nb::cast<Held&>(self).batch;
  if (batch.dense) return nb::cast(new DenseRows(rows_of(batch), nb::borrow(self)), nb::rv_policy::take_ownership);
  return nb::cast(new SparseRows(rows_of(batch), nb::borrow(self)), nb::rv_policy::take_ownership);
}

nb::tuple to_tuple(const Fault& fault) {
  return nb::make_tuple(fault.line, fault.column, to_bytes(fault.text), to_bytes(fault.found), fault.expected);
}

void bind_options(nb::module_& m) {
  nb::class_<Options>(m, "ParseOptions")
      .def(
          "__init__",
          [](Options* self, const std::string& format, int64_t index_base, const std::string& delimiter, bool quotes,
             const std::vector<int>& kinds, const Bytes& names, nb::bytes label_key, nb::bytes features_key,
             nb::bytes weight_key, const Bytes& text_keys, const Bytes& ignored_keys, bool hashed, int bits,
             const Bytes& dictionary, int ngrams, bool word_counts, bool interactions, bool missing_is_zero,
             bool keep_names, bool require_label, bool skip_bad_lines, int64_t max_line) {
            Options o;
            o.format = format_of(format);
            require(index_base == 0 || index_base == 1, "index_base must be 0 or 1");
            require(delimiter.size() == 1 && delimiter[0] != '"' && delimiter[0] != '\n' && delimiter[0] != '\r',
                    "the delimiter must be one byte, and neither a quote nor a newline");
            require(bits >= 1 && bits <= 30, "bits must be from 1 to 30");
            require(ngrams >= 1 && ngrams <= 16, "ngrams must be from 1 to 16");
            require(max_line >= 1 && max_line <= (int64_t{1} << 30), "max_line must be from 1 to 2**30");
            for (const int kind : kinds) {
              require(kind >= 0 && kind <= 5, "a kind of column must be from 0 to 5");
              o.kinds.push_back(static_cast<Column>(kind));
            }
            o.index_base = index_base;
            o.delimiter = delimiter[0];
            o.quotes = quotes;
            o.names = strings(names);
            require(o.names.size() == o.kinds.size(), "a name for each kind of column");
            o.label_key = {label_key.c_str(), label_key.size()};
            o.features_key = {features_key.c_str(), features_key.size()};
            o.weight_key = {weight_key.c_str(), weight_key.size()};
            o.text_keys = strings(text_keys);
            o.ignored_keys = strings(ignored_keys);
            o.hashed = hashed;
            o.bits = bits;
            o.dictionary = strings(dictionary);
            o.ngrams = ngrams;
            o.word_counts = word_counts;
            o.interactions = interactions;
            o.missing_is_zero = missing_is_zero;
            o.keep_names = keep_names;
            o.require_label = require_label;
            o.skip_bad_lines = skip_bad_lines;
            require(o.format != Format::csv || !kinds.empty(), "csv needs the kind of each column");
            require(!interactions || (hashed && o.format != Format::libsvm),
                    "interactions need hashed columns (not libsvm)");
            o.max_line = max_line;
            new (self) Options(std::move(o));
          },
          "format"_a, nb::kw_only(), "index_base"_a = 0, "delimiter"_a = ",", "quotes"_a = true,
          "kinds"_a = std::vector<int>(), "names"_a = nb::make_tuple(), "label_key"_a = nb::bytes("label"),
          "features_key"_a = nb::bytes("features"), "weight_key"_a = nb::bytes(""), "text_keys"_a = nb::make_tuple(),
          "ignored_keys"_a = nb::make_tuple(), "hashed"_a = false, "bits"_a = 18, "dictionary"_a = nb::make_tuple(),
          "ngrams"_a = 1, "word_counts"_a = false, "interactions"_a = false, "missing_is_zero"_a = false,
          "keep_names"_a = false, "require_label"_a = true, "skip_bad_lines"_a = false,
          "max_line"_a = int64_t{1} << 26);
}

void bind_batch(nb::module_& m) {
  nb::class_<Held>(m, "Batch")
      .def_prop_ro("n_rows", [](const Held& h) { return h.batch->rows(); })
      .def_prop_ro("n_features", [](const Held& h) { return h.batch->features(); })
      .def_prop_ro("n_values", [](const Held& h) { return h.batch->values.size(); })
      .def_prop_ro("dense", [](const Held& h) { return h.batch->dense; })
      .def_prop_ro("smallest", [](const Held& h) { return h.batch->smallest; })
      .def_prop_ro("lines", [](const Held& h) { return h.batch->lines; })
      .def_prop_ro("end", [](const Held& h) { return h.batch->end; })
      .def_prop_ro("rows", [](nb::handle self) { return rows_of_batch(self); })
      .def_prop_ro("labels",
                   [](nb::handle self) {
                     const Batch& b = *nb::cast<Held&>(self).batch;
                     return view(self, b.labels, b.labels.size());
                   })
      .def_prop_ro("weights",
                   [](nb::handle self) -> nb::object {
                     const Batch& b = *nb::cast<Held&>(self).batch;
                     return b.weights.size() ? view(self, b.weights, b.weights.size()) : nb::none();
                   })
      .def_prop_ro("data",
                   [](nb::handle self) {
                     const Batch& b = *nb::cast<Held&>(self).batch;
                     return view(self, b.values, b.values.size());
                   })
      .def_prop_ro("columns",
                   [](nb::handle self) {
                     const Batch& b = *nb::cast<Held&>(self).batch;
                     return view(self, b.columns, b.columns.size());
                   })
      .def_prop_ro("starts",
                   [](nb::handle self) {
                     const Batch& b = *nb::cast<Held&>(self).batch;
                     return view(self, b.starts, b.starts.size());
                   })
      .def_prop_ro("rejected",
                   [](const Held& h) {
                     nb::list out;
                     for (const Fault& fault : h.batch->rejected) out.append(to_tuple(fault));
                     return out;
                   })
      .def_prop_ro("fault",
                   [](const Held& h) -> nb::object {
                     return h.batch->fault ? nb::object(to_tuple(*h.batch->fault)) : nb::none();
                   })
      .def_prop_ro("names", [](const Held& h) {
        nb::list out;
        for (const auto& [column, name] : h.batch->named) out.append(nb::make_tuple(column, to_bytes(name)));
        return out;
      });
}

}  // namespace

void bind_reading(nb::module_& m) {
  bind_options(m);
  bind_batch(m);
  nb::class_<Reader>(m, "Reader")
      .def(nb::init<nb::object, const Options&, int, int64_t, int, const Bytes&, const Bytes&, int64_t, int64_t>(),
           "source"_a, "options"_a, nb::kw_only(), "threads"_a = 2, "chunk"_a = int64_t{1} << 19, "slots"_a = 40,
           "labels"_a = nb::make_tuple(), "dictionary"_a = nb::make_tuple(), "line"_a = 0, "offset"_a = 0)
      .def("learn", &Reader::learn, "rule"_a, nb::kw_only(), "average"_a, "width"_a, "keep"_a = 0, "piece"_a = 0,
           "Learn from the rows to come, in the background, as long as there are two classes and nothing unusual.")
      .def("take", &Reader::take, "seconds"_a,
           "Rows that it has learned from and kept, packed, in order; None: none yet.")
      .def("wait", &Reader::wait, "seconds"_a, "Wait for that to end; whether it has.")
      .def("so_far", &Reader::so_far, "How many rows it has visited, and mistakes it has made.")
      .def("learned", &Reader::learned, "What it has learned; None if a number was not finite or reading failed.")
      .def("next", &Reader::next, "The next batch of rows, in order; None at the end.")
      .def("close", &Reader::close, "Stop reading.")
      .def("labels", &Reader::labels, "first"_a = 0, "Label tokens in the order of their first appearance.")
      .def("dictionary", &Reader::dictionary, "first"_a = 0, "Names of columns in the order of their first appearance.")
      .def_prop_ro("n_labels", &Reader::n_labels)
      .def_prop_ro("n_names", &Reader::n_names);
}

}  // namespace rosenblatt
