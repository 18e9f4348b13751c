// Straight-line instructions as text, parsed, resolved and stepped in any domain.
#pragma once

#include "ptx/parse.hpp"
#include "semantics/forms.hpp"
#include "semantics/step.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::harness {

using sem::Bits;

inline std::string_view register_type(char letter) {
  switch (letter) {
  case 'p': return ".pred";
  case 'h': return ".b16";
  case 'r': return ".b32";
  case 'd': return ".b64";
  default: return ".b128";
  }
}

// A kernel that does nothing but the form's instructions.
inline std::string kernel_text(const forms::Instance& form, std::string_view name = "k") {
  std::string text = fmt::format(".visible .entry {}()\n{{\n", name);
  const auto declare = [&text](std::string_view prefix, std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i)
      text += fmt::format("  .reg {} {}{};\n", register_type(letters[i]), prefix, i);
  };
  declare("%o", form.results);
  declare("%i", form.sources);
  return text + fmt::format("  {}\n  ret;\n}}\n", form.text);
}
inline std::string header(unsigned sm) {
  return fmt::format(".version 9.0\n.target sm_{}\n.address_size 64\n", sm);
}

// One form, ready to be stepped. Not copyable: the body points into the module.
class Program {
public:
  explicit Program(std::string_view form)
      : instance(forms::instantiate(form)),
        module_(ptx::parse(header(100) + kernel_text(instance))) {
    if (module_.functions.empty()) return;
    body = ptx::resolve(module_, module_.functions[0]);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  forms::Instance instance;
  ptx::Body body;

  // Values of %o0, %o1, ... after the instructions, from those of %i0, %i1, ... Empty if the body
  // is unusable or some instruction has no Step.
  template <class D>
  std::vector<typename D::Value> run(D& d, const std::vector<typename D::Value>& sources) const {
    using V = typename D::Value;
    if (!body.usable || body.insts.empty()) return {};
    std::vector<V> registers(body.registers.size());
    for (std::size_t i = 0; i < body.registers.size(); ++i) {
      const std::string& name = body.registers[i].name;
      const unsigned w = ptx::bit_width(body.registers[i].type);
      const bool source = name.starts_with("%i");
      registers[i] =
          source ? sources.at(std::stoul(name.substr(2))) : d.constant(w == 0 ? 1 : w, 0);
    }
    for (const ptx::Inst& inst : body.insts) {
      if (inst.op == ptx::Op::ret) break;
      if (!step(d, inst, registers)) return {};
    }
    std::vector<V> results(instance.results.size());
    for (std::size_t i = 0; i < body.registers.size(); ++i)
      if (body.registers[i].name.starts_with("%o"))
        results.at(std::stoul(body.registers[i].name.substr(2))) = registers[i];
    return results;
  }

private:
  template <class D>
  bool step(D& d, const ptx::Inst& inst, std::vector<typename D::Value>& registers) const {
    const auto rule = sem::find_step<D>(body, inst);
    if (rule == nullptr) return false;
    std::vector<typename D::Value> src;
    for (const ptx::Arg& arg : body.src(inst)) {
      if (arg.kind != ptx::Arg::Kind::reg)
        src.push_back(d.constant(64, arg.value));
      else
        src.push_back(arg.negated ? d.not_(1, registers[arg.id]) : registers[arg.id]);
    }
    std::vector<typename D::Value> dst(inst.dst.count);
    rule(d, sem::operation(body, inst), src, dst);
    for (std::size_t i = 0; i < dst.size(); ++i)
      if (body.dst(inst)[i].kind == ptx::Arg::Kind::reg) registers[body.dst(inst)[i].id] = dst[i];
    return true;
  }

  ptx::Module module_;
};

} // namespace ptxasw::harness
