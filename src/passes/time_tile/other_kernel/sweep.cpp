// Finds the loop over places, and writes the text in which an iteration is a thread.
#include "passes/time_tile/other_kernel/sweep.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/handed_on.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using ptx::Special;
using sym::Term;
using namespace ptx::words;

namespace {

// A register that grows by as much from iteration to iteration.
struct Growing {
  RegId reg = 0;
  Arg by;
  bool falls = false; // by that much
  InstId next = 0;    // writes what the next iteration has
};

class SweepFinder {
public:
  explicit SweepFinder(const emulator::Kernel& kernel)
      : k_(kernel), c_(*kernel.context), body_(kernel.body),
        written_(analysis::definitions(body_)) {}

  Why refused;
  std::optional<Sweep> found;
  std::vector<Growing> growing;

  void run() {
    const auto& loops = k_.loops.loops;
    const auto axis = free_axis(body_);
    if (loops.size() != 1 || !axis) return;
    const analysis::Loop& loop = loops[0];
    if (loop.latches.size() != 1 || loop.exits.size() != 1 ||
        loop.exits[0].first != loop.latches[0])
      return;
    found = Sweep{.axis = *axis, .walk = {.end = {}, .ranges = {}, .alone = true}};
    if (!find_end(loop)) {
      found.reset();
      return;
    }
    check_memory();
    find_growing(loop);
  }

private:
  void refuse(InstId inst, const char* why) {
    if (refused.empty()) refused = at_line(body_, body_.insts[inst], Reason::step_loop, why);
  }

  // How many iterations there are: place p is that of the p-th, which there is if p < end. A bound
  // is the same for all threads.
  bool find_end(const analysis::Loop& loop) {
    const Term again = goes_on(k_, loop);
    if (!again.valid()) return false;
    const Term place = c_.atom({.name = "place",
                                .width = 32,
                                .kind = static_cast<std::uint32_t>(emulator::AtomKind::unknown),
                                .hi = 0x7fffffff});
    const Term before = c_.sub(c_.zext(place, 64), c_.constant(64, 1));
    const IntegerPolynomialReader reader(k_, {.axes = {{place.id, found->axis}}});
    auto ways =
        split(reader, c_, c_.substitute(again, {{k_.trace.iterations[0].id, before}}), true);
    if (!ways || ways->size() != 1) return false;
    Bounded& way = (*ways)[0];
    if (way.bounds.size() != 1 || !way.edges.empty() || !way.bounds[0].below || way.of_places)
      return false;
    found->walk.end = way.bounds[0].at;
    found->walk.ranges = std::move(way.ranges);
    return true;
  }

  // Each thread does what is in front of the loop, none what is behind it for others.
  void check_memory() {
    for (const emulator::Event& event : k_.trace.events) {
      if (k_.loops.contains(0, event.block)) continue;
      const bool is_in_front = event.kind == emulator::EventKind::load && !is_behind(event.block);
      if (!is_in_front)
        refuse(event.inst, "it stores in front of a loop, or reads or stores behind it");
    }
  }

  [[nodiscard]] bool is_behind(BlockId block) const {
    const BlockId exit = k_.loops.loops[0].exits[0].second;
    return block == exit || analysis::reached_from(k_.cfg, exit)[block];
  }

  // --- Registers ---------------------------------------------------------------------------------

  void find_growing(const analysis::Loop& loop) {
    for (std::vector<InstId>& all : written_)
      std::erase_if(all, [&](InstId id) { return !k_.loops.contains(0, k_.cfg.block_of[id]); });
    for (RegId reg = 0; reg < body_.registers.size(); ++reg) {
      if (written_[reg].empty() || !k_.liveness->live_in(loop.header, reg)) continue;
      const auto grows = growth_of(reg);
      if (!grows) return refuse(written_[reg][0], "a value goes from iteration to iteration");
      growing.push_back(*grows);
    }
  }

  // The only instruction of the loop that writes the register, in each iteration.
  [[nodiscard]] std::optional<InstId> writer_of(RegId reg) const {
    if (written_[reg].size() != 1) return std::nullopt;
    const InstId id = written_[reg][0];
    const Inst& inst = body_.insts[id];
    if (inst.opaque || inst.guard != ptx::none || inst.mods.cc ||
        !k_.cfg.dominates(k_.cfg.block_of[id], k_.loops.loops[0].latches[0]))
      return std::nullopt;
    return id;
  }

  // r = r + s, or n = r + s and r = n. (In front of it that would be the n of the iteration before,
  // which grows by no sum of itself.)
  [[nodiscard]] std::optional<Growing> growth_of(RegId reg) const {
    auto id = writer_of(reg);
    if (!id) return std::nullopt;
    const InstId next = *id;
    if (const Inst& move = body_.insts[*id]; move.op == ptx::Op::mov) {
      const Arg& from = body_.src(move)[0];
      if (from.kind != Arg::Kind::reg) return std::nullopt;
      const auto sum = writer_of(from.id);
      if (!sum) return std::nullopt;
      id = sum;
    }
    const Inst& sum = body_.insts[*id];
    const bool is_sum = sum.op == ptx::Op::add || sum.op == ptx::Op::sub;
    const auto src = body_.src(sum);
    const unsigned width = ptx::bit_width(sum.mods.type);
    if (!is_sum || ptx::is_float(sum.mods.type) || (width != 32 && width != 64) ||
        ptx::bit_width(body_.registers[reg].type) != width || sum.mods.sat)
      return std::nullopt;
    const bool falls = sum.op == ptx::Op::sub;
    for (const unsigned n : {0U, 1U}) {
      if (src[n].kind != Arg::Kind::reg || src[n].id != reg || (falls && n == 1)) continue;
      const Arg& by = src[1 - n];
      const bool is_fixed =
          by.kind == Arg::Kind::imm || (by.kind == Arg::Kind::reg && written_[by.id].empty());
      if (is_fixed) return Growing{reg, by, falls, next};
    }
    return std::nullopt;
  }

