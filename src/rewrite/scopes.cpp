// Scopes are numbered in order of their opening brace; the function's own is 0.
#include "rewrite/scopes.hpp"

namespace ptxasw::rewrite {

Scopes::Scopes(const ptx::Body& body) : body_(body), first_(body.function->body.first) {
  const auto statements = body.module->body_of(*body.function);
  std::vector<std::uint32_t> open;
  std::uint32_t count = 0;
  for (const ptx::Statement& statement : statements) {
    if (statement.kind == ptx::StatementKind::scope_open) {
      if (count == 0) body_start_ = statement.range.end;
      open.push_back(count++);
    }
    scope_of_.push_back(open.empty() ? 0 : open.back());
    if (statement.kind == ptx::StatementKind::scope_close && !open.empty()) open.pop_back();
  }
}

bool Scopes::shares_names(ptx::InstId from, ptx::InstId to) const {
  return scope_of_[body_.insts[from].statement - first_] ==
         scope_of_[body_.insts[to].statement - first_];
}

} // namespace ptxasw::rewrite
