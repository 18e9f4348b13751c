// Finds selections behind which an address is computed, and writes the text in which a branch
// selects.
#include "passes/time_tile/other_kernel/chosen_loads.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;

namespace {

// A load, the selection that its address hangs on, and what computes the one from the other, in
// order, the selection first.
struct ChosenLoad {
  InstId load = 0;
  std::vector<InstId> chain;
};

class ChosenLoadFinder {
public:
  explicit ChosenLoadFinder(const emulator::Kernel& kernel)
      : k_(kernel), body_(kernel.body), written_(analysis::definitions(body_)) {}

  std::vector<ChosenLoad> run() {
    std::vector<ChosenLoad> all;
    for (InstId id = 0; id < body_.insts.size(); ++id)
      if (is_load(id))
        if (auto chain = chain_of(id)) all.push_back({id, std::move(*chain)});
    return all;
  }

private:
  [[nodiscard]] bool is_load(InstId id) const {
    const Inst& inst = body_.insts[id];
    return ptx::group(inst.op) == Group::load && inst.mods.space == ptx::Space::global &&
           is_plain(id) && body_.addr(inst).size() == 1 &&
           body_.addr(inst)[0].base.kind == Arg::Kind::reg && !ptx::effects(body_, inst).ordered;
  }

  [[nodiscard]] bool is_plain(InstId id) const {
    const Inst& inst = body_.insts[id];
    return !inst.opaque && inst.guard == ptx::none && !inst.mods.cc &&
           k_.cfg.reachable(k_.cfg.block_of[id]);
  }

  // By the only instruction that writes it, on every way to `id`: no other value is in it there.
  [[nodiscard]] std::optional<InstId> writer(RegId reg, InstId id) const {
    if (written_[reg].size() != 1 || !k_.cfg.dominates_inst(written_[reg][0], id))
      return std::nullopt;
    return written_[reg][0];
  }

  // None: no data choose the address, or not in this way.
  [[nodiscard]] std::optional<std::vector<InstId>> chain_of(InstId load) const {
    std::vector<InstId> slice;
    std::set<InstId> seen;
    const auto add = [&](RegId reg) {
      const auto id = writer(reg, load);
      if (id && is_plain(*id) && ptx::group(body_.insts[*id].op) == Group::pure &&
          seen.insert(*id).second)
        slice.push_back(*id);
    };
    add(body_.addr(body_.insts[load])[0].base.id);
    for (std::size_t n = 0; n < slice.size(); ++n)
      analysis::for_each_use(body_, body_.insts[slice[n]], add);
    std::ranges::sort(slice,
                      [&](InstId a, InstId b) { return a != b && k_.cfg.dominates_inst(a, b); });
    const auto selection = std::ranges::find_if(slice, [&](InstId id) { return selects(id); });
    if (selection == slice.end()) return std::nullopt;
    std::vector<InstId> chain{*selection};
    std::set<RegId> hang{body_.dst(body_.insts[*selection])[0].id};
    for (const InstId id : std::vector(selection + 1, slice.end())) {
      bool hangs = false;
      analysis::for_each_use(body_, body_.insts[id],
                             [&](RegId reg) { hangs |= hang.contains(reg); });
      if (!hangs) continue;
      chain.push_back(id);
      analysis::for_each_definition(body_, body_.insts[id], [&](RegId reg) { hang.insert(reg); });
    }
    const bool is_whole = hang.contains(body_.addr(body_.insts[load])[0].base.id) &&
                          std::ranges::all_of(chain, [&](InstId id) { return is_known(id, load); });
    return is_whole ? std::optional(std::move(chain)) : std::nullopt;
  }

  // What it reads is the same when the load is done.
  [[nodiscard]] bool is_known(InstId id, InstId load) const {
    bool all = true;
    analysis::for_each_use(body_, body_.insts[id],
                           [&](RegId reg) { all &= writer(reg, load).has_value(); });
    return all;
  }

  [[nodiscard]] bool selects(InstId id) const {
    const Inst& inst = body_.insts[id];
    const auto src = body_.src(inst);
    return inst.op == ptx::Op::selp && src.size() == 3 && src[2].kind == Arg::Kind::reg &&
           !src[2].negated && is_data_dependent(src[2].id);
  }

