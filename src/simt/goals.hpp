// What launches have to reach before the agreement of two kernels says something (verify.hpp).
#pragma once

#include "simt/machine.hpp"

#include <vector>

namespace ptxasw::simt {

struct Goal {
  bool second = false; // an instruction of the second version
  ptx::InstId inst = 0;
  bool full_warp = false; // all lanes of a warp together, or any
};

// Accesses and shuffles that the versions do not have in common, in the sense that one of them has
// more instructions with the same text; and all stores and atomics of the first. Where the versions
// differ in no access, all accesses of the first.
std::vector<Goal> find_goals(const Program& first, const Program& second);

// Most lanes at once that executed each instruction of the kernels, in launches that count.
struct Coverage {
  std::vector<std::uint8_t> first, second;
  void add(const Coverage& other);
  [[nodiscard]] unsigned lanes(const Goal& goal) const;
};

} // namespace ptxasw::simt
