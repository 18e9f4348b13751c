// Emits loops that carry values from iteration to iteration. All that is put at an instruction is
// gathered first, so that one edit makes it.
#include "passes/loop_carry/emit.hpp"

#include "passes/shared/bindings.hpp"
#include "passes/shared/index_checks.hpp"
#include "ptx/build.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using namespace ptx::words;

namespace {

class CarryWriter {
public:
  CarryWriter(const emulator::Kernel& kernel, LoopCarryPlan& plan)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), plan_(plan),
        registers_(module_), names_(kernel.body), checks_(kernel, names_),
        prefix_(label_prefix(module_) + "rotated_") {}

  std::vector<ptx::Edit> run() {
    for (CarriedLoop& loop : plan_.loops)
      drop_unnameable(loop);
    std::erase_if(plan_.loops, [](const CarriedLoop& loop) { return loop.loads.empty(); });
    if (plan_.loops.empty()) return {};
    for (const CarriedLoop& loop : plan_.loops)
      write_loop(loop);
    for (const auto& [inst, change] : changes_)
      edits_.push_back(edit_of(inst, change));
    edits_.push_back(registers_.declared_at(names_.body_start()));
    return std::move(edits_);
  }

private:
  struct Change {
    std::string ahead, instead, behind; // lines; `instead` empty: as it was
  };

  [[nodiscard]] InstId inst_of(std::size_t event) const { return k_.trace.events[event].inst; }
  [[nodiscard]] const ptx::Statement& statement_of(InstId inst) const {
    return ptx::statement_of(body_, body_.insts[inst]);
  }
  [[nodiscard]] std::span<const Arg> results(std::size_t event) const {
    return body_.dst(body_.insts[inst_of(event)]);
  }
  // Registers for the values of others.
  std::vector<Reg> fresh(std::span<const Arg> others) {
    std::vector<Reg> made;
    for (const Arg& other : others)
      made.push_back(registers_.make(ptx::bits(ptx::bit_width(body_.registers[other.id].type))));
    return made;
  }
  [[nodiscard]] InstId back_of(const CarriedLoop& loop) const {
    return k_.cfg.blocks[loop.block].end - 1;
  }

  [[nodiscard]] ptx::Edit edit_of(InstId inst, const Change& change) const {
    const ptx::Range range = statement_of(inst).range;
    if (change.instead.empty() && change.behind.empty())
      return {{range.begin, range.begin}, change.ahead + "\n\t"};
    return {range, changed(inst)};
  }

  // The instruction with what is put at it.
  [[nodiscard]] std::string changed(InstId inst) const {
    const auto found = changes_.find(inst);
    if (found == changes_.end()) return names_.text(statement_of(inst).range);
    const auto& [ahead, instead, behind] = found->second;
    return (ahead.empty() ? "" : ahead + "\n\t") +
           (instead.empty() ? names_.text(statement_of(inst).range) : instead) + behind;
  }

  // --- Names -----------------------------------------------------------------------------------

  void drop_unnameable(CarriedLoop& loop) {
    const InstId top = k_.cfg.blocks[loop.block].first;
    std::erase_if(loop.loads, [&](const Carried& carried) {
      if (nameable(carried.event, carried.slice, top) && checkable(carried)) return false;
      plan_.kept[carried.event] = {Reason::other_scope, "its address belongs to another scope { }"};
      return true;
    });
    for (Carried& carried : loop.loads)
      for (const Arg& reg : results(carried.source))
        carried.needs_copy |= !names_.known_at(reg.id, back_of(loop));
  }

  // At the beginning of the loop: what the slice and the address read and do not compute. At the
  // load: what is checked.
  [[nodiscard]] bool nameable(std::size_t event, const std::vector<InstId>& slice,
                              InstId top) const {
    bool all = true;
    const auto known = [&](RegId reg) { all &= names_.known_at(reg, top); };
    for (const InstId inst : slice)
      analysis::for_each_use(body_, body_.insts[inst], known);
    for (const ptx::Address& address : body_.addr(body_.insts[inst_of(event)]))
      if (address.base.kind == Arg::Kind::reg) known(address.base.id);
    return all;
  }

