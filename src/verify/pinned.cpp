// Finds pinned multiply-adds in a rewritten kernel, and pins the original alike.
#include "verify/pinned.hpp"

#include "analysis/cfg.hpp"
#include "ptx/body.hpp"
#include "ptx/parse.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace ptxasw::verify {

namespace {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Rounding;

bool is_arithmetic(const Inst& inst) {
  const bool op =
      inst.op == Op::add || inst.op == Op::sub || inst.op == Op::mul || inst.op == Op::fma;
  return op && !inst.opaque && ptx::is_float(inst.mods.type) && inst.dst.count == 1;
}

// A signed operand, by what is written. Names tell registers of different bodies apart from each
// other no less than of one, as long as no two registers of a body share one.
struct Value {
  bool negative = false;
  std::string name; // of a register, or of a literal without its sign
  friend bool operator==(const Value&, const Value&) = default;
};

struct Kernel {
  const ptx::Module& module;
  ptx::Body body;
  analysis::Cfg cfg;
  std::map<std::string, std::vector<InstId>> arithmetic; // by what it writes
  std::vector<std::vector<InstId>> definitions;          // by register
  std::map<std::string, unsigned> registers;             // with this name

  Kernel(const ptx::Module& from, const ptx::Function& function)
      : module(from), body(ptx::resolve(from, function)), cfg(analysis::build_cfg(body)),
        definitions(body.registers.size()) {
    for (const ptx::Register& reg : body.registers)
      ++registers[reg.name];
    for (InstId i = 0; i < body.insts.size(); ++i) {
      for (const Arg& dst : body.dst(body.insts[i]))
        if (dst.kind == Arg::Kind::reg) definitions[dst.id].push_back(i);
      if (is_arithmetic(body.insts[i])) arithmetic[written(body.insts[i])].push_back(i);
    }
  }

  [[nodiscard]] std::string written(const Inst& inst) const {
    const Arg& dst = body.dst(inst)[0];
    return dst.kind == Arg::Kind::reg ? body.registers[dst.id].name : "_";
  }
  [[nodiscard]] ptx::Range range(const Inst& inst) const { return ptx::range_of(body, inst); }
  [[nodiscard]] Value value(const Arg& arg, ptx::Type type) const {
    if (arg.kind == Arg::Kind::reg) return {arg.negated, body.registers[arg.id].name};
    if (arg.kind != Arg::Kind::imm) return {false, "?"};
    const bool wide = arg.literal == Arg::Literal::f64;
    const std::uint64_t sign = std::uint64_t{1} << (wide ? 63 : 31);
    if (arg.literal == Arg::Literal::integer || wide != (type == ptx::Type::f64))
      return {false, "?"};
    return {(arg.value & sign) != 0, std::to_string(arg.value & ~sign)};
  }
};

bool same_kind(const Inst& a, const Inst& b) {
  return a.mods.type == b.mods.type && a.mods.ftz == b.mods.ftz && a.mods.sat == b.mods.sat &&
         a.guard_negated == b.guard_negated && (a.guard == ptx::none) == (b.guard == ptx::none);
}

// What the second version writes in the place of one instruction.
struct Replacement {
  ptx::Range range;
  std::vector<InstId> insts; // in order; the last one writes the result
};

class Matcher {
public:
  Matcher(const Kernel& first, const Kernel& second) : a_(first), b_(second) {}

  // A sum in a scope of its own takes one line.
  [[nodiscard]] Replacement replacement(InstId inst) const {
    const std::string_view text = *b_.module.text;
    const ptx::Range own = b_.range(b_.body.insts[inst]);
    const auto line = static_cast<std::uint32_t>(text.rfind('\n', own.begin) + 1);
    const auto first = static_cast<std::uint32_t>(text.find_first_not_of(" \t", line));
    Replacement result{own, {inst}};
    if (text[first] != '{') return result;
    const auto end = static_cast<std::uint32_t>(std::min(text.find('\n', line), text.size()));
    if (text.substr(first, end - first).find('}') == std::string_view::npos) return result;
    result = {{first, end}, {}};
    for (InstId i = 0; i <= inst; ++i) {
      const ptx::Range range = b_.range(b_.body.insts[i]);
      if (range.begin >= first && range.end <= end) result.insts.push_back(i);
    }
    return result;
  }

