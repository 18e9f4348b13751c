// See coarsen.hpp for the shape of the result.
#include "rewrite/coarsen.hpp"

#include "reuse/block_rules.hpp"
#include "rewrite/coarsen_axes.hpp"
#include "rewrite/coarsen_bound.hpp"
#include "rewrite/coarsen_names.hpp"
#include "rewrite/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ptxasw::rewrite {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::OperandKind;
using ptx::RegId;
using ptx::StatementKind;
using reuse::BlockLoad;
using reuse::CopyLoad;

namespace {

bool ends_thread(const Inst& inst) {
  return inst.op == ptx::Op::ret || inst.op == ptx::Op::exit;
}

class Coarsener {
public:
  Coarsener(const emulator::Kernel& kernel, const reuse::BlockPlan& plan,
            const CoarsenOptions& options, CoarsenReport& report)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), plan_(plan), report_(report),
        names_(body_, plan), registers_(module_), labels_(label_prefix(module_)),
        axes_(plan, options.host, labels_, registers_) {
    const auto statements = module_.body_of(*body_.function);
    inside_ = statements.subspan(1, statements.size() - 2);
    for (std::size_t n = 0; n < plan.loads.size(); ++n)
      load_of_[k_.trace.events[plan.loads[n].event].inst] = n;
    find_kept_values();
  }

  std::vector<ptx::Edit> run() {
    if (!plan_.refused.empty()) return {};
    axes_.enter(text_);
    check_bound(k_, plan_, axes_, labels_, registers_, text_);
    lockstep();
    axes_.open_loops(text_);
    text_.line("{{");
    original_body();
    text_.line("}}");
    axes_.close_loops(text_);
    const auto statements = module_.body_of(*body_.function);
    return {{{statements.front().range.end, statements.back().range.begin},
             fmt::format("\n{}{}", registers_.declarations(), text_.all)}};
  }

private:
  // --- Lockstep --------------------------------------------------------------------------------

  void lockstep() {
    text_.line("// ptxasw: all copies together");
    text_.line("{{");
    text_.all += names_.declarations();
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    bool open_end = true;
    for (const ptx::Statement& statement : inside_) {
      text_.all += module_.slice({done, statement.range.begin});
      done = statement.range.end;
      if (statement.kind == StatementKind::instruction) {
        const Inst& inst = body_.insts[next];
        instruction(next++);
        open_end = !(ends_thread(inst) && inst.guard == ptx::none);
      } else {
        open_end |= statement.kind == StatementKind::label;
        text_.all += module_.slice(statement.range);
      }
    }
    if (open_end) text_.line("ret;");
    text_.line("}}");
  }

  void instruction(InstId id) {
    const Inst& inst = body_.insts[id];
    ++report_.instructions;
    const auto load = load_of_.find(id);
    if (load != load_of_.end()) return emit_load(load->second);
    if (reuse::needs_agreement(k_, plan_.variance, inst)) return agree(inst);
    const bool differs = plan_.variance.differs(body_, inst);
    if (!differs) ++report_.shared;
    const unsigned count = differs ? plan_.count() : 1;
    for (unsigned copy = 0; copy < count; ++copy)
      separate(copy, in_copy(inst, copy));
    report_.emitted += count;
  }

  void separate(unsigned copy, std::string_view code) {
    if (copy > 0) text_.all += "\n\t";
    text_.all += code;
  }

  // The statement as copy `copy` executes it.
  [[nodiscard]] std::string in_copy(const Inst& inst, unsigned copy) const {
    return spliced(inst, [&](std::string_view name) -> std::string {
      if (const RegId reg = register_named(inst, name); reg != ptx::none)
        return names_.of(reg, copy);
      return axes_.in_copy(name, copy).value_or(std::string(name));
    });
  }

  [[nodiscard]] RegId register_named(const Inst& inst, std::string_view name) const {
    RegId found = ptx::none;
    const auto look = [&](RegId reg) {
      if (body_.registers[reg].name == name) found = reg;
    };
    analysis::for_each_use(body_, inst, look);
    analysis::for_each_definition(body_, inst, look);
    return found;
  }

  // The statement with the names of its operands replaced.
  template <class Rename>
  [[nodiscard]] std::string spliced(const Inst& inst, const Rename& rename) const {
    const ptx::Statement& statement = module_.statements[inst.statement];
    const ptx::Instruction& written = module_.instructions[statement.index];
    std::vector<std::string_view> leaves;
    if (!written.guard.predicate.empty()) leaves.push_back(written.guard.predicate);
    for (const ptx::Operand& operand : module_.operands_of(written))
      collect(operand, leaves);
    std::ranges::sort(leaves, {}, [](std::string_view s) { return s.data(); });
    std::string result;
    const char* done = module_.text->data() + statement.range.begin;
    for (const std::string_view leaf : leaves) {
      result.append(done, leaf.data());
      result += rename(leaf);
      done = leaf.data() + leaf.size();
    }
    result.append(done, module_.text->data() + statement.range.end);
    return result;
  }

