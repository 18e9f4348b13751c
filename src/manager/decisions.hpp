// What was decided for a module, as text to be remembered, and back.
//
//   way NAME - CODE                    it is not coarsened, for that reason
//   way NAME X Y Z ORDER LIMIT THREADS GAIN
//   rotate NAME TRIPS LIMIT            of a kernel that is rotated
//   pin NAME IDENTICAL CHOICES         a letter for each sum, in the order of the text
//   kept HASH                          of the text that came of it
//
// A way is chosen among those that the kernel has now: what is not among them is forgotten. The
// text that comes of the same ways and pins is the text that was kept, which is seen by its hash:
// it has been judged and settled under the same conditions, and that is not done again.
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
