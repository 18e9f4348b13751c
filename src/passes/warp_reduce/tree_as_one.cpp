// Finds rounds of a tree that may run as one operation. A loop is looked at once for each width
// that it has.
#include "passes/warp_reduce/tree_as_one.hpp"

#include "passes/warp_reduce/tree_behind.hpp"
#include "ptx/chip.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using sym::Term;

namespace {

constexpr std::array widths{16U, 8U, 4U, 2U, 1U};

bool has_redux(const ptx::Module& module) {
  return module.version_major >= 7 && ptx::chip_of(module) >= 80;
}

// In any order the same, on words.
bool is_any_order(const Inst& inst) {
  if (inst.opaque || inst.guard != ptx::none || inst.mods.sat || inst.mods.cc || inst.mods.relu)
    return false;
  switch (inst.op) {
  case Op::add:
  case Op::min:
  case Op::max: return inst.mods.type == ptx::Type::u32 || inst.mods.type == ptx::Type::s32;
  case Op::and_:
  case Op::or_:
  case Op::xor_: return inst.mods.type == ptx::Type::b32;
  default: return false;
  }
}

class Reduction {
public:
  Reduction(emulator::Kernel& kernel, sym::Solver& solver, Term width, TreeReduction& rounds)
      : k_(kernel), c_(*kernel.context), solver_(solver), width_(width), r_(rounds),
        t_(kernel.trace.special(ptx::Special::tid_x)) {}

  void find() {
    if (!has_redux(*k_.body.module) || !is_plain() || !all_widths() || !only_the_first()) return;
    const std::size_t rounds = r_.rolled ? 1 : widths.size();
    InstId combined = ptx::none;
    for (std::size_t n = 0; n < rounds; ++n) {
      const InstId inst = operation(n);
      if (inst == ptx::none) return;
      if (combined != ptx::none && !alike(inst, combined)) return;
      combined = inst;
    }
    r_.combined = combined;
    r_.combined_from = r_.rolled ? r_.begin : first_of(0);
  }

private:
  [[nodiscard]] const Event& event(const TreeAccess& access) const {
    return k_.trace.events[access.event];
  }
  [[nodiscard]] Term number(unsigned n) { return c_.constant(32, n); }
  bool proved(const std::vector<Term>& facts, Term goal) {
    return solver_.prove(facts, goal).verdict == sym::Verdict::proved;
  }
  [[nodiscard]] bool alike(InstId a, InstId b) const {
    return k_.body.insts[a].op == k_.body.insts[b].op &&
           k_.body.insts[a].mods.type == k_.body.insts[b].mods.type;
  }

  [[nodiscard]] bool is_plain() const {
    return r_.cells.size() == 1 && r_.cells[0].bytes == 4 && !r_.everywhere && !r_.grows &&
           !r_.rows && !r_.barrier_first && r_.rest_copied;
  }

  // --- Widths ----------------------------------------------------------------------------------

  // Of an unrolled tree there are as many barriers as rounds, each behind one of them. Of a loop
  // the width is one word that is halved, and says when to leave.
  bool all_widths() {
    if (!r_.rolled) {
      const std::size_t ahead = r_.wide ? 1 : 0;
      return r_.barriers.size() == widths.size() + ahead && r_.barriers.back() + 1 == r_.end &&
             r_.width == (r_.wide ? 2 * widest_step : widest_step);
    }
    if (!width_.valid() || c_.kind(width_) != sym::Kind::atom) return false;
    const InstId back = r_.end - 1;
    const Inst& branch = k_.body.insts[back];
    if (branch.op != Op::bra || branch.guard == ptx::none) return false;
    for (InstId i = r_.begin; i < r_.end; ++i)
      for (const InstId target : k_.body.targets_of(k_.body.insts[i]))
        if ((target == r_.begin) != (i == back) || target == r_.end) return false;
    const Term next = only_value(r_.width_register), again = only_value(branch.guard);
    if (!next.valid() || !again.valid()) return false;
    const auto at = [&](Term term, unsigned width) {
      return c_.value(c_.substitute(term, {{width_.id, number(width)}}));
    };
    const auto is_followed_by_half = [&](unsigned width) {
      const auto says = at(again, width);
      const bool goes_on = width != widths.back();
      return says && (*says != 0) == (goes_on != branch.guard_negated) &&
             (!goes_on || at(next, width) == width / 2);
    };
    return (!r_.wide || is_followed_by_half(2 * widest_step)) &&
           std::ranges::all_of(widths, is_followed_by_half);
  }

  // What the one instruction of the stretch that writes the register gives it.
  [[nodiscard]] Term only_value(ptx::RegId reg) const {
    const InstId inst = only_writer(reg);
    for (const emulator::Definition& d : k_.trace.definitions)
      if (!d.at_entry && d.inst == inst && d.reg == reg) return d.value;
    return {};
  }
  [[nodiscard]] InstId only_writer(ptx::RegId reg) const {
    InstId writer = ptx::none;
    for (InstId i = r_.begin; i < r_.end; ++i)
      if (analysis::written(k_.body, i, i + 1, reg)) {
        if (writer != ptx::none) return ptx::none;
        writer = i;
      }
    return writer != ptx::none && k_.body.insts[writer].guard == ptx::none ? writer : ptx::none;
  }

  // --- A round ---------------------------------------------------------------------------------

  // The first instruction of the n-th round of width 16 and less, and the first behind it.
  [[nodiscard]] InstId first_of(std::size_t n) const {
    const std::size_t ahead = n + (r_.wide ? 1 : 0);
    return ahead == 0 ? r_.begin : r_.barriers[ahead - 1] + 1;
  }
  [[nodiscard]] std::pair<InstId, InstId> round(std::size_t n) const {
    if (r_.rolled) return {r_.begin, r_.end};
    return {first_of(n), r_.barriers[n + (r_.wide ? 1 : 0)]};
  }