  [[nodiscard]] bool checkable(const Carried& carried) const {
    const InstId here = inst_of(carried.event);
    return std::ranges::all_of(carried.checks, [&](const NoWrap& check) {
      return names_.known_at(check.index, here) &&
             (check.unit == ptx::none || names_.known_at(check.unit, here));
    });
  }

  // --- One loop --------------------------------------------------------------------------------

  void write_loop(const CarriedLoop& loop) {
    const std::string label = fmt::format("{}{}", prefix_, labels_++);
    const InstId back = back_of(loop);
    Code entry(registers_); // ahead of the loop
    entry.comment("ptxasw: what the first iteration loads");
    renamed_.clear();
    const std::string guard = guard_of(loop, label);
    is_guarded_ = !guard.empty();
    load_ahead(loop, entry);
    hand_on(loop);
    entry.label(label);
    const std::string unrolled = unroll(loop, label);
    const std::uint32_t at = entry_of(loop);
    edits_.push_back({{at, at}, entry.behind() + guard + unrolled});
    changes_[back].instead = redirected(back, label);
    if (is_guarded_) {
      changes_[back].behind = fallback(loop, label);
    } else if (!unrolled.empty()) {
      changes_[back].behind = fmt::format("\n{}_done:", label);
    }
  }

  // What all indices have to obey, asked at the beginning of each iteration, and otherwise on to
  // the loop as it was: empty if nothing has to be, or not there.
  std::string guard_of(const CarriedLoop& loop, const std::string& label) {
    std::vector<NoWrap> all;
    const InstId top = k_.cfg.blocks[loop.block].first;
    for (const Carried& carried : loop.loads)
      for (const NoWrap& check : carried.checks) {
        if (!is_there(check, top, inst_of(carried.event))) return {};
        all.push_back(check);
      }
    if (all.empty() || !is_plain_text(loop)) return {};
    Code code(registers_);
    code.unless(checks_.all_of(all, top, code)).bra(label + "_original");
    return code.behind();
  }

  // What the registers hold at the load they hold at the beginning of the iteration, too.
  [[nodiscard]] bool is_there(const NoWrap& check, InstId top, InstId load) const {
    const auto stays = [&](RegId reg) {
      return names_.known_at(reg, top) && !analysis::written(body_, top, load, reg);
    };
    return stays(check.index) && (check.unit == ptx::none || stays(check.unit));
  }

  // --- Several iterations ----------------------------------------------------------------------

  // Iterations one after another, done if all of them but perhaps the last are followed by another;
  // else, from behind this text on, one as before. Empty if there are to be none.
  std::string unroll(const CarriedLoop& loop, const std::string& label) {
    if (loop.iterations < 2 || loop.again.empty() || !is_plain_text(loop)) return {};
    const InstId top = k_.cfg.blocks[loop.block].first;
    bool known = true;
    for (const InstId inst : loop.again)
      analysis::for_each_use(body_, body_.insts[inst],
                             [&](RegId reg) { known &= names_.known_at(reg, top); });
    if (!known) return {};
    const Inst& back = body_.insts[back_of(loop)];
    const ptx::Op join = back.guard_negated ? ptx::Op::or_ : ptx::Op::and_;
    Code code(registers_);
    code.comment(fmt::format("ptxasw: {} iterations", loop.iterations));
    Reg all; // of them go on
    renamed_.clear();
    for (unsigned n = 1; n < loop.iterations; ++n) {
      for (const InstId inst : loop.again)
        copy(inst, code);
      const Reg& goes_on = renamed_[back.guard];
      all = all.empty() ? goes_on : code.op(join, pred, all, goes_on);
    }
    code.unless({all, back.guard_negated}).bra(label + "_last");
    for (unsigned n = 0; n < loop.iterations; ++n)
      write_iteration(loop, code);
    code.statement(redirected(back_of(loop), label));
    code.bra(label + "_done");
    code.label(label + "_last");
    return code.behind();
  }

