// Loops one by one; in each, every load looks for the nearest one behind it, or failing that ahead
// of it, that had its bytes in the iteration before.
#include "passes/loop_carry/find.hpp"

#include "emulator/specials.hpp"
#include "passes/shared/between.hpp"
#include "passes/shared/iteration_shift.hpp"
#include "passes/shared/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using ptx::InstId;
using sym::Term;

namespace {

class Rotation {
public:
  Rotation(emulator::Kernel& kernel, sym::Solver& solver, const JustificationOptions& options)
      : k_(kernel), c_(*kernel.context), solver_(solver),
        relaxed_(c_, kernel.trace.special(ptx::Special::tid_x)), between_(kernel),
        finder_(kernel, solver, between_, options) {}

  LoopCarryPlan run() {
    for (std::uint32_t loop = 0; loop < k_.loops.loops.size(); ++loop)
      plan_loop(loop);
    return std::move(plan_);
  }

private:
  [[nodiscard]] const Event& event(std::size_t e) const { return k_.trace.events[e]; }
  [[nodiscard]] const ptx::Inst& inst_of(const Event& e) const { return k_.body.insts[e.inst]; }

  // --- Loops -----------------------------------------------------------------------------------

  void plan_loop(std::uint32_t number) {
    const analysis::Loop& loop = k_.loops.loops[number];
    const BlockId block = loop.header;
    if (!k_.trace.executed[block]) return;
    events_.clear();
    for (std::size_t e = 0; e < k_.trace.events.size(); ++e)
      if (k_.loops.innermost[event(e).block] == number) events_.push_back(e);
    if (const Why why = unfit(loop); !why.empty()) {
      for (const std::size_t e : events_)
        if (event(e).kind == EventKind::load) plan_.kept[e] = why;
      return;
    }
    IterationShift shift(k_, number);
    shift_ = &shift;
    find_earlier();
    CarriedLoop rotated{.loop = number, .block = block};
    for (const std::size_t e : events_) {
      if (event(e).kind != EventKind::load) continue;
      reason_ = ineligible(event(e));
      if (auto carried = reason_.empty() ? find_source(e) : std::nullopt)
        rotated.loads.push_back(*std::move(carried));
      else
        plan_.kept[e] = reason_;
    }
    if (rotated.loads.empty()) return;
    std::vector<Justification*> all;
    for (Carried& carried : rotated.loads)
      all.push_back(&carried);
    share_checks(all);
    if (std::ranges::all_of(all, [](const Justification* g) { return g->checks.empty(); }))
      rotated.again = again_of(block);
    plan_.loops.push_back(std::move(rotated));
  }

  [[nodiscard]] Why unfit(const analysis::Loop& loop) const {
    if (loop.blocks.size() != 1)
      return {Reason::loop_form, "its loop has branches inside, and is not rotated"};
    const analysis::Block& block = k_.cfg.blocks[loop.header];
    const ptx::Inst& back = k_.body.insts[block.end - 1];
    const auto targets = k_.body.targets_of(back);
    if (back.op != ptx::Op::bra || back.guard == ptx::none || targets.size() != 1 ||
        targets[0] != block.first)
      return {Reason::loop_form, "its loop does not end with a branch back to its beginning"};
    return {};
  }

  [[nodiscard]] Why ineligible(const Event& load) const {
    if (load.ordered)
      return {Reason::ordered, "volatile or ordered access: every iteration must do its own"};
    if (!load.plain_cache)
      return {Reason::cache_operator, "its cache operator asks for a fresh copy"};
    if (load.space != ptx::Space::global && load.space != ptx::Space::generic &&
        load.space != ptx::Space::shared)
      return {reason_of(load.space), fmt::format("{} memory", ptx::name(load.space))};
    if (inst_of(load).opaque)
      return {Reason::unknown_instruction, "an operand form without semantics"};
    if (inst_of(load).guard != ptx::none) return {Reason::predicated, "it is predicated"};
    if (ptx::loads_some_bytes_only(k_.body, inst_of(load)))
      return {Reason::some_bytes, "not all of its bytes are loaded (used_bytes_mask)"};
    if (!whole_registers(k_.body, load))
      return {Reason::register_width, "its value does not fill its register exactly"};
    return {};
  }

