// Who writes shared memory: all stores of the kernel against one load.
#include "passes/shuffle/own_bytes.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/shared/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace ptxasw::passes {

using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using sym::Bits;
using sym::Kind;
using sym::Monomial;
using sym::Term;

namespace {

std::int64_t to_signed(Bits bits) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
}

std::int64_t most_of(const BlockLimit& limit) {
  return std::accumulate(limit.begin(), limit.end(), std::int64_t{1}, std::multiplies{});
}

constexpr std::int64_t warp = 32;

// Which has been seen already, as a store: it is there a second time, for what it orders.
bool is_ordered_store(const Event& event) {
  return event.kind == EventKind::clobber && event.space == ptx::Space::shared &&
         event.element_bytes != 0;
}

} // namespace

OwnBytes::OwnBytes(emulator::Kernel& kernel, sym::Solver& solver,
                   const std::array<std::uint32_t, 3>& block, bool paranoid)
    : k_(kernel), c_(*kernel.context), solver_(solver), block_(block), paranoid_(paranoid) {
  using enum ptx::Special;
  constexpr std::array tids{tid_x, tid_y, tid_z}, ntids{ntid_x, ntid_y, ntid_z};
  const auto atom = [&](ptx::Special id) {
    const Term t = k_.trace.special(id);
    return t.valid() && c_.kind(t) == Kind::atom ? t : Term{};
  };
  for (unsigned axis = 0; axis < 3; ++axis) {
    tid_[axis] = atom(tids[axis]);
    ntid_[axis] = atom(ntids[axis]);
  }
  // A launch of more threads than stated fails.
  BlockLimit stated = k_.body.function->maxntid;
  if (stated[0] != 0) {
    for (std::uint32_t& count : stated)
      count = std::max(count, 1U);
    threads_ = static_cast<std::uint32_t>(std::min<std::int64_t>(threads_, most_of(stated)));
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    most_[axis] = block_[axis] != 0 ? block_[axis] : std::min(largest_block[axis], threads_);
  look();
}

// Everything that writes shared memory is a plain store, or nothing is known.
void OwnBytes::look() {
  if (!k_.body.function->is_entry) {
    refused_ = {Reason::not_a_kernel, "in a function, which does not know who else runs"};
    return;
  }
  for (std::size_t e = 0; e < k_.trace.events.size() && refused_.empty(); ++e) {
    const Event& event = k_.trace.events[e];
    if (event.kind == EventKind::load) continue;
    const ptx::Inst& inst = k_.body.insts[event.inst];
    const ptx::Effects effects = ptx::effects(k_.body, inst);
    const bool elsewhere =
        effects.space == ptx::Space::global || effects.space == ptx::Space::local;
    if (event.kind == EventKind::store && event.space == ptx::Space::shared)
      stores_.push_back(e);
    else if (effects.writes_memory && !elsewhere && !is_ordered_store(event))
      refused_ = at_line(k_.body, inst, Reason::shared_memory, "may write shared memory");
  }
}

Term OwnBytes::address(const Event& e) const {
  return c_.extract(e.address, 0, 32); // of shared memory
}

// The one variable of known size that an address is about. That an index stays in its variable is
// PTX's rule: how variables lie to each other is not defined.
std::uint32_t OwnBytes::variable(Term address) const {
  std::uint32_t found = ptx::none;
  for (const Term atom : c_.atoms(address)) {
    const sym::Atom& info = c_.atom_info(atom);
    if (info.kind != static_cast<std::uint32_t>(AtomKind::symbol)) continue;
    if (found != ptx::none || k_.body.symbols[info.tag].size == 0) return ptx::none;
    found = info.tag;
  }
  return found;
}

// --- Limits --------------------------------------------------------------------------------------

std::optional<BlockLimit> OwnBytes::limit(const Event& load) {
  const auto [place, missing] =
      known_.try_emplace({load.address, load.guard, load.block, passes::size_of(load)});
  if (missing) {
    why_ = refused_;
    place->second.first = why_.empty() ? find_limit(load) : std::nullopt;
    place->second.second = why_;
  }
  why_ = place->second.second;
  return place->second.first;
}

std::optional<BlockLimit> OwnBytes::find_limit(const Event& load) {
  if (apart_from_all(load, most_, true)) return largest_block;
  const bool known = std::ranges::count(block_, 0U) == 0;
  return known ? std::nullopt : search(load);
}

// One row, or one layer of rows; else as the address has them.
std::optional<BlockLimit> OwnBytes::search(const Event& load) {
  const Why first = why_;
  const auto unlimited = [&](BlockLimit limit) {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (limit[axis] >= most_[axis]) limit[axis] = largest_block[axis];
    return limit;
  };
  for (const BlockLimit& some : {BlockLimit{most_[0], most_[1], 1}, BlockLimit{most_[0], 1, 1}})
    if (apart_from_all(load, some, true)) return unlimited(some);
  // Each axis as far as the ones behind it may have two threads; then these.
  BlockLimit limit{1, 1, 1};
  const std::vector<unsigned> axes = axes_by_step(load);
  for (std::size_t n = 0; n < axes.size(); ++n) {
    BlockLimit tried = limit;
    for (std::size_t behind = n + 1; behind < axes.size(); ++behind)
      tried[axes[behind]] = std::min(2U, most_[axes[behind]]);
    std::uint32_t low = 1, high = most_[axes[n]];
    while (low < high) {
      tried[axes[n]] = (low + high + 1) / 2;
      if (apart_from_all(load, tried, false))
        low = tried[axes[n]];
      else
        high = tried[axes[n]] - 1;
    }
    limit[axes[n]] = low;
  }
  why_ = first;
  if (most_of(limit) < warp || !apart_from_all(load, limit, paranoid_)) return std::nullopt;
  return unlimited(limit);
}

// Those that the address hangs on, smallest step first.
std::vector<unsigned> OwnBytes::axes_by_step(const Event& load) const {
  std::array<std::int64_t, 3> steps{};
  std::vector<unsigned> axes;
  for (const Monomial& monomial : c_.poly(address(load)).terms)
    for (unsigned axis = 0; axis < 3; ++axis)
      if (monomial.factors.size() == 1 && monomial.factors[0] == tid_[axis]) {
        steps[axis] = std::abs(to_signed(monomial.coefficient));
        axes.push_back(axis);
      }
  std::ranges::sort(axes, {}, [&](unsigned axis) { return steps[axis]; });
  return axes;
}

bool OwnBytes::apart_from_all(const Event& load, const BlockLimit& limit, bool ask_solver) {
  return std::ranges::all_of(stores_, [&](std::size_t e) {
    const Event& store = k_.trace.events[e];
    if (apart({store, load, Who::other}, limit, ask_solver)) return true;
    why_ = {Reason::store_between,
            fmt::format("another thread may write it, by the store at line {}",
                        ptx::line_of(k_.body, k_.body.insts[store.inst]))};
    return false;
  });
}

bool OwnBytes::own_apart(const Event& store, const Event& load) {
  return apart({store, load, Who::itself}, most_, true);
}

// --- Two accesses --------------------------------------------------------------------------------

bool OwnBytes::apart(const Pair& pair, const BlockLimit& limit, bool ask_solver) {
  c_.spend(64);
  const std::uint32_t written = variable(address(pair.store)), read = variable(address(pair.load));
  if (written != ptx::none && read != ptx::none && written != read) return true;
  const Interval meeting{1 - passes::size_of(pair.store), passes::size_of(pair.load) - 1};
  const bool apart = !may_be(difference(pair, limit), meeting);
  if (!ask_solver || (apart && !paranoid_)) return apart;
  return proved_apart(pair, limit);
}

// The store's address minus the load's.
struct OwnBytes::Sides {
  std::vector<Monomial> store, load;
  IntegerSum sum;
  [[nodiscard]] std::int64_t coefficient(std::vector<Monomial> Sides::*side,
                                         std::span<const Term> factors) const {
    const auto found = find(this->*side, factors);
    return found == (this->*side).end() ? 0 : to_signed(found->coefficient);
  }
  // The coefficient, and the product is gone.
  std::int64_t take(std::vector<Monomial> Sides::*side, std::span<const Term> factors) {
    const auto found = find(this->*side, factors);
    if (found == (this->*side).end()) return 0;
    const std::int64_t taken = to_signed(found->coefficient);
    (this->*side).erase(found);
    return taken;
  }

private:
  static std::vector<Monomial>::const_iterator find(const std::vector<Monomial>& terms,
                                                    std::span<const Term> factors) {
    return std::ranges::find_if(
        terms, [&](const Monomial& m) { return std::ranges::equal(m.factors, factors); });
  }
};

IntegerSum OwnBytes::difference(const Pair& pair, const BlockLimit& limit) const {
  sym::Poly store = c_.poly(address(pair.store)), load = c_.poly(address(pair.load));
  Sides sides{std::move(store.terms), std::move(load.terms), {}};
  sides.sum.constant = to_signed(store.constant - load.constant);
  sides.sum.tells_threads = pair.who == Who::other;
  const bool numbered = pair.who == Who::other && take_number(sides, limit);
  for (unsigned axis = 0; axis < 3; ++axis)
    take_axis(sides, axis, pair, limit, numbered);
  take_rest(sides, pair.who);
  return std::move(sides.sum);
}

// x + ntid.x * y, or x + ntid.x * (y + ntid.y * z), by the same step in both: the number of a
// thread among those of its layer, or of its block.
bool OwnBytes::take_number(Sides& sides, const BlockLimit& limit) const {
  const auto [x, y, z] = tid_;
  if (!x.valid() || !y.valid() || !ntid_[0].valid()) return false;
  std::vector<Term> row{y, ntid_[0]};
  std::ranges::sort(row);
  const std::int64_t step = sides.coefficient(&Sides::store, {&x, 1});
  for (const auto side : {&Sides::store, &Sides::load})
    if (step == 0 || sides.coefficient(side, {&x, 1}) != step ||
        sides.coefficient(side, row) != step)
      return false;
  if (limit[2] > 1) {
    if (!z.valid() || !ntid_[1].valid()) return false;
    std::vector<Term> layer{z, ntid_[0], ntid_[1]};
    std::ranges::sort(layer);
    for (const auto side : {&Sides::store, &Sides::load})
      if (sides.coefficient(side, layer) != step) return false;
    for (const auto side : {&Sides::store, &Sides::load})
      sides.take(side, layer);
  }
  for (const auto side : {&Sides::store, &Sides::load}) {
    sides.take(side, {&x, 1});
    sides.take(side, row);
  }
  const std::int64_t last = std::min<std::int64_t>(threads_, most_of(limit)) - 1;
  sides.sum.summands.push_back({step, {-last, last}, true});
  return true;
}

// Parts of the thread's index, as tid >> 5 and tid & 31, by the same steps in both: where they have
// all of its bits, threads of which they agree are one.
bool OwnBytes::take_parts(Sides& sides, unsigned axis, const BlockLimit& limit) const {
  const Term thread = tid_[axis];
  const std::uint64_t last = limit[axis] - 1;
  std::uint64_t bits = 0;
  std::vector<Summand> parts;
  std::vector<Term> factors;
  for (const Monomial& m : sides.store) {
    if (m.factors.size() != 1 || c_.kind(m.factors[0]) != Kind::zext) continue;
    const Term part = c_.args(m.factors[0])[0];
    if (c_.kind(part) != Kind::extract || c_.args(part)[0] != thread) continue;
    const std::int64_t step = to_signed(m.coefficient);
    if (sides.coefficient(&Sides::load, m.factors) != step) continue;
    const std::uint64_t mask = (std::uint64_t{1} << c_.width(part)) - 1;
    const auto most = static_cast<std::int64_t>(std::min(mask, last >> c_.low(part)));
    bits |= mask << c_.low(part);
    parts.push_back({step, {-most, most}, true});
    factors.push_back(m.factors[0]);
  }
  if ((std::bit_ceil(last + 1) - 1) & ~bits) return false;
  for (const Term& factor : factors) {
    sides.take(&Sides::store, {&factor, 1});
    sides.take(&Sides::load, {&factor, 1});
  }
  std::ranges::move(parts, std::back_inserter(sides.sum.summands));
  return true;
}

void OwnBytes::take_axis(Sides& sides, unsigned axis, const Pair& pair, const BlockLimit& limit,
                         bool numbered) const {
  const Interval there = bounds(axis, pair.store, limit), here = bounds(axis, pair.load, limit);
  const bool same = there.low == there.high && here.low == there.low && here.high == there.low;
  const Term thread = tid_[axis];
  std::int64_t store = 0, load = 0;
  if (thread.valid()) {
    store = sides.take(&Sides::store, {&thread, 1});
    load = sides.take(&Sides::load, {&thread, 1});
  }
  auto& summands = sides.sum.summands;
  if (pair.who == Who::itself) {
    const Interval both{std::max(there.low, here.low), std::min(there.high, here.high)};
    summands.push_back({store - load, both});
  } else if (store == load) {
    if (store == 0 && (numbered || same || take_parts(sides, axis, limit))) return;
    summands.push_back({store, {there.low - here.high, there.high - here.low}, true});
  } else {
    summands.push_back({store, there});
    summands.push_back({-load, here});
    sides.sum.tells_threads &= same;
  }
}

// What the two have in common falls out; of anything else each has its own.
void OwnBytes::take_rest(Sides& sides, Who who) const {
  const auto range = [&](const Monomial& m) {
    const auto [low, high] = c_.range(c_.from_poly(32, {0, {{1, m.factors}}}));
    return Interval{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
  };
  for (const Monomial& m : std::vector<Monomial>(sides.store)) {
    std::int64_t step = to_signed(m.coefficient);
    if (is_common(m, who)) step -= sides.take(&Sides::load, m.factors);
    sides.sum.summands.push_back({step, range(m)});
  }
  for (const Monomial& m : sides.load)
    sides.sum.summands.push_back({-to_signed(m.coefficient), range(m)});
}

// The same number in both threads, whenever they are there.
bool OwnBytes::is_common(const Monomial& monomial, Who who) const {
  return std::ranges::all_of(monomial.factors, [&](Term factor) {
    return std::ranges::all_of(c_.atoms(factor), [&](Term atom) {
      const sym::Atom& info = c_.atom_info(atom);
      const auto kind = static_cast<AtomKind>(info.kind);
      const bool fixed = kind == AtomKind::special || kind == AtomKind::parameter ||
                         (kind == AtomKind::symbol && info.uniformity <= sym::Uniformity::grid);
      return fixed && (who == Who::itself || info.uniformity <= sym::Uniformity::block);
    });
  });
}

// --- What is known of a thread -------------------------------------------------------------------

std::vector<Term> OwnBytes::facts(const Event& e) const {
  std::vector<Term> facts = k_.facts_at(e.block);
  if (!c_.value(e.guard)) facts.push_back(e.guard);
  return facts;
}

Interval OwnBytes::bounds(unsigned axis, const Event& e, const BlockLimit& limit) const {
  Interval bounds{0, std::int64_t{limit[axis]} - 1};
  if (tid_[axis].valid())
    for (const Term fact : facts(e))
      narrow(bounds, tid_[axis], fact, true);
  return bounds;
}

// By comparisons of the thread's index, plus a number, with a number.
void OwnBytes::narrow(Interval& bounds, Term thread, Term fact, bool holds) const {
  if (const auto other = c_.negated(fact)) return narrow(bounds, thread, *other, !holds);
  const Kind kind = c_.kind(fact);
  if (kind == Kind::and_ && holds) {
    const auto args = c_.args(fact);
    for (const Term arg : std::vector<Term>(args.begin(), args.end()))
      narrow(bounds, thread, arg, true);
    return;
  }
  if (kind != Kind::eq && kind != Kind::ult && kind != Kind::slt) return;
  const Term left = c_.args(fact)[0], right = c_.args(fact)[1];
  if (c_.width(left) != 32) return;
  const bool constant_first = c_.value(left).has_value(); // of equations only
  const auto added = c_.difference(constant_first ? right : left, thread);
  const auto number = c_.value(constant_first ? left : right);
  if (!added || !number) return;
  if (kind == Kind::eq) { // thread + added = number, modulo 2^32
    const std::int64_t only = to_signed(*number - static_cast<std::uint32_t>(*added));
    if (holds) bounds = {std::max(bounds.low, only), std::min(bounds.high, only)};
    if (!holds && only == bounds.low) ++bounds.low;
    if (!holds && only == bounds.high) --bounds.high;
    return;
  }
  // The sum does not wrap, so that it may be compared as an integer.
  const std::int64_t limit = to_signed(*number);
  if (constant_first || std::abs(*added) > 1 << 30) return;
  if (kind == Kind::ult && (limit < 0 || *added < 0)) return;
  const std::int64_t at = limit - *added;
  if (holds)
    bounds.high = std::min(bounds.high, at - 1);
  else
    bounds.low = std::max(bounds.low, at);
}

// --- By Z3 ---------------------------------------------------------------------------------------

// What the thread that stores has instead of the one that loads: of whatever may change or differ a
// value of its own. Its indices lie `apart` from the other's, which Z3 is quicker with than with
// two of them.
sym::Context::Substitution OwnBytes::renamed(std::span<const Term> terms, Who who,
                                             std::span<const Term, 3> apart) {
  sym::Context::Substitution map;
  for (unsigned axis = 0; axis < 3 && who == Who::other; ++axis)
    if (tid_[axis].valid()) map.emplace(tid_[axis].id, c_.add(tid_[axis], apart[axis]));
  for (const Term term : terms)
    for (const Term atom : c_.atoms(term)) {
      if (map.contains(atom.id) || is_common({1, {atom}}, who)) continue;
      const sym::Atom info = c_.atom_info(atom);
      map.emplace(atom.id, c_.atom(info));
    }
  return map;
}

bool OwnBytes::proved_apart(const Pair& pair, const BlockLimit& limit) {
  std::array<Term, 3> apart; // from the thread that loads to the one that stores
  for (unsigned axis = 0; axis < 3; ++axis) {
    const sym::Bits most = limit[axis] - 1;
    apart[axis] = c_.constant(32, 0);
    if (most == 0) continue;
    const Term steps = c_.atom({.name = "d", .width = 32, .lo = 0, .hi = 2 * most});
    apart[axis] = c_.sub(steps, c_.constant(32, most));
  }
  std::vector<Term> there = facts(pair.store);
  there.push_back(address(pair.store));
  const sym::Context::Substitution map = renamed(there, pair.who, apart);
  for (Term& t : there)
    t = c_.substitute(t, map);
  const Term store = there.back(), load = address(pair.load);
  there.pop_back();
  std::vector<Term> known = facts(pair.load);
  known.insert(known.end(), there.begin(), there.end());
  Term one_thread = c_.boolean(true);
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Term one = c_.constant(32, 1), most = c_.constant(32, limit[axis]);
    one_thread = c_.and_(one_thread, c_.eq(apart[axis], c_.constant(32, 0)));
    if (ntid_[axis].valid()) known.push_back(c_.ult(c_.sub(ntid_[axis], one), most));
    if (!tid_[axis].valid()) continue;
    for (const Term t : {tid_[axis], c_.substitute(tid_[axis], map)})
      known.push_back(c_.ult(t, ntid_[axis].valid() ? ntid_[axis] : most));
  }
  if (pair.who == Who::other) known.push_back(c_.not_(one_thread));
  const auto bytes = [&](const Event& e) {
    return c_.constant(32, static_cast<std::uint64_t>(passes::size_of(e)));
  };
  const Term disjoint = c_.and_(c_.ule(bytes(pair.load), c_.sub(store, load)),
                                c_.ule(bytes(pair.store), c_.sub(load, store)));
  return solver_.prove(known, disjoint).verdict == sym::Verdict::proved;
}

} // namespace ptxasw::passes
