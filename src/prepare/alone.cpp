// By the names that instructions have: what a symbol stands for does not matter where there is
// none.
#include "prepare/alone.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ptxasw::prepare {
namespace {

using ptx::Operand;
using ptx::OperandKind;
using ptx::Space;

constexpr std::uint64_t most_bytes = 64 << 10; // about

// Memory of the module, which another module has its own of, wherever it is declared: ptxas takes
// variables in the global and the constant space of a function, too, which stay from one launch to
// the next one.
bool is_of_module(const ptx::Variable& variable) {
  switch (variable.space) {
  case Space::reg:
  case Space::shared: // each block's
  case Space::local:  // each thread's
  case Space::param: return false;
  default: return true;
  }
}

std::uint64_t bytes_of(const ptx::Module& module) {
  std::uint64_t sum = 0;
  for (const ptx::Variable& variable : module.variables)
    if (is_of_module(variable))
      sum += variable.elements * variable.vector * (bit_width(variable.type) / 8 + 1);
  return sum;
}

// Names that are not written down: x<4> declares x0 to x3.
bool has_counted_names(const ptx::Module& module) {
  return std::ranges::any_of(module.variables, [](const ptx::Variable& variable) {
    return variable.range != 0 && is_of_module(variable);
  });
}

bool is_alone(const ptx::Module& module, const Operand& operand) {
  if (operand.kind == OperandKind::expression) return false; // it names a symbol
  if (operand.kind == OperandKind::name) {
    const auto found = module.globals.find(operand.text);
    return found == module.globals.end() ||
           (!found->second.is_function &&
            module.variables[found->second.index].space == Space::shared);
  }
  return std::ranges::all_of(module.children(operand),
                             [&](const Operand& child) { return is_alone(module, child); });
}

bool is_alone(const ptx::Module& module, const ptx::Statement& statement) {
  if (statement.kind == ptx::StatementKind::variable)
    return std::ranges::none_of(
        std::span(module.variables).subspan(statement.index, statement.count), is_of_module);
  if (statement.kind != ptx::StatementKind::instruction) return true;
  const ptx::Instruction& instruction = module.instructions[statement.index];
  return instruction.op != ptx::Op::call && instruction.op != ptx::Op::unknown &&
         std::ranges::all_of(module.operands_of(instruction),
                             [&](const Operand& operand) { return is_alone(module, operand); });
}

bool is_alone(const ptx::Module& module, const ptx::Function& function) {
  return !function.has_opaque &&
         std::ranges::all_of(module.body_of(function), [&](const ptx::Statement& statement) {
           return is_alone(module, statement);
         });
}

} // namespace

std::set<std::string> kernels_alone(const ptx::Module& module) {
  std::set<std::string> alone;
  if (bytes_of(module) > most_bytes || has_counted_names(module)) return alone;
  for (const ptx::Function& function : module.functions)
    if (function.is_entry && !function.is_declaration && is_alone(module, function))
      alone.emplace(function.name);
  return alone;
}

} // namespace ptxasw::prepare
