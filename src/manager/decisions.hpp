// What was decided for a module, as JSON to be remembered, and back.
//
//   {"coarsening": [{"kernel": NAME, "refused": CODE},
//                   {"kernel": NAME, "factors": [X, Y, Z], "order": "copies" or "instructions",
//                    "registers": LIMIT, "least_threads": N, "gain": G}],
//    "loop_carry": {NAME: {"iterations": N, "registers": LIMIT}},
//    "pin_fma": {NAME: {"identical": BOOLEAN, "choices": a letter for each sum of the text}},
//    "kept": hash of the text that came of it}
//
// A candidate is chosen among those that the kernel has now: what is not among them is forgotten.
// The text that comes of the same choices is the text that was kept, which is seen by its hash: it
// has been judged and settled under the same conditions, and that is not done again.
#pragma once

#include "manager/kernel_job.hpp"
#include "passes/pin_fma/search.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::manager {

struct Remembered {
  struct Choice {
    Coarsening how;
    double gain = 1;
  };
  struct KernelDecision {
    std::string kernel;
    std::optional<Choice> chosen;
    Reason refused = Reason::gains_too_little; // where none is chosen
  };
  std::vector<KernelDecision> ways; // of kernels that had some to choose from
  std::map<std::string, passes::LoopCarryCandidate, std::less<>>
      rotations; // with a limit of registers
  std::map<std::string, passes::Pinning::Kernel, std::less<>> pins;
  std::uint64_t kept = 0;
};

std::string written(const Remembered& remembered);
std::optional<Remembered> read_decisions(std::string_view text);

// Takes the choices over into the jobs' ways; false, with nothing touched, where they do not fit.
bool take(const Remembered& remembered, std::span<KernelJob* const> jobs);

} // namespace ptxasw::manager
