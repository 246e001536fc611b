// Any bytes, parsed by any format: they must give rows or a fault, the same for any size of chunks, and never a crash, a
// read outside the buffer, a hang, or memory out of proportion. For libFuzzer: make fuzz FORMAT=csv SECONDS=60.
//
// The first four bytes choose the options (see chosen); the rest is the text. FORMAT fixes the format, else it is chosen too.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "chunks.hpp"

using namespace rosenblatt;

namespace {

constexpr size_t kHeader = 4;

class Memory final : public Source {
 public:
  Memory(const char* first, const char* end, int64_t piece) : at_(first), end_(end), piece_(piece) {}
  int64_t read(char* into, int64_t room) override {
    const int64_t count = std::min({room, piece_, static_cast<int64_t>(end_ - at_)});
    std::memcpy(into, at_, static_cast<size_t>(count));
    at_ += count;
    return count;
  }

 private:
  const char *at_, *end_;
  int64_t piece_;
};

Format format_of(unsigned byte) {
  static const char* const kNames[] = {"libsvm", "csv", "json", "vw"};
  const char* wanted = std::getenv("FORMAT");
  for (int k = 0; wanted && k < 4; ++k) {
    if (std::strcmp(wanted, kNames[k]) == 0) return static_cast<Format>(k);
  }
  return static_cast<Format>(byte % 4);
}

Options chosen(const uint8_t* bytes) {
  const auto bit = [&](int k) { return (bytes[k / 8] >> (k % 8) & 1) != 0; };
  Options options;
  options.format = format_of(bytes[3]);
  options.hashed = bit(0);
  options.skip_bad_lines = bit(1);
  options.missing_is_zero = bit(2);
  options.require_label = !bit(3);
  options.word_counts = bit(4);
  options.keep_names = bit(5);
  options.interactions = bit(8) && options.hashed;
  options.index_base = bit(9);
  options.ngrams = bit(10) ? 3 : 1;
  options.bits = bit(11) ? 4 : 18;
  options.delimiter = ",\t;e"[bytes[1] >> 4 & 3];
  options.quotes = !bit(18);
  options.weight_key = "weight";
  options.text_keys = {"text"};
  if (bit(15)) options.text_keys.push_back("more");
  options.max_line = bit(14) ? 64 : 1 << 20;
  static const std::vector<Column> kTables[] = {
      {Column::number, Column::label},
      {Column::label, Column::text},
      {Column::number, Column::category, Column::label, Column::weight, Column::text},
      {Column::ignored, Column::text, Column::text, Column::category, Column::label},
  };
  options.kinds = kTables[bytes[2] & 3];
  for (size_t k = 0; k < options.kinds.size(); ++k) options.names.push_back("c" + std::to_string(k));
  return options;
}

void check(bool fact, const char* what) {
  if (fact) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

void check_rows(const Batch& batch, const Options& options) {
  check(batch.dense || batch.columns.size() == batch.values.size(), "a column for each value");
  check(!batch.dense || batch.values.size() == static_cast<size_t>(batch.rows() * batch.width), "dense rows are full");
  check(batch.dense || batch.starts.size() == batch.labels.size() + 1, "a start for each row, and the end");
  check(batch.dense || static_cast<size_t>(batch.starts[batch.labels.size()]) == batch.values.size(), "the end");
  for (size_t k = 0; k < batch.values.size(); ++k) {
    check(std::isfinite(batch.values[k]), "finite values");
    check(batch.dense || (batch.columns[k] >= 0 && batch.columns[k] < batch.features()), "columns below n_features");
  }
  for (size_t i = 0; i < batch.weights.size(); ++i) check(batch.weights[i] >= 0, "weights from 0 on");
  check(batch.weights.size() == 0 || batch.weights.size() == batch.labels.size(), "a weight for each row");
  check(!options.skip_bad_lines || !batch.fault || batch.fault->found == "a line without an end",
        "bad lines are skipped");
}

// All that was found, as text.
std::string everything(const char* first, const char* end, const Options& options, int64_t chunk, int64_t piece) {
  Chunks chunks(std::make_unique<Memory>(first, end, piece), options, {}, 1, chunk, 3);
  std::string rows, faults;
  std::map<int32_t, std::string> named;
  const auto put = [](std::string& out, const auto& value) { out += std::to_string(value) + ' '; };
  while (std::unique_ptr<Batch> batch = chunks.next([] { return true; })) {
    check_rows(*batch, options);
    for (int64_t i = 0; i < batch->rows(); ++i) {
      put(rows, batch->labels[static_cast<size_t>(i)]);
      put(rows, batch->weights.size() ? batch->weights[static_cast<size_t>(i)] : 1.0);
      const size_t from = static_cast<size_t>(batch->dense ? i * batch->width : batch->starts[static_cast<size_t>(i)]);
      const size_t to = batch->dense ? from + static_cast<size_t>(batch->width)
                                     : static_cast<size_t>(batch->starts[static_cast<size_t>(i) + 1]);
      for (size_t k = from; k < to; ++k) {
        if (!batch->dense) put(rows, batch->columns[k]);
        put(rows, batch->values[k]);
      }
      rows += '\n';
    }
    for (const auto& [column, name] : batch->named) named.emplace(column, name);
    const auto note = [&](const Fault& fault) {
      put(faults, fault.line), put(faults, fault.column);
      faults += fault.text + ": " + fault.found + ", not " + fault.expected + '\n';
    };
    for (const Fault& fault : batch->rejected) note(fault);
    if (batch->fault) {
      note(*batch->fault);
      break;
    }
    chunks.pool()->give(std::move(batch));  // to be used again, as it is outside
  }
  for (const std::string& name : chunks.labels().list()) rows += name + '\n';
  for (const std::string& name : chunks.dictionary().list()) rows += name + '\n';
  for (const auto& [column, name] : named) rows += std::to_string(column) + ' ' + name + '\n';
  return rows + faults;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeader) return 0;
  const Options options = chosen(data);
  const char *first = reinterpret_cast<const char*>(data) + kHeader, *end = reinterpret_cast<const char*>(data) + size;
  const std::string whole = everything(first, end, options, static_cast<int64_t>(size), 1 << 20);
  if (options.max_line < 1 << 20) return 0;  // what is too long is found out a chunk at a time
  const int64_t chunk = 1 + (data[2] >> 2);
  check(everything(first, end, options, chunk, 1 + chunk / 2) == whole, "the same for any size of chunks");
  return 0;
}
