// A sum can be fused here where an unrounded mul of the same type wrote the register that it reads.
#include "rewrite/contraction.hpp"

#include "analysis/liveness.hpp"
#include "rewrite/float_freedom.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::rewrite {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;

namespace {

class Contractor {
public:
  explicit Contractor(const ptx::Body& body)
      : body_(body), definitions_(analysis::definitions(body)) {}

  std::vector<ptx::Edit> pin(Contraction choice) const {
    std::vector<ptx::Edit> edits;
    for (const Inst& inst : body_.insts) {
      if (!is_unrounded(inst)) continue;
      const Inst* fused = nullptr;
      bool first = choice == Contraction::first;
      if (is_sum(inst) && choice != Contraction::none) {
        fused = product(inst, first ? 0 : 1);
        if (fused == nullptr) {
          first = !first;
          fused = product(inst, first ? 0 : 1);
        }
      }
      edits.push_back(fused != nullptr ? fuse(inst, *fused, first) : round(inst));
    }
    return edits;
  }

private:
  [[nodiscard]] static bool is_sum(const Inst& inst) {
    return is_unrounded(inst) && inst.op != Op::mul;
  }

  [[nodiscard]] static bool is_product_of(const Inst& mul, const Inst& sum) {
    return mul.op == Op::mul && is_unrounded(mul) && mul.mods.type == sum.mods.type;
  }

  // May operand `n` of a sum hold a product that ptxas fuses?
  [[nodiscard]] bool may_be_product(const Inst& sum, std::size_t n) const {
    const Arg& operand = body_.src(sum)[n];
    return operand.kind == Arg::Kind::reg &&
           std::ranges::any_of(definitions_[operand.id],
                               [&](InstId id) { return is_product_of(body_.insts[id], sum); });
  }

  // The multiplication behind operand `n`, if the fusion can be written at the sum: one definition,
  // whose own operands still have their values there. Where it cannot, the comparison of machine
  // code will show whether that matters.
  [[nodiscard]] const Inst* product(const Inst& sum, std::size_t n) const {
    if (!may_be_product(sum, n) || definitions_[body_.src(sum)[n].id].size() != 1) return nullptr;
    const Inst& mul = body_.insts[definitions_[body_.src(sum)[n].id].front()];
    const bool lasting = std::ranges::all_of(body_.src(mul), [&](const Arg& factor) {
      return factor.kind != Arg::Kind::reg || definitions_[factor.id].size() <= 1;
    });
    const bool plain = mul.guard == ptx::none && !mul.mods.sat && mul.mods.ftz == sum.mods.ftz &&
                       sum.mods.type != ptx::Type::f32x2;
    return lasting && plain ? &mul : nullptr;
  }

  [[nodiscard]] const ptx::Instruction& syntax(const Inst& inst) const {
    return body_.module->instructions[body_.module->statements[inst.statement].index];
  }
  [[nodiscard]] std::string_view operand(const Inst& inst, std::size_t n) const {
    return body_.module->slice(body_.module->operands_of(syntax(inst))[n].range);
  }

  // add.f32 -> add.rn.f32
  [[nodiscard]] ptx::Edit round(const Inst& inst) const {
    const std::uint32_t behind = syntax(inst).mnemonic.begin + 3;
    return {{behind, behind}, ".rn"};
  }

  // One line, so that line numbers stay: the factors are negated where the sum subtracts.
  [[nodiscard]] ptx::Edit fuse(const Inst& sum, const Inst& mul, bool first) const {
    const std::string type = fmt::format("{}{}{}", sum.mods.ftz ? "ftz." : "",
                                         sum.mods.sat ? "sat." : "", ptx::name(sum.mods.type));
    const std::string_view to = operand(sum, 0), x = operand(mul, 1), y = operand(mul, 2),
                           other = operand(sum, first ? 2 : 1);
    const ptx::Range whole = body_.module->statements[sum.statement].range;
    const std::uint32_t begin = syntax(sum).mnemonic.begin; // the guard stays in front
    std::string text;
    if (sum.op == Op::add) {
      text = fmt::format("fma.rn.{} {}, {}, {}, {};", type, to, x, y, other);
      return {{begin, whole.end}, text};
    }
    const std::string_view bare = ptx::name(sum.mods.type);
    const std::string negated = first ? std::string(other) : std::string(x);
    const std::string factors =
        first ? fmt::format("{}, {}, %ptxasw_n", x, y) : fmt::format("%ptxasw_n, {}, {}", y, other);
    text = fmt::format("{{ .reg .{} %ptxasw_n; neg.{} %ptxasw_n, {}; {}fma.rn.{} {}, {}; }}", bare,
                       bare, negated, body_.module->slice({whole.begin, begin}), type, to, factors);
    return {whole, text};
  }

  const ptx::Body& body_;
  std::vector<std::vector<InstId>> definitions_;
};

} // namespace

std::vector<ptx::Edit> pin(const ptx::Body& body, Contraction choice) {
  return Contractor(body).pin(choice);
}

} // namespace ptxasw::rewrite
