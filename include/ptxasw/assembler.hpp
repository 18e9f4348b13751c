// The assembler behind the optimizer, as far as the optimizer may ask it: texts in, machine code
// and messages out. The driver has the real ptxas behind it; a test or another caller may put
// anything there. Who asks must live with no answer.
#pragma once

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
};

struct Assembled {
  std::string cubin;    // an ELF file
  std::string messages; // what ptxas -v printed
};

class Assembler {
public:
  Assembler() = default;
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;
  virtual ~Assembler() = default;

  // What it makes code for: "sm_90".
  [[nodiscard]] virtual std::string architecture() const = 0;
  // Kernels may be given a register limit of their own: no other one has been asked for.
  [[nodiscard]] virtual bool takes_register_limits() const { return true; }

  // All of them, several at a time; the n-th answer belongs to the n-th request. None where the
  // text was not taken, took too long, or nothing can be assembled any more.
  virtual std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) = 0;

  std::optional<Assembled> assemble(AssemblyRequest request) {
    return assemble(std::span<const AssemblyRequest>(&request, 1)).at(0);
  }
};

} // namespace ptxasw
