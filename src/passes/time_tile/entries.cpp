// Finds time steps, tries shapes on ptxas, and writes the entries.
#include "passes/time_tile/entries.hpp"

#include "emulator/emulate.hpp"
#include "oracle/assembler.hpp"
#include "oracle/validation.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "passes/time_tile/emit/frame.hpp"
#include "passes/time_tile/emit/plane_layout.hpp"
#include "passes/time_tile/emit/shapes.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/other_kernel/untile.hpp"
#include "passes/time_tile/sequence/sequence_entries.hpp"
#include "ptx/edited.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::passes {
namespace {

bool reads_neighbours(const StepPlan& plan) {
  return plan.refused.empty() && plan.least != plan.most;
}

struct Shaped {
  passes::StepEntry entry;
  bool in_registers = false;
};

class Maker {
public:
  Maker(const ptx::Module& module, const Options& options, const PinText& pin,
        emulator::Emulations& kept, Assembler& assembler)
      : options_(options), kept_(kept), assembler_(assembler), original_(module) {
    find_sequences();
    std::vector<std::string> free;
    for (const ptx::Function& function : original_.functions)
      if (function.is_entry && !function.is_declaration) look(function, free);
    if (free.empty()) return;
    PinnedText pinned = pin(original_, free);
    for (const std::string& name : free) {
      const auto found = pinned.refused.find(name);
      const std::string why = found == pinned.refused.end() ? "not known" : found->second;
      if (why.empty()) continue;
      free_[name] = {Reason::fusing_unknown,
                     fmt::format("which products ptxas fuses could not be pinned ({})", why)};
      if (candidates_.contains(name)) refuse(name, free_[name].reason, free_[name].text);
    }
    pinned_ = std::move(pinned.module);
  }

  std::map<std::string, StepEntries, std::less<>> run() {
    for (const std::string& name : candidates_)
      make(name);
    for (const contract::SeenSequence& seen : sequences_)
      add_sequence(seen);
    return std::move(made_);
  }

private:
  [[nodiscard]] const ptx::Module& module() const { return pinned_ ? *pinned_ : original_; }

  void refuse(const std::string& name, Reason reason, const std::string& why) {
    made_[name].outcome = "no time step: " + why;
    made_[name].against = reason;
    candidates_.erase(name);
  }

  void look(const ptx::Function& function, std::vector<std::string>& free) {
    const std::string name(function.name);
    emulator::Kernel kernel = kept_.take(original_, function);
    const StepPlan plan = passes::StepKernel(kernel, {}, launched(name)).find();
    const passes::Latitude latitude = passes::count_latitude(kernel.body);
    kept_.give(std::move(kernel));
    candidates_.insert(name);
    if (!plan.refused.empty()) {
      refuse(name, plan.refused.reason, plan.refused);
    } else if (plan.copy) {
      made_[name].outcome = describe_step(plan);
      made_[name].copy = plan.copy;
      candidates_.erase(name);
    }
    if (options_.fp_contract != FpContract::exact) return;
    const bool is_candidate = candidates_.contains(name);
    if (!is_candidate && !is_stage(name)) return;
    if (const Why why = why_free(latitude); !why.empty()) {
      free_[name] = why;
      if (is_candidate) refuse(name, why.reason, why.text);
    } else if (latitude.fusable != 0) {
      free.push_back(name);
    }
  }

  // What cannot be written down of what ptxas may choose.
  static Why why_free(const passes::Latitude& latitude) {
    if (latitude.foldable != 0)
      return {Reason::folding_unknown, "ptxas may fold approximate functions of constants"};
    if (latitude.halves != 0)
      return {Reason::machine_code, "ptxas may lose halves that are selected"};
    return {};
  }

  // --- Several kernels ---------------------------------------------------------------------------

  [[nodiscard]] static const ptx::Function* entry_of(const ptx::Module& module,
                                                     std::string_view name) {
    const auto found = std::ranges::find_if(module.functions, [&](const ptx::Function& f) {
      return f.is_entry && !f.is_declaration && f.name == name;
    });
    return found == module.functions.end() ? nullptr : &*found;
  }

  void find_sequences() {
    if (options_.sequences.empty()) return;
    const auto seen = contract::decode_seen(options_.sequences);
    if (!seen) return; // options were read where it could be said
    for (const contract::SeenSequence& one : *seen)
      if (one.block)
        launched_[one.kernels[0]].push_back(*one.block);
      else if (std::ranges::all_of(one.kernels, [&](const std::string& name) {
                 return entry_of(original_, name) != nullptr;
               }))
        sequences_.push_back(one);
  }