  // All of it but the branch at its end.
  void write_iteration(const CarriedLoop& loop, Code& code) const {
    const InstId back = back_of(loop);
    for (InstId inst = k_.cfg.blocks[loop.block].first; inst < back; ++inst)
      code.statement(changed(inst));
    if (const auto at_end = changes_.find(back); at_end != changes_.end())
      code.statement(at_end->second.ahead);
  }

  // --- The loop as it was ----------------------------------------------------------------------

  // Nothing but instructions, so that it can be written twice.
  [[nodiscard]] bool is_plain_text(const CarriedLoop& loop) const {
    for (std::uint32_t s = body_.insts[k_.cfg.blocks[loop.block].first].statement;
         s < body_.insts[back_of(loop)].statement; ++s)
      if (module_.statements[s].kind != ptx::StatementKind::instruction &&
          module_.statements[s].kind != ptx::StatementKind::location)
        return false;
    return true;
  }

  // Behind the one that carries.
  [[nodiscard]] std::string fallback(const CarriedLoop& loop, const std::string& label) {
    Code code(registers_);
    code.bra(label + "_done");
    code.label(label + "_original");
    const InstId back = back_of(loop);
    for (std::uint32_t s = body_.insts[k_.cfg.blocks[loop.block].first].statement;
         s < body_.insts[back].statement; ++s)
      code.statement(names_.text(module_.statements[s].range));
    code.statement(redirected(back, label + "_original"));
    code.label(label + "_done");
    return code.behind();
  }

  // Behind the label by which the loop is entered.
  [[nodiscard]] std::uint32_t entry_of(const CarriedLoop& loop) const {
    std::uint32_t at = body_.insts[k_.cfg.blocks[loop.block].first].statement;
    while (module_.statements[at].kind != ptx::StatementKind::label)
      --at;
    return module_.statements[at].range.end;
  }

  [[nodiscard]] std::string redirected(InstId back, const std::string& label) const {
    const ptx::Statement& statement = statement_of(back);
    const ptx::Instruction& branch = module_.instructions[statement.index];
    const ptx::Range target = module_.operands_of(branch).front().range;
    return names_.text({statement.range.begin, target.begin}) + label +
           names_.text({target.end, statement.range.end});
  }

  // --- Loads -----------------------------------------------------------------------------------

  // What the first iteration loads, and what its addresses take, in program order.
  void load_ahead(const CarriedLoop& loop, Code& entry) {
    std::map<InstId, const Carried*> ahead;
    for (const Carried& carried : loop.loads) {
      for (const InstId inst : carried.slice)
        ahead.emplace(inst, nullptr);
      ahead[inst_of(carried.event)] = &carried;
    }
    for (const auto& [inst, carried] : ahead)
      carried == nullptr ? copy(inst, entry) : carry(*carried, entry);
  }

  void carry(const Carried& carried, Code& entry) {
    const InstId here = inst_of(carried.event);
    const auto loaded = results(carried.event);
    std::vector<Reg> values = fresh(loaded);
    entry.statement(load_into(here, values, true));

    Code code(registers_);
    code.comment(fmt::format("ptxasw: what line {} had in the iteration before",
                             ptx::line_of(body_, body_.insts[inst_of(carried.source)])));
    const Reg ok = is_guarded_ ? Reg{} : checks_.all_of(carried.checks, here, code);
    if (!ok.empty()) code.unless(ok).statement(load_into(here, values, false));
    for (std::size_t n = 0; n < loaded.size(); ++n)
      code.move(names_.reg(loaded[n].id), values[n]);
    changes_[here].instead = code.in_place();

    values_[carried.event] = std::move(values);
  }

  // At the end of the iteration, for the next one. What a carried load reads goes on before its own
  // register is given the next value, so that ptxas can make one register of it and of what carries
  // it.
  void hand_on(const CarriedLoop& loop) {
    std::vector<const Carried*> left;
    for (const Carried& carried : loop.loads)
      left.push_back(&carried);
    Code code(registers_);
    while (!left.empty()) {
      const auto is_read = [&](const Carried* one) {
        return std::ranges::any_of(left, [&](const Carried* other) {
          return other != one && other->source == one->event;
        });
      };
      auto next = std::ranges::find_if_not(left, is_read);
      if (next == left.end()) next = left.begin(); // in a circle
      const std::vector<Reg> sources = sources_of(**next);
      for (std::size_t n = 0; n < sources.size(); ++n)
        code.move(values_[(*next)->event][n], sources[n]);
      left.erase(next);
    }
    changes_[back_of(loop)].ahead = code.in_place();
  }

