// What --warp-reduce makes of a kernel.
#pragma once

#include "passes/warp_reduce/find.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "ptxasw/report.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace ptxasw::passes {

struct TreeReductionChoice {
  TreeReductionPlan plan;
  Decision outcome; // "in registers: ..." or "not in registers: ..."
};

// `block`: the known shape of blocks, zeros where it is not known. By default nothing is said of
// kernels in which nothing looks like a tree.
TreeReductionChoice choose_tree_reductions(emulator::Kernel& kernel, sym::Solver& solver,
                                           WarpReduceMode mode, std::string_view architecture,
                                           const std::array<std::uint32_t, 3>& block);

} // namespace ptxasw::passes