  const emulator::Kernel& k_;
  sym::Context& c_;
  const ptx::Body& body_;
  std::vector<std::vector<InstId>> written_; // in the loop, by register
};

// A register that grows is written once in the loop's place, and so is what the next iteration
// would have: what a step's finders can tell apart.
class SweepWriter {
public:
  SweepWriter(const emulator::Kernel& kernel, const SweepFinder& found)
      : k_(kernel), body_(kernel.body), found_(found), names_(body_),
        registers_(*body_.module, "%sweep"), code_(registers_), handed_on_(kernel, names_) {}

  // Of the module. Empty: a name means several things, or nothing is behind the loop.
  std::string run() {
    const analysis::Loop& loop = k_.loops.loops[0];
    const InstId begin = k_.cfg.blocks[loop.header].first;
    const BlockId behind = loop.exits[0].second;
    if (behind == k_.cfg.exit()) return {};
    const std::string out = ptx::label_prefix(*body_.module) + "end";
    place_ = code_.special(ptx::along(Special::ctaid_x, found_.found->axis));
    wide_ = code_.cvt(u64, u32, place_);
    for (const Growing& one : found_.growing)
      if (!grow(one, begin)) return {};
    PolynomialCode numbers(code_, ParameterNames(body_), [&](unsigned) { return wide_; });
    const Reg beyond = code_.setp(ge, s64, wide_, numbers.number(found_.found->walk.end));
    code_.when(beyond).bra(out);
    edits_.push_back({ptx::ahead_of(body_, begin), code_.in_place() + "\n\t"});
    rename(loop, out);
    edits_.push_back({ptx::ahead_of(body_, k_.cfg.blocks[behind].first), out + ":\n\t"});
    edits_.push_back(registers_.declared_at(names_.body_start()));
    return edited_text(body_, std::move(edits_));
  }

private:
  // As far as it has grown when an iteration begins.
  bool grow(const Growing& one, InstId begin) {
    const ptx::Register& reg = body_.registers[one.reg];
    const bool is_wide = ptx::bit_width(reg.type) == 64;
    const ptx::Type type = is_wide ? u64 : u32;
    if (!names_.known_at(one.reg, begin)) return false;
    ptx::Source by(static_cast<std::int64_t>(one.by.value));
    if (one.by.kind == Arg::Kind::reg) {
      const ptx::Register& step = body_.registers[one.by.id];
      if (!names_.known_at(one.by.id, begin)) return false;
      by = Reg{step.type, step.name};
    } else if (!is_wide) {
      by = static_cast<std::int32_t>(one.by.value);
    }
    const Reg grown = code_.mul(type, is_wide ? wide_ : place_, by), own{reg.type, reg.name},
              now = one.falls ? code_.sub(type, own, grown) : code_.add(type, own, grown);
    handed_on_.add(one.reg, now, {{one.next, registers_.make(reg.type)}});
    return true;
  }

  void rename(const analysis::Loop& loop, const std::string& out) {
    const InstId last = k_.cfg.blocks[loop.latches[0]].end - 1;
    for (const BlockId block : loop.blocks)
      handed_on_.rename_block(block, last, edits_);
    edits_.push_back({ptx::range_of(body_, last), fmt::format("bra.uni \t{};", out)});
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const SweepFinder& found_;
  const Names names_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  Reg place_, wide_;
  HandedOn handed_on_;
  std::vector<ptx::Edit> edits_;
};

} // namespace

std::optional<unsigned> free_axis(const ptx::Body& body) {
  for (const unsigned axis : {1U, 2U}) {
    using enum Special;
    if (std::ranges::none_of(std::array{tid_x, ntid_x, ctaid_x, nctaid_x}, [&](Special special) {
          return ptx::reads_special(body, ptx::along(special, axis));
        }))
      return axis;
  }
  return std::nullopt;
}

Swept sweep(const emulator::Kernel& kernel, const emulator::Budget& budget) {
  Swept made;
  if (kernel.loops.loops.empty() || !why_not_a_plain_kernel(kernel).empty()) return made;
  SweepFinder finder(kernel);
  try {
    finder.run();
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
  made.refused = finder.refused;
  if (!finder.found || !finder.refused.empty()) return made;
  std::string text = SweepWriter(kernel, finder).run();
  if (text.empty()) return made;
  OtherKernel other =
      emulate_text(std::move(text), kernel.body, budget, {}, emulator::Follow::addresses);
  made.refused = other.refused;
  if (!made.refused.empty()) return made;
  made.module = std::move(other.module);
  made.kernel = std::move(other.kernel);
  made.sweep = std::move(finder.found);
  return made;
}

} // namespace ptxasw::passes
