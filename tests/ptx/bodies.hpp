// Resolved bodies of a few lines, and instructions in short form.
#pragma once

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace ptxasw::test {

// A kernel k(u64 a, u32 b) with registers %r, %d, %f, %g, %h, %p around the given lines.
struct Kernel {
  explicit Kernel(const std::string& lines, const std::string& before = "")
      : module(std::make_unique<ptx::Module>(ptx::parse(
            before +
            "\n.entry k(.param .u64 a, .param .u32 b) {\n.reg .b32 %r<9>; .reg .b64 %d<9>; "
            ".reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b16 %h<9>; .reg .pred %p<9>;\n" +
            lines + "\n}"))),
        body(ptx::resolve(*module, module->functions.back())) {}

  std::unique_ptr<ptx::Module> module; // stays where it is when the Kernel moves
  ptx::Body body;

  [[nodiscard]] std::string show(const ptx::Arg& arg) const {
    using Kind = ptx::Arg::Kind;
    switch (arg.kind) {
    case Kind::sink: return "_";
    case Kind::reg:
      return fmt::format("{}{}{}{}", arg.negated ? "!" : "", body.registers[arg.id].name,
                         arg.selector.empty() ? "" : ".", arg.selector);
    case Kind::imm: return fmt::format("{:#x}", arg.value);
    case Kind::special: return std::string(ptx::info(arg.special).name);
    case Kind::symbol: return fmt::format("&{}+{}", body.symbols[arg.id].name, arg.value);
    }
    return "?";
  }

  // "%r1 CC.CF = %r2 7 [%d1+4]"; "?" in front of an opaque instruction.
  [[nodiscard]] std::string show(std::size_t index = 0) const {
    const ptx::Inst& inst = body.insts.at(index);
    std::string result;
    if (inst.opaque) result.append("? ");
    for (const ptx::Arg& arg : body.dst(inst))
      result.append(show(arg)).append(" ");
    result.append("=");
    for (const ptx::Arg& arg : body.src(inst))
      result.append(" ").append(show(arg));
    for (const ptx::Address& at : body.addr(inst))
      result.append(fmt::format(" [{}{:+}]", show(at.base), at.offset));
    return result;
  }

  [[nodiscard]] std::string problems() const {
    std::string result;
    for (const ptx::Diagnostic& d : body.diagnostics)
      result.append(d.message).append("\n");
    return result;
  }
};

} // namespace ptxasw::test
