// Emits a coarsened kernel, its frame first.
#include "passes/coarsen/coarsen.hpp"

#include "passes/coarsen/axes.hpp"
#include "passes/coarsen/bound.hpp"
#include "passes/coarsen/copy_names.hpp"
#include "passes/coarsen/guard.hpp"
#include "passes/coarsen/leads.hpp"
#include "passes/coarsen/original.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/shared/meant.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/shared/register_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ptxasw::passes {

using passes::BlockLoad;
using passes::CopyLoad;
using ptx::Arg;
using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::StatementKind;
using namespace ptx::words;

namespace {

constexpr std::string_view grid_parameter = "ptxasw_original_grid";

// Each form of the body has registers of its own.
constexpr unsigned in_sequence = ~0U, by_itself = ~0U - 1;

class Coarsener {
public:
  Coarsener(const emulator::Kernel& kernel, const passes::BlockPlan& plan,
            const CoarsenOptions& options, CoarsenReport& report)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), plan_(plan),
        options_(options), report_(report), original_(body_), names_(original_, plan),
        registers_(module_), labels_(label_prefix(module_)),
        axes_(plan, options.grid, std::string(grid_parameter), labels_), inside_(inside(body_)),
        code_(registers_), leads_(body_, inside_, code_) {
    for (std::size_t n = 0; n < plan.loads.size(); ++n)
      load_of_[k_.trace.events[plan.loads[n].event].inst] = n;
    find_kept_values();
  }

  std::vector<ptx::Edit> run() {
    if (!plan_.refused.empty()) return {};
    if (options_.grid == CoarsenGrid::host) note_grid();
    note_groups();
    code_.all += names_.shared_declarations();
    if (options_.grid == CoarsenGrid::kernel) originals();
    if (has_rest()) rest_of_the_grid();
    axes_.enter(code_);
    check_bound(k_, plan_, axes_, labels_, code_);
    lockstep();
    if (report_.agreements != 0 || !plan_.bound.empty() ||
        (options_.grid == CoarsenGrid::launcher && !has_rest()))
      sequential();
    code_.all += "\n";
    const auto statements = module_.body_of(*body_.function);
    const ptx::Range brace = statements.front().range;
    std::vector<ptx::Edit> edits{
        {{brace.end, statements.back().range.begin},
         fmt::format("\n{}{}", registers_.declarations(), code_.behind())}};
    if (auto limit = register_limit(body_, options_.registers)) edits.push_back(std::move(*limit));
    if (options_.grid == CoarsenGrid::launcher) {
      edits.push_back(append_parameter(module_, *body_.function,
                                       fmt::format(".param .align 4 .b8 {}[12]", grid_parameter)));
    }
    return edits;
  }

private:
  // For the host, or whoever writes its launch: one line of JSON.
  void note_grid() {
    code_.comment(fmt::format(
        "ptxasw-launch: {{\"kernel\": \"{}\", \"grid_divided_by\": [{}, {}, {}]}}",
        body_.function->name, plan_.axes[0].factor, plan_.axes[1].factor, plan_.axes[2].factor));
  }