  void collect(const ptx::Operand& operand, std::vector<std::string_view>& leaves) const {
    if (operand.kind == OperandKind::name) leaves.push_back(operand.text);
    for (const ptx::Operand& child : module_.children(operand))
      collect(child, leaves);
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
          kept.push_back(registers_.make(fmt::format("b{}", width(dst))));
      }
    }
  }

  [[nodiscard]] const Inst& inst_of(const BlockLoad& load) const {
    return body_.insts[k_.trace.events[load.event].inst];
  }
  [[nodiscard]] unsigned width(const Arg& reg) const {
    return ptx::bit_width(body_.registers[reg.id].type);
  }

  void emit_load(std::size_t index) {
    const BlockLoad& load = plan_.loads[index];
    const Inst& inst = inst_of(load);
    report_.loads += plan_.count();
    if (load.copies.size() == 1) ++report_.shared;
    std::string_view separator;
    const auto put = [&](std::string_view code) {
      text_.all += separator;
      text_.all += code;
      separator = "\n\t";
    };
    for (unsigned copy = 0; copy < load.copies.size(); ++copy) {
      if (const auto& from = load.copies[copy].from) {
        ++report_.loads_moved;
        put_moves(inst, copy, *from, load.copies[copy].needs_copy, put);
      } else {
        ++report_.loads_left;
        ++report_.emitted;
        put(in_copy(inst, copy));
      }
      const auto kept = kept_.find({index, copy});
      if (kept == kept_.end()) continue;
      const auto dst = body_.dst(inst);
      for (std::size_t n = 0; n < dst.size(); ++n)
        put(fmt::format("mov.b{} \t{}, {};", width(dst[n]), kept->second[n],
                        names_.of(dst[n].id, copy)));
    }
  }

  void put_moves(const Inst& inst, unsigned copy, const reuse::Source& from, bool needs_copy,
                 const auto& put) {
    const auto dst = body_.dst(inst), src = body_.dst(inst_of(plan_.loads[from.load]));
    std::string guard;
    if (inst.guard != ptx::none) {
      guard = fmt::format("@{}{} ", inst.guard_negated ? "!" : "", names_.of(inst.guard, copy));
    }
    for (std::size_t n = 0; n < dst.size(); ++n) {
      const std::string to = names_.of(dst[n].id, copy);
      const std::string value =
          needs_copy ? kept_.at({from.load, from.copy})[n] : names_.of(src[n].id, from.copy);
      if (to != value) put(fmt::format("{}mov.b{} \t{}, {};", guard, width(dst[n]), to, value));
    }
  }

  // --- Branches --------------------------------------------------------------------------------

  // Fall through if every copy does, leave if every copy does, else start over in the sequential
  // form. Nothing has been written yet.
  void agree(const Inst& inst) {
    const bool negated = inst.guard_negated; // then the branch is taken where the guard is false
    const std::string any = registers_.make("pred"), all = registers_.make("pred");
    const std::string first = names_.of(inst.guard, 0),
                      stay = fmt::format("{}stay_{}", labels_.prefix, report_.agreements++);
    const auto combine = [&](std::string_view op, const std::string& into) {
      std::string sum = first;
      for (unsigned copy = 1; copy < plan_.count(); ++copy) {
        separate(copy > 1 || into == all,
                 fmt::format("{}.pred \t{}, {}, {};", op, into, sum, names_.of(inst.guard, copy)));
        sum = into;
      }
    };
    combine(negated ? "and" : "or", any);
    text_.line("@{}{} bra \t{};", negated ? "" : "!", any, stay);
    combine(negated ? "or" : "and", all);
    text_.line("@{}{} {}", negated ? "!" : "", all, without_guard(inst));
    text_.line("bra \t{};", labels_.sequential);
    text_.all += fmt::format("\n{}:", stay);
    report_.emitted += 2 * plan_.count();
  }

  [[nodiscard]] std::string_view without_guard(const Inst& inst) const {
    const ptx::Statement& statement = module_.statements[inst.statement];
    const std::uint32_t mnemonic = module_.instructions[statement.index].mnemonic.begin;
    return module_.slice({mnemonic, statement.range.end});
  }

  // --- Sequential ------------------------------------------------------------------------------

  void original_body() {
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    for (const ptx::Statement& statement : inside_) {
      text_.all += module_.slice({done, statement.range.begin});
      done = statement.range.end;
      if (statement.kind != StatementKind::instruction) {
        text_.all += module_.slice(statement.range);
        continue;
      }
      const Inst& inst = body_.insts[next++];
      if (ends_thread(inst)) {
        const std::string guard =
            inst.guard == ptx::none
                ? ""
                : fmt::format("@{}{} ", inst.guard_negated ? "!" : "", names_.of(inst.guard, 0));
        text_.all += fmt::format("{}bra \t{};", guard, labels_.next);
      } else {
        text_.all += spliced(inst, [&](std::string_view name) {
          return axes_.in_loop(name).value_or(std::string(name));
        });
      }
    }
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const reuse::BlockPlan& plan_;
  CoarsenReport& report_;
  CopyNames names_;
  Registers registers_;
  FrameLabels labels_;
  CopyAxes axes_;
  std::span<const ptx::Statement> inside_; // the body without its braces
  std::map<InstId, std::size_t> load_of_;
  std::map<std::pair<std::size_t, unsigned>, std::vector<std::string>> kept_;
  Text text_;
};

} // namespace

std::vector<ptx::Edit> coarsen(const emulator::Kernel& kernel, const reuse::BlockPlan& plan,
                               const CoarsenOptions& options, CoarsenReport& report) {
  report = {.copies = plan.count()};
  if (!plan.refused.empty()) return {};
  return Coarsener(kernel, plan, options, report).run();
}

} // namespace ptxasw::rewrite
