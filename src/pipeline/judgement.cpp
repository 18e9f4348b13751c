#include "pipeline/judgement.hpp"

#include "machine/operations.hpp"
#include "pipeline/contraction_search.hpp"
#include "rewrite/contraction_recovery.hpp"
#include "rewrite/float_freedom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

namespace ptxasw::pipeline {
namespace {

using ptx::Inst;
using ptx::InstId;
using ptx::Op;

// What an instruction may become whatever surrounds it.
enum class Nature : std::uint8_t { other, rounded, fused };

struct Form {
  std::string text; // "fma.rn.f32 #3f800000"
  Nature nature = Nature::other;
};

Nature nature_of(const Inst& inst) {
  switch (inst.op) {
  case Op::add:
  case Op::sub:
  case Op::mul: return ptx::is_float(inst.mods.type) ? Nature::rounded : Nature::other;
  case Op::fma: return Nature::fused;
  default: return Nature::other;
  }
}

Form form_of(const ptx::Body& body, const Inst& inst) {
  const ptx::Module& module = *body.module;
  const auto& written = module.instructions[module.statements[inst.statement].index];
  Form form{std::string(module.slice(written.mnemonic)), nature_of(inst)};
  for (const ptx::Arg& arg : body.src(inst))
    if (arg.kind == ptx::Arg::Kind::imm) form.text += fmt::format(" #{:x}", arg.value);
  return form;
}

bool is_arithmetic(const Inst& inst) {
  return inst.op != Op::mov && inst.op != Op::ld && inst.op != Op::st &&
         (ptx::is_float(inst.mods.type) || ptx::is_float(inst.mods.type2));
}

// A kernel's machine code, and the forms of its lines.
struct Version {
  std::map<std::uint32_t, Form> forms;
  machine::Kinds kinds; // by line
  bool arithmetic = false, approximate = false;
  std::string unknown; // why the machine code does not tell
};
using Versions = std::map<std::string, Version, std::less<>>;

Versions read(const ptx::Module& module, const std::vector<std::string>& kernels,
              Assembler& assembler) {
  Versions versions;
  bool any = false;
  for (const ptx::Function& function : module.functions) {
    if (function.is_declaration || std::ranges::count(kernels, function.name) == 0) continue;
    Version& version = versions[std::string(function.name)];
    const ptx::Body body = ptx::resolve(module, function);
    for (InstId n = 0; n < body.insts.size(); ++n) {
      const Inst& inst = body.insts[n];
      version.forms.emplace(rewrite::opcode_line(body, n), form_of(body, inst));
      version.arithmetic |= is_arithmetic(inst);
      version.approximate |= rewrite::is_approximate(inst);
    }
    any |= version.arithmetic;
    version.unknown = "the assembler was of no help";
  }
  if (!any) return versions;
  const auto made =
      assembler.assemble({.text = *module.text, .entries = kernels, .line_info = true});
  if (!made) return versions;
  const auto codes = machine::read_code(made->cubin);
  for (auto& [name, version] : versions) {
    const auto code = codes.find(name);
    version.unknown = code == codes.end() ? "there is no machine code" : code->second.unknown();
    if (version.unknown.empty())
      version.kinds = machine::kinds(code->second, [](std::uint32_t line) { return line; });
  }
  return versions;
}

using Allowed = std::map<std::string, std::set<std::string>, std::less<>>; // kinds by form

Allowed by_form(const Version& version) {
  Allowed allowed;
  for (const auto& [line, kinds] : version.kinds) {
    const auto form = version.forms.find(line);
    const std::string text = form == version.forms.end() ? "no instruction" : form->second.text;
    allowed[text].insert(kinds.begin(), kinds.end());
  }
  return allowed;
}

bool is_fused(const std::string& kind) {
  return kind.starts_with("fma");
}
bool is_function(const std::string& kind) {
  return kind.starts_with("function");
}

// Empty if every operation of `after` is one that `before` has for the same form.
std::string difference(const Version& before, const Version& after) {
  const Allowed was = by_form(before), is = by_form(after);
  std::map<std::string, Nature> natures;
  for (const auto& [line, form] : after.forms)
    natures.emplace(form.text, form.nature);
  for (const auto& [form, kinds] : is) {
    const Nature nature = natures[form];
    const auto known = was.find(form);
    for (const std::string& kind : kinds) {
      if (known != was.end() && known->second.contains(kind)) continue;
      if (nature == Nature::fused && !is_function(kind)) continue; // times one, plus zero
      if (nature == Nature::rounded && !is_fused(kind) && !is_function(kind)) continue;
      return fmt::format("rewritten, {} becomes \"{}\", which it was not before", form, kind);
    }
  }
  for (const auto& [form, kinds] : was) {
    const auto now = is.find(form);
    for (const std::string& kind : kinds)
      if (is_function(kind) && (now == is.end() || !now->second.contains(kind)))
        return fmt::format("rewritten, {} does not become \"{}\" any more", form, kind);
  }
  return {};
}

} // namespace

std::map<std::string, std::string> judge(const ptx::Module& original, const std::string& rewritten,
                                         const std::vector<std::string>& kernels,
                                         Assembler& assembler) {
  std::map<std::string, std::string> refused;
  try {
    const auto lines = [](const ptx::Module& module) {
      return ptx::parse(spread(module), module.file);
    };
    const ptx::Module before = lines(original), after = lines(ptx::parse(rewritten, original.file));
    const Versions was = read(before, kernels, assembler), is = read(after, kernels, assembler);
    for (const auto& [name, version] : is) {
      if (!version.arithmetic) continue;
      const Version& first = was.at(name);
      const std::string& unknown = first.unknown.empty() ? version.unknown : first.unknown;
      std::string why;
      if (unknown.empty()) {
        why = difference(first, version);
      } else if (version.approximate) {
        why = fmt::format("it is not known whether functions are folded: {}", unknown);
      }
      if (!why.empty()) refused.emplace(name, std::move(why));
    }
  } catch (const std::exception& error) {
    for (const std::string& kernel : kernels)
      refused.emplace(kernel, error.what());
  }
  return refused;
}

} // namespace ptxasw::pipeline
