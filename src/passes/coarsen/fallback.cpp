// Read off the resolved body.
#include "passes/coarsen/fallback.hpp"

#include <ranges>

namespace ptxasw::passes {

using ptx::Inst;
using ptx::StatementKind;

std::span<const ptx::Statement> inside(const ptx::Body& body) {
  const auto statements = body.module->body_of(*body.function);
  return statements.subspan(1, statements.size() - 2);
}

bool ends_thread(const Inst& inst) {
  return inst.op == ptx::Op::ret || inst.op == ptx::Op::exit;
}

bool open_end(const ptx::Body& body) {
  for (const ptx::Statement& statement : inside(body) | std::views::reverse) {
    if (statement.kind == StatementKind::label) return true;
    if (statement.kind == StatementKind::instruction) break;
  }
  return body.insts.empty() || !ends_thread(body.insts.back()) ||
         body.insts.back().guard != ptx::none;
}

} // namespace ptxasw::passes
