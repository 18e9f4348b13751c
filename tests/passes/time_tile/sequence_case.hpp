// Kernels that are a time step together, their entry, and both run on the interpreter as a host
// would: pass after pass, or merged as the contract says.
#pragma once

#include "contract/sequences.hpp"
#include "passes/shared/case.hpp"
#include "passes/time_tile/sequence/sequence.hpp"
#include "passes/time_tile/sequence/sequence_writer.hpp"
#include "passes/time_tile/step_case.hpp"
#include "simt/machine.hpp"

#include <cstring>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::test {

// A parameter: a byte of a buffer that has a number, or a value of so many bytes; or one of its own
// for each pass.
struct StageArgument {
  int buffer = -1;
  std::uint64_t value = 0;
  unsigned bytes = 8;
  std::vector<std::uint64_t> varying = {};
};

struct StageLaunch {
  std::string kernel;
  simt::Dim3 grid{}, block{};
  std::vector<StageArgument> arguments;
};

inline StageArgument buffer(int n) {
  return {.buffer = n};
}
inline StageArgument number(std::uint64_t value, unsigned bytes = 4) {
  return {.value = value, .bytes = bytes};
}

struct SequenceProgram {
  std::vector<StageLaunch> stages;
  std::vector<std::vector<std::uint8_t>> buffers;
};

// Of 16 by 4 threads.
inline simt::Dim3 blocks(unsigned nx, unsigned ny) {
  return {(nx + 15) / 16, (ny + 3) / 4};
}

// What the stages have in common, as a launcher would find out.
inline contract::SeenSequence seen_of(const std::vector<StageLaunch>& stages) {
  contract::SeenSequence seen;
  const auto value_of = [](const StageArgument& one) {
    return one.buffer < 0 ? one.value
                          : ((static_cast<std::uint64_t>(one.buffer) + 1) << 40) + one.value;
  };
  std::vector<std::pair<std::uint64_t, contract::SeenSequence::Class>> all;
  for (unsigned stage = 0; stage < stages.size(); ++stage) {
    seen.kernels.push_back(stages[stage].kernel);
    for (unsigned n = 0; n < stages[stage].arguments.size(); ++n) {
      const StageArgument& one = stages[stage].arguments[n];
      if (!one.varying.empty()) {
        seen.varying.push_back({stage, contract::part(n, 0)});
        continue;
      }
      auto found = std::ranges::find_if(all, [&](const auto& known) {
        return known.first == value_of(one) && known.second.bytes == one.bytes;
      });
      if (found == all.end()) found = all.insert(all.end(), {value_of(one), {one.bytes, {}}});
      found->second.parts.push_back({stage, contract::part(n, 0)});
    }
  }
  for (auto& [value, one] : all)
    if (one.parts.size() > 1) seen.classes.push_back(std::move(one));
  return seen;
}

inline const std::string does_not_fit = "does not fit: ";

class SequenceCase {
public:
  // Of the entry: the kernels' text, and the host's launches of one pass.
  SequenceCase(const std::string& text, std::vector<StageLaunch> launches,
               std::vector<std::vector<std::uint8_t>> contents, const passes::StepShape& shape)
      : module(parsed(text)), stages(std::move(launches)), buffers(std::move(contents)) {
    std::vector<emulator::Kernel*> kernels;
    std::map<std::string, emulator::Kernel*> known;
    for (const StageLaunch& stage : stages) {
      emulator::Kernel*& kernel = known[stage.kernel];
      if (kernel == nullptr) kernel = &emulated_.emplace_back(emulate(*module, stage.kernel));
      kernels.push_back(kernel);
    }
    plan = passes::find_sequence(kernels, seen_of(stages));
    if (!plan.refused.empty()) return;
    entry = passes::SequenceWriter(kernels, plan, shape, "merged").run();
    if (!entry.refused.empty()) return;
    both = parsed(*module->text + "\n" + entry.text + "\n");
    for (const StageLaunch& stage : stages)
      singles_.push_back(program(stage.kernel));
    merged_ = program("merged");
  }

  struct Outcome {
    std::string error;
    bool fits = true; // the contract
    simt::Memory memory;
    std::set<std::uint64_t> loaded, stored;
  };

  // So many passes; `counts`: by entries told to do so many each, an even number of them.
  [[nodiscard]] Outcome run(unsigned passes, const std::vector<unsigned>& counts) const {
    Outcome outcome;
    place(outcome.memory);
    unsigned merged = 0;
    for (const unsigned count : counts)
      merged += count;
    if (merged != 0) merge(merged, counts, outcome);
    for (unsigned pass = merged; pass < passes && outcome.error.empty(); ++pass) {
      const std::vector<Values> values = values_in(pass);
      for (std::size_t n = 0; n < stages.size(); ++n)
        launch(*singles_[n], stages[n].grid, stages[n].block, values[n], outcome);
    }
    return outcome;
  }

