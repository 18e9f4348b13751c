// Edits of line breaks and of .loc, and nothing else.
#include "passes/shared/spread.hpp"

#include "ptx/edited.hpp"

#include <algorithm>
#include <vector>

namespace ptxasw::passes {

ptx::Module spread(const ptx::Module& module) {
  std::vector<ptx::Edit> edits;
  std::uint32_t last = 0;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.kind == ptx::StatementKind::line_marker) edits.push_back({statement.range, "//"});
    const bool shares = module.lines.position(statement.range.begin).line == last;
    if (statement.kind == ptx::StatementKind::instruction && shares)
      edits.push_back({{statement.range.begin, statement.range.begin}, "\n"});
    last = module.lines.position(std::max(statement.range.end, 1U) - 1).line;
  }
  return ptx::edited(module, edits).module;
}

} // namespace ptxasw::passes
