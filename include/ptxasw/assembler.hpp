// The assembler behind the optimizer, as far as the optimizer may ask it: texts in, machine code
// and messages out. The driver has the real ptxas behind it; a test or another caller may put
// anything there. Who asks must live with no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw {

struct AssemblyRequest {
  std::string text;
  std::vector<std::string> entries; // only these kernels; empty: all
  // Let the cubin say of each instruction which line of the text it comes from (ptxas -lineinfo).
  bool line_info = false;
  // So that a text may be given up that takes much longer than the original, and so that trials,
  // of which there are many, take no longer than is in proportion to it all together.
  enum class Purpose : std::uint8_t { original, trial, rewritten } purpose = Purpose::rewritten;
};

struct Assembled {
  std::string cubin;    // an ELF file
  std::string messages; // what ptxas -v printed
};

// One trip of a loop of the machine code, from where it leads back to up to the branch.
struct LoopPath {
  unsigned instructions = 0, loads = 0;
  double latency = 0; // cycles that it adds for a warp that runs alone, its loads hitting in the L1
  friend bool operator==(const LoopPath&, const LoopPath&) = default;
};

// The straight way through a kernel's machine code (src/oracle/straight_path.hpp).
struct StraightPath {
  unsigned instructions = 0;
  unsigned loads = 0, stores = 0; // among them
  double latency = 0; // cycles of a warp that runs alone, from the first one to the exit
  LoopPath loop;      // on its way: of the innermost ones that with the most loads, if any loads
  friend bool operator==(const StraightPath&, const StraightPath&) = default;
};

// What one kernel takes, as `ptxas -v` states it.
struct Usage {
  unsigned registers = 0;
  unsigned stack = 0, spill_stores = 0, spill_loads = 0; // bytes
  unsigned shared = 0;                                   // bytes that it declares
  std::optional<StraightPath> path;                      // none: its machine code was not read
  friend bool operator==(const Usage&, const Usage&) = default;
};

// What was decided of a text before, as the optimizer has written it down.
struct Recalled {
  std::string decisions;
  bool trusted = true; // nobody but this user could have written it; else it is checked by asking
};

class Assembler {
public:
  Assembler() = default;
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;
  virtual ~Assembler() = default;

  // Kernels may be given a register limit of their own: no other one has been asked for.
  [[nodiscard]] virtual bool takes_register_limits() const { return true; }

  // All of them, several at a time; the n-th answer belongs to the n-th request. None where the
  // text was not taken, took too long, or nothing can be assembled any more.
  virtual std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) = 0;

  // The text that is to be kept, as the caller of the optimizer wants it assembled; the last call
  // counts. Here the output may go where it is wanted at once.
  virtual std::optional<Assembled> keep(const std::string& text) {
    return assemble(AssemblyRequest{.text = text});
  }

  // What was remembered of a text under the same conditions, if anything. A hint: whoever takes it
  // makes sure that it may be done.
  virtual std::optional<Recalled> recall(const std::string& /*text*/) { return std::nullopt; }
  virtual void remember(const std::string& /*text*/, const std::string& /*decisions*/) {}
  // What it said, in one line, of the last text that it did not take; empty: nothing is known.
  [[nodiscard]] virtual std::string refusal() const { return {}; }

  std::optional<Assembled> assemble(AssemblyRequest request) {
    return assemble(std::span<const AssemblyRequest>(&request, 1)).at(0);
  }
};

} // namespace ptxasw
