// What the harness prints: a JSON object a line.
#pragma once

#include "session.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace harness {

// One JSON object on one line, flushed at once so that a crash loses nothing.
class Line {
public:
  Line() { text_ = "{"; }
  Line& text(const char* key, const std::string& value) {
    std::string quoted = "\"";
    for (char ch : value) {
      if (ch == '"' || ch == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(ch) < 0x20 ? ' ' : ch;
    }
    return raw(key, quoted + '"');
  }
  Line& number(const char* key, double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return raw(key, std::isfinite(value) ? digits : "null");
  }
  Line& flag(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  Line& hex(const char* key, std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "\"%016llx\"", static_cast<unsigned long long>(value));
    return raw(key, digits);
  }
  void print() {
    std::printf("%s}\n", text_.c_str());
    std::fflush(stdout);
  }

private:
  Line& raw(const char* key, const std::string& value) {
    if (text_.size() > 1) text_ += ", ";
    text_ += '"';
    text_ += key;
    text_ += "\": ";
    text_ += value;
    return *this;
  }
  std::string text_;
};

inline Line line_of(const Case& c, const Variant& v) {
  Line line;
  line.text("case", c.name).text("variant", v.name);
  return line;
}

// An error after which every later call fails too.
inline bool spoils_context(CUresult code) {
  return code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && code != CUDA_ERROR_INVALID_VALUE &&
         code != CUDA_ERROR_OUT_OF_MEMORY && code != CUDA_ERROR_FILE_NOT_FOUND &&
         code != CUDA_ERROR_NOT_FOUND && code != CUDA_ERROR_NO_BINARY_FOR_GPU &&
         code != CUDA_ERROR_INVALID_IMAGE;
}

inline void report_error(const Case& c, const Variant& v, const DriverError& error) {
  const bool fatal = spoils_context(error.code);
  line_of(c, v).text("error", error.what()).flag("fatal", fatal).print();
  if (fatal) std::exit(3);
}

inline int threads_of(const Case& c) {
  return static_cast<int>(c.block[0] * c.block[1] * c.block[2]);
}

inline int blocks_per_multiprocessor(const Case& c, const Kernel& kernel) {
  int blocks = 0;
  check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function(), threads_of(c), 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

inline Line& resources(Line& line, const Case& c, const Kernel& kernel, const Device& device) {
  const int resident = blocks_per_multiprocessor(c, kernel) * threads_of(c);
  char shape[80];
  std::snprintf(shape, sizeof shape, "%ux%ux%u of %ux%ux%u", kernel.grid()[0], kernel.grid()[1],
                kernel.grid()[2], c.block[0], c.block[1], c.block[2]);
  return line.text("launch", shape)
      .number("registers", kernel.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS))
      .number("local_bytes", kernel.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES))
      .number("shared_bytes", kernel.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))
      .number("occupancy", static_cast<double>(resident) / device.threads_per_sm);
}

struct Checked {
  bool equal = false;
  Mismatch mismatch;
};

// Runs a variant on the data that the first one had, and compares all memory.
inline Checked check_variant(const Case& c, const Kernel& kernel, Arrays& mine,
                             const Arrays& reference, std::uint64_t seed, bool bits,
                             unsigned steps) {
  mine.fill(seed, bits);
  run_steps(c, kernel, mine, steps);
  check(cuCtxSynchronize(), "running");
  Checked result;
  result.mismatch = mine.compare_with(reference);
  result.equal = result.mismatch.words == 0;
  return result;
}

inline Line& verdict(Line& line, const Checked& checked) {
  line.flag("equal", checked.equal);
  if (!checked.equal)
    line.number("differing_words", static_cast<double>(checked.mismatch.words))
        .text("where", checked.mismatch.where)
        .number("word", static_cast<double>(checked.mismatch.first));
  return line;
}

} // namespace harness
