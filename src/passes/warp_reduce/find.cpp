// Loops are looked at as they are; of straight-line code, the stretches from one barrier to
// another.
#include "passes/warp_reduce/find.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/ending_calls.hpp"
#include "passes/warp_reduce/tree_as_one.hpp"
#include "passes/warp_reduce/tree_behind.hpp"
#include "passes/warp_reduce/tree_elements.hpp"
#include "passes/warp_reduce/tree_text.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using ptx::Inst;
using ptx::InstId;
using sym::Term;

namespace {

constexpr std::size_t most_barriers = 64; // of an unrolled tree

// One stretch that may be one.
class TreeChecker : public TreeView {
public:
  TreeChecker(emulator::Kernel& kernel, sym::Solver& solver, AxisPolynomial& relaxed,
              TreeReduction rounds, std::uint32_t loop)
      : TreeView(kernel), solver_(solver), r_(std::move(rounds)), text_(kernel),
        elements_(kernel, solver, relaxed, loop), loop_(loop) {}

  // Is it one? Else why() tells.
  bool check() {
    return text() && elements() && one_side() &&
           (r_.barrier_first || !r_.rolled || follows_barrier()) && (shrinks() || doubles()) &&
           stays_inside() && apart() && covers_all() && calls_return() && look_behind();
  }
  [[nodiscard]] TreeReduction take() { return std::move(r_); }

private:
  bool text() {
    const bool found = text_.find(r_);
    why_ = text_.why();
    return found;
  }
  bool elements() {
    const bool found = elements_.find(r_);
    why_ = elements_.why();
    width_ = elements_.width();
    events_ = elements_.events();
    return found;
  }
  bool apart() {
    bool fine = elements_.apart(r_);
    if (!fine && r_.rolled && std::exchange(r_.wide, false)) fine = elements_.apart(r_);
    why_ = elements_.why();
    return fine;
  }
  [[nodiscard]] BlockId entry() const { return k_.cfg.block_of[r_.begin]; }
  // Nor has one ended in what was called on the way here.
  bool calls_return() {
    analysis::Worklist leading(k_.cfg.blocks.size(), {entry()}); // here
    while (const auto b = leading.next())
      leading.add(k_.cfg.blocks[*b].preds);
    std::vector<InstId> calls;
    for (InstId i = 0; i < k_.body.insts.size(); ++i) {
      const BlockId b = k_.cfg.block_of[i];
      const bool ahead = leading.found()[b] || (b == entry() && i < r_.begin);
      if (ahead && ptx::group(k_.body.insts[i].op) == ptx::Group::call) calls.push_back(i);
    }
    if (!may_end_the_thread(k_.body, calls)) return true;
    return refuse("what is called ahead of the tree may end threads, first at line {}",
                  line(calls[0]));
  }

  // --- Rounds ----------------------------------------------------------------------------------

  // Of a loop: its accesses stand on one side of its barrier.
  bool one_side() {
    if (!r_.rolled) return true;
    const auto ahead = std::ranges::count_if(
        events_, [&](std::size_t e) { return event(e).inst < r_.barriers[0]; });
    r_.barrier_first = ahead == 0;
    return r_.barrier_first || static_cast<std::size_t>(ahead) == events_.size() ||
           refuse("accesses stand on both sides of the barrier at line {}", line(r_.barriers[0]));
  }

  // On every way to the loop a barrier comes behind the last store: what is loaded in front is
  // there, and the barriers that are left out would have ordered nothing else.
  bool follows_barrier() {
    analysis::Worklist work(k_.cfg.blocks.size());
    const auto add = [&](BlockId to) {
      for (const BlockId from : k_.cfg.blocks[to].preds)
        if (k_.cfg.reachable(from) && !k_.loops.contains(loop_, from)) work.add(from);
    };
    add(entry());
    while (const auto b = work.next()) {
      c_.spend(4);
      bool waits = false;
      for (InstId i = k_.cfg.blocks[*b].end; !waits && i-- > k_.cfg.blocks[*b].first;) {
        const ptx::Effects effects = ptx::effects(k_.body, k_.body.insts[i]);
        waits = is_whole_barrier(k_.body, k_.body.insts[i]);
        const bool writes = effects.writes_memory && effects.space != ptx::Space::local;
        if (!waits && (writes || effects.calls || effects.unknown))
          return refuse("line {} may write elements ahead of the tree", line(i));
        if (!waits && effects.reads_memory && !reads_ahead(i)) return false;
      }
      if (!waits) add(*b);
    }
    return true;
  }