  // May the assembler make this of an add, sub or mul without rounding?
  [[nodiscard]] bool is_legal(const Inst& sum, const Replacement& by) const {
    const Inst& result = b_.body.insts[by.insts.back()];
    if (!same_kind(sum, result) || !same_guard(sum, result)) return false;
    if (by.insts.size() == 1 && result.op == sum.op)
      return result.mods.rounding == Rounding::rn && same_sources(sum, result);
    if (result.op != Op::fma || result.mods.rounding != Rounding::rn || sum.op == Op::mul)
      return false;
    std::map<std::string, Value> signs; // of what the line itself negates
    for (const InstId i : std::span(by.insts).first(by.insts.size() - 1)) {
      const Inst& inst = b_.body.insts[i];
      if (inst.op != Op::neg || inst.mods.type != sum.mods.type || inst.mods.ftz) return false;
      Value value = b_.value(b_.body.src(inst)[0], sum.mods.type);
      value.negative = !value.negative;
      signs[b_.written(inst)] = value;
    }
    std::vector<Value> given;
    for (const Arg& arg : b_.body.src(result)) {
      Value value = b_.value(arg, sum.mods.type);
      if (const auto sign = signs.find(value.name); sign != signs.end()) value = sign->second;
      given.push_back(value);
    }
    return fuses(sum, 0, given) || fuses(sum, 1, given);
  }

private:
  // Is it the sum with the product behind operand `n` fused?
  [[nodiscard]] bool fuses(const Inst& sum, std::size_t n, const std::vector<Value>& given) const {
    const Arg& operand = a_.body.src(sum)[n];
    const Inst* mul = product(sum, operand);
    if (mul == nullptr || mul->mods.type != sum.mods.type || mul->mods.ftz != sum.mods.ftz)
      return false;
    const Value x = a_.value(a_.body.src(*mul)[0], sum.mods.type);
    const Value y = a_.value(a_.body.src(*mul)[1], sum.mods.type);
    Value other = a_.value(a_.body.src(sum)[1 - n], sum.mods.type);
    bool sign = x.negative != y.negative;
    if (sum.op == Op::sub) (n == 0 ? other.negative : sign) ^= true;
    const bool same_factors = (given[0].name == x.name && given[1].name == y.name) ||
                              (given[0].name == y.name && given[1].name == x.name);
    const auto known = [&](const Value& value) {
      const auto count = a_.registers.find(value.name);
      return value.name != "?" && (count == a_.registers.end() || count->second == 1);
    };
    return same_factors && (given[0].negative != given[1].negative) == sign && given[2] == other &&
           known(x) && known(y) && known(other);
  }

  // The unrounded multiplication that alone defines an operand of a sum, in front of it and in its
  // block, of factors that keep their values until there.
  [[nodiscard]] const Inst* product(const Inst& sum, const Arg& arg) const {
    if (arg.kind != Arg::Kind::reg || a_.definitions[arg.id].size() != 1) return nullptr;
    const InstId id = a_.definitions[arg.id].front();
    const auto at = static_cast<InstId>(&sum - a_.body.insts.data());
    if (id > at || a_.cfg.block_of[id] != a_.cfg.block_of[at]) return nullptr;
    const Inst& mul = a_.body.insts[id];
    const bool plain = mul.op == Op::mul && is_arithmetic(mul) && mul.guard == ptx::none &&
                       mul.mods.rounding == Rounding::none && !mul.mods.sat;
    const bool lasting = std::ranges::all_of(a_.body.src(mul), [&](const Arg& factor) {
      return factor.kind != Arg::Kind::reg || a_.definitions[factor.id].size() <= 1;
    });
    return plain && lasting ? &mul : nullptr;
  }

  [[nodiscard]] bool same_guard(const Inst& a, const Inst& b) const {
    return a.guard == ptx::none ||
           a_.body.registers[a.guard].name == b_.body.registers[b.guard].name;
  }
  [[nodiscard]] bool same_sources(const Inst& a, const Inst& b) const {
    const auto x = a_.body.src(a), y = b_.body.src(b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Value value = a_.value(x[i], a.mods.type);
      if (value.name == "?" || value != b_.value(y[i], a.mods.type)) return false;
    }
    return x.size() == y.size();
  }

  const Kernel &a_, &b_;
};

} // namespace

Pinned pin_like(const ptx::Module& original, const ptx::Module& second, std::string_view kernel) {
  Pinned pinned{*original.text};
  const ptx::Function *f = ptx::find_kernel(original, kernel),
                      *g = ptx::find_kernel(second, kernel);
  if (f == nullptr || g == nullptr) return pinned;
  const Kernel a(original, *f), b(second, *g);
  if (!a.body.usable || !b.body.usable) return pinned;
  const Matcher matcher(a, b);
  std::vector<ptx::Edit> edits;
  for (const auto& [name, insts] : a.arithmetic) {
    const auto others = b.arithmetic.find(name);
    if (others == b.arithmetic.end()) continue;
    for (std::size_t n = 0; n < std::min(insts.size(), others->second.size()); ++n) {
      const Inst& sum = a.body.insts[insts[n]];
      const Inst& made = b.body.insts[others->second[n]];
      if (sum.op == Op::fma || sum.mods.rounding != Rounding::none) continue;
      if (made.mods.rounding == Rounding::none) continue;
      const Replacement by = matcher.replacement(others->second[n]);
      ++pinned.changed;
      if (!matcher.is_legal(sum, by)) ++pinned.unclear;
      edits.push_back({a.range(sum), std::string(second.slice(by.range))});
    }
  }
  pinned.text = ptx::print(original, edits);
  return pinned;
}

} // namespace ptxasw::verify
