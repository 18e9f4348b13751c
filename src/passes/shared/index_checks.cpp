// An index is away from its wrap for all distances of a fact at once: one comparison.
#include "passes/shared/index_checks.hpp"

#include "ptx/written.hpp"

#include <cstdlib>

namespace ptxasw::passes {

using ptx::Code;
using ptx::Reg;
using ptx::Source;
using namespace ptx::words;

namespace {

// index + k stays between min and max (the ends of the 32-bit numbers) for all k of the fact when
//   index - (min - lowest) <= (max - highest) - (min - lowest), unsigned.
// This is the right-hand side...
std::int64_t slack(const IndexFact& fact) {
  return 0xffffffffLL - fact.constants.highest + fact.constants.lowest;
}

// ... and the number to add to the index for the left-hand side.
std::int64_t bias(const IndexFact& fact) {
  return fact.constants.lowest - (fact.is_signed ? std::int64_t{INT32_MIN} : 0);
}

} // namespace

ptx::InstId region_of(const emulator::Kernel& kernel, ptx::InstId inst) {
  const ptx::InstId first = kernel.cfg.blocks[kernel.cfg.block_of[inst]].first;
  for (ptx::InstId i = inst; i > first; --i) {
    if (ptx::effects(kernel.body, kernel.body.insts[i - 1]).calls) return i;
  }
  return first;
}

Reg IndexChecks::all_of(std::span<const NoWrap> checks, ptx::InstId inst, Code& code, Reg base) {
  Computed& computed = regions_[region_of(k_, inst)];
  for (const NoWrap& check : checks)
    base = checked(computed, check, base, code);
  return base;
}

// `base` (or nothing) and one index check. What does not depend on the base is computed once.
Reg IndexChecks::checked(Computed& computed, const NoWrap& check, const Reg& base, Code& code) {
  const Key key{check.index,          check.defined,    check.unit,          check.unit_defined,
                check.fact.is_signed, check.fact.units, check.fact.constants};
  const auto [place, missing] = computed.checked.try_emplace({key, base});
  if (!missing) return place->second;
  const bool constant_unit = check.unit == ptx::none;
  Reg& prepared = computed.prepared[key];
  if (prepared.empty()) prepared = constant_unit ? offset_of(check, code) : fits(check, code);
  if (constant_unit)
    return place->second = code.setp(le, u32, prepared, Source::hex(slack(check.fact)), and_, base);
  return place->second = base.empty() ? prepared : code.and_(pred, prepared, base);
}

Reg IndexChecks::offset_of(const NoWrap& check, Code& code) {
  return code.add(s32, names_.reg(check.index), static_cast<std::int32_t>(bias(check.fact)));
}

// With multiples of a register: the same in 64 bits, for the fewest and for the most of them.
Reg IndexChecks::fits(const NoWrap& check, Code& code) {
  const ptx::Type narrow = check.fact.is_signed ? s32 : u32;
  const Reg index = code.cvt(check.fact.is_signed ? s64 : u64, narrow, names_.reg(check.index));
  code.into(index).add(s64, index, bias(check.fact));
  Reg ok;
  const auto& [lowest, highest] = check.fact.units;
  const bool itself = check.fact.constants.lowest == 0 && check.fact.constants.highest == 0;
  for (const std::int64_t count : {lowest, highest}) {
    if (count == 0 && itself && lowest != highest) continue; // the index is a 32-bit number
    Reg sum = index;
    if (count != 0) {
      const Reg product = code.mul_wide(narrow, names_.reg(check.unit), std::abs(count));
      sum = code.op(count > 0 ? ptx::Op::add : ptx::Op::sub, s64, index, product);
    }
    ok = code.setp(le, u64, sum, Source::hex(slack(check.fact)), and_, ok);
  }
  return ok;
}

} // namespace ptxasw::passes
