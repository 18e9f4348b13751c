// Along an axis cut by blocks %ctaid grows by one from copy to copy. Along one cut by rows, %tid is
// written as row - %ctaid*%ntid, which cancels %ctaid wherever only the sum was used, and the row
// grows by one.
#include "passes/shared/block_shift.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::AtomKind;
using sym::Bits;
using sym::Kind;
using sym::Term;

BlockShift::BlockShift(emulator::Kernel& kernel, const std::array<Axis, 3>& axes,
                       const analysis::ReplicaDivergence& replica_divergence)
    : k_(kernel), c_(*kernel.context), replica_divergence_(replica_divergence),
      calls_(std::ranges::any_of(kernel.body.insts, [](const ptx::Inst& inst) {
        return ptx::group(inst.op) == ptx::Group::call;
      })) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axes[axis].factor == 1) continue;
    Position& position = axes_[axis];
    const Term block = kernel.trace.special(ptx::along(ptx::Special::ctaid_x, axis));
    if (!axes[axis].rows) {
      position.variable = block;
      continue;
    }
    const Term thread = kernel.trace.special(ptx::along(ptx::Special::tid_x, axis));
    const Term rows = kernel.trace.special(ptx::along(ptx::Special::ntid_x, axis));
    // Blocks have at most 1024 rows, grids along y and z at most 65535 blocks; along x the sum may
    // wrap.
    const sym::Bits rows_end = axis == 0 ? sym::Bits{1} << 32 : sym::Bits{65535} << 10;
    position.variable = c_.atom({.name = "row",
                                 .width = 32,
                                 .uniformity = sym::Uniformity::lane,
                                 .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                                 .tag = ptx::none,
                                 .tag2 = ptx::none,
                                 .hi = rows_end - 1});
    const auto wide = [&](Term t) { return c_.zext(t, 64); };
    position.rows = {
        {thread.id, c_.sub(position.variable, c_.mul(block, rows))},
        {wide(thread).id, c_.sub(wide(position.variable), c_.mul(wide(block), wide(rows)))}};
    position.gone = block;
  }
}

bool BlockShift::varies_freely(Term atom) const {
  const sym::Atom& info = c_.atom_info(atom);
  const auto& varying = replica_divergence_.registers;
  switch (static_cast<AtomKind>(info.kind)) {
  case AtomKind::special:
  case AtomKind::parameter:
  case AtomKind::symbol: return false;
  case AtomKind::iteration: return trip_counts_diverge(info.tag);
  case AtomKind::undefined: return varying[info.tag];
  case AtomKind::carried:
  case AtomKind::merged: return varying[info.tag2];
  case AtomKind::loaded:
  case AtomKind::unknown: break;
  }
  // What a function that was seen through has loaded may differ with its arguments.
  if (info.tag == ptx::none && calls_) return true;
  if (info.tag == ptx::none) return info.tag2 != ptx::none && varying[info.tag2];
  const ptx::Arg& dst = k_.body.dst(k_.body.insts[info.tag])[info.tag2];
  return dst.kind != ptx::Arg::Kind::reg || varying[dst.id];
}

// In a region each copy makes trips of its own.
bool BlockShift::trip_counts_diverge(std::uint32_t loop) const {
  const analysis::BlockId header = k_.loops.loops[loop].header;
  return replica_divergence_.is_apart(k_.body, k_.body.insts[k_.cfg.blocks[header].first]);
}

std::optional<Term> BlockShift::moved(Term t, const std::array<std::int64_t, 3>& by) {
  for (const Term atom : c_.atoms(t)) {
    if (varies_freely(atom)) return std::nullopt;
  }
  for (const Position& p : axes_) {
    t = c_.substitute(t, p.rows);
  }
  sym::Context::Substitution map;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Position& p = axes_[axis];
    if (!p.variable.valid() || c_.kind(p.variable) != Kind::atom) continue;
    if (p.gone.valid() && c_.depends_on(t, p.gone)) return std::nullopt;
    if (by[axis] == 0) continue;
    const Bits bits = static_cast<Bits>(static_cast<sym::SBits>(by[axis]));
    map.emplace(p.variable.id, c_.add(p.variable, c_.constant(32, bits)));
  }
  return map.empty() ? t : c_.substitute(t, map);
}

} // namespace ptxasw::passes
