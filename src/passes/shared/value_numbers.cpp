// By the text of an instruction and the numbers of its sources.
#include "passes/shared/value_numbers.hpp"

#include "ptx/written.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;

ValueNumbers::ValueNumbers(const ptx::Body& body, const Reaching& reaching)
    : body_(body), reaching_(reaching), of_(body.insts.size()) {
  for (InstId n = 0; n < body.insts.size(); ++n)
    of_[n] = number(n);
}

std::uint32_t ValueNumbers::of(const Arg& arg) {
  if (arg.kind != Arg::Kind::reg)
    return intern(fmt::format("{} {} {} {:x}", static_cast<int>(arg.kind), arg.id,
                              static_cast<int>(arg.special), arg.value));
  const auto& all = reaching_.definitions(arg.id);
  const bool once = all.size() == 1 && is_value(body_.insts[all.front()]);
  if (once && of_[all.front()] != 0) return of_[all.front()];
  return intern(fmt::format("r{}", arg.id));
}

bool ValueNumbers::is_value(const Inst& inst) const {
  return ptx::group(inst.op) == ptx::Group::pure && !inst.opaque && inst.guard == ptx::none &&
         inst.dst.count == 1;
}

std::uint32_t ValueNumbers::number(InstId id) {
  const Inst& inst = body_.insts[id];
  if (!is_value(inst)) return intern(fmt::format("i{}", id));
  std::vector<std::uint32_t> sources;
  for (const Arg& arg : body_.src(inst))
    sources.push_back(of(arg));
  const bool moves = inst.op == Op::mov && sources.size() == 1;
  if (moves && body_.src(inst)[0].kind == Arg::Kind::reg) return sources[0];
  const bool commutes = inst.op == Op::add || inst.op == Op::mul || inst.op == Op::fma;
  if (commutes && sources[1] < sources[0]) std::swap(sources[0], sources[1]);
  const auto mnemonic = body_.module->slice(ptx::syntax_of(body_, inst).mnemonic);
  return intern(fmt::format("{} {}", mnemonic, fmt::join(sources, " ")));
}

std::uint32_t ValueNumbers::intern(const std::string& text) {
  return numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
}

std::map<std::uint32_t, std::uint32_t> congruent_lines(const ptx::Body& body,
                                                       const Reaching& reaching) {
  ValueNumbers values(body, reaching);
  std::map<std::uint32_t, std::uint32_t> first, result;
  for (InstId n = 0; n < body.insts.size(); ++n) {
    if (!values.is_value(body.insts[n]) || !ptx::is_float(body.insts[n].mods.type)) continue;
    const auto [at, fresh] = first.emplace(values.of(n), opcode_line(body, n));
    if (!fresh) result.emplace(opcode_line(body, n), at->second);
  }
  return result;
}

std::uint32_t opcode_line(const ptx::Body& body, InstId id) {
  const ptx::Range mnemonic = ptx::syntax_of(body, body.insts[id]).mnemonic;
  return body.module->lines.position(mnemonic.begin).line;
}

} // namespace ptxasw::passes
