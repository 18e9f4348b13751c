// Writes the text with a thread for each place.
#include "passes/time_tile/other_kernel/reroll.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/handed_on.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/other_kernel/unrolled_places.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using ptx::Special;
using namespace ptx::words;

namespace {

// The text with what is left for the place %ctaid of the axis.
class RerollWriter {
public:
  RerollWriter(const emulator::Kernel& kernel, const UnrolledLoop& loop,
               const UnrolledPlaces& found, unsigned axis)
      : k_(kernel), body_(kernel.body), loop_(loop), found_(found), axis_(axis), names_(body_),
        written_(analysis::definitions(body_)), registers_(*body_.module, "%reroll"),
        code_(registers_), handed_on_(kernel, names_) {}

  // Of the module. Empty: a name means several things, or a register is written somewhere else.
  std::string run() {
    const std::string out = ptx::label_prefix(*body_.module) + "end";
    const InstId begin = k_.cfg.blocks[loop_.join].first;
    place_ = code_.special(ptx::along(Special::ctaid_x, axis_));
    wide_ = code_.cvt(u64, u32, place_);
    PolynomialCode numbers(code_, ParameterNames(body_), [&](unsigned) { return wide_; });
    code_.when(code_.setp(ge, s64, wide_, numbers.number(found_.walk.end))).bra(out);
    for (const MovedRegister& one : found_.moved)
      if (!move(one, begin, numbers)) return {};
    if (loop_.rest && !name_what_is_handed_on()) return {};
    edits_.push_back({ptx::ahead_of(body_, begin), code_.in_place() + reloads_ + "\n\t"});
    rename(out);
    lead(loop_.fork, loop_.join);
    lead(loop_.test, loop_.left);
    edits_.push_back({ptx::ahead_of(body_, k_.cfg.blocks[loop_.out].first), out + ":\n\t"});
    edits_.push_back(registers_.declared_at(names_.body_start()));
    return edited_text(body_, std::move(edits_));
  }

private:
  bool move(const MovedRegister& one, InstId begin, PolynomialCode& numbers) {
    const ptx::Register& reg = body_.registers[one.reg];
    if (!names_.known_at(one.reg, begin)) return false;
    const Reg by = code_.mul(s64, wide_, numbers.number(one.by));
    if (one.load) return reload(one, begin, by);
    const Reg own{reg.type, reg.name};
    const bool is_wide = ptx::bit_width(reg.type) == 64;
    const Reg now =
        is_wide ? code_.add(s64, own, by) : code_.add(s32, own, code_.cvt(u32, u64, by));
    return add(one.reg, now);
  }

  bool reload(const MovedRegister& one, InstId begin, const Reg& by) {
    const ptx::Inst& load = body_.insts[*one.load];
    const RegId base = body_.addr(load)[0].base.id;
    if (!names_.known_at(base, begin)) return false;
    const ptx::Register& address = body_.registers[base];
    const Reg at = code_.add(s64, Reg{address.type, address.name}, by),
              now = registers_.make(body_.registers[one.reg].type);
    const RegId loaded = body_.dst(load)[0].id;
    reloads_ +=
        "\n\t" + names_.spliced(ptx::range_of(body_, *one.load), [&](const ptx::Mention& mention) {
          return mention.arg.id == base     ? at.name
                 : mention.arg.id == loaded ? now.name
                                            : std::string(body_.module->slice(mention.where));
        });
    if (!is_used_in_front(loaded)) edits_.push_back({ptx::range_of(body_, *one.load), ""});
    return add(one.reg, now);
  }

  // By what is left of the text.
  [[nodiscard]] bool is_used_in_front(RegId reg) const {
    for (InstId id = 0; id < body_.insts.size(); ++id) {
      const BlockId block = k_.cfg.block_of[id];
      if (k_.cfg.dominates(loop_.join, block) || k_.cfg.dominates(loop_.entry, block)) continue;
      bool is_used = false;
      analysis::for_each_use(body_, body_.insts[id], [&](RegId used) { is_used |= used == reg; });
      if (is_used) return true;
    }
    return false;
  }

