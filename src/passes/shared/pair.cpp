// Comparisons of two events; how far apart they are is a difference of their relaxed addresses.
#include "passes/shared/pair.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace ptxasw::passes {

using emulator::Event;

namespace {

unsigned width(const ptx::Body& body, ptx::RegId reg) {
  return ptx::bit_width(body.registers[reg].type);
}

} // namespace

bool whole_registers(const ptx::Body& body, const Event& load) {
  return std::ranges::all_of(body.dst(body.insts[load.inst]), [&](const ptx::Arg& dst) {
    return dst.kind == ptx::Arg::Kind::reg && width(body, dst.id) >= 16 &&
           width(body, dst.id) <= 64;
  });
}

bool same_shape(const ptx::Body& body, const Event& s, const Event& d) {
  if (s.space != d.space || s.element_bytes != d.element_bytes || s.elements != d.elements) {
    return false;
  }
  const auto from = body.dst(body.insts[s.inst]), to = body.dst(body.insts[d.inst]);
  for (std::size_t n = 0; n < to.size(); ++n) {
    if (width(body, from[n].id) != width(body, to[n].id)) return false;
    const bool extended = width(body, to[n].id) != 8 * d.element_bytes;
    if (extended && ptx::is_signed(s.type) != ptx::is_signed(d.type)) return false;
  }
  return true;
}

bool took_effect(const emulator::Kernel& kernel, const Event& s, analysis::BlockId block) {
  if (kernel.context->value(s.guard) == sym::Bits{1}) return true;
  const std::vector<sym::Term> facts = kernel.facts_at(block);
  return std::ranges::find(facts, s.guard) != facts.end();
}

bool disjoint(sym::Context& c, AxisPolynomial& along_x, const Event& store, const Event& load,
              GenericLoads generic) {
  const bool may_be_anywhere = load.space == ptx::Space::generic && generic == GenericLoads::any;
  const ptx::Space space = load.space == ptx::Space::generic ? ptx::Space::global : load.space;
  if (store.space != space && store.space != ptx::Space::generic) return !may_be_anywhere;
  const auto bytes = c.difference(store.address, load.address);
  const Stride stride = along_x.stride(store.address);
  if (!bytes || stride.kind != Stride::Kind::constant || std::abs(stride.bytes) > (1 << 20)) {
    return false;
  }
  for (std::int64_t lane = -31; lane <= 31; ++lane) {
    const std::int64_t distance = *bytes + lane * stride.bytes;
    if (distance < size_of(load) && distance > -size_of(store)) return false;
  }
  return true;
}

Reason reason_of(ptx::Space space) {
  switch (space) {
  case ptx::Space::shared: return Reason::shared_memory;
  case ptx::Space::local: return Reason::local_memory;
  default: return Reason::memory_kind;
  }
}

} // namespace ptxasw::passes
