// Writes the text without a tile: loads of global memory in the place of loads of the tile, and
// nothing of what only filled it.
#include "passes/time_tile/other_kernel/untile.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/alike_sides.hpp"
#include "passes/time_tile/other_kernel/left_out.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/other_kernel/reroll.hpp"
#include "passes/time_tile/other_kernel/tile_reads.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "passes/time_tile/step/block_shapes.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "ptx/build.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using namespace ptx::words;

namespace {

class Untiler {
public:
  Untiler(const emulator::Kernel& kernel, const TileReads& tile, const BlockShape& shape)
      : k_(kernel), body_(kernel.body), tile_(tile), shape_(shape),
        registers_(*body_.module, "%tile"), code_(registers_),
        numbers_(code_, ParameterNames(body_), [this](unsigned axis) { return place(axis); }),
        label_(ptx::label_prefix(*body_.module) + "tile") {}

  std::string run() {
    replace_loads();
    LeftOut(k_, filling(), replaced_).add_edits(edits_, label_);
    edits_.push_back({ptx::ahead_of(body_, 0), places()});
    const std::uint32_t begin = body_.module->body_of(*body_.function).front().range.end;
    edits_.push_back(registers_.declared_at(begin));
    return edited_text(body_, std::move(edits_));
  }

private:
  // --- Loads -------------------------------------------------------------------------------------

  // Where the thread is in the grid, ahead of all.
  std::string places() {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (places_[axis].empty()) continue;
      const Reg block = code_.special(ptx::along(ptx::Special::ctaid_x, axis)),
                thread = code_.special(ptx::along(ptx::Special::tid_x, axis));
      const Reg place = code_.mad(u32, block, shape_[axis], thread);
      code_.into(places_[axis]).cvt(u64, u32, place);
    }
    return code_.behind() + "\n\t";
  }

  const Reg& place(unsigned axis) {
    if (places_[axis].empty()) places_[axis] = registers_.make(b64);
    return places_[axis];
  }

  void replace_loads() {
    for (const TileLoad& load : tile_.loads) {
      const Inst& inst = body_.insts[load.inst];
      const Reg at = address(load.elements[0]);
      for (const TileElement& other : std::span(load.elements).subspan(1)) {
        if (other.number) continue;
        const Reg holds = condition(other.when);
        code_.into(at).selp(b64, address(other), at, holds);
      }
      const std::string behind = fmt::format("{}_number{}", label_, edits_.size());
      const bool has_number = numbers_in(load, inst, behind);
      code_.statement(fmt::format("ld.global.{} {}, [{}];", ptx::name(inst.mods.type),
                                  body_.registers[body_.dst(inst)[0].id].name, at.name));
      if (has_number) code_.label(behind);
      edits_.push_back({ptx::range_of(body_, load.inst), code_.in_place()});
      replaced_.insert(load.inst);
    }
  }

  // Where the tile holds a number the register has it, and no element is loaded.
  bool numbers_in(const TileLoad& load, const Inst& inst, const std::string& behind) {
    bool has_number = false;
    const ptx::Register& into = body_.registers[body_.dst(inst)[0].id];
    for (const TileElement& other : load.elements) {
      if (!other.number) continue;
      has_number = true;
      const Reg holds = condition(other.when);
      const auto bits = as_loaded(*other.number, inst.mods.type, ptx::bit_width(into.type));
      code_.statement(fmt::format("mov.b{} {}, {};", ptx::bit_width(into.type), into.name, bits));
      code_.when(holds).bra(behind);
    }
    return has_number;
  }

