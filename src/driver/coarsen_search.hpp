// Which coarsening pays most? Asked of ptxas and of the cost model together.
//
// The optimizer lists the ways in which each kernel may be coarsened (KernelReport::candidates).
// The n-th text to try has every such kernel in its n-th way; ptxas assembles them side by side,
// and from what it says and from the machine code comes what the model needs to know: registers,
// spills, instructions and latency (cost/coarsening.hpp). A second round holds the most promising
// ways to fewer registers.
//
// What is chosen depends on the text, the options and ptxas alone: how much is tried is limited by
// a count of instructions, never by a clock.
#pragma once

#include "driver/assemble.hpp"
#include "ptxasw/ptxasw.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

struct CoarsenSearch {
  struct Kernel {
    CoarsenBaseline original;
    std::vector<CoarsenCandidate> candidates; // best first
    std::string why;                          // nothing was tried
  };
  std::map<std::string, Kernel, std::less<>> kernels;
  unsigned trials = 0;
  double milliseconds = 0;

  [[nodiscard]] std::map<std::string, Coarsening, std::less<>> choices() const;
};

// The text that the optimizer makes with these options.
using Rewrite = std::function<std::string(const Options& options)>;
// Assembles the texts, of which only these kernels are of interest.
using Assembler = std::function<std::vector<std::optional<Assembled>>(
    const std::vector<std::string>& texts, const std::vector<std::string>& kernels)>;

struct SearchOptions {
  std::string architecture;
  bool limit_registers = true; // false where ptxas was given a limit, which must stay in force
};

// `text` is what `report` was made of, with `options`.
CoarsenSearch find_coarsenings(const std::string& text, const Report& report,
                               const Options& options, const SearchOptions& search,
                               const Rewrite& rewrite, const Assembler& assemble);

// Puts what was found into the report of the text that was made of it.
void describe(const CoarsenSearch& search, Report& report);

} // namespace ptxasw::driver
