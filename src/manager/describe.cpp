// What the passes found, taken down for the report: nothing is decided here.
#include "manager/describe.hpp"

#include "passes/shared/access_pattern.hpp"
#include "target/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace ptxasw::manager {

using emulator::Event;
using emulator::EventKind;
using emulator::Kernel;
using passes::Load;
using passes::Stride;

namespace {

class Describer {
public:
  Describer(Kernel& kernel, const std::array<std::uint32_t, 3>& block, KernelReport& report)
      : kernel_(kernel), block_(block), report_(report) {}

  void run(const passes::LanePlan& plan, const passes::LoopCarryPlan& rotation) {
    for (const passes::CarriedLoop& loop : rotation.loops)
      for (const passes::Carried& carried : loop.loads)
        carried_.emplace(carried.event, &carried);
    Kernel& kernel = kernel_;
    KernelReport& report = report_;
    passes::AxisPolynomial relaxed(*kernel.context, kernel.trace.special(ptx::Special::tid_x));
    auto load = plan.loads.begin();
    for (std::size_t e = 0; e < kernel.trace.events.size(); ++e) {
      const Event& event = kernel.trace.events[e];
      if (event.kind == EventKind::clobber) continue;
      if (event.kind == EventKind::store) {
        report.accesses.push_back(access(kernel, event, relaxed.stride(event.address), Stride{}));
        continue;
      }
      report.accesses.push_back(access(kernel, event, load->lane_stride, load->iteration_stride));
      if (const auto found = carried_.find(e); found != carried_.end())
        describe_carried(kernel, *found->second, report.accesses.back());
      else
        describe_load(kernel, *load, report.accesses.back());
      ++load;
    }
    std::ranges::stable_sort(report.accesses, {}, &AccessReport::ptx_line);
    if (report.shuffles != 0) report.mean_delta /= report.shuffles;
  }

private:
  [[nodiscard]] AccessReport access(Kernel& kernel, const Event& event, const Stride& lane,
                                    const Stride& iteration) const {
    const ptx::Inst& inst = kernel.body.insts[event.inst];
    AccessReport report;
    report.ptx_line = line_of(kernel, event.inst);
    report.source_line = inst.line;
    if (inst.line != 0 && inst.file < module().files.size()) {
      report.source_file = module().files[inst.file];
    }
    report.is_store = event.kind == EventKind::store;
    report.space = ptx::name(event.space);
    report.bytes = event.element_bytes * event.elements;
    report.qualifiers = qualifiers(inst);
    report.address = kernel.context->to_string(event.address);
    for (const sym::Term value : event.values)
      report.values.push_back(kernel.context->to_string(value));
    const target::Pattern p = passes::access_pattern(event, lane, iteration);
    if (p.lane == target::Lane::constant) report.lane_stride = p.stride;
    const target::Range sectors = target::sectors_of(p);
    report.sectors = {sectors.least, sectors.most};
    report.access = target::classify(p);
    const std::uint32_t loop = kernel.loops.innermost[event.block];
    report.loop_depth = loop == ~0U ? 0 : kernel.loops.loops[loop].depth;
    return report;
  }

  // The modifiers that say more than space and type: ".nc", ".volatile", ".v4".
  [[nodiscard]] std::string qualifiers(const ptx::Inst& inst) const {
    const ptx::Instruction& syntax =
        module().instructions[module().statements[inst.statement].index];
    std::string text;
    for (const std::string_view modifier : module().modifiers_of(syntax)) {
      if (modifier.substr(1) == ptx::name(inst.mods.space) ||
          modifier.substr(1) == ptx::name(inst.mods.type)) {
        continue;
      }
      text += modifier;
    }
    return text;
  }

