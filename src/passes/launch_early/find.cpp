// What a kernel must not do, function by function that it calls.
#include "passes/launch_early/launch_early.hpp"

#include "ptx/chip.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace ptxasw::passes::launch_early {
namespace {

using ptx::Op;
using ptx::StatementKind;

constexpr unsigned first_chip = 90;
constexpr std::pair first_version(7U, 8U);

bool begins_code(const ptx::Statement& statement) {
  return statement.kind == StatementKind::instruction || statement.kind == StatementKind::label;
}

// Device functions of the CUDA runtime that start no grids.
bool starts_nothing(std::string_view function) {
  constexpr std::array<std::string_view, 4> known{"vprintf", "__assertfail", "malloc", "free"};
  return std::ranges::find(known, function) != known.end();
}

class Finder {
public:
  explicit Finder(const ptx::Module& module) : module_(module) {}

  // Of a function with a body.
  Why why_not(const ptx::Function& function) {
    if (!seen_.insert(&function).second) return {};
    if (function.has_opaque) return {Reason::unreadable, "a statement could not be read"};
    for (const ptx::Statement& statement : module_.body_of(function)) {
      if (statement.kind != StatementKind::instruction) continue;
      if (Why why = why_not(module_.instructions[statement.index]); !why.empty()) return why;
    }
    return {};
  }

private:
  Why why_not(const ptx::Instruction& instruction) {
    switch (instruction.op) {
    case Op::unknown: return {Reason::unknown_instruction, "an instruction that is not known"};
    case Op::griddepcontrol: return {Reason::fence, "it has griddepcontrol of its own"};
    case Op::tex:
    case Op::tld4:
    case Op::txq:
    case Op::suld:
    case Op::sust:
    case Op::sured:
    case Op::suq: return {Reason::surface, "textures and surfaces have a proxy of their own"};
    case Op::mapa:
    case Op::getctarank:
    case Op::clusterlaunchcontrol: return {Reason::clusters, "its blocks form clusters"};
    case Op::tensormap: return {Reason::not_handled, "tensor maps have a proxy of their own"};
    case Op::cp:
      if (has(instruction, ".bulk"))
        return {Reason::not_handled, "bulk copies have a proxy of their own"};
      return {};
    case Op::call: return why_not_called(instruction);
    default: return {};
    }
  }

  [[nodiscard]] bool has(const ptx::Instruction& instruction, std::string_view modifier) const {
    return std::ranges::find(module_.modifiers_of(instruction), modifier) !=
           module_.modifiers_of(instruction).end();
  }

  Why why_not_called(const ptx::Instruction& call) {
    const auto operands = module_.operands_of(call);
    const auto callee = std::ranges::find(operands, ptx::OperandKind::name, &ptx::Operand::kind);
    const auto found =
        callee == operands.end() ? module_.globals.end() : module_.globals.find(callee->text);
    if (found == module_.globals.end() || !found->second.is_function)
      return {Reason::call, "a call of a function that is not known"};
    const ptx::Function& function = module_.functions[found->second.index];
    if (function.weak) // the linker may take another file's
      return {Reason::call, "a call of " + std::string(function.name) + ", which is weak"};
    if (!function.is_declaration) return why_not(function);
    if (starts_nothing(function.name)) return {};
    return {Reason::call, "a call of " + std::string(function.name) + ", which may start a grid"};
  }

  const ptx::Module& module_;
  std::set<const ptx::Function*> seen_;
};

} // namespace

Plan find(const ptx::Module& module, const ptx::Function& kernel) {
  if (!kernel.is_entry || kernel.is_declaration)
    return {.refused = {Reason::not_a_kernel, "a function that is not launched"}};
  const std::pair version(module.version_major, module.version_minor);
  if (ptx::chip_of(module) < first_chip || version < first_version)
    return {.refused = {Reason::old_module, "griddepcontrol is of sm_90 and PTX ISA 7.8"}};
  if (kernel.uses_clusters) return {.refused = {Reason::clusters, "its blocks form clusters"}};
  if (Why why = Finder(module).why_not(kernel); !why.empty()) return {.refused = std::move(why)};
  const auto body = module.body_of(kernel);
  const auto first = std::ranges::find_if(body, begins_code);
  if (first == body.end()) return {.refused = {Reason::nothing_found, "it does nothing"}};
  return {.at = first->range.begin};
}

} // namespace ptxasw::passes::launch_early
