// Read off the plan and the resolved body.
#include "passes/coarsen/emit/draft.hpp"

#include "passes/coarsen/emit/fallback.hpp"

namespace ptxasw::passes {

using ptx::StatementKind;

Draft::Draft(const emulator::Kernel& kernel, const BlockPlan& block_plan, CoarsenGrid grid,
             CoarsenReport& counted)
    : k(kernel), body(kernel.body), module(*kernel.body.module), plan(block_plan), report(counted),
      original(body), names(original, plan), registers(module), labels(label_prefix(module)),
      axes(plan, grid, std::string(grid_parameter), labels), inside(passes::inside(body)),
      code(registers) {
  find_kept_values();
}

void Draft::find_kept_values() {
  for (const BlockLoad& load : plan.loads)
    for (const CopyLoad& copy : load.copies) {
      if (!copy.from || !copy.needs_copy) continue;
      auto& registers_of = kept[{copy.from->load, copy.from->copy}];
      if (!registers_of.empty()) continue;
      for (const ptx::Arg& dst : body.dst(inst_of(plan.loads[copy.from->load])))
        registers_of.push_back(
            registers.make(ptx::bits(ptx::bit_width(body.registers[dst.id].type))));
    }
}

bool Draft::is_shared(const ptx::Statement& statement) const {
  return statement.kind == StatementKind::variable &&
         module.variables[statement.index].space == ptx::Space::shared;
}

std::string Draft::special_name(const ptx::Mention& mention,
                                const std::optional<ptx::Reg>& instead) const {
  const bool moves = instead && mention.arg.kind == ptx::Arg::Kind::special;
  return moves ? instead->name : std::string(module.slice(mention.where));
}

void Draft::close_body() {
  if (open_end(body)) code.ret();
  code.statement("}");
}

} // namespace ptxasw::passes