  // What is read between that barrier and the tree is read by threads that in the tree nothing
  // makes wait any more, nor the others for them: of global memory behind the barrier that remains
  // it may be written; of shared memory the tree itself writes, unless it is the thread's own.
  bool reads_ahead(InstId i) {
    const Inst& inst = k_.body.insts[i];
    const ptx::Space space = ptx::effects(k_.body, inst).space;
    const bool never_written = space == ptx::Space::param || space == ptx::Space::const_ ||
                               space == ptx::Space::local || space == ptx::Space::tex ||
                               inst.mods.nc;
    if (never_written) return true;
    r_.global_ahead = r_.global_ahead || space == ptx::Space::global;
    return space == ptx::Space::global || elements_.is_own(r_, i) ||
           refuse("line {} reads shared memory ahead of the tree", line(i));
  }

  // The one instruction that changes the width of a loop leaves it as it is or smaller.
  bool shrinks() {
    if (!r_.rolled) return true;
    const Term next = next_width();
    if (!next.valid()) return false;
    // Without a solver: w >> 1, and w / 2 as compilers write it for signed numbers.
    const Term up = c_.add(width_, c_.lshr(width_, number(31)));
    const bool halves = next == c_.lshr(width_, number(1)) || next == c_.ashr(up, number(1));
    r_.wide = !r_.rows && (halves || proved({c_.eq(width_, number(2 * widest_step))},
                                            c_.ule(next, number(widest_step))));
    return halves || proved({c_.ule(width_, number(widest_step))}, c_.ule(next, width_));
  }

  // Or makes it twice what it was: from 1 on, all that it is are powers of two.
  bool doubles() {
    const Term next = next_width();
    r_.grows = next.valid() && next == c_.add(width_, width_);
    return r_.grows || refuse("the width of the tree at line {} may grow", line(r_.begin));
  }

  // Of the next trip. Not valid if several instructions change it, or one that not every trip does.
  Term next_width() {
    InstId change = ptx::none;
    for (InstId i = r_.begin; i < r_.end; ++i)
      analysis::for_each_definition(k_.body, k_.body.insts[i], [&](ptx::RegId reg) {
        if (reg == r_.width_register) change = change == ptx::none ? i : r_.end;
      });
    for (const emulator::Definition& d : k_.trace.definitions) {
      if (d.at_entry || d.inst != change || d.reg != r_.width_register) continue;
      const auto& latches = k_.loops.loops[loop_].latches;
      const bool always = std::ranges::all_of(
          latches, [&](BlockId latch) { return k_.cfg.dominates(k_.cfg.block_of[change], latch); });
      if (always) return d.value;
    }
    return {};
  }

  bool proved(std::vector<Term> facts, Term goal) {
    return solver_.prove(facts, goal).verdict == sym::Verdict::proved;
  }

  // t < width, in the two ways of saying it. Threads have numbers up to 1023 and the width is at
  // most 32, so that signed and unsigned comparison are one.
  bool says_below(Term fact) { return fact == c_.ult(t_, width_) || fact == c_.slt(t_, width_); }

  bool stays_inside() {
    if (!r_.grows && in_first_warp()) return true;
    r_.everywhere = true;
    r_.wide = r_.wide && !r_.rolled;
    return in_each_warp();
  }

  // What holds where the access is done.
  std::vector<Term> facts_of(const Event& e) {
    std::vector<Term> facts = k_.facts_at(e.block);
    if (!c_.value(e.guard)) facts.push_back(e.guard);
    return facts;
  }

  // Whoever gets to an access is one of those that have an element: t < width; where the distance
  // is written down, whoever reads is so far ahead of the last one.
  bool in_first_warp() {
    return std::ranges::all_of(r_.accesses, [&](const TreeAccess& access) {
      if (!r_.rolled && access.distance > r_.width) return false;
      const Event& e = event(access.event);
      std::vector<Term> facts = facts_of(e);
      Term bound = width_;
      const bool in_memory = r_.wide && access.distance == r_.width;
      if (!r_.rolled && e.kind == EventKind::load && !in_memory)
        bound = number(r_.lanes() - std::min(access.distance, r_.lanes()));
      if (r_.rolled || c_.value(bound) >= c_.value(width_))
        if (std::ranges::any_of(facts, [&](Term fact) { return says_below(fact); })) return true;
      facts.push_back(c_.ule(width_, number(r_.first_width())));
      return proved(facts, c_.ult(t_, bound));
    });
  }

