// A pinned sum is an fma, or a sum that says how it rounds, in place of the instruction.
#include "passes/pin_fma/contraction.hpp"

#include "passes/pin_fma/hidden_product.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "ptx/build.hpp"
#include "ptx/whole_text.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Type;

namespace {

std::optional<std::string> negated_literal(const Arg& arg) {
  if (arg.kind != Arg::Kind::imm) return std::nullopt;
  switch (arg.literal) {
  case Arg::Literal::f32:
    return fmt::format("0f{:08X}", static_cast<std::uint32_t>(arg.value) ^ 0x80000000U);
  case Arg::Literal::f64: return fmt::format("0d{:016X}", arg.value ^ std::uint64_t{1} << 63);
  default: return std::nullopt;
  }
}

// An operand of the fused operation.
struct Term {
  std::string text;
  Arg arg;
  bool minus = false;
};

class SitePinner {
public:
  SitePinner(const ptx::Body& body, const Reaching& reaching, const FuseChoices& choices)
      : body_(body), reaching_(reaching), choices_(choices),
        registers_(*body.module, "%ptxasw_fp") {
    while (ptx::stands_anywhere(*body.module, scoped_))
      scoped_ += 's';
  }

  std::vector<ptx::Edit> run(const std::vector<Site>& sites) {
    std::map<InstId, std::string> fused;
    for (const Site& site : sites) {
      const auto choice = choices_.find(site.sum);
      if (choice == choices_.end() || choice->second.fuse == FuseChoice::Fuse::none) {
        round(site.sum);
      } else {
        edits_.push_back({whole(site.sum), fuse(site, choice->second)});
      }
    }
    for (const auto& [product, code] : copies_) {
      const std::uint32_t begin = whole(product).begin;
      edits_.push_back({{begin, begin}, code});
    }
    for (const auto& [division, factors] : spelled_)
      edits_.push_back({whole(division), spell_out(division, factors)});
    if (std::string code = registers_.declarations(); !code.empty()) {
      std::ranges::replace(code, '\n', ' '); // lines keep their numbers
      const std::uint32_t open = ptx::brace_of(body_).end;
      edits_.push_back({{open, open}, code});
    }
    return std::move(edits_);
  }

private:
  [[nodiscard]] const Inst& inst(InstId id) const { return body_.insts[id]; }
  [[nodiscard]] const ptx::Instruction& syntax(InstId id) const {
    return ptx::syntax_of(body_, inst(id));
  }
  [[nodiscard]] ptx::Range whole(InstId id) const { return ptx::range_of(body_, inst(id)); }
  [[nodiscard]] std::string operand(InstId id, std::size_t n) const {
    return std::string(body_.module->slice(body_.module->operands_of(syntax(id))[n].range));
  }
  [[nodiscard]] std::string guard(InstId id) const {
    return std::string(body_.module->slice({whole(id).begin, syntax(id).mnemonic.begin}));
  }

  // add.f32 -> add.rn.f32
  void round(InstId sum) {
    if (!is_unrounded(inst(sum))) return;
    const std::uint32_t behind = syntax(sum).mnemonic.begin + 3;
    edits_.push_back({{behind, behind}, ".rn"});
  }

  std::string fuse(const Site& site, const FuseChoice& choice) {
    const unsigned n = choice.fuse == FuseChoice::Fuse::first ? 0 : 1;
    const Inst& sum = inst(site.sum);
    const Product& product = *site.product[n];
    std::array<Term, 2> factors = factors_of(product.mul, site.sum);
    Term other{operand(site.sum, n == 0 ? 2 : 1), body_.src(sum)[1 - n]};
    const bool subtracts = sum.op == Op::sub;
    bool minus = product.negated != (subtracts && n == 1);
    int carrier = choice.negated_factor;
    for (int f = 0; f < 2; ++f) {
      if (!factors[static_cast<unsigned>(f)].minus) continue;
      minus = !minus;
      if (carrier < 0) carrier = f;
    }
    std::string before;
    const Type type = sum.mods.type;
    const bool ftz = type == Type::f32 && sum.mods.ftz;
    if (minus) {
      if (factors[1].arg.kind == Arg::Kind::imm) {
        carrier = 1;
      } else if (factors[0].arg.kind == Arg::Kind::imm) {
        carrier = 0;
      }
      before += negate(factors[carrier == 1 ? 1 : 0], type, ftz, "n");
    }
    if (subtracts && n == 0) before += negate(other, type, ftz, "m");
    const std::string fma =
        fmt::format("{}fma.rn.{}{}{} {}, {}, {}, {};", guard(site.sum), sum.mods.ftz ? "ftz." : "",
                    sum.mods.sat ? "sat." : "", ptx::name(type), operand(site.sum, 0),
                    factors[0].text, factors[1].text, other.text);
    return before.empty() ? fma : fmt::format("{{ {}{} }}", before, fma);
  }