  // Empty if both end with the same bytes, and merged ones touch nothing more.
  [[nodiscard]] std::string difference(const std::vector<unsigned>& counts,
                                       unsigned more = 0) const {
    unsigned passes = more;
    for (const unsigned done : counts)
      passes += done;
    const Outcome left = run(passes, {}), right = run(passes, counts);
    if (!left.error.empty()) return "plain: " + left.error;
    if (!right.fits) return does_not_fit + right.error;
    if (!right.error.empty()) return "merged: " + right.error;
    for (std::size_t n = 0; n < buffers.size(); ++n)
      if (const auto found = differing(left.memory, right.memory, n); !found.empty()) return found;
    for (const std::uint64_t address : right.loaded)
      if (!is_own(address) && !left.loaded.contains(address) && !left.stored.contains(address))
        return fmt::format("byte {:x} is loaded", address);
    for (const std::uint64_t address : right.stored)
      if (!is_own(address) && !left.stored.contains(address))
        return fmt::format("byte {:x} is stored", address);
    return {};
  }

  std::shared_ptr<const ptx::Module> module, both;
  std::vector<StageLaunch> stages;
  std::vector<std::vector<std::uint8_t>> buffers;
  passes::SequencePlan plan;
  passes::SequenceEntry entry;

private:
  using Values = std::vector<std::vector<std::uint8_t>>;

  [[nodiscard]] simt::ProgramPtr program(const std::string& name) const {
    auto made = simt::compile(both, name);
    EXPECT_TRUE(made) << made.error();
    return made.value_or(nullptr);
  }

  void place(simt::Memory& memory) const {
    addresses_.clear();
    own_.clear();
    for (std::size_t n = 0; n < buffers.size(); ++n)
      addresses_.push_back(memory.allocate(fmt::format("buffer{}", n), buffers[n]));
  }

  // Of the parameters, by stage.
  [[nodiscard]] std::vector<Values> values_in(unsigned pass) const {
    std::vector<Values> values;
    for (const StageLaunch& stage : stages) {
      Values& one = values.emplace_back();
      for (const StageArgument& argument : stage.arguments) {
        std::uint64_t value = argument.value;
        if (!argument.varying.empty()) value = argument.varying.at(pass);
        if (argument.buffer >= 0) value += addresses_[static_cast<std::size_t>(argument.buffer)];
        std::memcpy(one.emplace_back(argument.bytes).data(), &value, argument.bytes);
      }
    }
    return values;
  }

  [[nodiscard]] bool is_own(std::uint64_t address) const {
    return std::ranges::any_of(own_, [&](const auto& range) {
      return address >= range.first && address < range.first + range.second;
    });
  }

  static std::string differing(const simt::Memory& left, const simt::Memory& right, std::size_t n) {
    const auto found = simt::first_difference(left, right);
    if (!found || found->allocation != fmt::format("buffer{}", n)) return {};
    return fmt::format("{} byte {}: {} {}", found->allocation, found->offset, found->left,
                       found->right);
  }

  // In pairs of entries.
  void merge(unsigned passes, const std::vector<unsigned>& counts, Outcome& outcome) const {
    std::vector<std::vector<Values>> values;
    for (unsigned pass = 0; pass < passes; ++pass)
      values.push_back(values_in(pass));
    std::vector<contract::StepLaunch> launches;
    for (unsigned pass = 0; pass < passes; ++pass)
      for (std::size_t n = 0; n < stages.size(); ++n)
        launches.push_back({{stages[n].grid.x, stages[n].grid.y, stages[n].grid.z},
                            {stages[n].block.x, stages[n].block.y, stages[n].block.z},
                            [&values, pass, n](unsigned number) -> const void* {
                              return values[pass][n][number].data();
                            }});
    auto fitted = contract::fit(entry.contract, launches);
    if (!fitted) {
      outcome.fits = false;
      outcome.error = fitted.error();
      return;
    }
    std::vector<std::uint64_t> own;
    for (const contract::FittedArray& array : fitted->arrays) {
      const std::uint64_t bytes = contract::own_bytes(array),
                          begin = outcome.memory.allocate_undefined("own", bytes);
      own_.emplace_back(begin, bytes);
      own.push_back(contract::own_address(array, begin));
    }
    Values all;
    for (const Values& one : values[0])
      all.insert(all.end(), one.begin(), one.end());
    bool is_second = false;
    unsigned begun = 0;
    for (const unsigned count : counts) {
      fitted->threads.back() = count;
      std::vector<contract::ArrayPlace> places;
      for (std::size_t n = 0; n < own.size(); ++n) {
        const std::uint64_t pointer = fitted->arrays[n].pointer;
        places.push_back(is_second ? contract::ArrayPlace{own[n], pointer}
                                   : contract::ArrayPlace{pointer, own[n]});
      }
      Values with = all;
      const auto add = [&](const auto& list) {
        std::vector<std::uint8_t>& bytes = with.emplace_back(list.size() * sizeof list[0]);
        std::memcpy(bytes.data(), list.data(), bytes.size());
      };
      add(fitted->threads);
      add(places);
      if (!entry.contract.varying.empty()) add(varying_in(values, begun));
      begun += count;
      launch(*merged_, {fitted->grid[0], fitted->grid[1], fitted->grid[2]},
             {fitted->block[0], fitted->block[1], fitted->block[2]}, with, outcome);
      is_second = !is_second;
    }
  }

