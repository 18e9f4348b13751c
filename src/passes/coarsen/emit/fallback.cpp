// Read off the resolved body.
#include "passes/coarsen/emit/fallback.hpp"

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
  const auto statements = inside(body);
  for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
    if (statement->kind == StatementKind::label) return true;
    if (statement->kind == StatementKind::instruction) break;
  }
  return body.insts.empty() || !ends_thread(body.insts.back()) ||
         body.insts.back().guard != ptx::none;
}

} // namespace ptxasw::passes