  // What it applies to its element and the other one, if that is all it does.
  InstId operation(std::size_t n) {
    const auto [first, end] = round(n);
    const TreeAccess *own = nullptr, *other = nullptr, *store = nullptr;
    for (const TreeAccess& access : r_.accesses) {
      const Event& e = event(access);
      if (e.inst < first || e.inst >= end) continue;
      const TreeAccess*& place = e.kind == EventKind::store ? store : access.own() ? own : other;
      if (place != nullptr) return ptx::none;
      place = &access;
    }
    if (own == nullptr || other == nullptr || store == nullptr || !store->own()) return ptx::none;
    if (!r_.rolled && other->distance != widths[n]) return ptx::none;
    const BlockId block = event(*store).block;
    if (event(*own).block != block || event(*other).block != block) return ptx::none;
    for (const TreeAccess* access : {own, other, store})
      if (k_.body.insts[event(*access).inst].guard != ptx::none) return ptx::none;
    if (!by_those_below(event(*store), n)) return ptx::none;
    const InstId inst = source_of(event(*store).inst);
    return inst != ptx::none && takes(inst, event(*own).inst, event(*other).inst) ? inst
                                                                                  : ptx::none;
  }

  // The instruction of the block whose result is stored.
  [[nodiscard]] InstId source_of(InstId store) const {
    const auto src = k_.body.src(k_.body.insts[store]);
    if (src.empty() || src[0].kind != Arg::Kind::reg) return ptx::none;
    return made_by(src[0].id, store);
  }
  // The last one ahead of `at`, in its block, that writes the register, without a predicate.
  [[nodiscard]] InstId made_by(ptx::RegId reg, InstId at) const {
    const InstId first = k_.cfg.blocks[k_.cfg.block_of[at]].first;
    for (InstId i = at; i-- > first;)
      if (analysis::written(k_.body, i, i + 1, reg))
        return k_.body.insts[i].guard == ptx::none ? i : ptx::none;
    return ptx::none;
  }
  [[nodiscard]] bool takes(InstId inst, InstId own, InstId other) const {
    const Inst& operation = k_.body.insts[inst];
    const auto src = k_.body.src(operation);
    if (!is_any_order(operation) || src.size() != 2 || src[0].kind != Arg::Kind::reg ||
        src[1].kind != Arg::Kind::reg)
      return false;
    const InstId a = made_by(src[0].id, inst), b = made_by(src[1].id, inst);
    return (a == own && b == other) || (a == other && b == own);
  }

  // Exactly the threads below the width come to the block.
  bool by_those_below(const Event& store, std::size_t n) {
    if (!r_.rolled) return is_below(store.block, widths[n]);
    return std::ranges::all_of(widths,
                               [&](unsigned width) { return is_below(store.block, width); });
  }
  bool is_below(BlockId block, unsigned width) {
    const auto here = [&](Term fact) {
      if (!r_.rolled) return fact;
      return c_.substitute(fact, {{width_.id, number(width)}});
    };
    const Term below = c_.ult(t_, number(width));
    std::vector<Term> facts;
    for (const Term fact : k_.facts_at(block))
      facts.push_back(here(fact));
    if (!proved(facts, below)) return false;
    for (BlockId b = block; b != k_.cfg.block_of[r_.begin]; b = k_.cfg.idom[b]) {
      if (b == analysis::no_block) return false;
      const Term fact = k_.trace.entry_fact[b];
      if (fact.valid() ? !proved({below}, here(fact)) : !k_.cfg.post_dominates(b, k_.cfg.idom[b]))
        return false;
    }
    return true;
  }

  // --- Behind ----------------------------------------------------------------------------------

  bool only_the_first() {
    for (InstId i = r_.begin; i < r_.end; ++i) {
      bool live = false;
      analysis::for_each_definition(k_.body, k_.body.insts[i],
                                    [&](ptx::RegId reg) { live |= is_live(k_, r_.end, reg); });
      if (live && !stands_alone(i)) return false;
      if (live) r_.kept.push_back(i);
    }
    return std::ranges::all_of(r_.rest, [&](const TreeAccess& access) {
      const Event& e = event(access);
      std::vector<Term> facts = k_.facts_at(e.block);
      if (!c_.value(e.guard)) facts.push_back(e.guard);
      return proved(facts, c_.eq(t_, number(0)));
    });
  }

  // A plain function of what no round changes, which all threads come to: `t == 0`, which a
  // compiler computes once for the last round and for what stands behind.
  [[nodiscard]] bool stands_alone(InstId i) const {
    const Inst& inst = k_.body.insts[i];
    bool fine = ptx::group(inst.op) == ptx::Group::pure && !inst.opaque && !inst.mods.cc &&
                inst.guard == ptx::none &&
                k_.cfg.post_dominates(k_.cfg.block_of[i], k_.cfg.block_of[r_.begin]);
    for (const Arg& arg : k_.body.src(inst))
      fine = fine && (arg.kind == Arg::Kind::reg || arg.kind == Arg::Kind::imm);
    analysis::for_each_definition(k_.body, inst,
                                  [&](ptx::RegId reg) { fine = fine && only_writer(reg) == i; });
    analysis::for_each_use(k_.body, inst, [&](ptx::RegId reg) {
      fine = fine && !analysis::written(k_.body, r_.begin, r_.end, reg);
    });
    return fine;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  Term width_;
  TreeReduction& r_;
  Term t_;
};

} // namespace

void find_reduction(emulator::Kernel& kernel, sym::Solver& solver, Term width,
                    TreeReduction& rounds) {
  Reduction(kernel, solver, width, rounds).find();
}

} // namespace ptxasw::passes
