// Operands that name the register are replaced, one edit each.
#include "passes/shared/stand_in.hpp"

#include <cstdint>

namespace ptxasw::passes {
namespace {

void stand_in(const ptx::Module& module, const ptx::Operand& operand, const StandIns& instead,
              std::vector<ptx::Edit>& edits) {
  if (operand.kind == ptx::OperandKind::name) {
    if (const auto found = instead.find(std::string(operand.text)); found != instead.end()) {
      const auto begin = static_cast<std::uint32_t>(operand.text.data() - module.text->data());
      edits.push_back(
          {{begin, begin + static_cast<std::uint32_t>(operand.text.size())}, found->second});
    }
  }
  for (const ptx::Operand& child : module.children(operand))
    stand_in(module, child, instead, edits);
}

} // namespace

void stand_in(const ptx::Body& body, const StandIns& instead, std::vector<ptx::Edit>& edits) {
  const ptx::Module& module = *body.module;
  for (const ptx::Inst& inst : body.insts) {
    const auto& written = module.instructions[module.statements[inst.statement].index];
    for (const ptx::Operand& operand : module.operands_of(written))
      stand_in(module, operand, instead, edits);
  }
}

} // namespace ptxasw::passes
