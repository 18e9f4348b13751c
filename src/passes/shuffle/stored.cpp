// Stores of the same address are looked at backwards from the load.
#include "passes/shuffle/stored.hpp"

#include "passes/shared/pair.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using sym::Term;

StoredValues::StoredValues(emulator::Kernel& kernel, sym::Solver& solver, passes::Between& between,
                           const LaneOptions& options)
    : k_(kernel), c_(*kernel.context), solver_(solver), between_(between), mode_(options.forward),
      paranoid_(options.paranoid), block_(options.block) {}

std::optional<Cover> StoredValues::find(std::size_t e, Why& why) {
  const Event& d = event(e);
  if (d.space != ptx::Space::shared) return std::nullopt;
  bool is_nearest = true;
  for (std::size_t s = e; s-- > 0;) {
    if (event(s).kind != EventKind::store || !same_address(event(s), d)) continue;
    Why reason;
    if (auto cover = try_store(s, d, reason)) return cover;
    if (is_nearest) why = std::move(reason);
    is_nearest = false;
  }
  return std::nullopt;
}

bool StoredValues::same_address(const Event& s, const Event& d) {
  c_.spend(1);
  return s.space == ptx::Space::shared &&
         c_.extract(s.address, 0, 32) == c_.extract(d.address, 0, 32);
}

std::optional<Cover> StoredValues::try_store(std::size_t store, const Event& d, Why& why) {
  const Event& s = event(store);
  const auto refuse = [&](Reason reason, std::string_view text) {
    const std::uint32_t line = ptx::line_of(k_.body, k_.body.insts[s.inst]);
    why = {reason, fmt::format("the store at line {} {}", line, text)};
    return std::nullopt;
  };
  if (s.ordered) return refuse(Reason::ordered, "is volatile or ordered");
  if (!has_value(s, d)) return refuse(Reason::other_type, "has another width or no registers");
  if (!k_.cfg.dominates_inst(s.inst, d.inst))
    return refuse(Reason::not_dominated, "does not precede it on every path");
  if (!holds_both(k_.loops.innermost[s.block], d))
    return refuse(Reason::other_loop, "is in a loop of its own");
  if (!took_effect(s, d)) return refuse(Reason::predicated, "is predicated and may not have run");
  if (!undisturbed(s, d, why)) return std::nullopt;
  const Term here = c_.extract(d.address, 0, 32);
  const sym::Answer equal = solver_.prove_equal({}, c_.extract(s.address, 0, 32), here);
  if (equal.verdict != sym::Verdict::proved)
    return refuse(Reason::not_proved, "was not proved a second time to be of its address");
  const auto limit = own().limit(d);
  if (!limit) {
    why = own().why();
    return std::nullopt;
  }
  Cover cover;
  cover.proof = equal.by;
  cover.source = store;
  cover.stored = true;
  cover.row_check = false;
  for (unsigned axis = 0; axis < 3; ++axis)
    if ((*limit)[axis] != passes::largest_block[axis]) cover.at_most[axis] = (*limit)[axis];
  if (mode_ == ForwardMode::automatic && cover.is_limited())
    return refuse(Reason::gains_too_little,
                  "has it, but only in blocks that are not too large, which would have to be asked "
                  "(--forward=all does)");
  for (const Arg& value : k_.body.src(k_.body.insts[s.inst]))
    cover.needs_copy |= between_.overwritten(s.inst, d.inst, value.id);
  return cover;
}

// Both are of whole registers, as wide as each other: what is stored is what is loaded, bit by bit.
bool StoredValues::has_value(const Event& s, const Event& d) const {
  const auto whole = [&](const Arg& arg) {
    return arg.kind == Arg::Kind::reg && arg.selector.empty() && !arg.negated &&
           ptx::bit_width(k_.body.registers[arg.id].type) == 8 * d.element_bytes;
  };
  const auto from = k_.body.src(k_.body.insts[s.inst]), to = k_.body.dst(k_.body.insts[d.inst]);
  return (d.element_bytes == 4 || d.element_bytes == 8) && s.element_bytes == d.element_bytes &&
         from.size() == to.size() && std::ranges::all_of(from, whole) &&
         std::ranges::all_of(to, whole);
}

// The store's innermost loop. Where the load is in it, too, perhaps in a further loop inside, no
// trip of the loop lies between the two: the way to the load leads by the store.
bool StoredValues::holds_both(std::uint32_t loop, const Event& d) const {
  return loop == ~0U || k_.loops.contains(loop, d.block);
}

// In this very thread: the conditions of D's place, and D's own, say that S was not left out.
bool StoredValues::took_effect(const Event& s, const Event& d) {
  if (passes::took_effect(k_, s, d.block)) return true;
  std::vector<Term> facts = k_.facts_at(d.block);
  if (!c_.value(d.guard)) facts.push_back(d.guard);
  return solver_.prove(facts, s.guard).verdict == sym::Verdict::proved;
}

passes::OwnBytes& StoredValues::own() {
  if (!own_) own_.emplace(k_, solver_, block_, paranoid_);
  return *own_;
}

// What else writes shared memory has refused the kernel as a whole, or will (OwnBytes::look).
bool StoredValues::undisturbed(const Event& s, const Event& d, Why& why) {
  return between_.all_events(s.inst, d.inst, [&](const Event& e) {
    if (e.kind != EventKind::store || e.space != ptx::Space::shared || own().own_apart(e, d))
      return true;
    why = {Reason::store_between, fmt::format("the store at line {} may write it",
                                              ptx::line_of(k_.body, k_.body.insts[e.inst]))};
    return false;
  });
}

} // namespace ptxasw::passes