  // What an entry is given that begins with this pass.
  [[nodiscard]] std::vector<std::uint64_t>
  varying_in(const std::vector<std::vector<Values>>& values, unsigned begin) const {
    std::vector<std::uint64_t> all(contract::bytes_of_values(entry.contract) / 8, ~0ULL);
    const auto& varying = entry.contract.varying;
    for (std::size_t n = 0; n < all.size() && begin + n / varying.size() < values.size(); ++n) {
      const auto& [stage, part] = varying[n % varying.size()];
      const auto& value = values[begin + n / varying.size()][stage][contract::number_of(part)];
      std::memcpy(&all[n], value.data(), value.size());
    }
    return all;
  }

  static void launch(const simt::Program& program, simt::Dim3 grid, simt::Dim3 block,
                     const Values& values, Outcome& outcome) {
    if (!outcome.error.empty()) return;
    simt::Launch launch{.grid = grid, .block = block, .arguments = {}};
    for (const std::vector<std::uint8_t>& value : values)
      launch.arguments.emplace_back().bytes.assign(value.begin(), value.end());
    outcome.error = run_watched(program, launch, outcome.memory, outcome.loaded, outcome.stored);
  }

  std::deque<emulator::Kernel> emulated_;
  std::vector<simt::ProgramPtr> singles_;
  simt::ProgramPtr merged_;
  mutable std::vector<std::uint64_t> addresses_;
  mutable std::vector<std::pair<std::uint64_t, std::uint64_t>> own_; // begin, bytes
};

// There is an entry, and passes merged by it, as many as it does or fewer, leave what launches do.
// `name`: of a file for ptxas; empty: it is not asked.
inline void expect_the_same(const SequenceCase& made, const std::string& name = "") {
  ASSERT_EQ(made.plan.refused.text, "");
  ASSERT_EQ(made.entry.refused.text, "");
  if (!name.empty()) expect_that_ptxas_takes(*made.both->text, name);
  const unsigned most = made.entry.contract.count;
  EXPECT_EQ(made.difference({most, most}, 1), "") << "T = " << most;
  EXPECT_EQ(made.difference({most, 1, 1, most}), "") << "T = " << most;
}

// A program by its two sizes.
struct SequenceRow {
  const char* name;
  SequenceProgram (*program)(unsigned nx, unsigned ny);
};

// Entries of several shapes. They are kept as `kept` and the program's name, of 5 places along x.
inline void expect_the_same(const SequenceRow& row, const std::string& kernels,
                            const std::string& kept,
                            std::initializer_list<std::pair<unsigned, unsigned>> sizes) {
  for (const passes::StepShape& shape : {passes::StepShape{.count = 3, .width = 48, .rows = 8},
                                         {.count = 2, .width = 32, .strips = 2, .rows = 16},
                                         {.count = 1, .width = 32, .strips = 3, .rows = 7}})
    for (const auto& [nx, ny] : sizes) {
      SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
      const SequenceProgram program = row.program(nx, ny);
      expect_the_same(SequenceCase(kernels, program.stages, program.buffers, shape),
                      nx == 5 ? fmt::format("{}_{}{}", kept, row.name, shape.count) : "");
    }
}

// Of small arrays: all is as it would be, or, as threads meet or there is nothing to store, it is
// not launched. There is an entry.
inline void expect_the_same_or_none(const SequenceCase& made) {
  ASSERT_EQ(made.entry.refused.text, "");
  if (made.run(4, {2, 2}).error.empty()) {
    EXPECT_EQ(made.difference({2, 2}, 1), "");
  }
}

} // namespace ptxasw::test