  void describe_load(Kernel& kernel, const Load& load, AccessReport& access) {
    KernelReport& report = report_;
    ++report.loads;
    access.kept = load.kept;
    if (!load.cover) return;
    const passes::ReuseSource& cover = *load.cover;
    ++report.covered;
    access.outcome = cover.delta == 0 ? Outcome::moved : Outcome::shuffled;
    access.delta = cover.delta;
    access.source_ptx_line = line_of(kernel, kernel.trace.events[cover.source].inst);
    access.proof = sym::name(cover.proof);
    access.facts = facts(kernel, cover);
    if (cover.delta == 0) {
      ++report.moves;
    } else {
      ++report.shuffles;
      report.mean_delta += std::abs(cover.delta); // divided at the end
    }
  }

  void describe_carried(Kernel& kernel, const passes::Carried& carried, AccessReport& access) {
    ++report_.loads;
    ++report_.covered;
    ++report_.carried;
    access.outcome = Outcome::carried;
    access.source_ptx_line = line_of(kernel, kernel.trace.events[carried.source].inst);
    access.proof = sym::name(carried.proof);
    for (const passes::NoWrap& check : carried.checks)
      access.facts.push_back(fact(kernel, check.fact, FactKind::checked));
    for (const passes::IndexFact& promised : carried.promised)
      access.facts.push_back(fact(kernel, promised, FactKind::promised));
  }

  [[nodiscard]] std::vector<Fact> facts(Kernel& kernel, const passes::ReuseSource& cover) const {
    std::vector<Fact> result;
    if (cover.delta != 0) {
      result.push_back({FactKind::checked, "all 32 lanes are active"});
      result.push_back({FactKind::checked, fmt::format("%laneid {:+} is in 0..31", cover.delta)});
      if (cover.row_check) {
        result.push_back(
            {FactKind::checked, fmt::format("0 <= %tid.x {:+} < %ntid.x", cover.delta)});
      } else {
        const bool required = kernel_.body.function->reqntid[0] != 0;
        result.push_back({required ? FactKind::architectural : FactKind::promised,
                          fmt::format("%ntid.x = {}, a multiple of 32", block_[0])});
      }
    }
    for (const passes::NoWrap& check : cover.checks) {
      result.push_back(fact(kernel, check.fact, FactKind::checked));
    }
    if (cover.space_check)
      result.push_back({FactKind::checked, "the generic address is in global memory"});
    for (const passes::IndexFact& promised : cover.promised) {
      result.push_back(fact(kernel, promised, FactKind::promised));
    }
    return result;
  }

  static Fact fact(Kernel& kernel, const passes::IndexFact& index, FactKind kind) {
    const sym::Context& c = *kernel.context;
    std::string sum = c.to_string(index.index), ranges;
    if (index.unit.valid()) {
      sum += fmt::format(" + n*({})", c.to_string(index.unit));
      ranges += fmt::format("n = {}..{}", index.units.lowest, index.units.highest);
    }
    if (index.constants.lowest != index.constants.highest) {
      sum += " + k";
      ranges += fmt::format("{}k = {}..{}", ranges.empty() ? "" : ", ", index.constants.lowest,
                            index.constants.highest);
    }
    return {kind, fmt::format("{} does not wrap as a {} 32-bit number for {}", sum,
                              index.is_signed ? "signed" : "unsigned", ranges)};
  }

  [[nodiscard]] const ptx::Module& module() const { return *kernel_.body.module; }

  Kernel& kernel_;
  std::map<std::size_t, const passes::Carried*> carried_; // by event
  std::array<std::uint32_t, 3> block_;
  KernelReport& report_;
};

} // namespace

std::uint32_t line_of(const Kernel& kernel, ptx::InstId inst) {
  return ptx::line_of(kernel.body, kernel.body.insts[inst]);
}

void describe_accesses(Kernel& kernel, const passes::LanePlan& plan,
                       const passes::LoopCarryPlan& rotation,
                       const std::array<std::uint32_t, 3>& block, KernelReport& report) {
  Describer(kernel, block, report).run(plan, rotation);
}

} // namespace ptxasw::manager