  // A load into a wider register repeats the sign of a number that has one.
  static std::uint64_t as_loaded(std::uint64_t number, ptx::Type type, unsigned width) {
    const unsigned own = ptx::bit_width(type);
    const bool is_negative = ptx::is_signed(type) && ((number >> (own - 1)) & 1) != 0;
    const auto up_to = [](unsigned n) {
      return n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0};
    };
    return (is_negative ? number | ~up_to(own) : number) & up_to(width);
  }

  Reg address(const TileElement& element) {
    const Reg begin = numbers_.begin_of(element.parameter);
    const Reg offset = numbers_.number(element.offset);
    return code_.add(s64, begin, offset);
  }

  Reg condition(const Formula& formula) {
    const bool is_all = formula.kind == Formula::Kind::all;
    switch (formula.kind) {
    case Formula::Kind::not_negative: return code_.setp(ge, s64, numbers_.number(formula.value), 0);
    case Formula::Kind::always:
    case Formula::Kind::never:
      return code_.setp(eq, s64, numbers_.number({}),
                        formula.kind == Formula::Kind::always ? 0 : 1);
    case Formula::Kind::all:
    case Formula::Kind::any: break;
    }
    Reg joined;
    for (const Formula& part : formula.parts) {
      const Reg holds = condition(part);
      joined = joined.empty() ? holds
               : is_all       ? code_.and_(pred, joined, holds)
                              : code_.or_(pred, joined, holds);
    }
    return joined;
  }

  // What only fills the tile.
  [[nodiscard]] std::set<InstId> filling() const {
    std::set<InstId> all(tile_.stores.begin(), tile_.stores.end());
    all.insert(tile_.barriers.begin(), tile_.barriers.end());
    return all;
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const TileReads& tile_;
  const BlockShape shape_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  PolynomialCode numbers_;
  const std::string label_;
  std::array<Reg, 3> places_;
  std::vector<ptx::Edit> edits_;
  std::set<InstId> replaced_;
};

bool has_barrier_in_loop(const emulator::Kernel& kernel) {
  for (InstId id = 0; id < kernel.body.insts.size(); ++id)
    if (ptx::group(kernel.body.insts[id].op) == Group::barrier &&
        kernel.loops.innermost[kernel.cfg.block_of[id]] != ~0U)
      return true;
  return false;
}

// Steps have nothing else, but for a tile.
bool has_more_than_a_step(const ptx::Body& body) {
  return std::ranges::any_of(body.insts, [](const Inst& inst) {
    const Group group = ptx::group(inst.op);
    return inst.opaque || group == Group::atomic || group == Group::call || group == Group::warp ||
           group == Group::unknown;
  });
}

// The block has that shape.
void add_shape(std::vector<contract::Condition>& conditions, const BlockShape& shape) {
  for (unsigned axis = 0; axis < 3; ++axis)
    require_size(conditions, axis, shape[axis], "its tile is for blocks of another shape");
}

struct Attempt {
  Untiled made;
  bool has_form = true, is_beside = true; // see TileReads
};

Attempt untile_for(const emulator::Kernel& kernel, const BlockShape& shape,
                   const emulator::Budget& budget) {
  emulator::Kernel known = emulator::emulate(*kernel.body.module, *kernel.body.function, budget,
                                             shape, emulator::Follow::stored_values);
  if (!known.trace.refused.empty()) return {{.refused = known.trace.refused}};
  known.context->allow(budget.allowance());
  Unrolled straight = unroll(known, budget, shape, emulator::Follow::stored_values);
  if (!straight.left.empty()) // another shape only makes it longer or shorter
    return {{.refused = {Reason::step_shared, straight.left}}, straight.left == too_long, false};
  if (straight.module) known = std::move(straight.kernel);
  known.context->allow(budget.allowance());
  const TileReads tile = read_tile(known, shape);
  if (!tile.refused.empty()) return {{.refused = tile.refused}, tile.has_form, tile.is_beside};
  known.context->allow({});
  Untiled made;
  made.conditions = tile.conditions;
  const auto take = [&](std::string text) {
    OtherKernel other =
        emulate_text(std::move(text), known.body, budget, shape, emulator::Follow::addresses);
    made.refused = other.refused;
    made.module = std::move(other.module);
    made.kernel = std::move(other.kernel);
    if (made.refused.empty()) know_shape(made.kernel, shape);
  };
  take(Untiler(known, tile, shape).run());
  if (!made.refused.empty()) return {{.refused = made.refused}, true, false};
  AlikeSides alike = find_alike_sides(made.kernel, shape, budget);
  if (!alike.edits.empty()) {
    take(edited_text(made.kernel.body, std::move(alike.edits)));
    if (!made.refused.empty()) return {{.refused = made.refused}, true, false};
    std::ranges::move(alike.conditions, std::back_inserter(made.conditions));
  }
  add_shape(made.conditions, shape);
  return {std::move(made), true, false};
}

} // namespace

bool has_tile(const ptx::Body& body) {
  const auto touches = [&](Group group) {
    return std::ranges::any_of(body.insts, [&](const Inst& inst) {
      return ptx::group(inst.op) == group && inst.mods.space == ptx::Space::shared;
    });
  };
  return touches(Group::load) && touches(Group::store);
}

