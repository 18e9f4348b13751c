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

std::vector<Piece> pieces(const Module& module, std::span<const Edit> edits) {
  const std::string_view text = *module.text;
  std::vector<std::size_t> order(edits.size());
  std::iota(order.begin(), order.end(), 0);
  // An insertion stands before a replacement that begins at the same place.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(edits[i].where.begin, !edits[i].where.empty());
  });
  std::vector<Piece> result;
  std::uint32_t done = 0;
  const auto keep = [&](std::size_t end) {
    if (done < end) result.push_back({text.substr(done, end - done), done});
  };
  for (const std::size_t i : order) {
    keep(edits[i].where.begin);
    result.push_back({edits[i].text});
    done = edits[i].where.end;
  }
  keep(text.size());
  return result;
}

std::string print(const Module& module, std::span<const Edit> edits) {
  if (edits.empty()) return print(module);
  std::string result;
  result.reserve(module.text->size());
  for (const Piece& piece : pieces(module, edits))
    result += piece.text;
  return result;
}

} // namespace ptxasw::ptx
