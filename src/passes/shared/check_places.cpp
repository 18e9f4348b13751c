// A register holds a value where it was defined with that term and has not been written since.
#include "passes/shared/check_places.hpp"

namespace ptxasw::passes {

using emulator::Definition;
using sym::Term;

std::optional<NoWrap> CheckPlaces::place(const IndexFact& fact, ptx::InstId inst) {
  NoWrap check{.fact = fact};
  const Definition* index = find_register(fact.index, inst);
  if (index == nullptr) return std::nullopt;
  check.index = index->reg;
  check.defined = index->inst;
  if (!fact.unit.valid()) return check;
  const Definition* unit = find_register(fact.unit, inst);
  if (unit == nullptr) return std::nullopt;
  check.unit = unit->reg;
  check.unit_defined = unit->inst;
  return check;
}

const Definition* CheckPlaces::find_register(Term value, ptx::InstId inst) {
  const sym::Context& c = *k_.context;
  c.spend(4 + k_.trace.definitions.size() / 8);
  for (const Definition& definition : k_.trace.definitions) {
    if (definition.value == value &&
        ptx::bit_width(k_.body.registers[definition.reg].type) == c.width(value) &&
        k_.cfg.dominates_inst(definition.inst, inst) && !overwritten(definition, inst)) {
      return &definition;
    }
  }
  return nullptr;
}

bool CheckPlaces::overwritten(const Definition& definition, ptx::InstId before) {
  if (definition.at_entry && definition.inst != before) {
    for (const ptx::Arg& dst : k_.body.dst(k_.body.insts[definition.inst])) {
      if (dst.kind == ptx::Arg::Kind::reg && dst.id == definition.reg) return true;
    }
  }
  return between_.overwritten(definition.inst, before, definition.reg);
}

} // namespace ptxasw::passes