  // --- Sources ---------------------------------------------------------------------------------

  // What each load that can be a source read in the iteration before, by the relaxed form of that.
  void find_earlier() {
    earlier_.clear();
    for (const std::size_t e : events_) {
      if (event(e).kind != EventKind::load || !ineligible(event(e)).empty()) continue;
      if (const auto there = shift_->before(event(e).address))
        earlier_[relaxed_.of(*there).id].push_back({e, *there});
    }
  }

  std::optional<Carried> find_source(std::size_t e) {
    reason_ =
        shift_->before(event(e).address)
            ? Why{Reason::no_source, "no load of the iteration before has read it"}
            : Why{Reason::not_affine, "its address changes freely from iteration to iteration"};
    const auto found = earlier_.find(relaxed_.of(event(e).address).id);
    if (found == earlier_.end()) return std::nullopt;
    for (const auto& [source, there] : found->second)
      if (auto carried = try_source(e, source, there)) return carried;
    return std::nullopt;
  }

  std::optional<Carried> try_source(std::size_t load, std::size_t source, Term there) {
    const Event &s = event(source), &d = event(load);
    if (!same_shape(k_.body, s, d))
      return refuse(Reason::other_type, "the load at line {} has another width or type",
                    line_of(s));
    if (may_be_older(s, d))
      return refuse(Reason::read_only, "the load at line {} is .nc, and this one is not",
                    line_of(s));
    if (!undisturbed(s, d)) return std::nullopt;
    Carried carried{{}, load, source};
    if (!prove(s, d, there, carried) || !slice_of(d, carried.slice)) return std::nullopt;
    for (const ptx::Arg& dst : k_.body.dst(inst_of(s)))
      carried.needs_copy |=
          analysis::written(k_.body, s.inst + 1, k_.cfg.blocks[s.block].end, dst.id);
    return carried;
  }

  template <class... Args>
  std::optional<Carried> refuse(Reason reason, fmt::format_string<Args...> format, Args&&... args) {
    reason_ = {reason, fmt::format(format, std::forward<Args>(args)...)};
    return std::nullopt;
  }

  [[nodiscard]] std::uint32_t line_of(const Event& e) const {
    return ptx::line_of(k_.body, inst_of(e));
  }

  // What follows S in the iteration before, and what precedes D in this one (and in the first trip,
  // where D's bytes are loaded ahead of that). Addresses are compared within one trip.
  bool undisturbed(const Event& s, const Event& d) {
    return std::ranges::all_of(events_, [&](std::size_t number) {
      const Event& e = event(number);
      if (e.kind == EventKind::load) return true;
      const bool behind = e.inst >= s.inst, ahead = e.inst <= d.inst;
      if (!behind && !ahead) return true;
      if (e.kind == EventKind::clobber) {
        refuse(Reason::ordered_between, "{} at line {} orders memory between the iterations",
               ptx::name(inst_of(e).op), line_of(e));
        return false;
      }
      if (d.read_only) return true;
      constexpr auto any = GenericLoads::any;
      if ((!behind || disjoint(c_, relaxed_, e, s, any)) &&
          (!ahead || disjoint(c_, relaxed_, e, d, any)))
        return true;
      refuse(Reason::store_between,
             "the store at line {} may write it; const __restrict__ would rule that out",
             line_of(e));
      return false;
    });
  }

  bool prove(const Event& s, const Event& d, Term there, Carried& carried) {
    const auto meant = [&] {
      return solver_.prove_equal_after({}, s.address, shift_->meaning(), there).verdict ==
             sym::Verdict::proved;
    };
    reason_ = {};
    if (finder_.find(d, there, meant, carried, reason_)) return true;
    if (reason_.empty())
      refuse(Reason::not_proved, "not proved to be what line {} reads in the iteration before",
             line_of(s));
    return false;
  }

