// Module -> text: the statements, the trivia between them, and edits in place of what they replace.
#include "ptx/parse.hpp"

#include <algorithm>
#include <numeric>

namespace ptxasw::ptx {

Coverage coverage(const Module& module) {
  Coverage result;
  result.bytes = module.text ? module.text->size() : 0;
  result.statements = module.statements.size();
  for (const Statement& statement : module.statements) {
    if (statement.kind != StatementKind::opaque) continue;
    ++result.opaque_statements;
    result.opaque_bytes += statement.range.size();
  }
  return result;
}

std::string print(const Module& module) {
  if (!module.text) return {};
  const std::string_view text = *module.text;
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (const Statement& statement : module.statements) {
    result += text.substr(done, statement.range.begin - done);
    result += text.substr(statement.range.begin, statement.range.size());
    done = statement.range.end;
  }
  result += text.substr(done);
  return result;
}

std::string print(const Module& module, std::span<const Edit> edits) {
  if (edits.empty()) return print(module);
  const std::string_view text = *module.text;
  std::vector<std::size_t> order(edits.size());
  std::iota(order.begin(), order.end(), 0);
  // An insertion stands before a replacement that begins at the same place.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(edits[i].where.begin, !edits[i].where.empty());
  });
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (const std::size_t i : order) {
    const Edit& edit = edits[i];
    result += text.substr(done, edit.where.begin - done);
    result += edit.text;
    done = edit.where.end;
  }
  result += text.substr(done);
  return result;
}

} // namespace ptxasw::ptx
