// Writes the text without loops, one nest level at a time, and asks anew what is known then: how
// often an inner loop goes round may hang on the iteration of the outer one.
#include "passes/time_tile/other_kernel/unroll.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "passes/time_tile/step/loop_places.hpp"
#include "ptx/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using ptx::StatementKind;
using namespace ptx::words;

namespace {

constexpr unsigned most_rounds = 8;
constexpr std::size_t most_instructions = 4096;

struct Known {
  std::uint32_t loop = 0; // number
  LoopIterations iterations;
};

// One loop in the place of which its iterations stand. Registers that an iteration leaves to nobody
// have names of their own in each copy; in a body without branches all that it writes has, and each
// is written once: what a step's finders can tell apart.
class LoopWriter {
public:
  LoopWriter(const emulator::Kernel& kernel, const Names& names, const Known& known,
             ptx::FreshRegisters& registers, std::string label)
      : k_(kernel), body_(kernel.body), names_(names), loop_(kernel.loops.loops[known.loop]),
        iterations_(known.iterations), registers_(registers), code_(registers),
        label_(std::move(label)), latch_(body_.insts[kernel.cfg.blocks[loop_.latches[0]].end - 1]),
        is_straight_(loop_.blocks.size() == 1) {}

  ptx::Edit run() {
    find_written();
    for (copy_ = 0; copy_ < iterations_.ends.size(); ++copy_)
      write_copy();
    // Ways meet in pairs, one behind the other: a value is then chosen by one condition each.
    for (std::size_t n = iterations_.ends.size() - 1; n-- > 0;) {
      if (!iterations_.ends[n]) continue;
      code_.label(end_label(n));
      code_.mov(u32, 0);
    }
    return {{statement(first()).range.begin, statement(latch_.statement).range.end},
            code_.in_place()};
  }

private:
  [[nodiscard]] const ptx::Statement& statement(std::uint32_t number) const {
    return body_.module->statements[number];
  }
  [[nodiscard]] std::uint32_t first() const {
    return body_.insts[k_.cfg.blocks[loop_.header].first].statement;
  }
  [[nodiscard]] bool is_last() const { return copy_ + 1 == iterations_.ends.size(); }
  [[nodiscard]] std::string end_label(std::size_t copy) const {
    return fmt::format("{}_end{}", label_, copy);
  }

  // --- Registers ---------------------------------------------------------------------------------

  void find_written() {
    for (const analysis::BlockId block : loop_.blocks)
      for (InstId id = k_.cfg.blocks[block].first; id < k_.cfg.blocks[block].end; ++id) {
        const Inst& inst = body_.insts[id];
        analysis::for_each_definition(body_, inst, [&](RegId reg) {
          last_[reg] = inst.statement;
          if (reg == body_.carry || inst.guard != ptx::none) kept_.insert(reg);
        });
      }
    // Where several iterations may be the last one, so is what they leave.
    const bool has_one_end = std::ranges::count(iterations_.ends, true) == 1;
    for (const auto& [reg, last] : last_) {
      const bool is_handed_on = !is_straight_ && k_.liveness->live_in(loop_.header, reg);
      if (is_handed_on || (is_read_behind(reg) && !(is_straight_ && has_one_end)))
        kept_.insert(reg);
    }
  }

  [[nodiscard]] bool is_read_behind(RegId reg) const {
    return k_.liveness->live_in(loop_.exits[0].second, reg);
  }

  [[nodiscard]] std::string name_of(RegId reg) const {
    const auto found = names_now_.find(reg);
    return found == names_now_.end() ? body_.registers[reg].name : found->second;
  }

  // What the statement's results are called. Behind the last iteration they have their own names.
  std::map<RegId, std::string> results_of(const Inst& inst) {
    std::map<RegId, std::string> results;
    analysis::for_each_definition(body_, inst, [&](RegId reg) {
      if (kept_.contains(reg) || !is_straight_)
        results[reg] = name_of(reg);
      else if (is_last() && is_read_behind(reg) && last_.at(reg) == inst.statement)
        results[reg] = body_.registers[reg].name;
      else
        results[reg] = registers_.make(body_.registers[reg].type).name;
    });
    return results;
  }

  // --- Text --------------------------------------------------------------------------------------

  void write_copy() {
    if (!is_straight_)
      for (const auto& [reg, last] : last_)
        if (!kept_.contains(reg)) names_now_[reg] = registers_.make(body_.registers[reg].type).name;
    InstId inst = k_.cfg.blocks[loop_.header].first;
    for (std::uint32_t number = first(); number < latch_.statement; ++number) {
      const ptx::Statement& now = statement(number);
      if (now.kind == StatementKind::label)
        code_.label(own_label(body_.module->labels[now.index]));
      else if (number == body_.insts[inst].statement)
        code_.statement(copied(body_.insts[inst++]));
    }
    if (!is_last() && iterations_.ends[copy_])
      code_.statement(fmt::format("@{}{} bra \t{};", latch_.guard_negated ? "" : "!",
                                  name_of(latch_.guard), end_label(copy_)));
  }

  [[nodiscard]] std::string own_label(std::string_view label) {
    const auto number = labels_.try_emplace(label, labels_.size()).first->second;
    return fmt::format("{}_{}at{}", label_, copy_, number);
  }