  // Whoever reads the element of another lane is far enough from the end of its warp.
  bool in_each_warp() {
    const Term lane = c_.zext(c_.extract(t_, 0, 5), 32);
    for (const TreeAccess& access : r_.accesses) {
      if (access.own()) continue;
      const Event& e = event(access.event);
      std::vector<Term> widths{r_.rolled ? width_ : number(access.distance)};
      if (r_.grows) widths = {number(1), number(2), number(4), number(8), number(16)};
      const bool fine = std::ranges::all_of(widths, [&](Term width) {
        std::vector<Term> facts;
        if (r_.rolled) facts.push_back(c_.ule(width, number(widest_step)));
        for (const Term fact : facts_of(e))
          facts.push_back(at_width(fact, width));
        if (is_multiple(facts, width) || is_low(facts, width)) return true;
        return proved(facts, c_.ult(c_.add(lane, width), number(32)));
      });
      if (!fine)
        return refuse("the access at line {} is not shown to stay within a warp", line(e.inst));
    }
    return true;
  }

  // t % (2 * width) == 0 and the width is a power of two up to 16: without a solver, too.
  bool is_multiple(const std::vector<Term>& facts, Term width) {
    const auto number_of = c_.value(width);
    if (!number_of || *number_of > widest_step ||
        !std::has_single_bit(static_cast<unsigned>(*number_of)))
      return false;
    const Term rest = c_.and_(t_, number(2 * static_cast<unsigned>(*number_of) - 1));
    return std::ranges::find(facts, c_.eq(rest, number(0))) != facts.end();
  }

  // Or t % 32 is below a power of two that with the width does not exceed 32.
  bool is_low(const std::vector<Term>& facts, Term width) {
    const auto distance = c_.value(width);
    const Term lane = c_.zext(c_.extract(t_, 0, 5), 32);
    return distance && std::ranges::any_of(facts, [&](Term fact) {
             for (unsigned low = 1; low + *distance <= 32 && low <= widest_step; low *= 2)
               if (fact == c_.ult(lane, number(low)) || fact == c_.ule(lane, number(low - 1)))
                 return true;
             return false;
           });
  }

  // The term in the round of that width.
  Term at_width(Term t, Term width) {
    if (!r_.rolled || width == width_ || c_.kind(width_) != sym::Kind::atom) return t;
    return c_.substitute(t, {{width_.id, width}});
  }

  // The first round accesses every element that is loaded in front or stored behind.
  bool covers_all() {
    const InstId first = r_.rolled ? r_.end : r_.barriers[0];
    for (std::size_t cell = 0; cell < r_.cells.size(); ++cell) {
      bool low = false, high = false;
      for (const TreeAccess& access : r_.accesses) {
        if (access.cell != cell || event(access.event).inst >= first) continue;
        const bool far = r_.rolled ? access.by != ptx::none : access.distance == r_.width;
        if (!access.own() && !far) continue;
        bool& half = far ? high : low;
        half = half || reached_by_all(event(access.event));
      }
      if ((!low || (!high && !r_.wide)) && !exist(cell))
        return refuse("not all elements at line {} are accessed in the first step",
                      line(event(r_.cells[cell].event).inst));
    }
    return true;
  }

  bool exist(std::size_t cell) { return elements_.exist(r_, cell); }

  // By all threads with t < width; of rounds in all warps by all whose number has no bit of the
  // width: those and the ones so much further on are all there are.
  bool reached_by_all(const Event& e) {
    const unsigned known = r_.first_width();
    const Term width = r_.everywhere ? number(known) : width_;
    std::vector<Term> facts{c_.ule(width, number(known))};
    if (!r_.everywhere)
      facts.push_back(c_.ult(t_, width));
    else if (std::has_single_bit(known))
      facts.push_back(c_.eq(c_.and_(t_, width), number(0)));
    if (r_.everywhere && known == widest_step) { // the same, as programs say it
      const Term lane = c_.zext(c_.extract(t_, 0, 5), 32);
      facts.push_back(c_.ult(lane, number(known)));
      facts.push_back(c_.ule(lane, number(known - 1)));
    }
    const auto follows = [&](Term fact) {
      if (!r_.everywhere && says_below(fact)) return true;
      return proved(facts, at_width(fact, width));
    };
    if (!follows(e.guard)) return false;
    for (BlockId b = e.block; b != entry(); b = k_.cfg.idom[b]) {
      if (b == analysis::no_block) return false;
      const Term fact = k_.trace.entry_fact[b];
      if (fact.valid()) {
        if (!follows(fact)) return false;
      } else if (!k_.cfg.post_dominates(b, k_.cfg.idom[b])) {
        return false;
      }
    }
    return true;
  }

  // --- Behind ----------------------------------------------------------------------------------