  // Shapes of its blocks, if it was seen to be given dynamic shared memory.
  [[nodiscard]] std::span<const BlockShape> launched(const std::string& name) const {
    const auto found = launched_.find(name);
    return found == launched_.end() ? std::span<const BlockShape>() : found->second;
  }

  [[nodiscard]] bool is_stage(const std::string& name) const {
    return std::ranges::any_of(sequences_, [&](const contract::SeenSequence& one) {
      return std::ranges::find(one.kernels, name) != one.kernels.end();
    });
  }

  void add_sequence(const contract::SeenSequence& seen) {
    StepEntries& first = made_[seen.kernels[0]];
    if (first.sequences.size() == contract::most_sequences) return;
    MadeSequence made = sequence(seen, first.sequences.size());
    const std::string with =
        fmt::format("{}with {} ", first.outcome.empty() ? "" : "; ",
                    fmt::join(seen.kernels.begin() + 1, seen.kernels.end(), " and "));
    // Passes that begin with another launch.
    const bool is_known = std::ranges::any_of(first.sequences, [&](contract::Sequence one) {
      one.entry = made.contract.entry;
      return one == made.contract;
    });
    if (is_known) return;
    if (!made.refused.empty()) {
      first.outcome += fmt::format("{}no time step: {}", with, made.refused.text);
      return;
    }
    first.outcome +=
        fmt::format("{}a time step; an entry does up to {} of them", with, made.contract.count);
    first.text += fmt::format("\n\n{}", made.text);
    first.sequences.push_back(std::move(made.contract));
    first.against = Reason::none;
  }

  MadeSequence sequence(const contract::SeenSequence& seen, std::size_t number) {
    for (const std::string& name : seen.kernels)
      if (const auto free = free_.find(name); free != free_.end())
        return {.refused = {free->second.reason, fmt::format("{}: {}", name, free->second.text)}};
    std::map<std::string, emulator::Kernel> kernels;
    std::vector<emulator::Kernel*> stages;
    for (const std::string& name : seen.kernels) {
      if (!kernels.contains(name))
        kernels.emplace(name, kept_.take(module(), *entry_of(module(), name)));
      stages.push_back(&kernels.at(name));
    }
    MadeSequence made = make_sequence_entry(module(), stages, seen, number,
                                            options_.fp_contract == FpContract::exact, assembler_);
    for (auto& [name, kernel] : kernels)
      kept_.give(std::move(kernel));
    return made;
  }

  void make(const std::string& name) {
    const ptx::Function* const function = entry_of(module(), name);
    emulator::Kernel kernel = kept_.take(module(), *function);
    passes::StepKernel seen(kernel, {}, launched(name));
    make(made_[name], seen, *function);
    kept_.give(std::move(kernel));
  }

  void make(StepEntries& result, passes::StepKernel& seen, const ptx::Function& function) {
    const emulator::Kernel& kernel = seen.kernel();
    const StepPlan plan = seen.find();
    result.outcome = describe_step(plan);
    if (!plan.refused.empty()) {
      result.against = plan.refused.reason;
      return;
    }
    std::optional<unsigned> count;
    if (!options_.steps_auto) count = options_.steps;
    add_for_runs(result, kernel, plan, function, count);
    // What looks like coefficients may be what is stepped, if neighbours of it are read: of one
    // array.
    const StepPlan other = seen.find(passes::Motion::exchanged, 1);
    if (other.arrays.size() == 1 && reads_neighbours(other)) {
      result.outcome += "; or " + describe_step(other);
      add_for_runs(result, kernel, other, function, count);
    }
    // The program may as well rotate what looks like coefficients: launches tell.
    const StepPlan rotated = seen.find(passes::Motion::rotated);
    if (!is_wave(rotated)) return;
    result.outcome += or_describe(rotated);
    add_for_runs(result, kernel, rotated, function, count);
  }

  void add_for_runs(StepEntries& result, const emulator::Kernel& kernel, const StepPlan& plan,
                    const ptx::Function& function, const std::optional<unsigned>& count) {
    if (is_in_space(plan)) return add_marching(result, kernel, plan, function, count);
    if (!add(result, kernel, plan, function, step_shapes(plan, count)) || !options_.steps_auto)
      return;
    const contract::Steps large = result.steps.back();
    const bool is_first = result.steps.size() == 1;
    const auto small = is_first ? small_step_shape(plan) : std::nullopt;
    if (small && small->count == large.count) add(result, kernel, plan, function, {*small}, true);
    // What is left of a run when no more of the large groups fit.
    if (large.count > numbers::steps::fewest && !add_fewer(result, large))
      add(result, kernel, plan, function, step_shapes(plan, numbers::steps::fewest));
  }

