// Where what was resolved is written in the text of its module.
#pragma once

#include "ptx/body.hpp"

#include <algorithm>
#include <string_view>

namespace ptxasw::ptx {

inline const Statement& statement_of(const Body& body, const Inst& inst) {
  return body.module->statements[inst.statement];
}
inline const Instruction& syntax_of(const Body& body, const Inst& inst) {
  return body.module->instructions[statement_of(body, inst).index];
}
inline Range range_of(const Body& body, const Inst& inst) {
  return statement_of(body, inst).range;
}
inline Range range_of(const Body& body, InstId inst) {
  return range_of(body, body.insts[inst]);
}
inline Range ahead_of(const Body& body, InstId inst) { // an empty one
  return {range_of(body, inst).begin, range_of(body, inst).begin};
}
// From its header to its last brace.
inline Range range_of(const Module& module, const Function& function) {
  return {module.statements[function.statement].range.begin,
          module.body_of(function).back().range.end};
}
// The brace that opens it.
inline Range brace_of(const Body& body) {
  return body.module->body_of(*body.function).front().range;
}

inline bool is_kernel(const Function& function) {
  return function.is_entry && !function.is_declaration;
}
inline const Function* find_kernel(const Module& module, std::string_view name) {
  const auto found = std::ranges::find_if(module.functions, [&](const Function& function) {
    return is_kernel(function) && function.name == name;
  });
  return found == module.functions.end() ? nullptr : &*found;
}

} // namespace ptxasw::ptx
