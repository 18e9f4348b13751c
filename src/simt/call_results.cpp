// See call_results.hpp.
#include "simt/call_results.hpp"

#include "simt/code.hpp"

#include <algorithm>

namespace ptxasw::simt {
namespace {

using Scopes = std::vector<std::vector<std::string_view>>;

std::uint32_t declared(const ptx::Body& body, const Scopes& scopes, std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (const auto found = std::ranges::find(*scope, name); found != scope->end())
      return symbol_at(body, *found);
  return nowhere;
}

} // namespace

std::uint32_t symbol_at(const ptx::Body& body, std::string_view name) {
  for (std::size_t s = 0; s < body.symbols.size(); ++s)
    if (body.symbols[s].name.data() == name.data()) return static_cast<std::uint32_t>(s);
  return nowhere;
}

CallResults call_results(const ptx::Body& body) {
  CallResults results;
  const ptx::Module& module = *body.module;
  Scopes scopes;
  for (std::uint32_t i = 0; i < body.function->body.count; ++i) {
    const std::uint32_t at = body.function->body.first + i;
    const ptx::Statement& statement = module.statements[at];
    if (statement.kind == ptx::StatementKind::scope_open) scopes.emplace_back();
    if (statement.kind == ptx::StatementKind::scope_close && !scopes.empty()) scopes.pop_back();
    if (statement.kind == ptx::StatementKind::variable && !scopes.empty())
      for (std::uint32_t v = 0; v < statement.count; ++v)
        scopes.back().push_back(module.variables[statement.index + v].name);
    if (statement.kind != ptx::StatementKind::instruction) continue;
    const ptx::Instruction& written = module.instructions[statement.index];
    const auto operands = module.operands_of(written);
    if (written.op != ptx::Op::call || operands.size() < 2 ||
        operands[0].kind != ptx::OperandKind::list)
      continue;
    for (const ptx::Operand& result : module.children(operands[0]))
      results[at].push_back(declared(body, scopes, result.text));
  }
  return results;
}

} // namespace ptxasw::simt