  // Each entry once for each length of its stretches: it divides the planes as it is launched.
  void add_marching(StepEntries& result, const emulator::Kernel& kernel, const StepPlan& plan,
                    const ptx::Function& function, const std::optional<unsigned>& count) {
    const std::vector<MarchShape> marches = march_shapes(plan, count);
    const Why why = marches.empty() ? why_not_marched(plan) : Why{};
    if (!why.empty()) {
      if (result.steps.empty()) result.against = why.reason;
      result.outcome += fmt::format("; no entry for several steps: {}", why.text);
    }
    bool is_small = false;
    for (const MarchShape& march : marches) {
      if (!add(result, kernel, plan, function, {march.shape}, is_small)) return;
      contract::Steps steps = std::move(result.steps.back());
      result.steps.pop_back();
      const unsigned axis = PlaneLayout(plan, march.shape).w;
      if (options_.steps_auto) steps.conditions.push_back(large_enough(plan, steps));
      for (const auto& [planes, blocks_each] : march.stretches) {
        steps.covers.at(axis) = planes;
        steps.blocks_each = blocks_each;
        result.steps.push_back(steps);
      }
      is_small = true;
    }
  }

  static Why why_not_marched(const StepPlan& plan) {
    Why why = why_not_in_planes(plan);
    if (!why.empty()) return why;
    const bool is_far = std::ranges::any_of(std::array{0U, 1U, 2U}, [&](unsigned axis) {
      return plan.least.at(axis) < -1 || plan.most.at(axis) > 1;
    });
    return {Reason::step_in_space,
            fmt::format("its neighbours lie along three axes, and {}",
                        is_far ? "it reads more than one place far"
                               : "it reads other arrays, too often or with a rim")};
  }

  // Of places: where a thread takes all of an axis there is one thread along it.
  static contract::Condition large_enough(const StepPlan& plan, const contract::Steps& steps) {
    const auto places = [&](unsigned axis) {
      return steps.has_extents() ? steps.extents.at(axis) : threads(axis);
    };
    contract::Expression all = times(times(places(0), places(1)), places(2));
    return {minus(std::move(all), passes::number(static_cast<contract::Number>(least_march(plan)))),
            "the grid is too small for several steps at once"};
  }

  // The same entry, told to do less.
  static bool add_fewer(StepEntries& result, contract::Steps steps) {
    const unsigned most = steps.count;
    for (const unsigned count : {numbers::steps::fewer, numbers::steps::fewest}) {
      if (count >= most || (most - count) % 2 != 0 || (steps.rotation && count % 3 != 0)) continue;
      steps.count = count;
      result.outcome += fmt::format("; or {}", count);
      result.steps.push_back(steps);
    }
    return steps.count != most;
  }

  bool add(StepEntries& result, const emulator::Kernel& kernel, const StepPlan& plan,
           const ptx::Function& function, const std::vector<passes::StepShape>& shapes,
           bool is_small = false) {
    const std::string name(function.name);
    // Under the kernel's own name, to be judged in its place.
    auto [entry, in_registers] = shaped(kernel, plan, function, shapes);
    if (is_small && !in_registers) return false;
    if (shapes[0].planes != 0 && entry.refused.empty() && !in_registers)
      entry.refused = {Reason::step_in_space, "its neighbours lie along three axes, and its planes "
                                              "do not stay in registers"};
    if (entry.refused.empty() && options_.fp_contract == FpContract::exact)
      entry.refused = validated(function, entry.text);
    if (!entry.refused.empty()) {
      if (!result.steps.empty() && moves_as(result.steps.back(), plan)) return false;
      if (result.steps.empty()) result.against = entry.refused.reason;
      result.outcome += fmt::format("; no entry for several steps: {}", entry.refused.text);
      return false;
    }
    const std::string_view kind = plan.rotation ? "_rotated" : is_small ? "_small" : "";
    const bool is_other = !plan.rotation && !result.steps.empty() && //
                          result.steps.front().swaps != entry.contract.swaps;
    entry.contract.entry = fmt::format("{}__ptxasw_steps{}{}{}", name, entry.contract.count, kind,
                                       is_other ? fmt::format("_of{}", plan.arrays[0].in) : "");
    result.text += fmt::format("\n\n{}", renamed(entry.text, name, entry.contract.entry));
    const auto& covers = entry.contract.covers;
    result.outcome += fmt::format("; an entry does {} of them, {}x{}x{} places a block",
                                  entry.contract.count, covers[0], covers[1], covers[2]);
    result.steps.push_back(std::move(entry.contract));
    result.against = Reason::none;
    return true;
  }

