// Compares what two blocks hand on to the one behind both.
#include "passes/time_tile/other_kernel/alike_sides.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/other_kernel/same_values.hpp"
#include "passes/time_tile/other_kernel/unrolled_loop.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"
#include "passes/time_tile/step/step_axes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;

namespace {

// What only those do whom a branch leads there, one instruction after the other.
struct Side {
  std::vector<InstId> insts;
  BlockId last = analysis::no_block, behind = analysis::no_block; // where it ends, and leads to
};

// Branches that part and meet again, with what is handed on from between.
struct Fork {
  InstId branch = 0;
  Side first, second;
  std::set<RegId> handed_on;
};

class ForkFinder {
public:
  explicit ForkFinder(const emulator::Kernel& kernel)
      : k_(kernel), cfg_(kernel.cfg), body_(kernel.body) {}

  [[nodiscard]] std::vector<Fork> run() const {
    std::vector<Fork> all;
    for (BlockId block = 0; block < cfg_.blocks.size(); ++block)
      if (auto fork = fork_at(block)) all.push_back(*std::move(fork));
    return all;
  }

private:
  [[nodiscard]] std::optional<Fork> fork_at(BlockId block) const {
    const analysis::Block& code = cfg_.blocks[block];
    if (!k_.trace.executed[block] || code.first == code.end || code.succs.size() != 2)
      return std::nullopt;
    const Inst& branch = body_.insts[code.end - 1];
    if (branch.op != ptx::Op::bra || branch.guard == ptx::none || is_behind_store(block))
      return std::nullopt;
    auto first = side(block, code.succs[0]), second = side(block, code.succs[1]);
    if (!first || !second || first->behind != second->behind) return std::nullopt;
    auto both = handed_on(*first), others = handed_on(*second);
    if (!both || !others) return std::nullopt;
    both->merge(*others);
    if (both->empty()) return std::nullopt;
    return Fork{code.end - 1, *std::move(first), *std::move(second), *std::move(both)};
  }

  [[nodiscard]] std::optional<Side> side(BlockId from, BlockId block) const {
    Side made;
    while (cfg_.blocks[block].preds == std::vector{from}) {
      const analysis::Block& code = cfg_.blocks[block];
      if (!k_.trace.executed[block] || code.succs.size() != 1) return std::nullopt;
      for (InstId id = code.first; id < code.end; ++id)
        made.insts.push_back(id);
      made.last = from = block;
      block = code.succs[0];
    }
    made.behind = block;
    return made.last == analysis::no_block ? std::nullopt : std::optional(std::move(made));
  }

  // What is loaded there may be what was stored.
  [[nodiscard]] bool is_behind_store(BlockId block) const {
    return std::ranges::any_of(k_.trace.events, [&](const emulator::Event& event) {
      return event.kind == emulator::EventKind::store &&
             (event.block == block ||
              analysis::reached_from(cfg_, event.block, analysis::no_block)[block]);
    });
  }

  // Registers that it writes and hands on. None: it does more than to compute, and to load some of
  // these.
  [[nodiscard]] std::optional<std::set<RegId>> handed_on(const Side& side) const {
    std::map<RegId, InstId> written; // last by
    for (const InstId id : side.insts)
      analysis::for_each_definition(body_, body_.insts[id], [&](RegId reg) { written[reg] = id; });
    std::set<RegId> all;
    for (const auto& [reg, by] : written)
      if (k_.liveness->live_in(side.behind, reg)) all.insert(reg);
    for (const InstId id : side.insts) {
      const Inst& inst = body_.insts[id];
      const Group group = ptx::group(inst.op);
      const bool is_jump = inst.op == ptx::Op::bra,
                 is_load = group == Group::load && inst.mods.space == ptx::Space::global,
                 is_parameter = group == Group::load && inst.mods.space == ptx::Space::param;
      if (inst.opaque || inst.mods.cc || inst.guard != ptx::none ||
          (!is_jump && !is_load && !is_parameter && group != Group::pure))
        return std::nullopt;
      if (is_load && body_.dst(inst).size() != 1) return std::nullopt; // aligned as a vector
      bool is_lost = false;
      if (is_load)
        analysis::for_each_definition(body_, inst, [&](RegId reg) {
          is_lost |= written.at(reg) != id || !all.contains(reg);
        });
      if (is_lost) return std::nullopt;
    }
    return all;
  }

  const emulator::Kernel& k_;
  const analysis::Cfg& cfg_;
  const ptx::Body& body_;
};

class SidesComparer {
public:
  explicit SidesComparer(emulator::Kernel& kernel) : k_(kernel), places_(kernel) {}

  AlikeSides run(const std::vector<Fork>& forks) {
    Meaning meaning;
    const FoundAxes axes = find_axes(k_, {}, meaning, places_);
    if (!axes.refused.empty()) return {};
    made_.conditions = axes.shape;
    const IntegerPolynomialReader reader(k_, meaning);
    for (const Fork& fork : forks)
      compare(fork, {.kernel = k_, .places = places_, .reader = reader});
    return std::move(made_);
  }

private:
  void compare(const Fork& fork, const ValueSide& side) {
    SameValues same(side, side, [](const IntegerPolynomial&) { return false; });
    const bool are_alike = std::ranges::all_of(fork.handed_on, [&](RegId reg) {
      const sym::Term first = value_behind(k_, fork.first.last, reg),
                      second = value_behind(k_, fork.second.last, reg);
      return first.valid() && second.valid() && same.same(first, second);
    });
    if (are_alike && add_conditions(same.ranges))
      made_.edits.push_back(decided(k_.body, fork.branch, true));
  }

  // At all places of the launch; false: it is not known where.
  bool add_conditions(const std::vector<InRange>& ranges) {
    const Box grid = whole_launch();
    std::vector<contract::Condition> all = made_.conditions;
    for (const InRange& range : ranges)
      if (!add_in_range(all, grid, range.value, {range.least, range.most}, range.otherwise))
        return false;
    made_.conditions = std::move(all);
    return true;
  }

  emulator::Kernel& k_;
  StepPlaces places_;
  AlikeSides made_;
};

} // namespace

AlikeSides find_alike_sides(const emulator::Kernel& kernel, const BlockShape& shape,
                            const emulator::Budget& budget) {
  const std::vector<Fork> forks = ForkFinder(kernel).run();
  if (forks.empty()) return {};
  emulator::Kernel known = emulator::emulate(*kernel.body.module, *kernel.body.function, budget,
                                             shape, emulator::Follow::stored_values);
  if (!known.trace.refused.empty()) return {};
  know_shape(known, shape);
  return SidesComparer(known).run(forks);
}

} // namespace ptxasw::passes
