// What --remap makes of a kernel.
#pragma once

#include "passes/remap/remap_find.hpp"
#include "passes/shared/function_facts.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

struct Remapped {
  std::vector<ptx::Edit> edits;
  Decision outcome; // "remapped: ..." or "not remapped: ..."
  std::optional<Remap> remap;
};

// `wanted` is some remap; what is automatic has to be likely to pay. All has to be sound.
Remapped remap(emulator::Kernel& kernel, const Remap& wanted, const FunctionFacts& facts);

} // namespace ptxasw::passes