  // Behind the loop, on every way in the same order.
  bool add(RegId reg, const Reg& now) {
    std::vector<HandedOn::Written> then;
    for (const InstId id : written_[reg]) {
      const BlockId block = k_.cfg.block_of[id];
      if (!k_.cfg.dominates(loop_.join, block)) continue;
      const bool is_behind = then.empty() || k_.cfg.dominates_inst(then.back().by, id);
      if (!is_always_done(k_, loop_, block) || !is_behind || body_.insts[id].guard != ptx::none ||
          body_.dst(body_.insts[id]).size() != 1)
        return false;
      then.push_back({id, registers_.make(body_.registers[reg].type)});
    }
    handed_on_.add(reg, now, std::move(then));
    return true;
  }

  bool name_what_is_handed_on() {
    const analysis::Loop& rest = k_.loops.loops[*loop_.rest];
    for (RegId reg = 0; reg < body_.registers.size(); ++reg) {
      if (handed_on_.has(reg) || !k_.liveness->live_in(rest.header, reg)) continue;
      const bool is_written = std::ranges::any_of(written_[reg], [&](InstId id) {
        return k_.loops.contains(*loop_.rest, k_.cfg.block_of[id]);
      });
      const ptx::Register& own = body_.registers[reg];
      if (is_written && !add(reg, Reg{own.type, own.name})) return false;
    }
    return true;
  }

  // Once, and then out.
  void rename(const std::string& out) {
    const BlockId latch = loop_.rest ? k_.loops.loops[*loop_.rest].latches[0] : analysis::no_block;
    for (BlockId block = 0; block < k_.cfg.blocks.size(); ++block) {
      if (!k_.cfg.dominates(loop_.join, block)) continue;
      const bool is_written_anew = block == loop_.test || block == latch;
      handed_on_.rename_block(block, is_written_anew ? branch_of(block) : ptx::none, edits_);
    }
    if (latch != analysis::no_block)
      edits_.push_back({ptx::range_of(body_, branch_of(latch)), fmt::format("bra.uni \t{};", out)});
  }

  [[nodiscard]] InstId branch_of(BlockId block) const { return k_.cfg.blocks[block].end - 1; }

  // The branch at the end of the block goes there always.
  void lead(BlockId from, BlockId to) {
    edits_.push_back(decided(body_, branch_of(from), k_.cfg.blocks[from].succs[0] == to));
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const UnrolledLoop& loop_;
  const UnrolledPlaces& found_;
  const unsigned axis_;
  const Names names_;
  const std::vector<std::vector<InstId>> written_; // by register
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  HandedOn handed_on_;
  Reg place_, wide_;
  std::string reloads_;
  std::vector<ptx::Edit> edits_;
};

Swept reroll_along(const emulator::Kernel& kernel, unsigned axis, const emulator::Budget& budget) {
  emulator::Kernel followed = emulator::emulate(*kernel.body.module, *kernel.body.function, budget,
                                                {}, emulator::Follow::stored_values);
  if (!followed.trace.refused.empty()) return {.refused = followed.trace.refused};
  const auto loop = find_unrolled_loop(followed);
  if (!loop) return {};
  UnrolledPlaces places = find_places(followed, *loop, axis);
  if (!places.refused.empty()) return {.refused = places.refused};
  std::string text = RerollWriter(followed, *loop, places, axis).run();
  if (text.empty()) return {};
  OtherKernel other =
      emulate_text(std::move(text), kernel.body, budget, {}, emulator::Follow::stored_values);
  if (!other.refused.empty()) return {.refused = other.refused};
  compare_places(followed, *loop, axis, other.kernel, places);
  if (!places.refused.empty()) return {.refused = places.refused};
  Swept made;
  made.module = std::move(other.module);
  made.kernel = std::move(other.kernel);
  made.sweep = Sweep{.axis = axis, .walk = std::move(places.walk)};
  return made;
}

} // namespace

Swept reroll(const emulator::Kernel& kernel, const emulator::Budget& budget) {
  const auto axis = free_axis(kernel.body);
  if (!axis || !why_not_a_plain_kernel(kernel).empty() || !has_unrolled_form(kernel)) return {};
  try {
    return reroll_along(kernel, *axis, budget);
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
}

} // namespace ptxasw::passes
