// Leaves barriers out of the text.
#include "passes/time_tile/other_kernel/idle_barriers.hpp"

#include "passes/shared/block_rules.hpp"

#include <algorithm>

namespace ptxasw::passes {

using ptx::Group;
using ptx::Inst;
using ptx::InstId;

namespace {

// Memory by which threads of a block, or of a cluster, might tell each other something.
bool may_be_shared(const Inst& inst) {
  const Group group = ptx::group(inst.op);
  return (group == Group::load || group == Group::store) &&
         (inst.mods.space == ptx::Space::shared || inst.mods.space == ptx::Space::generic);
}

} // namespace

bool is_plain_barrier(const ptx::Body& body, const Inst& inst) {
  const auto src = body.src(inst);
  return is_block_barrier(inst) && inst.mods.has(ptx::Sub::sync) && !inst.opaque &&
         src.size() == 1 && src[0].kind == ptx::Arg::Kind::imm;
}

std::optional<OtherKernel> without_idle_barriers(const emulator::Kernel& kernel,
                                                 const emulator::Budget& budget) {
  const ptx::Body& body = kernel.body;
  if (std::ranges::any_of(body.insts, may_be_shared)) return std::nullopt;
  std::vector<ptx::Edit> edits;
  for (const Inst& inst : body.insts) {
    if (ptx::group(inst.op) != Group::barrier) continue;
    if (!is_plain_barrier(body, inst)) return std::nullopt;
    edits.push_back({body.module->statements[inst.statement].range, ""});
  }
  if (edits.empty()) return std::nullopt;
  OtherKernel made = emulate_text(edited_text(body, std::move(edits)), body, budget, {},
                                  emulator::Follow::addresses);
  if (!made.refused.empty()) return std::nullopt;
  return made;
}

} // namespace ptxasw::passes