  void note_groups() {
    std::string groups;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (plan_.axes[axis].factor > 1)
        groups += fmt::format(" {} along {}", plan_.axes[axis].factor, "xyz"[axis]);
    }
    code_.comment("ptxasw: one block does the work of" + groups);
  }

  [[nodiscard]] bool is_shared(const ptx::Statement& statement) const {
    return statement.kind == StatementKind::variable &&
           module_.variables[statement.index].space == ptx::Space::shared;
  }

  // --- Lockstep --------------------------------------------------------------------------------

  void lockstep() {
    code_.comment("ptxasw: all copies together");
    code_.statement("{");
    code_.all += names_.declarations();
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    auto step = plan_.schedule.steps.begin();
    auto region = plan_.regions.begin();
    for (std::size_t n = 0; n < inside_.size(); ++n) {
      const ptx::Statement& statement = inside_[n];
      const bool here = region != plan_.regions.end() && begins(*region, n, next);
      if (!here && statement.kind != StatementKind::instruction) {
        if (statement.kind != StatementKind::location && !is_shared(statement))
          code_.all += module_.slice({done, statement.range.end});
      } else if (here) {
        n = write_region(*region, n);
        for (next = region->end; step != plan_.schedule.steps.end() && step->inst < next;)
          ++step;
        ++region;
      } else {
        // Its segment is written where its first instruction stands.
        const std::uint32_t segment = plan_.schedule.segment[next++];
        for (; step != plan_.schedule.steps.end() && plan_.schedule.segment[step->inst] == segment;
             ++step)
          write(*step);
      }
      done = inside_[n].range.end;
    }
    close_body();
  }

  // At a statement of the body without its brace; `next` is the instruction that stands there or
  // behind it.
  [[nodiscard]] bool begins(const passes::Region& region, std::size_t statement,
                            InstId next) const {
    if (region.opens != ptx::none) return statement + 1 == region.opens;
    return inside_[statement].kind == StatementKind::instruction && next == region.first;
  }

  // The parameters of a call and the braces around them.
  [[nodiscard]] bool is_of_a_call(const ptx::Statement& statement) const {
    return statement.kind == StatementKind::scope_open ||
           statement.kind == StatementKind::scope_close ||
           (statement.kind == StatementKind::variable &&
            module_.variables[statement.index].space == ptx::Space::param);
  }

  // Copy after copy, each with labels of its own, from the first statement of the region on; the
  // last one is returned.
  std::size_t write_region(const passes::Region& region, std::size_t first) {
    std::size_t last = first;
    for (unsigned copy = 0; copy < plan_.count(); ++copy) {
      InstId next = region.first, labelled = ptx::none;
      const auto label = [&] {
        if (labelled != next && is_target(region, next))
          code_.label(region_label(region, next, copy));
        labelled = next;
      };
      label(); // its own stands in front of the region
      const std::size_t closes = region.closes == ptx::none ? 0 : region.closes - 1;
      for (std::size_t n = first; next < region.end || n <= closes; ++n) {
        const ptx::Statement& statement = inside_[n];
        last = n;
        if (statement.kind == StatementKind::instruction) {
          write({next++, copy});
        } else if (statement.kind == StatementKind::label) {
          label(); // ahead of the scopes that begin behind it
        } else if (is_of_a_call(statement) ||
                   (copy == 0 && statement.kind != StatementKind::location)) {
          code_.statement(module_.slice(statement.range));
        }
      }
      code_.label(region_label(region, region.end, copy));
    }
    return last;
  }

  [[nodiscard]] bool is_target(const passes::Region& region, InstId inst) const {
    for (InstId i = region.first; i < region.end; ++i) {
      if (std::ranges::count(body_.targets_of(body_.insts[i]), inst) != 0) return true;
    }
    return false;
  }

  [[nodiscard]] std::string region_label(const passes::Region& region, InstId target,
                                         unsigned copy) const {
    const char* what = target == region.end ? "meet" : "part";
    return fmt::format("{}{}_{}_{}", labels_.prefix, what, target, copy);
  }

  // A branch in a region, which leads to a label of the copy; empty for what is none.
  std::string branch_in_region(const Inst& inst, unsigned copy) {
    if (inst.op != ptx::Op::bra) return {};
    const auto id = static_cast<InstId>(&inst - body_.insts.data());
    for (const passes::Region& region : plan_.regions) {
      if (id < region.first || id >= region.end) continue;
      Code code(registers_);
      const auto branch = code.when(guard_of(inst, copy));
      const std::string target = region_label(region, body_.targets_of(inst).front(), copy);
      inst.mods.uni ? branch.bra_uni(target) : branch.bra(target);
      return code.in_place();
    }
    return {};
  }

  void write(const passes::Step& step) {
    const std::string code = code_of(step.inst, step.copy);
    leads_.write(step.inst, step.copy == 0, !code.empty());
    code_.all += code;
  }

  void close_body() {
    if (open_end(body_)) code_.ret();
    code_.statement("}");
  }

  // What the lockstep form has of an instruction for one copy; what stands once is copy 0's.
  std::string code_of(InstId id, unsigned copy) {
    const Inst& inst = body_.insts[id];
    if (copy == 0) ++report_.instructions;
    const auto load = load_of_.find(id);
    if (load != load_of_.end()) return load_code(load->second, copy);
    if (passes::needs_agreement(k_, plan_.variance, inst)) return copy == 0 ? agree(inst) : "";
    const bool differs = plan_.variance.differs(body_, inst);
    if (copy > 0 && !differs) return {};
    if (!differs) ++report_.shared;
    ++report_.emitted;
    return in_copy(inst, copy);
  }

  // The statement as copy `copy` executes it.
  std::string in_copy(const Inst& inst, unsigned copy) {
    if (std::string branch = branch_in_region(inst, copy); !branch.empty()) return branch;
    return original_.copied(range_of(inst), [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg) return names_.of(m.arg.id, copy).name;
      if (m.arg.kind == Arg::Kind::symbol) return names_.of_symbol(m.arg.id, copy);
      return special_name(m, axes_.in_copy(m.arg.special, copy));
    });
  }

  [[nodiscard]] ptx::Range range_of(const Inst& inst) const {
    return module_.statements[inst.statement].range;
  }

  // --- Loads -----------------------------------------------------------------------------------

  // Sources whose register is written again before the value is needed.
  void find_kept_values() {
    for (const BlockLoad& load : plan_.loads) {
      for (const CopyLoad& copy : load.copies) {
        if (!copy.from || !copy.needs_copy) continue;
        auto& kept = kept_[{copy.from->load, copy.from->copy}];
        if (!kept.empty()) continue;
        for (const Arg& dst : body_.dst(inst_of(plan_.loads[copy.from->load])))
          kept.push_back(registers_.make(ptx::bits(ptx::bit_width(body_.registers[dst.id].type))));
      }
    }
  }

  [[nodiscard]] const Inst& inst_of(const BlockLoad& load) const {
    return body_.insts[k_.trace.events[load.event].inst];
  }
  [[nodiscard]] ptx::Predicate guard_of(const Inst& inst, unsigned copy) const {
    if (inst.guard == ptx::none) return {};
    return {names_.of(inst.guard, copy), inst.guard_negated};
  }

  std::string load_code(std::size_t index, unsigned copy) {
    const BlockLoad& load = plan_.loads[index];
    const Inst& inst = inst_of(load);
    ++report_.loads;
    if (copy >= load.copies.size()) return {};
    if (load.copies.size() == 1) ++report_.shared;
    if (const auto& from = load.copies[copy].from) {
      ++report_.loads_moved;
      return moves(inst, copy, *from, load.copies[copy].needs_copy) + kept(index, copy);
    }
    ++report_.loads_left;
    ++report_.emitted;
    return in_copy(inst, copy) + kept(index, copy);
  }

  // Copies of the value just loaded, where its register will not keep it.
  std::string kept(std::size_t index, unsigned copy) {
    const auto found = kept_.find({index, copy});
    if (found == kept_.end()) return {};
    Code code(registers_);
    const auto dst = body_.dst(inst_of(plan_.loads[index]));
    for (std::size_t n = 0; n < dst.size(); ++n)
      code.move(found->second[n], names_.of(dst[n].id, copy));
    return code.behind();
  }

  std::string moves(const Inst& inst, unsigned copy, const passes::Source& from, bool needs_copy) {
    const auto dst = body_.dst(inst), src = body_.dst(inst_of(plan_.loads[from.load]));
    Code code(registers_);
    for (std::size_t n = 0; n < dst.size(); ++n) {
      const Reg to = names_.of(dst[n].id, copy);
      const Reg value =
          needs_copy ? kept_.at({from.load, from.copy})[n] : names_.of(src[n].id, from.copy);
      if (to.name != value.name) code.when(guard_of(inst, copy)).move(to, value);
    }
    return code.in_place();
  }

  // --- Branches --------------------------------------------------------------------------------

  // Fall through if every copy does, leave if every copy does, else start over in the sequential
  // form. Nothing has been written yet.
  std::string agree(const Inst& inst) {
    const bool negated = inst.guard_negated; // then the branch is taken where the guard is false
    const std::string stay = fmt::format("{}stay_{}", labels_.prefix, report_.agreements++);
    Code code(registers_);
    const auto combined = [&](ptx::Op op) {
      const Reg into = code.make(pred);
      Reg all = names_.of(inst.guard, 0);
      for (unsigned copy = 1; copy < plan_.count(); ++copy)
        all = code.into(into).op(op, pred, all, names_.of(inst.guard, copy));
      return all;
    };
    const Reg any = combined(negated ? ptx::Op::and_ : ptx::Op::or_);
    code.unless({any, negated}).bra(stay);
    const Reg all = combined(negated ? ptx::Op::or_ : ptx::Op::and_);
    code.when({all, negated}).statement(module_.slice(behind_guard(body_, inst)));
    code.bra(labels_.sequential);
    code.label(stay);
    report_.emitted += 2 * plan_.count();
    return code.in_place();
  }

  // --- The original body -----------------------------------------------------------------------

  // For one block of the original grid.
  [[nodiscard]] std::string for_one(const Inst& inst, unsigned form) const {
    return original_.copied(range_of(inst), [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg) return original_.name(m.arg.id, form);
      if (m.arg.kind == Arg::Kind::symbol) return names_.of_symbol(m.arg.id, 0);
      return special_name(m, axes_.in_loop(m.arg.special));
    });
  }

  // What a mention of neither a register nor a variable becomes.
  [[nodiscard]] std::string special_name(const ptx::Mention& m,
                                         const std::optional<Reg>& instead) const {
    const bool moves = instead && m.arg.kind == Arg::Kind::special;
    return moves ? instead->name : std::string(module_.slice(m.where));
  }

  // Blocks whose threads meet are merged as a whole, so that what fills no group has to stand by
  // itself (passes/coarsen/axes.hpp).
  [[nodiscard]] bool has_rest() const {
    return plan_.uniform && options_.grid == CoarsenGrid::launcher;
  }

  void rest_of_the_grid() {
    code_.unless(axes_.rest(code_)).bra(labels_.merged);
    code_.comment("ptxasw: a block by itself");
    code_.statement("{");
    write_body([&](const Inst& inst) { return for_one(inst, by_itself); });
    close_body();
    code_.label(labels_.merged);
  }

  // Threads that meet go on to the next block together, from wherever each has ended in the last
  // one: lanes need not be side by side there, which bar.sync asks for.
  [[nodiscard]] std::string_view meeting() const {
    if (!plan_.uniform) return {};
    return module_.version_major >= 6 ? "barrier.sync \t0;" : "bar.sync \t0;";
  }

  void sequential() {
    axes_.open_loops(code_);
    code_.statement("{");
    write_body([&](const Inst& inst) {
      if (!ends_thread(inst)) return for_one(inst, in_sequence);
      Code leave(registers_);
      leave.when(original_.guard(inst, in_sequence)).bra(labels_.next);
      return leave.in_place();
    });
    code_.statement("}");
    axes_.close_loops(code_, meeting());
  }

  // Where each block does its own work. Whoever is not merged runs this one body, which nothing but
  // the question stands in front of: it shares no values with what follows, so that ptxas makes of
  // it what it made of the kernel (sass/same_body.hpp looks whether it did).
  void originals() {
    const LaunchSize size(body_, options_.least_threads);
    if (options_.least_threads == 0) {
      code_.unless(axes_.alone(code_, {})).bra(labels_.merged);
      by_itself_body();
      code_.label(labels_.merged);
      return;
    }
    const auto merged =
        std::ranges::find_if(plan_.axes, [](const auto& axis) { return axis.factor > 1; });
    const auto axis = static_cast<unsigned>(merged - plan_.axes.begin());
    code_.when(size.has_enough_along(axis, code_)).bra(labels_.large);
    code_.label(labels_.small);
    by_itself_body();
    code_.label(labels_.large);
    code_.when(axes_.alone(code_, size.is_small(code_))).bra(labels_.small);
  }

  void by_itself_body() {
    code_.comment("ptxasw: a block by itself");
    code_.statement("{");
    write_body([&](const Inst& inst) { return as_it_stands(inst); });
    close_body();
  }

  [[nodiscard]] std::string as_it_stands(const Inst& inst) const {
    return original_.copied(range_of(inst), [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg) return original_.name(m.arg.id, by_itself);
      if (m.arg.kind == Arg::Kind::symbol) return names_.of_symbol(m.arg.id, 0);
      return std::string(module_.slice(m.where));
    });
  }

  template <class Write> void write_body(const Write& write) {
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    for (const ptx::Statement& statement : inside_) {
      code_.all += module_.slice({done, statement.range.begin});
      done = statement.range.end;
      const bool is_instruction = statement.kind == StatementKind::instruction;
      if (is_instruction)
        code_.all += write(body_.insts[next++]);
      else if (!is_shared(statement))
        code_.all += module_.slice(statement.range);
    }
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const passes::BlockPlan& plan_;
  CoarsenOptions options_;
  CoarsenReport& report_;
  Names original_;
  CopyNames names_;
  ptx::FreshRegisters registers_;
  FrameLabels labels_;
  CopyAxes axes_;
  std::span<const ptx::Statement> inside_; // the body without its braces
  Code code_;
  Leads leads_;
  std::map<InstId, std::size_t> load_of_;
  std::map<std::pair<std::size_t, unsigned>, std::vector<Reg>> kept_;
};

} // namespace

bool can_divide(CoarsenGrid grid, const passes::BlockPlan& plan) {
  const auto divided = [](const auto& axis) { return axis.factor > 1; };
  return grid != CoarsenGrid::launcher || !plan.uniform ||
         std::ranges::count_if(plan.axes, divided) <= 1;
}

std::vector<ptx::Edit> coarsen(const emulator::Kernel& kernel, const passes::BlockPlan& plan,
                               const CoarsenOptions& options, CoarsenReport& report) {
  report = {.copies = plan.count()};
  if (!plan.refused.empty()) return {};
  if (!can_divide(options.grid, plan)) return {};
  return Coarsener(kernel, plan, options, report).run();
}

} // namespace ptxasw::passes
