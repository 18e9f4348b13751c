// The line of a sum tells its machine instruction; numbers of values tell which factors that took.
#include "passes/pin_fma/recovery.hpp"

#include "passes/shared/value_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using sass::Format;
using sass::InstructionId;
using sass::Operand;
using sass::Operation;
using sass::Origin;
using Fuse = FuseChoice::Fuse;

namespace {

constexpr int longest_chain = 8; // of mov and neg

bool is_of(ptx::Type type, Format format) {
  switch (type) {
  case ptx::Type::f32: return format == Format::f32;
  case ptx::Type::f64: return format == Format::f64;
  case ptx::Type::f32x2: return format == Format::f32x2 || format == Format::f32;
  default: return format == Format::half;
  }
}

class Recovery {
public:
  Recovery(const ptx::Body& body, const Reaching& reaching, const std::vector<Site>& sites,
           const sass::Code& code)
      : body_(body), reaching_(reaching), sites_(sites), code_(code) {
    for (InstructionId n = 0; n < code.lines().size(); ++n)
      by_line_[code.lines()[n].line].push_back(n);
  }

  Recovered run() {
    std::vector<const Site*> gone;
    for (const Site& site : sites_) {
      const std::optional<FuseChoice> choice = of_line(site);
      if (!result_.refused.empty()) return std::move(result_);
      if (choice) {
        result_.choices.emplace(site.sum, *choice);
      } else {
        gone.push_back(&site);
      }
    }
    if (!gone.empty()) follow_twins(gone);
    for (const Site& site : sites_) {
      const auto [fuse, carrier] = result_.choices.at(site.sum);
      if (fuse != Fuse::none && !site.product[fuse == Fuse::first ? 0 : 1])
        refuse(site, "a product that cannot be named there is fused");
    }
    return std::move(result_);
  }

private:
  void refuse(const Site& site, std::string_view why) {
    if (result_.refused.empty())
      result_.refused = {Reason::fusing_unknown,
                         fmt::format("line {}: {}", opcode_line(body_, site.sum), why)};
  }

  // What the arithmetic of its line says; nothing if there is none.
  std::optional<FuseChoice> of_line(const Site& site) {
    std::optional<FuseChoice> found;
    const auto at = by_line_.find(opcode_line(body_, site.sum));
    if (at == by_line_.end()) return found;
    for (const InstructionId n : at->second) {
      const sass::Instruction& i = code_.lines()[n].instruction;
      if (!is_of(body_.insts[site.sum].mods.type, i.format)) continue;
      FuseChoice one;
      if (i.operation == Operation::fma) {
        one = fused(site, n);
      } else if (i.operation != Operation::add && i.operation != Operation::mul) {
        continue;
      }
      if (found && found->fuse != one.fuse) {
        refuse(site, "ptxas has made copies of this sum that fuse different products");
        return found;
      }
      if (!found) found = one;
    }
    return found;
  }

  FuseChoice fused(const Site& site, InstructionId n) {
    const sass::Instruction& i = code_.lines()[n].instruction;
    const auto args = body_.src(body_.insts[site.sum]);
    FuseChoice choice;
    std::optional<int> best;
    bool tie = false, swapped = false;
    for (unsigned k = 0; k < 2; ++k) {
      // the addend is the other operand
      const int addend = 3 * agrees(args[1 - k], n, i.c);
      for (const InstId product : site.candidates[k]) {
        const auto [score, crossed] = factors_agree(product, n, i);
        const Fuse fuse = k == 0 ? Fuse::first : Fuse::second;
        if (best && score + addend == *best) tie |= choice.fuse != fuse;
        if (best && score + addend <= *best) continue;
        best = score + addend;
        choice.fuse = fuse;
        swapped = crossed;
        tie = false;
      }
    }
    if (!best) refuse(site, "fused with a product that is not to be seen");
    result_.certain &= !tie;
    if (i.a.negated != i.b.negated) choice.negated_factor = i.b.negated != swapped ? 1 : 0;
    return choice;
  }

