// The order in which blocks are emulated: predecessors first (back edges aside), and the blocks of
// a loop without anything in between, so that a loop can be closed before its exits are entered.
#pragma once

#include "analysis/cfg.hpp"

#include <vector>

namespace ptxasw::emulator {

// For reducible graphs. The virtual exit block is left out.
std::vector<analysis::BlockId> emulation_order(const analysis::Cfg& cfg,
                                               const analysis::LoopForest& loops);

} // namespace ptxasw::emulator