  // What has to stand in front of the operation, in a scope of its own.
  std::string negate(Term& term, Type type, bool ftz, std::string_view stem) const {
    if (const auto literal = negated_literal(term.arg)) {
      term.text = *literal;
      return {};
    }
    const std::string name = fmt::format("{}_{}", scoped_, stem),
                      of = std::exchange(term.text, name);
    const std::string_view in = ptx::name(ptx::register_type(type));
    if (type == Type::f32x2) // which has no neg
      return fmt::format(".reg .{0} {1}; xor.b64 {1}, {2}, 0x8000000080000000; ", in, name, of);
    return fmt::format(".reg .{0} {1}; neg.{2}{3} {1}, {4}; ", in, name, ftz ? "ftz." : "",
                       ptx::name(type), of);
  }

  // The factors of a product as they can be named at the sum.
  std::array<Term, 2> factors_of(InstId product, InstId sum) {
    if (ends_in_product(inst(product))) {
      auto& names = spelled_[product];
      for (std::string& name : names)
        if (name.empty()) name = registers_.make(Type::f32).name;
      return {Term{names[0], {}}, Term{names[1], {}}};
    }
    std::array<Term, 2> factors;
    for (unsigned n = 0; n < 2; ++n)
      factors[n] = factor(product, n, sum);
    return factors;
  }

  Term factor(InstId product, unsigned n, InstId sum) {
    Term term{operand(product, n + 1), body_.src(inst(product))[n]};
    // -x: x is taken, and the sign stands where ptxas has it.
    InstId at = product;
    while (term.arg.kind == Arg::Kind::reg) {
      const InstId d = reaching_.only(term.arg.id, at);
      if (d == ptx::none || !is_negation(inst(d), inst(sum))) break;
      const Arg& inner = body_.src(inst(d))[0];
      if (inner.kind != Arg::Kind::reg || !reaching_.lasts(inner, d, sum)) break;
      term = {operand(d, 1), inner, !term.minus};
      at = d;
    }
    if (at == product && !reaching_.lasts(term.arg, product, sum))
      term.text = copy(product, n, term.text, inst(sum).mods.type);
    return term;
  }

  static bool is_negation(const Inst& inst, const Inst& sum) {
    return inst.op == Op::neg && !inst.opaque && inst.mods.type == sum.mods.type &&
           inst.mods.ftz == (sum.mods.type == Type::f32 && sum.mods.ftz);
  }

  // A factor that is written again before the sum.
  std::string copy(InstId product, unsigned n, const std::string& from, Type type) {
    std::string& name = copied_[{product, n}];
    if (name.empty()) {
      const ptx::Reg made = registers_.make(type);
      name = made.name;
      copies_[product] += fmt::format("mov.{} {}, {}; ", ptx::name(made.type), name, from);
    }
    return name;
  }

  [[nodiscard]] std::string spell_out(InstId id, const std::array<std::string, 2>& factors) const {
    const bool full = body_.module->slice(syntax(id).mnemonic).find(".full") != std::string::npos;
    const bool two = inst(id).op == Op::div;
    return passes::spell_out(inst(id), full, operand(id, 0),
                             {operand(id, 1), two ? operand(id, 2) : ""}, factors);
  }

  const ptx::Body& body_;
  const Reaching& reaching_;
  const FuseChoices& choices_;
  ptx::FreshRegisters registers_;
  std::string scoped_ = "%ptxasw_s"; // of registers of one statement
  std::vector<ptx::Edit> edits_;
  std::map<InstId, std::string> copies_; // in front of products
  std::map<std::pair<InstId, unsigned>, std::string> copied_;
  std::map<InstId, std::array<std::string, 2>> spelled_;
};

} // namespace

std::vector<ptx::Edit> pin(const ptx::Body& body, const Reaching& reaching,
                           const std::vector<Site>& sites, const FuseChoices& choices) {
  return SitePinner(body, reaching, choices).run(sites);
}

} // namespace ptxasw::passes