  [[nodiscard]] bool is_data_dependent(RegId predicate) const {
    std::vector<RegId> work{predicate};
    std::set<RegId> seen{predicate};
    for (std::size_t n = 0; n < work.size(); ++n)
      for (const InstId id : written_[work[n]]) {
        const Inst& inst = body_.insts[id];
        if (ptx::group(inst.op) == Group::load && inst.mods.space != ptx::Space::param) return true;
        analysis::for_each_use(body_, inst, [&](RegId reg) {
          if (seen.insert(reg).second) work.push_back(reg);
        });
      }
    return false;
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const std::vector<std::vector<InstId>> written_;
};

class ChosenLoadWriter {
public:
  explicit ChosenLoadWriter(const ptx::Body& body)
      : body_(body), names_(body), registers_(*body.module, "%chosen"), code_(registers_),
        label_(ptx::label_prefix(*body.module) + "chosen") {}

  // Of the module. Empty: a name means several things.
  std::string run(const std::vector<ChosenLoad>& loads) {
    for (const ChosenLoad& one : loads)
      if (!replace(one)) return {};
    edits_.push_back(registers_.declared_at(names_.body_start()));
    return edited_text(body_, std::move(edits_));
  }

private:
  bool replace(const ChosenLoad& one) {
    bool known = true;
    for (const InstId id : one.chain)
      analysis::for_each_use(body_, body_.insts[id],
                             [&](RegId reg) { known &= names_.known_at(reg, one.load); });
    if (!known) return false;
    const std::string first = fmt::format("{}{}", label_, edits_.size()), end = first + "_end";
    const ptx::Register& predicate = body_.registers[body_.src(body_.insts[one.chain[0]])[2].id];
    code_.when(Reg{predicate.type, std::string(predicate.name)}).bra(first);
    side(one, 2);
    code_.bra(end);
    code_.label(first);
    side(one, 1);
    code_.label(end);
    edits_.push_back({ptx::range_of(body_, one.load), code_.in_place() + "\n\t"});
    return true;
  }

  // With one of the two operands that are selected from.
  void side(const ChosenLoad& one, unsigned operand) {
    std::map<RegId, Reg> renamed;
    for (const InstId id : one.chain)
      analysis::for_each_definition(body_, body_.insts[id], [&](RegId reg) {
        renamed[reg] = registers_.make(body_.registers[reg].type);
      });
    const auto text = [&](InstId id) {
      return names_.spliced(ptx::range_of(body_, id), [&](const ptx::Mention& mention) {
        const auto found = renamed.find(mention.arg.id);
        return mention.arg.kind == Arg::Kind::reg && found != renamed.end()
                   ? found->second.name
                   : std::string(body_.module->slice(mention.where));
      });
    };
    const Inst& selection = body_.insts[one.chain[0]];
    const auto& written =
        body_.module->instructions[body_.module->statements[selection.statement].index];
    code_.statement(
        fmt::format("mov.{} {}, {};", ptx::name(selection.mods.type),
                    renamed.at(body_.dst(selection)[0].id).name,
                    body_.module->slice(body_.module->operands_of(written)[operand].range)));
    for (std::size_t n = 1; n < one.chain.size(); ++n)
      code_.statement(text(one.chain[n]));
    code_.statement(text(one.load));
  }

  const ptx::Body& body_;
  const Names names_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  const std::string label_;
  std::vector<ptx::Edit> edits_;
};

} // namespace

ChosenLoads choose_loads(const emulator::Kernel& kernel, const emulator::Budget& budget) {
  constexpr unsigned most_selections = 4; // that one address hangs on
  ChosenLoads made;
  if (!why_not_a_plain_kernel(kernel).empty()) return made;
  for (unsigned n = 0; n < most_selections; ++n) {
    const emulator::Kernel& now = made.module ? made.kernel : kernel;
    const std::vector<ChosenLoad> loads = ChosenLoadFinder(now).run();
    if (loads.empty()) break;
    std::string text = ChosenLoadWriter(now.body).run(loads);
    if (text.empty()) break;
    OtherKernel other =
        emulate_text(std::move(text), now.body, budget, {}, emulator::Follow::addresses);
    if (!other.refused.empty()) return {.refused = other.refused};
    made.kernel = std::move(other.kernel);
    made.module = std::move(other.module);
  }
  return made;
}

} // namespace ptxasw::passes