  // The registers that hold the source's values when the iteration ends.
  std::vector<Reg> sources_of(const Carried& carried) {
    const InstId source = inst_of(carried.source);
    std::vector<Reg> own;
    for (const Arg& reg : results(carried.source))
      own.push_back(names_.reg(reg.id));
    if (!carried.needs_copy) return own;
    const auto [place, missing] = copies_.try_emplace(source);
    if (!missing) return place->second;
    place->second = fresh(results(carried.source));
    Code code(registers_);
    for (std::size_t n = 0; n < own.size(); ++n)
      code.move(place->second[n], own[n]);
    changes_[source].behind += code.behind();
    return place->second;
  }

  // --- Ahead of the loop -----------------------------------------------------------------------

  // The instruction on copies of the registers that it writes. Copies stand in the order of the
  // originals, and with each stands whatever it takes of the iteration; so what it reads is what
  // was copied last, or what the loop is entered with.
  void copy(InstId inst, Code& code) {
    const ptx::Statement& statement = statement_of(inst);
    const ptx::Range results = module_.operands_of(module_.instructions[statement.index])[0].range;
    std::map<RegId, Reg> written;
    analysis::for_each_definition(body_, body_.insts[inst], [&](RegId reg) {
      written[reg] = registers_.make(body_.registers[reg].type);
    });
    code.statement(names_.copied(statement.range, [&](const ptx::Mention& m) {
      if (m.arg.kind == Arg::Kind::reg && m.where.end <= results.end) return written[m.arg.id].name;
      return renamed(m);
    }));
    for (auto& [reg, copy] : written)
      renamed_[reg] = std::move(copy);
  }

  [[nodiscard]] std::string renamed(const ptx::Mention& m) const {
    if (m.arg.kind != Arg::Kind::reg) return std::string(module_.slice(m.where));
    const auto found = renamed_.find(m.arg.id);
    return found != renamed_.end() ? found->second.name : names_.name(m.arg.id);
  }

  // The load, without its predicate, into other registers; `ahead`: as in the first iteration.
  [[nodiscard]] std::string load_into(InstId load, const std::vector<Reg>& values,
                                      bool ahead) const {
    const ptx::Statement& statement = statement_of(load);
    const ptx::Instruction& written = module_.instructions[statement.index];
    const ptx::Range rest{module_.operands_of(written)[1].range.begin, statement.range.end};
    const bool vector = module_.operands_of(written)[0].kind == ptx::OperandKind::vector;
    return fmt::format(
        "{} \t{}, {}", module_.slice(written.mnemonic), vector ? list(values) : values[0].name,
        ahead ? names_.copied(rest, [&](const auto& m) { return renamed(m); }) : names_.text(rest));
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  LoopCarryPlan& plan_;
  ptx::FreshRegisters registers_;
  Names names_;
  IndexChecks checks_;
  std::string prefix_;
  unsigned labels_ = 0;
  bool is_guarded_ = false; // the loop at hand leaves its checks to a guard at its beginning
  std::map<InstId, Change> changes_;
  std::map<InstId, std::vector<Reg>> copies_;
  std::map<std::size_t, std::vector<Reg>> values_; // by event: what carries it
  std::map<RegId, Reg> renamed_;                   // ahead of the loop at hand
  std::vector<ptx::Edit> edits_;
};

} // namespace

std::vector<ptx::Edit> rotate(const emulator::Kernel& kernel, LoopCarryPlan& plan) {
  if (plan.loops.empty()) return {}; // names are looked for only where some are needed
  return CarryWriter(kernel, plan).run();
}

} // namespace ptxasw::passes