  static bool moves_as(const contract::Steps& steps, const StepPlan& plan) {
    if (steps.rotation != plan.rotation) return false;
    return plan.rotation || std::ranges::all_of(plan.arrays, [&](const StepArray& array) {
             const contract::Swap swap{array.in, array.out};
             return std::ranges::find(steps.swaps, swap) != steps.swaps.end();
           });
  }

  // The first that can be made and stays in registers; or else the one that comes nearest to it.
  Shaped shaped(const emulator::Kernel& kernel, const StepPlan& plan, const ptx::Function& function,
                const std::vector<passes::StepShape>& shapes) {
    const std::string name(function.name);
    Shaped best;
    std::optional<Usage> least;
    for (const passes::StepShape& shape : shapes) {
      passes::StepEntry entry = passes::write_steps(kernel, plan, shape, name);
      if (entry.refused.empty()) entry.refused = why_too_long(entry.text);
      if (!entry.refused.empty()) {
        if (!least && best.entry.refused.empty()) best.entry = std::move(entry);
        continue;
      }
      const ptx::Edited made = ptx::edited(module(), function, entry.text);
      const auto usage = oracle::usage_in(*made.module.text, name, assembler_);
      if (!usage || stays_in_registers(*usage)) return {std::move(entry), true};
      if (!least || usage->stack < least->stack) {
        best.entry = std::move(entry);
        least = usage;
      }
    }
    return best;
  }

  Why validated(const ptx::Function& function, const std::string& text) {
    const std::string name(function.name);
    const ptx::Module made = ptx::edited(module(), function, text).module;
    const auto found = oracle::validate(module(), made, {name}, assembler_);
    const auto why = found.find(name);
    return why == found.end() ? Why{} : why->second;
  }

  // The first mention is that of the header.
  static std::string renamed(std::string text, const std::string& name, const std::string& entry) {
    return with_tile_of_module(text.replace(text.find(name), name.size(), entry), entry);
  }

  const Options& options_;
  emulator::Emulations& kept_;
  Assembler& assembler_;
  const ptx::Module& original_;
  std::optional<ptx::Module> pinned_; // where there were choices of ptxas'
  std::set<std::string> candidates_;
  std::vector<contract::SeenSequence> sequences_; // all of whose kernels are here
  std::map<std::string, std::vector<BlockShape>> launched_;
  std::map<std::string, Why> free_; // why ptxas' choices are not known
  std::map<std::string, StepEntries, std::less<>> made_;
};

} // namespace

std::map<std::string, StepEntries, std::less<>>
make_step_entries(const ptx::Module& module, const Options& options, const PinText& pin,
                  emulator::Emulations& kept, Assembler& assembler) {
  return Maker(module, options, pin, kept, assembler).run();
}

std::string describe_step(const StepPlan& plan) {
  if (!plan.refused.empty()) return "no time step: " + plan.refused.text;
  if (plan.copy)
    return fmt::format("a copy of parameter {} to {}, left out between steps that are merged",
                       contract::to_word(plan.copy->from), contract::to_word(plan.copy->to));
  std::vector<std::string> swaps;
  for (const StepArray& array : plan.arrays) {
    if (!plan.is_first_field(array)) continue;
    std::set<Offset> offsets;
    std::size_t fields = 0;
    for (const StepArray& field : plan.arrays)
      if (field.out == array.out) {
        ++fields;
        for (const StepArray::Load& load : field.loads)
          offsets.insert(load.offset());
      }
    std::vector<std::string> texts;
    for (const Offset& offset : offsets)
      texts.push_back(fmt::format("({})", fmt::join(offset, ",")));
    const std::string several = fields == 1 ? "" : fmt::format(" ({} elements of a place)", fields);
    const std::string reads = fmt::format("reads {}", fmt::join(texts, " ")),
                      in = contract::to_word(array.in);
    swaps.push_back(array.carried ? fmt::format("of the older array {} {}", in, reads)
                                  : fmt::format("from parameter {} to {}{}, {}", in,
                                                contract::to_word(array.out), several, reads));
  }
  if (plan.rotation)
    return fmt::format("a time step of three arrays in rotation {}", fmt::join(swaps, ", "));
  return fmt::format("a time step {}", fmt::join(swaps, "; "));
}

// What reads no neighbours is the sum of two arrays and the like, which nobody iterates.
bool is_wave(const StepPlan& rotated) {
  return rotated.refused.empty() && rotated.least != rotated.most;
}

std::string or_describe(const StepPlan& rotated) {
  return is_wave(rotated) ? "; or " + describe_step(rotated) : "";
}

} // namespace ptxasw::passes
