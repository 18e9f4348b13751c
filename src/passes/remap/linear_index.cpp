// A division by a constant is multiplication and shifts by the time it is PTX, in one of several
// forms. So it is not matched but measured: a term of e alone that is 0 below some D, 1 from there
// on and equal to e / D wherever it is looked at, is one.
#include "passes/remap/linear_index.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/shared/rows.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

namespace ptxasw::passes {

using emulator::AtomKind;
using ptx::Special;
using sym::Bits;
using sym::Kind;
using sym::Term;

namespace {

class Finder {
public:
  explicit Finder(emulator::Kernel& kernel) : k_(kernel), c_(*kernel.context) {}

  LinearIndex run() {
    const Term block = k_.trace.special(Special::ctaid_x),
               threads = k_.trace.special(Special::ntid_x),
               thread = k_.trace.special(Special::tid_x);
    if (!block.valid() || !threads.valid() || !thread.valid())
      return {.refused = {Reason::index_form, "it has no index %ctaid.x * %ntid.x + %tid.x"}};
    if (!uses_rows_only(k_, 0))
      return {.refused = {Reason::index_form,
                          "it uses %ctaid.x and %tid.x for more than %ctaid.x * %ntid.x + %tid.x"}};
    result_.index = c_.add(c_.mul(block, threads), thread);
    visit_all();
    if (!result_.width.valid())
      result_.refused = {
          Reason::index_form,
          "it does not divide %ctaid.x * %ntid.x + %tid.x by a width known on entry"};
    return result_;
  }

private:
  void visit_all() {
    for (const emulator::Event& event : k_.trace.events) {
      visit(event.address);
      visit(event.guard);
    }
    for (const Term fact : k_.trace.entry_fact) {
      visit(fact);
      if (fact.valid()) look_for_end(fact);
    }
  }

  void visit(Term start) {
    if (!start.valid()) return;
    std::vector<Term> work{start};
    while (!work.empty()) {
      const Term t = work.back();
      work.pop_back();
      if (!seen_.insert(t.id).second) continue;
      look(t);
      const auto args = c_.args(t);
      work.insert(work.end(), args.begin(), args.end());
    }
  }

  void look(Term t) {
    if (result_.width.valid()) return;
    const Kind kind = c_.kind(t);
    const bool divides =
        kind == Kind::sdiv || kind == Kind::udiv || kind == Kind::srem || kind == Kind::urem;
    if (divides && is_index(c_.args(t)[0]))
      take_width(c_.args(t)[1]);
    else if (const auto divisor = measured_divisor(t))
      result_.width = c_.constant(32, *divisor);
  }

  void take_width(Term width) {
    if (!known_on_entry(c_, width)) return;
    result_.width = c_.width(width) == 32 ? width : c_.extract(width, 0, 32);
  }

  // The way out of the kernel and the way on part at e < end, or end - 1 < e.
  void look_for_end(Term fact) {
    std::vector<Term> work{fact};
    while (!work.empty() && !result_.end.valid()) {
      const Term t = work.back();
      work.pop_back();
      const auto args = c_.args(t);
      if (const auto negated = c_.negated(t))
        work.push_back(*negated);
      else if (c_.kind(t) == Kind::and_)
        work.insert(work.end(), args.begin(), args.end());
      else if ((c_.kind(t) == Kind::slt || c_.kind(t) == Kind::ult) && c_.width(args[0]) == 32)
        take_end(args[0], args[1]);
    }
  }

  void take_end(Term a, Term b) {
    Term end;
    if (a == result_.index && known_on_entry(c_, b)) end = b;
    if (b == result_.index && known_on_entry(c_, a)) end = c_.add(a, c_.constant(32, 1));
    if (!end.valid()) return;
    const auto value = c_.value(end);
    if (!value || (*value != 0 && *value >> 31 == 0)) result_.end = end; // not e < 0
  }

  // e itself or widened.
  [[nodiscard]] bool is_index(Term t) const {
    while (c_.kind(t) == Kind::zext || c_.kind(t) == Kind::sext)
      t = c_.args(t)[0];
    return t == result_.index;
  }

  // Of a quotient of the index: its divisor, by looking at what comes of it.
  [[nodiscard]] std::optional<std::uint32_t> measured_divisor(Term t) const {
    const Kind kind = c_.kind(t);
    if (kind == Kind::atom || kind == Kind::constant || kind == Kind::poly || c_.width(t) > 64)
      return std::nullopt;
    const auto atoms = c_.atoms(result_.index);
    const auto inner = c_.atoms(t);
    if (inner.empty() || !std::ranges::includes(atoms, inner)) return std::nullopt;
    if (value_at(t, 0) != 0 || value_at(t, top) == 0) return std::nullopt;
    std::uint32_t low = 0, high = top; // quotient 0 at low; at least 1 at high
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (value_at(t, middle) == 0 ? low : high) = middle;
    }
    return high >= 2 && is_quotient_by(t, high) ? std::optional(high) : std::nullopt;
  }

  static constexpr std::uint32_t top = 0x7fffffff;

  // Where the index is `e`.
  [[nodiscard]] std::uint32_t value_at(Term t, std::uint32_t e) const {
    return static_cast<std::uint32_t>(c_.evaluate(
        t,
        [&](const sym::Atom& atom, Term) -> Bits {
          switch (static_cast<Special>(atom.tag)) {
          case Special::ctaid_x: return e;
          case Special::ntid_x: return 1;
          default: return 0;
          }
        },
        [](sym::FunctionKey, unsigned, std::span<const Bits>) -> Bits { return 0; }));
  }

  // Here and there, and on both sides of a step.
  [[nodiscard]] bool is_quotient_by(Term t, std::uint32_t divisor) const {
    for (std::uint32_t e = 1, step = 1; e < top - step; e += step, step += step / 4 + 1) {
      const std::uint32_t edge = e - e % divisor;
      if (value_at(t, e) != e / divisor || value_at(t, edge) != edge / divisor ||
          (edge != 0 && value_at(t, edge - 1) != edge / divisor - 1))
        return false;
    }
    return true;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  LinearIndex result_;
  std::unordered_set<std::uint32_t> seen_;
};

} // namespace

LinearIndex find_linear_index(emulator::Kernel& kernel) {
  return Finder(kernel).run();
}

bool known_on_entry(const sym::Context& context, Term t) {
  switch (context.kind(t)) {
  case Kind::constant: return true;
  case Kind::atom: {
    const sym::Atom& atom = context.atom_info(t);
    if (atom.width != 32 && atom.width != 64) return false;
    if (atom.kind == static_cast<std::uint32_t>(AtomKind::parameter)) return true;
    const auto special = static_cast<Special>(atom.tag);
    return atom.kind == static_cast<std::uint32_t>(AtomKind::special) &&
           (ptx::is_along_axis(special, Special::ntid_x) ||
            ptx::is_along_axis(special, Special::nctaid_x));
  }
  case Kind::extract:
    if (context.width(t) != 32 || context.low(t) != 0 || context.width(context.args(t)[0]) != 64)
      return false;
    break;
  case Kind::zext:
  case Kind::sext:
    if (context.width(t) != 64 || context.width(context.args(t)[0]) != 32) return false;
    break;
  case Kind::poly:
    if (context.width(t) != 32 && context.width(t) != 64) return false;
    break;
  default: return false;
  }
  return std::ranges::all_of(context.args(t),
                             [&](Term arg) { return known_on_entry(context, arg); });
}

} // namespace ptxasw::passes
