// The frame of a coarsened kernel and its fallback bodies; the fast path is fast_path.cpp's.
#include "passes/coarsen/emit/coarsen.hpp"

#include "passes/coarsen/emit/bound.hpp"
#include "passes/coarsen/emit/draft.hpp"
#include "passes/coarsen/emit/fallback.hpp"
#include "passes/coarsen/emit/fast_path.hpp"
#include "passes/coarsen/emit/guard.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/shared/register_limit.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::StatementKind;

namespace {

// Each form of the body has registers of its own.
constexpr unsigned in_sequence = ~0U, by_itself = ~0U - 1;

class Coarsener : Draft {
public:
  Coarsener(const emulator::Kernel& kernel, const BlockPlan& block_plan,
            const CoarsenOptions& options, CoarsenReport& counted)
      : Draft(kernel, block_plan, options.grid, counted), options_(options) {}

  std::vector<ptx::Edit> run() {
    if (options_.grid == CoarsenGrid::host) note_grid();
    note_groups();
    code.all += names.shared_declarations();
    if (options_.grid == CoarsenGrid::kernel) write_guarded_fallback();
    if (has_remainder()) write_remainder();
    axes.enter(code);
    check_bound(k, plan, axes, labels, code);
    write_fast_path(*this);
    if (report.agreements != 0 || !plan.bound.empty() ||
        (options_.grid == CoarsenGrid::launcher && !has_remainder()))
      write_sequential();
    code.all += "\n";
    const auto statements = module.body_of(*body.function);
    std::vector<ptx::Edit> edits{{{statements.front().range.end, statements.back().range.begin},
                                  fmt::format("\n{}{}", registers.declarations(), code.behind())}};
    if (auto limit = register_limit(body, options_.registers)) edits.push_back(std::move(*limit));
    if (options_.grid == CoarsenGrid::launcher)
      edits.push_back(append_parameter(module, *body.function,
                                       fmt::format(".param .align 4 .b8 {}[12]", grid_parameter)));
    return edits;
  }

private:
  // For the host, or whoever writes its launch: one line of JSON.
  void note_grid() {
    code.comment(fmt::format(
        "ptxasw-launch: {{\"kernel\": \"{}\", \"grid_divided_by\": [{}, {}, {}]}}",
        body.function->name, plan.axes[0].factor, plan.axes[1].factor, plan.axes[2].factor));
  }

  void note_groups() {
    std::string groups;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (plan.axes[axis].factor > 1)
        groups += fmt::format(" {} along {}", plan.axes[axis].factor, "xyz"[axis]);
    code.comment("ptxasw: one block does the work of" + groups);
  }

  // --- The fallback: each block does its own work ----------------------------------------------

  // Whoever is not merged runs this one body, which nothing but the guard stands in front of: it
  // shares no values with what follows, so that ptxas makes of it what it made of the kernel
  // (sass/same_body.hpp looks whether it did).
  void write_guarded_fallback() {
    if (options_.least_threads == 0) {
      code.unless(axes.alone(code, {})).bra(labels.merged);
      write_by_itself(false);
      code.label(labels.merged);
      return;
    }
    const LaunchSize size(body, options_.least_threads);
    const auto merged =
        std::ranges::find_if(plan.axes, [](const auto& axis) { return axis.factor > 1; });
    const auto axis = static_cast<unsigned>(merged - plan.axes.begin());
    code.when(size.has_enough_along(axis, code)).bra(labels.large);
    code.label(labels.small);
    write_by_itself(false);
    code.label(labels.large);
    code.when(axes.alone(code, size.is_small(code))).bra(labels.small);
  }

  // Blocks whose threads synchronize are merged as a whole, so that what fills no group has to
  // stand by itself (passes/coarsen/emit/axes.hpp).
  [[nodiscard]] bool has_remainder() const {
    return plan.uniform && options_.grid == CoarsenGrid::launcher;
  }

  void write_remainder() {
    code.unless(axes.rest(code)).bra(labels.merged);
    write_by_itself(true);
    code.label(labels.merged);
  }

  // `moved`: %ctaid is that of the original grid.
  void write_by_itself(bool moved) {
    code.comment("ptxasw: fallback body");
    code.statement("{");
    write_body([&](const Inst& inst) { return for_one(inst, by_itself, moved); });
    close_body();
  }

  // --- Copy by copy ----------------------------------------------------------------------------

  void write_sequential() {
    axes.open_loops(code);
    code.statement("{");
    write_body([&](const Inst& inst) {
      if (!ends_thread(inst)) return for_one(inst, in_sequence, true);
      Code leave(registers);
      leave.when(original.guard(inst, in_sequence)).bra(labels.next);
      return leave.in_place();
    });
    code.statement("}");
    axes.close_loops(code, synchronization());
  }

  // Threads that synchronize go on to the next block together, from wherever each has ended in the
  // last one: lanes need not be side by side there, which bar.sync asks for.
  [[nodiscard]] std::string_view synchronization() const {
    if (!plan.uniform) return {};
    return module.version_major >= 6 ? "barrier.sync \t0;" : "bar.sync \t0;";
  }

  // --- The body as it stands -------------------------------------------------------------------

  template <class Write> void write_body(const Write& write) {
    std::uint32_t done = ptx::brace_of(body).end;
    InstId next = 0;
    for (const ptx::Statement& statement : inside) {
      code.all += module.slice({done, statement.range.begin});
      done = statement.range.end;
      if (statement.kind == StatementKind::instruction)
        code.all += write(body.insts[next++]);
      else if (!is_shared(statement))
        code.all += module.slice(statement.range);
    }
  }

  // For one block of the original grid.
  [[nodiscard]] std::string for_one(const Inst& inst, unsigned form, bool moved) const {
    return original.copied(ptx::range_of(body, inst), [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg) return original.name(m.arg.id, form);
      if (m.arg.kind == Arg::Kind::symbol) return names.of_symbol(m.arg.id, 0);
      return special_name(m, moved ? axes.in_loop(m.arg.special) : std::nullopt);
    });
  }

  CoarsenOptions options_;
};

} // namespace

bool can_divide(CoarsenGrid grid, const BlockPlan& plan) {
  const auto divided = [](const auto& axis) { return axis.factor > 1; };
  return grid != CoarsenGrid::launcher || !plan.uniform ||
         std::ranges::count_if(plan.axes, divided) <= 1;
}

std::vector<ptx::Edit> coarsen(const emulator::Kernel& kernel, const BlockPlan& plan,
                               const CoarsenOptions& options, CoarsenReport& report) {
  report = {.copies = plan.count()};
  if (!plan.refused.empty() || !can_divide(options.grid, plan)) return {};
  return Coarsener(kernel, plan, options, report).run();
}

} // namespace ptxasw::passes
