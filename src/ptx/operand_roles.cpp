// By opcode, where the instruction table alone does not tell.
#include "ptx/operand_roles.hpp"

namespace ptxasw::ptx {

namespace {

bool is_address(const Operand& operand) {
  return operand.kind == OperandKind::address;
}

} // namespace

std::size_t result_count(Op op, const Modifiers& mods, std::span<const Operand> operands) {
  switch (op) {
  case Op::bar:
  case Op::barrier: return mods.sub == Sub::red || mods.sub2 == Sub::red ? 1 : 0;
  case Op::mbarrier: return !operands.empty() && !is_address(operands[0]) ? 1 : 0;
  case Op::wmma: return mods.sub == Sub::store ? 0 : 1;
  case Op::multimem: return mods.sub == Sub::ld_reduce ? 1 : 0;
  case Op::wgmma: return mods.sub == Sub::mma_async ? 1 : 0;
  case Op::clusterlaunchcontrol: return mods.sub == Sub::query_cancel ? 1 : 0;
  case Op::tcgen05: {
    if (mods.sub != Sub::ld) return 0;
    std::size_t count = 0;
    while (count < operands.size() && !is_address(operands[count]))
      ++count;
    return count;
  }
  default: return results(op);
  }
}

Type source_type(Op op, const Modifiers& mods, std::size_t index) {
  switch (op) {
  case Op::cvt:
  case Op::set: return mods.type2;
  case Op::slct: return index == 2 ? mods.type2 : mods.type;
  case Op::createpolicy: return Type::none;                          // a fraction beside .b64
  default: return mods.type2 == Type::none ? mods.type : Type::none; // mixed: fma.rn.f32.f16
  }
}

} // namespace ptxasw::ptx
