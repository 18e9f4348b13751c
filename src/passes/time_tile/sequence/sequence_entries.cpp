// Tries shapes on ptxas, and keeps the first entry that stays in registers.
#include "passes/time_tile/sequence/sequence_entries.hpp"

#include "oracle/assembler.hpp"
#include "oracle/validation.hpp"
#include "passes/time_tile/emit/frame.hpp"
#include "passes/time_tile/emit/shapes.hpp"
#include "passes/time_tile/sequence/sequence_writer.hpp"
#include "ptx/edited.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ptxasw::passes {
namespace {

constexpr std::uint32_t most_parameter_bytes = 4096;

// The largest regions first; of so many passes that a part of each is left of a region.
std::vector<StepShape> shapes_of(const StepPlan& region) {
  using namespace numbers::steps;
  constexpr unsigned line = 512; // places of a region along one axis
  const auto reach = [&](unsigned axis) {
    return static_cast<unsigned>(region.most.at(axis) - region.least.at(axis));
  };
  const unsigned farthest = std::max({1U, reach(0), reach(1)});
  if (region.places[1] == Place::none)
    return {{.count = std::clamp(line / pass_share / farthest, 1U, most_passes_line),
             .width = line,
             .strips = 1,
             .rows = 1}};
  std::vector<StepShape> shapes;
  for (const auto& [strips, rows] : {std::pair{4U, 16U}, {3U, 16U}, {4U, 8U}, {2U, 16U}, {4U, 4U}})
    shapes.push_back({.count = std::clamp(strips * rows / pass_share / farthest, 1U, most_passes),
                      .width = 64,
                      .strips = strips,
                      .rows = rows});
  return shapes;
}

class SequenceMaker {
public:
  SequenceMaker(const ptx::Module& module, std::span<emulator::Kernel* const> kernels,
                const contract::SeenSequence& seen, std::size_t number, Assembler& assembler)
      : module_(module), kernels_(kernels), seen_(seen), number_(number), assembler_(assembler),
        plan_(find_sequence(kernels, seen)) {}

  MadeSequence run(bool is_exact) {
    if (!plan_.refused.empty()) return {.refused = plan_.refused};
    if (Why why = why_not_one_function(); !why.empty()) return {.refused = std::move(why)};
    SequenceEntry entry = shaped();
    const std::string name = seen_.kernels[0];
    if (entry.refused.empty() && is_exact) {
      const std::set<std::string> all(seen_.kernels.begin(), seen_.kernels.end());
      entry.refused = oracle::validate_together(module_, {all.begin(), all.end()},
                                                replaced(entry.text), name, assembler_);
    }
    MadeSequence made{std::move(entry.refused), {}, std::move(entry.contract)};
    if (!made.refused.empty()) return made;
    made.contract.entry = fmt::format("{}__ptxasw_passes{}", name, made.contract.count);
    for (std::size_t n = 1; n < seen_.kernels.size(); ++n)
      made.contract.entry += fmt::format("_{}", seen_.kernels[n]);
    if (number_ != 0) made.contract.entry += fmt::format("_{}", number_);
    made.text = entry.text;
    made.text.replace(name_begin(), name.size(), made.contract.entry);
    made.text = with_tile_of_module(std::move(made.text), made.contract.entry);
    return made;
  }

private:
  // The parameters of all stages are the entry's.
  [[nodiscard]] Why why_not_one_function() const {
    std::uint32_t bytes = 0;
    std::set<std::string> names;
    for (std::size_t n = 0; n < kernels_.size(); ++n) {
      const emulator::Kernel* const kernel = kernels_[n];
      const ParameterNames own = parameter_names(kernels_, n);
      for (unsigned number = 0; number < kernel->body.function->parameters.size(); ++number)
        if (!names.insert(own.name(number)).second)
          return {Reason::special_name, "two stages have parameters of one name"};
      for (const ptx::Symbol& symbol : kernel->body.symbols)
        if (symbol.kind == ptx::Symbol::Kind::parameter)
          bytes += static_cast<std::uint32_t>(symbol.size) + 8;
    }
    bytes +=
        static_cast<std::uint32_t>(8 * numbers::steps::most_passes_line * seen_.varying.size());
    if (bytes > most_parameter_bytes)
      return {Reason::step_form, "its stages have too many parameters"};
    return {};
  }

  // Under the first kernel's name, to be judged in its place.
  SequenceEntry shaped() {
    const std::string& name = seen_.kernels[0];
    SequenceEntry last{.refused = {Reason::step_region, "no shape was found"}};
    for (const StepShape& shape : shapes_of(plan_.region)) {
      SequenceEntry entry = SequenceWriter(kernels_, plan_, shape, name).run();
      if (entry.refused.empty()) entry.refused = why_too_long(entry.text);
      if (entry.refused.empty()) {
        const auto usage = oracle::usage_in(*replaced(entry.text).text, name, assembler_);
        if (!usage || stays_in_registers(*usage)) return entry;
        entry.refused = {Reason::step_region, "a region does not stay in registers"};
      }
      last = std::move(entry);
    }
    return last;
  }

  // Behind the linkage of the first kernel, in which a short name may occur.
  [[nodiscard]] std::size_t name_begin() const {
    const ptx::Function& function = *kernels_[0]->body.function;
    return static_cast<std::size_t>(function.name.data() - module_.text->data()) -
           module_.statements[function.statement].range.begin;
  }

  [[nodiscard]] ptx::Module replaced(const std::string& text) const {
    return ptx::edited(module_, *kernels_[0]->body.function, text).module;
  }

  const ptx::Module& module_;
  const std::span<emulator::Kernel* const> kernels_;
  const contract::SeenSequence& seen_;
  const std::size_t number_;
  Assembler& assembler_;
  const SequencePlan plan_;
};

} // namespace

MadeSequence make_sequence_entry(const ptx::Module& module,
                                 std::span<emulator::Kernel* const> kernels,
                                 const contract::SeenSequence& seen, std::size_t number,
                                 bool is_exact, Assembler& assembler) {
  return SequenceMaker(module, kernels, seen, number, assembler).run(is_exact);
}

} // namespace ptxasw::passes