  // The registers that are needed behind an instruction that writes one of them become those that
  // are needed in front of it.
  bool passed_backwards(const ptx::Inst& inst, std::set<ptx::RegId>& needed) const {
    bool writes = false;
    analysis::for_each_definition(k_.body, inst,
                                  [&](ptx::RegId r) { writes |= needed.erase(r) != 0; });
    if (writes) analysis::for_each_use(k_.body, inst, [&](ptx::RegId r) { needed.insert(r); });
    return writes;
  }

  // What D's address takes within the trip, so that it can be computed ahead of the loop: plain
  // functions of registers.
  bool slice_of(const Event& d, std::vector<InstId>& slice) {
    std::set<ptx::RegId> needed;
    for (const ptx::Address& address : k_.body.addr(inst_of(d)))
      if (address.base.kind == ptx::Arg::Kind::reg) needed.insert(address.base.id);
    const InstId first = k_.cfg.blocks[d.block].first;
    for (InstId i = d.inst; i-- > first;) {
      const ptx::Inst& inst = k_.body.insts[i];
      if (!passed_backwards(inst, needed)) continue;
      if (!is_plain(inst)) {
        refuse(Reason::loop_form, "its address cannot be computed ahead of the loop (line {})",
               ptx::line_of(k_.body, inst));
        return false;
      }
      slice.push_back(i);
    }
    std::ranges::reverse(slice);
    return true;
  }

  // The plain functions on which the branch at the end of the trip hangs, in this trip and, through
  // registers that are handed on, in those behind it.
  [[nodiscard]] std::vector<InstId> again_of(BlockId block) const {
    const InstId first = k_.cfg.blocks[block].first, back = k_.cfg.blocks[block].end - 1;
    for (InstId i = first; i < back; ++i) {
      const ptx::Group group = ptx::group(k_.body.insts[i].op);
      if (group != ptx::Group::pure && group != ptx::Group::load && group != ptx::Group::store)
        return {};
    }
    std::set<ptx::RegId> at_end{k_.body.insts[back].guard};
    std::set<InstId> slice;
    for (bool more = true; more;) {
      more = false;
      std::set<ptx::RegId> needed = at_end;
      for (InstId i = back; i-- > first;) {
        const ptx::Inst& inst = k_.body.insts[i];
        if (!passed_backwards(inst, needed)) continue;
        if (!is_plain(inst)) return {};
        slice.insert(i);
      }
      for (const ptx::RegId reg : needed) // at the beginning of the next trip
        if (analysis::written(k_.body, first, back, reg)) more |= at_end.insert(reg).second;
    }
    return {slice.begin(), slice.end()};
  }

  [[nodiscard]] bool is_plain(const ptx::Inst& inst) const {
    if (inst.opaque || inst.guard != ptx::none || ptx::group(inst.op) != ptx::Group::pure)
      return false;
    const auto is_carry = [&](ptx::RegId reg) { return reg == k_.body.carry; };
    bool carries = false;
    analysis::for_each_definition(k_.body, inst, [&](ptx::RegId r) { carries |= is_carry(r); });
    analysis::for_each_use(k_.body, inst, [&](ptx::RegId r) { carries |= is_carry(r); });
    return !carries && std::ranges::all_of(k_.body.src(inst), [](const ptx::Arg& arg) {
      return arg.kind != ptx::Arg::Kind::special || emulator::fixed_while_running(arg.special);
    });
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  AxisPolynomial relaxed_; // along %tid.x
  Between between_;
  JustificationFinder finder_;
  IterationShift* shift_ = nullptr; // of the loop at hand
  std::vector<std::size_t> events_;
  struct Earlier {
    std::size_t event = 0;
    Term there;
  };
  std::map<std::uint32_t, std::vector<Earlier>> earlier_; // by relaxed address
  LoopCarryPlan plan_;
  Why reason_;
};

} // namespace

LoopCarryPlan find_carried_loops(emulator::Kernel& kernel, sym::Solver& solver,
                                 const JustificationOptions& options) {
  return Rotation(kernel, solver, options).run();
}

} // namespace ptxasw::passes
