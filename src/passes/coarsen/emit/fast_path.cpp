// Statement by statement, as the plan orders them.
#include "passes/coarsen/emit/fast_path.hpp"

#include "passes/coarsen/emit/leading_trivia.hpp"
#include "passes/coarsen/find/region_loads.hpp"
#include "passes/shared/block_rules.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::StatementKind;
using namespace ptx::words;

namespace {

class FastPath {
public:
  explicit FastPath(Draft& draft)
      : draft_(draft), body_(draft.body), module_(draft.module), plan_(draft.plan),
        names_(draft.names), code_(draft.code), report_(draft.report),
        leads_(body_, draft.inside, code_) {
    for (std::size_t n = 0; n < plan_.loads.size(); ++n)
      load_of_[draft.k.trace.events[plan_.loads[n].event].inst] = n;
  }

  void run() {
    code_.comment("ptxasw: fast path");
    code_.statement("{");
    code_.all += names_.declarations();
    std::uint32_t done = ptx::brace_of(body_).end;
    InstId next = 0;
    auto step = plan_.schedule.steps.begin();
    auto region = plan_.regions.begin();
    for (std::size_t n = 0; n < draft_.inside.size(); ++n) {
      const ptx::Statement& statement = draft_.inside[n];
      const bool here = region != plan_.regions.end() && begins(*region, n, next);
      if (!here && statement.kind != StatementKind::instruction) {
        if (statement.kind != StatementKind::location && !draft_.is_shared(statement))
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
      done = draft_.inside[n].range.end;
    }
    draft_.close_body();
  }

private:
  // --- Regions: what stands copy after copy ---------------------------------------------------

  // At a statement of the body without its brace; `next` is the instruction that stands there or
  // behind it.
  [[nodiscard]] bool begins(const Region& region, std::size_t statement, InstId next) const {
    if (region.opens != ptx::none) return statement + 1 == region.opens;
    return draft_.inside[statement].kind == StatementKind::instruction && next == region.first;
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
  std::size_t write_region(const Region& region, std::size_t first) {
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
        const ptx::Statement& statement = draft_.inside[n];
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

  [[nodiscard]] bool is_target(const Region& region, InstId inst) const {
    for (InstId i = region.first; i < region.end; ++i) {
      if (std::ranges::count(body_.targets_of(body_.insts[i]), inst) != 0) return true;
    }
    return false;
  }

  [[nodiscard]] std::string region_label(const Region& region, InstId target, unsigned copy) const {
    const char* what = target == region.end ? "meet" : "part";
    return fmt::format("{}{}_{}_{}", draft_.labels.prefix, what, target, copy);
  }

  // A branch in a region, which leads to a label of the copy; empty for what is none.
  std::string branch_in_region(const Inst& inst, unsigned copy) {
    if (inst.op != ptx::Op::bra) return {};
    const auto id = static_cast<InstId>(&inst - body_.insts.data());
    for (const Region& region : plan_.regions) {
      if (id < region.first || id >= region.end) continue;
      Code code(draft_.registers);
      const auto branch = code.when(guard_of(inst, copy));
      const std::string target = region_label(region, body_.targets_of(inst).front(), copy);
      inst.mods.uni ? branch.bra_uni(target) : branch.bra(target);
      return code.in_place();
    }
    return {};
  }

  void write(const Step& step) {
    const std::string code = code_of(step.inst, step.copy);
    leads_.write(step.inst, step.copy == 0, !code.empty());
    code_.all += code;
  }

  // What the fast path has of an instruction for one copy; what stands once is copy 0's.
  std::string code_of(InstId id, unsigned copy) {
    const Inst& inst = body_.insts[id];
    if (copy == 0) ++report_.instructions;
    const auto load = load_of_.find(id);
    if (load != load_of_.end()) return load_code(load->second, copy);
    if (needs_agreement(draft_.k, plan_.replica_divergence, inst))
      return copy == 0 ? agree(inst) : "";
    const bool differs = plan_.replica_divergence.differs(body_, inst);
    if (copy > 0 && !differs) return {};
    if (!differs) ++report_.shared;
    ++report_.emitted;
    return in_copy(inst, copy);
  }

  // The statement as copy `copy` executes it.
  std::string in_copy(const Inst& inst, unsigned copy) {
    if (std::string branch = branch_in_region(inst, copy); !branch.empty()) return branch;
    return in_copy(ptx::range_of(body_, inst), copy);
  }

  std::string in_copy(ptx::Range piece, unsigned copy) {
    return draft_.original.copied(piece, [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg) return names_.of(m.arg.id, copy).name;
      if (m.arg.kind == Arg::Kind::symbol) return names_.of_symbol(m.arg.id, copy);
      return draft_.special_name(m, draft_.axes.in_copy(m.arg.special, copy));
    });
  }

  // --- Loads -----------------------------------------------------------------------------------

  [[nodiscard]] ptx::Predicate guard_of(const Inst& inst, unsigned copy) const {
    if (inst.guard == ptx::none) return {};
    return {names_.of(inst.guard, copy), inst.guard_negated};
  }

  std::string load_code(std::size_t index, unsigned copy) {
    const BlockLoad& load = plan_.loads[index];
    const Inst& inst = draft_.inst_of(load);
    ++report_.loads;
    if (copy >= load.copies.size()) return {};
    if (load.copies.size() == 1) ++report_.shared;
    if (const auto& from = load.copies[copy].from) {
      ++report_.loads_moved;
      if (load.copies[copy].if_entered) return moves_if_entered(inst, copy, *from);
      return moves(inst, copy, *from, load.copies[copy].needs_copy) + kept(index, copy);
    }
    ++report_.loads_left;
    ++report_.emitted;
    return in_copy(inst, copy) + kept(index, copy);
  }

  // Copies of the value just loaded, where its register will not keep it.
  std::string kept(std::size_t index, unsigned copy) {
    const auto found = draft_.kept.find({index, copy});
    if (found == draft_.kept.end()) return {};
    Code code(draft_.registers);
    const auto dst = body_.dst(draft_.inst_of(plan_.loads[index]));
    for (std::size_t n = 0; n < dst.size(); ++n)
      code.move(found->second[n], names_.of(dst[n].id, copy));
    return code.behind();
  }

  std::string moves(const Inst& inst, unsigned copy, const Source& from, bool needs_copy) {
    const auto dst = body_.dst(inst), src = body_.dst(draft_.inst_of(plan_.loads[from.load]));
    Code code(draft_.registers);
    for (std::size_t n = 0; n < dst.size(); ++n) {
      const Reg to = names_.of(dst[n].id, copy);
      const Reg value =
          needs_copy ? draft_.kept.at({from.load, from.copy})[n] : names_.of(src[n].id, from.copy);
      if (to.name != value.name) code.when(guard_of(inst, copy)).move(to, value);
    }
    return code.in_place();
  }

  // What the source's copy has loaded, unless it passed the region by: then this one loads.
  std::string moves_if_entered(const Inst& inst, unsigned copy, const Source& from) {
    const Inst& branch = body_.insts[entry_of(body_, plan_.regions, inst)];
    const ptx::Predicate passes_by = guard_of(branch, from.copy);
    const auto dst = body_.dst(inst), src = body_.dst(draft_.inst_of(plan_.loads[from.load]));
    Code code(draft_.registers);
    code.when(passes_by).statement(in_copy(behind_guard(body_, inst), copy));
    for (std::size_t n = 0; n < dst.size(); ++n)
      code.unless(passes_by).move(names_.of(dst[n].id, copy), names_.of(src[n].id, from.copy));
    ++report_.emitted;
    return code.in_place();
  }

  // --- Branches --------------------------------------------------------------------------------

  // Fall through if every copy does, leave if every copy does, else start over in the sequential
  // form. Nothing has been written yet.
  std::string agree(const Inst& inst) {
    const bool negated = inst.guard_negated; // then the branch is taken where the guard is false
    const std::string stay = fmt::format("{}stay_{}", draft_.labels.prefix, report_.agreements++);
    Code code(draft_.registers);
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
    code.bra(draft_.labels.sequential);
    code.label(stay);
    report_.emitted += 2 * plan_.count();
    return code.in_place();
  }

  Draft& draft_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const BlockPlan& plan_;
  const CopyNames& names_;
  Code& code_;
  CoarsenReport& report_;
  Leads leads_;
  std::map<InstId, std::size_t> load_of_;
};

} // namespace

void write_fast_path(Draft& draft) {
  FastPath(draft).run();
}

} // namespace ptxasw::passes