Untiled untile(const emulator::Kernel& kernel, const emulator::Budget& budget,
               std::span<const BlockShape> shapes) {
  if (const Why why = why_not_a_plain_kernel(kernel); !why.empty()) return {.refused = why};
  if (has_barrier_in_loop(kernel)) return {.refused = {Reason::step_shared, "a barrier in a loop"}};
  Attempt last{.made = {.refused = {Reason::step_shared, "the shape of its blocks is not known"}}};
  std::vector<BlockShape> all(shapes.begin(), shapes.end());
  try {
    std::ranges::copy(likely_shapes(kernel), std::back_inserter(all));
    for (const BlockShape& shape : all) {
      Attempt now = untile_for(kernel, shape, budget);
      if (now.made.refused.empty() || !now.has_form) return std::move(now.made);
      if (last.is_beside) last = std::move(now); // of a shape that fits there is more to say
    }
  } catch (const sym::BudgetSpent& spent) {
    return {.refused = {emulator::reason_of(spent), spent.what()}};
  }
  return std::move(last.made);
}

StepKernel::StepKernel(emulator::Kernel& kernel, const emulator::Budget& budget,
                       std::span<const BlockShape> launched)
    : kernel_(kernel) {
  const bool is_plain = !has_more_than_a_step(kernel.body);
  if (is_plain) {
    without_barriers_ = without_idle_barriers(kernel, budget);
    unrolled_ = unroll(this->kernel(), budget);
  }
  if (has_tile(kernel.body)) {
    Untiled made = untile(this->kernel(), budget, launched);
    if (made.refused.empty())
      untiled_.emplace(std::move(made));
    else
      refused_ = std::move(made.refused);
    return;
  }
  if (!is_plain) return;
  joined_ = join_guards(this->kernel(), budget);
  if (!this->kernel().loops.loops.empty() && !find_step(this->kernel()).refused.empty())
    enough_ = with_enough_threads(this->kernel(), budget);
  if (enough_) {
    of_enough_ = std::make_unique<StepKernel>(enough_->other.kernel, budget);
    without_loops_ = of_enough_->find().refused;
    if (without_loops_.empty()) return;
    of_enough_.reset();
    enough_.reset();
  }
  chosen_ = choose_loads(this->kernel(), budget);
  swept_ = sweep(this->kernel(), budget);
  if (!swept_.module && swept_.refused.empty()) swept_ = reroll(this->kernel(), budget);
  refused_ = chosen_.refused.empty() ? swept_.refused : chosen_.refused;
}

emulator::Kernel& StepKernel::kernel() {
  if (of_enough_) return of_enough_->kernel();
  if (untiled_) return untiled_->kernel;
  if (swept_.module) return swept_.kernel;
  if (chosen_.module) return chosen_.kernel;
  if (joined_) return joined_->other.kernel;
  if (unrolled_.module) return unrolled_.kernel;
  return without_barriers_ ? without_barriers_->kernel : kernel_;
}

StepPlan StepKernel::find(Motion motion, unsigned choice) {
  // What the kernel is refused for without its loops says more than that it has some.
  const auto said = [&](const Why& why) {
    return why.reason == Reason::step_loop && !without_loops_.empty() ? without_loops_ : why;
  };
  if (!refused_.empty()) return {.refused = said(refused_)};
  if (of_enough_) {
    StepPlan plan = of_enough_->find(motion, choice);
    add_conditions(plan);
    return plan;
  }
  StepPlan plan = find_step(kernel(), motion, choice, swept_.sweep);
  if (plan.refused.text == has_loops && !unrolled_.left.empty()) plan.refused.text = unrolled_.left;
  plan.refused = said(plan.refused);
  add_conditions(plan);
  return plan;
}

// That the kernel at hand does what the program's own one does.
void StepKernel::add_conditions(StepPlan& plan) const {
  if (!plan.refused.empty()) return;
  const auto add = [&](const std::vector<contract::Condition>& more) {
    plan.conditions.insert(plan.conditions.end(), more.begin(), more.end());
    if (plan.copy)
      plan.copy->conditions.insert(plan.copy->conditions.end(), more.begin(), more.end());
  };
  add(unrolled_.conditions);
  if (untiled_) add(untiled_->conditions);
  if (enough_) add(enough_->conditions);
}

} // namespace ptxasw::passes