  struct Agreement {
    int score = 0;
    bool crossed = false;
  };
  [[nodiscard]] Agreement factors_agree(InstId product, InstructionId n,
                                        const sass::Instruction& i) const {
    if (ends_in_product(body_.insts[product])) {
      const std::set<std::uint32_t> line{opcode_line(body_, product)};
      return {made_on(line, n, i.a) + made_on(line, n, i.b)};
    }
    const auto args = body_.src(body_.insts[product]);
    const int straight = agrees(args[0], n, i.a) + agrees(args[1], n, i.b);
    const int crossed = agrees(args[0], n, i.b) + agrees(args[1], n, i.a);
    return {std::max(straight, crossed), crossed > straight};
  }

  // Does a machine operand hold this PTX operand? 1: it seems so, -1: it does not.
  [[nodiscard]] int agrees(const Arg& arg, InstructionId n, const Operand& operand) const {
    if (arg.kind == Arg::Kind::imm) {
      constexpr std::uint64_t magnitude = 0x7fffffff;
      const auto origins = code_.origins(n, operand);
      if (origins.size() != 1 || origins[0].from != Origin::From::immediate) return 0;
      const bool is_double = arg.literal == Arg::Literal::f64;
      const std::uint64_t bits = is_double ? arg.value >> 32 : arg.value;
      return ((bits ^ origins[0].value) & magnitude) == 0 ? 1 : -1;
    }
    return made_on(lines_of(arg, 0), n, operand);
  }

  [[nodiscard]] int made_on(const std::set<std::uint32_t>& lines, InstructionId n,
                            const Operand& operand) const {
    const auto origins = code_.origins(n, operand);
    return std::ranges::any_of(origins, [&](const Origin& origin) {
      return origin.from == Origin::From::instruction &&
             lines.contains(code_.lines()[origin.value].line);
    });
  }

  // Of the instructions that may have computed an operand, through mov and neg.
  [[nodiscard]] std::set<std::uint32_t> lines_of(const Arg& arg, int depth) const {
    std::set<std::uint32_t> lines;
    if (arg.kind != Arg::Kind::reg || depth > longest_chain) return lines;
    for (const InstId d : reaching_.definitions(arg.id)) {
      lines.insert(opcode_line(body_, d));
      const Inst& inst = body_.insts[d];
      if ((inst.op == Op::mov || inst.op == Op::neg) && body_.src(inst).size() == 1)
        lines.merge(lines_of(body_.src(inst)[0], depth + 1));
    }
    return lines;
  }

  // A sum that is gone does as the one of the same value; if that is gone, too, it is dead.
  void follow_twins(const std::vector<const Site*>& gone) {
    ValueNumbers values(body_, reaching_);
    std::map<std::uint32_t, const Site*> present;
    for (const Site& site : sites_)
      if (result_.choices.contains(site.sum)) present.emplace(values.of(site.sum), &site);
    for (const Site* site : gone) {
      const auto twin = present.find(values.of(site->sum));
      FuseChoice choice;
      if (twin != present.end()) {
        choice = result_.choices.at(twin->second->sum);
        const auto args = body_.src(body_.insts[site->sum]),
                   others = body_.src(body_.insts[twin->second->sum]);
        const std::size_t k = choice.fuse == Fuse::first ? 0 : 1;
        if (choice.fuse != Fuse::none && values.of(args[k]) != values.of(others[k]))
          choice.fuse = k == 0 ? Fuse::second : Fuse::first; // operands the other way round
        if (choice.fuse != Fuse::none && !site->product[choice.fuse == Fuse::first ? 0 : 1])
          choice = {};
      }
      result_.choices.emplace(site->sum, choice);
    }
  }

  const ptx::Body& body_;
  const Reaching& reaching_;
  const std::vector<Site>& sites_;
  const sass::Code& code_;
  std::map<std::uint32_t, std::vector<InstructionId>> by_line_;
  Recovered result_;
};

} // namespace

Recovered recover(const ptx::Body& body, const Reaching& reaching, const std::vector<Site>& sites,
                  const sass::Code& code) {
  return Recovery(body, reaching, sites, code).run();
}

} // namespace ptxasw::passes
