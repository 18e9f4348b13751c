// What any bytes must survive: shared by the fixed-seed test and the libFuzzer target.
#pragma once

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <string>
#include <string_view>

namespace ptxasw::test {

// Parses, prints and resolves. Returns what went wrong, or nothing.
inline std::string survive(std::string_view text) {
  const ptx::Module module = ptx::parse(std::string(text), "fuzz");
  if (ptx::print(module) != text) return "printing does not give the text back";
  std::uint32_t done = 0;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.range.begin < done || statement.range.end <= statement.range.begin ||
        statement.range.end > text.size())
      return "statements are out of order";
    done = statement.range.end;
  }
  for (const ptx::Diagnostic& diagnostic : module.diagnostics)
    if (render(diagnostic, text, module.lines, module.file).empty()) return "an empty message";
  for (const ptx::Function& function : module.functions) {
    const ptx::Body body = resolve(module, function);
    for (const ptx::Inst& inst : body.insts) {
      effects(body, inst);
      for (const ptx::InstId target : body.targets_of(inst))
        if (target > body.insts.size()) return "a branch target outside the body";
      for (const auto args : {body.dst(inst), body.src(inst)})
        for (const ptx::Arg& arg : args)
          if (arg.kind == ptx::Arg::Kind::reg && arg.id >= body.registers.size())
            return "a register that does not exist";
    }
  }
  return {};
}

} // namespace ptxasw::test
