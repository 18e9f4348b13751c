// find_step for any domain: which rule an instruction follows. Included where it is instantiated
// (concrete_steps.cpp here, symbolic_steps.cpp in the emulator), and nowhere else: it is large.
#pragma once

#include "semantics/bits.hpp"
#include "semantics/compare.hpp"
#include "semantics/convert.hpp"
#include "semantics/floating.hpp"
#include "semantics/integer.hpp"
#include "semantics/move.hpp"
#include "semantics/video.hpp"

namespace ptxasw::sem {

template <class D> Step<D> find_step(const ptx::Body& body, const ptx::Inst& inst) {
  if (inst.opaque || inst.mods.unknown || ptx::group(inst.op) != ptx::Group::pure) return nullptr;
  if (ptx::is_video(inst.op)) return video_parts(body, inst) ? video_step<D> : nullptr;
  if (!well_formed(inst)) return nullptr;
  switch (inst.op) {
  case ptx::Op::mov: return find_move<D>(inst);
  case ptx::Op::cvt: return find_cvt<D>(inst);
  case ptx::Op::cvta:
  case ptx::Op::isspacep: return find_address<D>(inst);
  case ptx::Op::setp:
  case ptx::Op::set:
  case ptx::Op::selp:
  case ptx::Op::slct: return find_compare<D>(inst);
  default: break;
  }
  if (ptx::is_float(inst.mods.type)) return find_float<D>(inst);
  if (const Step<D> found = find_bits<D>(inst)) return found;
  return find_integer<D>(inst);
}

} // namespace ptxasw::sem
