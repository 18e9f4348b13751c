// Operands that name the register are replaced, one edit each.
#include "passes/shared/special_registers.hpp"

#include "ptx/written.hpp"

#include <cstdint>

namespace ptxasw::passes {
namespace {

void substitute_special(const ptx::Module& module, const ptx::Operand& operand,
                        const StandIns& instead, std::vector<ptx::Edit>& edits) {
  if (operand.kind == ptx::OperandKind::name) {
    const ptx::SpecialInfo* special = ptx::find_special(operand.text);
    const auto found = special == nullptr ? instead.end() : instead.find(special->id);
    if (found != instead.end()) {
      const auto begin = static_cast<std::uint32_t>(operand.text.data() - module.text->data());
      const auto size = static_cast<std::uint32_t>(operand.text.size());
      edits.push_back({{begin, begin + size}, found->second.name});
    }
  }
  for (const ptx::Operand& child : module.children(operand))
    substitute_special(module, child, instead, edits);
}

} // namespace

void substitute_special(const ptx::Body& body, const StandIns& instead,
                        std::vector<ptx::Edit>& edits) {
  const ptx::Module& module = *body.module;
  for (const ptx::Inst& inst : body.insts)
    for (const ptx::Operand& operand : module.operands_of(ptx::syntax_of(body, inst)))
      substitute_special(module, operand, instead, edits);
}

} // namespace ptxasw::passes
