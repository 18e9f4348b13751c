// See step_entries.hpp.
#include "pipeline/step_entries.hpp"

#include "emulator/emulate.hpp"
#include "pipeline/contraction_search.hpp"
#include "pipeline/judgement.hpp"
#include "rewrite/float_freedom.hpp"
#include "rewrite/steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace ptxasw::pipeline {
namespace {

// Measured on an H200, 2-D, f32 and f64: halos of seven steps of radius 1 still pay, of radius 2 no
// more than three. Left to itself, ptxas takes so many registers that an SM holds a single block of
// f64: 2.16 becomes 3.06 with two (8192^2, radius 1); three are best for f32.
rewrite::StepShape usual_shape(const reuse::StepPlan& plan) {
  int reach = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    reach = std::max({reach, -plan.least[axis], plan.most[axis]});
  unsigned bytes = 0;
  for (const reuse::StepArray& array : plan.arrays)
    bytes += array.bytes;
  return {.count = reach <= 1 ? 7U : 3U, .resident = bytes <= 4 ? 3U : bytes <= 8 ? 2U : 1U};
}

class Maker {
public:
  Maker(const std::string& text, const std::string& file, const Options& options,
        Assembler& assembler)
      : file_(file), options_(options), assembler_(assembler), module_(ptx::parse(text, file)) {
    std::vector<std::string> free;
    for (const ptx::Function& function : module_.functions)
      if (function.is_entry && !function.is_declaration) look(function, free);
    if (free.empty()) return;
    const Pinning pinning = pin_contractions(text, file, free, assembler);
    for (const std::string& name : free) {
      const auto found = pinning.kernels.find(name);
      if (found == pinning.kernels.end() || !found->second.refused.empty())
        refuse(name,
               fmt::format("which products ptxas fuses could not be pinned ({})",
                           found == pinning.kernels.end() ? "not known" : found->second.refused));
    }
    module_ = ptx::parse(pinning.text, file);
  }

  std::map<std::string, StepEntries, std::less<>> run() {
    for (const std::string& name : candidates_)
      make(name);
    return std::move(made_);
  }

private:
  [[nodiscard]] emulator::Kernel emulate(const ptx::Function& function) const {
    return emulator::emulate(module_, function,
                             {.time = options_.kernel_budget, .memory = options_.memory_budget});
  }

  void refuse(const std::string& name, const std::string& why) {
    made_[name].outcome = "no time step: " + why;
    candidates_.erase(name);
  }

  void look(const ptx::Function& function, std::vector<std::string>& free) {
    const std::string name(function.name);
    emulator::Kernel kernel = emulate(function);
    const reuse::StepPlan plan = reuse::find_step(kernel);
    candidates_.insert(name);
    if (!plan.refused.empty()) return refuse(name, plan.refused);
    if (options_.fp_contract != FpContract::exact) return;
    const rewrite::Freedom freedom = rewrite::count_freedom(kernel.body);
    if (freedom.foldable != 0)
      refuse(name, "ptxas may fold approximate functions of constants");
    else if (freedom.fusable != 0)
      free.push_back(name);
  }

  void make(const std::string& name) {
    StepEntries& result = made_[name];
    const auto function = std::ranges::find_if(module_.functions, [&](const ptx::Function& f) {
      return f.is_entry && !f.is_declaration && f.name == name;
    });
    emulator::Kernel kernel = emulate(*function);
    const reuse::StepPlan plan = reuse::find_step(kernel);
    result.outcome = describe_step(plan);
    if (!plan.refused.empty()) return;
    rewrite::StepShape shape = usual_shape(plan);
    if (!options_.steps_auto) shape.count = options_.steps;
    const unsigned count = shape.count;
    // Under the kernel's own name, to be judged in its place.
    rewrite::StepEntry entry = rewrite::write_steps(kernel, plan, shape, name);
    if (entry.refused.empty() && options_.fp_contract == FpContract::exact)
      entry.refused = judged(*function, entry.text);
    if (!entry.refused.empty()) {
      result.outcome += fmt::format("; no entry for {} steps: {}", count, entry.refused);
      return;
    }
    entry.contract.entry = fmt::format("{}__ptxasw_steps{}", name, count);
    result.text = fmt::format("\n\n{}", renamed(entry.text, name, entry.contract.entry));
    result.steps.push_back(std::move(entry.contract));
    result.outcome += fmt::format("; an entry does {} of them", count);
  }

  std::string judged(const ptx::Function& function, const std::string& text) {
    const ptx::Range whole{module_.statements[function.statement].range.begin,
                           module_.body_of(function).back().range.end};
    const std::string name(function.name);
    const std::vector<ptx::Edit> edits{{whole, text}};
    const auto found = judge(module_, ptx::print(module_, edits), {name}, assembler_);
    const auto why = found.find(name);
    return why == found.end() ? "" : why->second;
  }

  // The first mention is that of the header.
  static std::string renamed(std::string text, const std::string& name, const std::string& entry) {
    return text.replace(text.find(name), name.size(), entry);
  }

  const std::string& file_;
  const Options& options_;
  Assembler& assembler_;
  ptx::Module module_; // with ptxas' choices pinned
  std::set<std::string> candidates_;
  std::map<std::string, StepEntries, std::less<>> made_;
};

} // namespace

std::map<std::string, StepEntries, std::less<>> make_step_entries(const std::string& text,
                                                                  const std::string& file,
                                                                  const Options& options,
                                                                  Assembler& assembler) {
  return Maker(text, file, options, assembler).run();
}

std::string describe_step(const reuse::StepPlan& plan) {
  if (!plan.refused.empty()) return "no time step: " + plan.refused;
  std::vector<std::string> swaps;
  for (const reuse::StepArray& array : plan.arrays) {
    std::set<reuse::Offset> offsets;
    for (const reuse::StepArray::Load& load : array.loads)
      offsets.insert(load.offset);
    std::vector<std::string> texts;
    for (const reuse::Offset& offset : offsets)
      texts.push_back(fmt::format("({})", fmt::join(offset, ",")));
    swaps.push_back(fmt::format("from parameter {} to {}, reads {}", array.in, array.out,
                                fmt::join(texts, " ")));
  }
  return fmt::format("a time step {}", fmt::join(swaps, "; "));
}

std::vector<contract::Place> places_of(const ptx::Module& module, const ptx::Function& kernel) {
  const ptx::Body body = ptx::resolve(module, kernel);
  std::vector<contract::Place> places(kernel.parameters.size());
  for (const ptx::Symbol& symbol : body.symbols) {
    if (symbol.kind != ptx::Symbol::Kind::parameter) continue;
    if (symbol.size == 0 || symbol.index >= places.size()) return {};
    places[symbol.index] = {static_cast<unsigned>(symbol.offset),
                            static_cast<unsigned>(symbol.size)};
  }
  const bool known =
      std::ranges::none_of(places, [](const contract::Place& place) { return place.size == 0; });
  return known ? places : std::vector<contract::Place>{};
}

} // namespace ptxasw::pipeline