  std::string copied(const Inst& inst) {
    const ptx::Statement& now = statement(inst.statement);
    const auto& written = body_.module->instructions[now.index];
    const auto operands = body_.module->operands_of(written);
    std::map<RegId, std::string> results = results_of(inst);
    const auto is_result = [&](const ptx::Mention& mention) {
      return inst.dst.count != 0 && mention.where.begin >= operands[0].range.begin &&
             mention.where.end <= operands[0].range.end;
    };
    const auto rename = [&](const ptx::Mention& mention) {
      if (mention.arg.kind != ptx::Arg::Kind::reg)
        return std::string(body_.module->slice(mention.where));
      return is_result(mention) ? results.at(mention.arg.id) : name_of(mention.arg.id);
    };
    if (inst.op == ptx::Op::bra) {
      const ptx::Range target = operands[0].range;
      return names_.spliced({now.range.begin, target.begin}, rename) +
             own_label(body_.module->slice(target)) +
             std::string(body_.module->slice({target.end, now.range.end}));
    }
    std::string text = names_.spliced(now.range, rename);
    for (auto& [reg, name] : results)
      names_now_[reg] = std::move(name);
    return text;
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const Names& names_;
  const analysis::Loop& loop_;
  const LoopIterations& iterations_;
  ptx::FreshRegisters& registers_;
  ptx::Code code_;
  const std::string label_;
  const Inst& latch_;
  const bool is_straight_;
  std::size_t copy_ = 0;
  std::map<RegId, std::uint32_t> last_;    // by register: the last statement that writes it
  std::set<RegId> kept_;                   // have one name in all copies
  std::map<RegId, std::string> names_now_; // of the others
  std::map<std::string_view, std::size_t> labels_;
};

class Unroller {
public:
  Unroller(emulator::Kernel& kernel, const emulator::Budget& budget, const BlockShape& shape,
           emulator::Follow follow)
      : budget_(budget), shape_(shape), follow_(follow), kernel_(&kernel) {}

  Unrolled run() {
    for (unsigned round = 0; round < most_rounds; ++round) {
      const std::vector<Known> known = find_known();
      if (known.empty() || !write(known)) break;
    }
    // A tile in blocks of a known shape is looked at with its branches.
    if (made_.module && shape_[0] == 0) leave_out_branches();
    if (made_.left.empty() && !kernel_->loops.loops.empty())
      made_.left = "too many loops are in each other";
    if (made_.module) made_.kernel.context->allow({});
    return std::move(made_);
  }

private:
  // Innermost loops first.
  std::vector<Known> find_known() {
    made_.left.clear();
    std::vector<Known> known;
    std::optional<LoopPlaces> places;
    if (shape_[0] == 0) places.emplace(*kernel_);
    const auto& loops = kernel_->loops.loops;
    for (auto number = static_cast<std::uint32_t>(loops.size()); number-- > 0;) {
      LoopIterations iterations =
          find_iterations(*kernel_, number, shape_, places ? &*places : nullptr);
      if (!iterations.refused.empty()) {
        made_.left = std::move(iterations.refused);
        continue;
      }
      const bool is_outer = std::ranges::any_of(known, [&](const Known& inner) {
        return kernel_->loops.contains(number, loops[inner.loop].header);
      });
      if (!is_outer) known.push_back({number, std::move(iterations)});
    }
    return known;
  }

  // What an iteration asks of its number is known in each copy.
  void leave_out_branches() {
    std::vector<ptx::Edit> edits = decided_branches(*kernel_);
    if (edits.empty()) return;
    const ptx::Body& body = kernel_->body;
    OtherKernel made =
        emulate_text(edited_text(body, std::move(edits)), body, budget_, shape_, follow_);
    if (made.refused.empty()) take(std::move(made));
  }

  void take(OtherKernel made) {
    made_.kernel = std::move(made.kernel);
    made_.module = std::move(made.module);
    made_.kernel.context->allow(budget_.allowance());
    kernel_ = &made_.kernel;
  }

  bool write(const std::vector<Known>& known) {
    const ptx::Body& body = kernel_->body;
    if (instructions_of(known) > most_instructions) {
      made_.left = too_long;
      return false;
    }
    const Names names(body);
    ptx::FreshRegisters registers(*body.module, "%loop");
    const std::string label = ptx::label_prefix(*body.module) + "loop";
    std::vector<ptx::Edit> edits;
    for (const Known& one : known)
      edits.push_back(
          LoopWriter(*kernel_, names, one, registers, fmt::format("{}{}", label, one.loop)).run());
    edits.push_back(registers.declared_at(names.body_start()));
    OtherKernel made =
        emulate_text(edited_text(body, std::move(edits)), body, budget_, shape_, follow_);
    if (!made.refused.empty()) {
      made_.left = made.refused.text;
      return false;
    }
    for (const Known& one : known)
      for (const contract::Condition& condition : one.iterations.conditions)
        add_once(made_.conditions, condition);
    take(std::move(made));
    return true;
  }

  [[nodiscard]] std::size_t instructions_of(const std::vector<Known>& known) const {
    std::size_t all = kernel_->body.insts.size();
    for (const Known& one : known)
      for (const analysis::BlockId block : kernel_->loops.loops[one.loop].blocks)
        all += one.iterations.ends.size() *
               (kernel_->cfg.blocks[block].end - kernel_->cfg.blocks[block].first);
    return all;
  }

  const emulator::Budget& budget_;
  const BlockShape shape_;
  const emulator::Follow follow_;
  emulator::Kernel* kernel_;
  Unrolled made_;
};

} // namespace

Unrolled unroll(emulator::Kernel& kernel, const emulator::Budget& budget, const BlockShape& shape,
                emulator::Follow follow) {
  if (kernel.loops.loops.empty()) return {};
  if (Why why = why_not_a_plain_kernel(kernel); !why.empty()) return {.left = std::move(why.text)};
  try {
    return Unroller(kernel, budget, shape, follow).run();
  } catch (const sym::BudgetSpent& spent) {
    return {.left = spent.what()};
  }
}

} // namespace ptxasw::passes