  bool look_behind() {
    r_.others_may_skip = true;
    for (InstId i = r_.begin; i < r_.end; ++i)
      analysis::for_each_definition(k_.body, k_.body.insts[i], [&](ptx::RegId reg) {
        r_.others_may_skip =
            r_.others_may_skip && (!is_live(k_, r_.end, reg) || only_first_warp_gets_to(i));
      });
    if (!r_.grows) look_at_rest(k_, solver_, r_); // others' elements are read in wider rounds
    find_reduction(k_, solver_, width_, r_);
    return true;
  }

  // The sum that a program keeps in a register is changed by those alone that change the element.
  bool only_first_warp_gets_to(InstId i) {
    std::vector<Term> facts = k_.facts_at(k_.cfg.block_of[i]);
    if (std::ranges::any_of(facts, [&](Term fact) { return says_below(fact); })) return true;
    facts.push_back(c_.ule(width_, number(r_.first_width())));
    return proved(facts, c_.ult(t_, number(32)));
  }

  sym::Solver& solver_;
  TreeReduction r_;
  TreeText text_;
  TreeElements elements_;
  std::vector<std::size_t> events_; // accesses of the stretch
  std::uint32_t loop_;
  Term width_;
};

class Finder {
public:
  Finder(emulator::Kernel& kernel, sym::Solver& solver)
      : k_(kernel), solver_(solver),
        relaxed_(*kernel.context, kernel.trace.special(ptx::Special::tid_x)) {}

  TreeReductionPlan run() {
    if (k_.body.module->version_major < 6) {
      plan_.refused = {Reason::old_module,
                       "the module is older than shfl.sync, which came with 6.0"};
      return std::move(plan_);
    }
    if (!k_.body.function->is_entry) {
      plan_.refused = {Reason::not_a_kernel, "a function is not told which threads call it"};
      return std::move(plan_);
    }
    for (std::uint32_t loop = 0; loop < k_.loops.loops.size(); ++loop)
      try_loop(loop);
    try_barriers();
    return std::move(plan_);
  }

private:
  bool add(TreeReduction rounds, std::uint32_t loop) {
    TreeChecker stretch(k_, solver_, relaxed_, std::move(rounds), loop);
    const bool fine = stretch.check();
    if (fine)
      plan_.stretches.push_back(stretch.take());
    else if (plan_.refused.empty())
      plan_.refused = {Reason::tree_form, stretch.why()};
    return fine;
  }

  void try_loop(std::uint32_t number) {
    const analysis::Loop& loop = k_.loops.loops[number];
    const bool has_barrier = std::ranges::any_of(k_.trace.events, [&](const Event& e) {
      return k_.loops.innermost[e.block] == number &&
             is_whole_barrier(k_.body, k_.body.insts[e.inst]);
    });
    if (!has_barrier || !k_.trace.executed[loop.header]) return;
    for (std::size_t n = 0; n < loop.blocks.size(); ++n) // one piece of the text
      if (loop.blocks[n] != loop.header + n || k_.loops.innermost[loop.blocks[n]] != number) return;
    add({.begin = k_.cfg.blocks[loop.header].first,
         .end = k_.cfg.blocks[loop.blocks.back()].end,
         .rolled = true},
        number);
  }

  void try_barriers() {
    std::vector<InstId> barriers;
    for (InstId i = 0; i < k_.body.insts.size(); ++i)
      if (is_whole_barrier(k_.body, k_.body.insts[i]) && k_.trace.executed[k_.cfg.block_of[i]])
        barriers.push_back(i);
    if (barriers.size() > most_barriers) return;
    for (std::size_t from = 0; from + 2 < barriers.size(); ++from)
      for (std::size_t to = barriers.size() - 1; to > from + 1; --to) {
        const BlockId first = k_.cfg.block_of[barriers[from]];
        const BlockId last = k_.cfg.block_of[barriers[to]];
        if (k_.loops.innermost[first] != k_.loops.innermost[last] || overlaps(barriers[from]))
          continue;
        if (!add({.begin = barriers[from] + 1, .end = barriers[to] + 1}, k_.loops.innermost[first]))
          continue;
        from = to - 1;
        break;
      }
  }

  [[nodiscard]] bool overlaps(InstId barrier) const {
    return std::ranges::any_of(plan_.stretches, [&](const TreeReduction& r) {
      return barrier >= r.begin && barrier < r.end;
    });
  }

  emulator::Kernel& k_;
  sym::Solver& solver_;
  AxisPolynomial relaxed_;
  TreeReductionPlan plan_;
};

} // namespace

TreeReductionPlan find_tree_reductions(emulator::Kernel& kernel, sym::Solver& solver) {
  return Finder(kernel, solver).run();
}

} // namespace ptxasw::passes
