// The comparison is the definition of the exit branch's guard, in closed form.
#include "passes/coarsen/find/block_iterations.hpp"

#include <algorithm>

namespace ptxasw::passes {

using analysis::BlockId;
using sym::Kind;
using sym::Term;

namespace {

class Limit {
public:
  Limit(const emulator::Kernel& kernel, std::uint32_t loop)
      : k_(kernel), c_(*kernel.context), loop_(kernel.loops.loops[loop]),
        iteration_(kernel.trace.iterations[loop]) {}

  std::optional<TripCountLimit> run() {
    for (const auto& exit : loop_.exits) {
      const auto [from, to] = exit;
      const bool every_iteration = std::ranges::all_of(
          loop_.latches, [&](BlockId latch) { return k_.cfg.dominates(exit.first, latch); });
      if (!every_iteration) continue;
      const Term stay = stay_condition(from, to);
      if (!stay.valid()) continue;
      if (const auto limit = from_comparison(stay)) return limit;
    }
    return std::nullopt;
  }

private:
  // The condition under which `from` does not leave the loop towards `to`.
  [[nodiscard]] Term stay_condition(BlockId from, BlockId to) const {
    const analysis::Block& block = k_.cfg.blocks[from];
    if (block.succs.size() != 2 || block.succs[0] == block.succs[1]) return {};
    const ptx::Inst& branch = k_.body.insts[block.end - 1];
    if (branch.guard == ptx::none) return {};
    Term guard;
    for (const emulator::Definition& d : k_.trace.definitions) {
      if (d.reg == branch.guard && k_.cfg.block_of[d.inst] == from) guard = d.value;
    }
    if (!guard.valid()) return {};
    const bool stays_if_taken = block.succs[1] == to;
    return stays_if_taken != branch.guard_negated ? guard : c_.not_(guard);
  }

  // less(x, n), or not less(n, x): x <= n.
  std::optional<TripCountLimit> from_comparison(Term stay) {
    const auto inner = c_.negated(stay);
    const Term compare = inner ? *inner : stay;
    if (c_.kind(compare) != Kind::slt && c_.kind(compare) != Kind::ult) return std::nullopt;
    const Term left = c_.args(compare)[0], right = c_.args(compare)[1];
    if (c_.width(left) != 32) return std::nullopt;
    const Term lower = inner ? right : left, upper = inner ? left : right;
    // Up: the lower side moves and steps up; down: the upper side moves and steps down.
    for (const bool up : {true, false}) {
      const Term moving = up ? lower : upper, fixed = up ? upper : lower;
      if (c_.depends_on(fixed, iteration_)) continue;
      const auto split = steps(moving);
      if (!split || (split->second > 0) != up) continue;
      return TripCountLimit{.first = split->first,
                            .last = fixed,
                            .step = static_cast<std::uint64_t>(std::abs(split->second)),
                            .up = up,
                            .is_signed = c_.kind(compare) == Kind::slt};
    }
    return std::nullopt;
  }

  // t = first + step * trip.
  std::optional<std::pair<Term, std::int64_t>> steps(Term t) {
    const Term count = c_.extract(iteration_, 0, 32);
    for (const sym::Monomial& monomial : c_.poly(t).terms) {
      if (monomial.factors != std::vector<Term>{count}) continue;
      const auto step = static_cast<std::int32_t>(static_cast<std::uint32_t>(monomial.coefficient));
      const Term first = c_.sub(t, c_.mul(count, c_.constant(32, monomial.coefficient)));
      constexpr std::int32_t longest = 1 << 20;
      if (c_.depends_on(first, iteration_) || step > longest || step < -longest)
        return std::nullopt;
      return std::pair(first, std::int64_t{step});
    }
    return std::nullopt;
  }

  const emulator::Kernel& k_;
  sym::Context& c_;
  const analysis::Loop& loop_;
  Term iteration_;
};

} // namespace

std::optional<TripCountLimit> trip_count_limit(const emulator::Kernel& kernel, std::uint32_t loop) {
  if (!kernel.trace.iterations[loop].valid()) return std::nullopt;
  return Limit(kernel, loop).run();
}

} // namespace ptxasw::passes
