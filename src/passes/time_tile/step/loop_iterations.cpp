// Asks of each iteration, and of each thread of a block, whether another one follows.
#include "passes/time_tile/step/loop_iterations.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"
#include "passes/time_tile/step/loop_places.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using sym::Term;

namespace {

constexpr unsigned most_iterations = 128;

class IterationCounter {
public:
  IterationCounter(const emulator::Kernel& kernel, std::uint32_t number, const BlockShape& shape,
                   const LoopPlaces* places)
      : k_(kernel), c_(*kernel.context), number_(number), loop_(kernel.loops.loops[number]),
        shape_(shape), places_(places) {}

  LoopIterations run() {
    check_form();
    if (iterations_.refused.empty()) count();
    return std::move(iterations_);
  }

private:
  void refuse(const char* why) {
    if (iterations_.refused.empty()) iterations_.refused = why;
  }

  // One stretch of text, from the loop's first instruction to the branch that goes round.
  void check_form() {
    if (loop_.latches.size() != 1) return refuse("a loop goes round from several places");
    const BlockId latch = loop_.latches[0];
    if (loop_.exits.size() != 1 || loop_.exits[0].first != latch)
      return refuse("a loop is left in front of its end");
    if (loop_.header + loop_.blocks.size() != std::size_t{latch} + 1 ||
        loop_.blocks.front() != loop_.header)
      return refuse("a loop's text is in several places");
    for (const BlockId block : loop_.blocks)
      for (InstId id = k_.cfg.blocks[block].first; id < k_.cfg.blocks[block].end; ++id)
        check(k_.body.insts[id]);
    const auto first = k_.body.insts[k_.cfg.blocks[loop_.header].first].statement,
               last = k_.body.insts[k_.cfg.blocks[latch].end - 1].statement;
    for (std::uint32_t number = first; number <= last; ++number)
      check(k_.body.module->statements[number]);
  }

  void check(const ptx::Statement& statement) {
    using enum ptx::StatementKind;
    const auto kind = statement.kind;
    const bool is_hint =
        kind == directive && k_.body.module->slice(statement.range).ends_with("\"nounroll\";");
    const bool is_plain =
        kind == instruction || kind == label || kind == location || kind == line_marker || is_hint;
    if (!is_plain) refuse("a loop declares something");
  }

  void check(const Inst& inst) {
    const Group group = ptx::group(inst.op);
    const bool is_plain = group == Group::pure || group == Group::load || group == Group::store ||
                          inst.op == ptx::Op::bra;
    if (inst.opaque || !is_plain || ptx::loads_some_bytes_only(k_.body, inst))
      refuse("a loop has more than computation, loads and stores");
  }

  void count() {
    if (!k_.trace.executed[loop_.header]) { // by nobody
      iterations_.ends = {true};
      return;
    }
    const Term again = goes_on(k_, loop_);
    if (!again.valid()) return refuse("how often a loop goes round is not known");
    if (shape_[0] == 0) return count(again, {});
    for (unsigned z = 0; z < shape_[2]; ++z)
      for (unsigned y = 0; y < shape_[1]; ++y)
        for (unsigned x = 0; x < shape_[0] && iterations_.refused.empty(); ++x)
          count(again, thread({x, y, z}));
    if (iterations_.refused.empty() && iterations_.ends.empty()) iterations_.ends = {true};
  }

  [[nodiscard]] sym::Context::Substitution thread(const ThreadInBlock& number) const {
    sym::Context::Substitution known;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (const Term id = k_.trace.special(ptx::along(ptx::Special::tid_x, axis));
          id.valid() && !c_.value(id))
        known.emplace(id.id, c_.constant(c_.width(id), number[axis]));
    return known;
  }

  // Who never comes to the loop may go round as often as it likes.
  [[nodiscard]] bool is_away(const sym::Context::Substitution& thread) const {
    return std::ranges::any_of(k_.facts_at(loop_.header), [&](Term fact) {
      return c_.value(c_.substitute(fact, thread)) == sym::Bits{0};
    });
  }

  void count(Term again, sym::Context::Substitution known) {
    if (is_away(known)) return;
    const std::uint32_t iteration = k_.trace.iterations[number_].id;
    for (unsigned n = 0; n < most_iterations; ++n) {
      known[iteration] = c_.constant(64, n);
      const auto goes_on = decide(c_.substitute(again, known));
      if (!goes_on) return refuse("how often a loop goes round is not known");
      if (iterations_.ends.size() == n) iterations_.ends.push_back(false);
      if (*goes_on) continue;
      iterations_.ends[n] = true;
      return;
    }
    refuse(too_long);
  }

  std::optional<bool> decide(Term condition) {
    if (const auto value = c_.value(condition)) return *value != 0;
    const auto decided = places_ == nullptr ? std::nullopt : places_->decide(condition);
    if (!decided) return std::nullopt;
    for (const contract::Condition& one : decided->conditions)
      add_once(iterations_.conditions, one);
    return decided->holds;
  }

  const emulator::Kernel& k_;
  sym::Context& c_;
  const std::uint32_t number_;
  const analysis::Loop& loop_;
  const BlockShape shape_;
  const LoopPlaces* const places_; // none: threads are told apart by numbers
  LoopIterations iterations_;
};

} // namespace

LoopIterations find_iterations(const emulator::Kernel& kernel, std::uint32_t number,
                               const BlockShape& shape, const LoopPlaces* places) {
  return IterationCounter(kernel, number, shape, places).run();
}

Term goes_on(const emulator::Kernel& kernel, const analysis::Loop& loop) {
  sym::Context& c = *kernel.context;
  const BlockId latch = loop.latches[0];
  const analysis::Block& block = kernel.cfg.blocks[latch];
  const Inst& branch = kernel.body.insts[block.end - 1];
  if (branch.guard == ptx::none || block.succs.size() != 2) return {};
  Term condition;
  for (const emulator::Definition& definition : kernel.trace.definitions)
    if (!definition.at_entry && definition.reg == branch.guard &&
        kernel.cfg.block_of[definition.inst] == latch)
      condition = definition.value;
  if (!condition.valid() || c.width(condition) != 1) return {};
  return (block.succs[0] == loop.header) == branch.guard_negated ? c.not_(condition) : condition;
}

} // namespace ptxasw::passes
