// A step kernel, its entry for T steps, and both run on the interpreter as a host would: launch
// after launch, or merged as the contract says.
#pragma once

#include "contract/steps.hpp"
#include "passes/shared/case.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/other_kernel/untile.hpp"
#include "passes/time_tile/step/step.hpp"
#include "simt/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace ptxasw::test {

struct Stepped {
  std::shared_ptr<const ptx::Module> module, both;
  emulator::Kernel kernel;
  passes::StepKernel seen; // without a tile
  passes::StepPlan plan;
  passes::StepEntry entry;
  contract::Contract contract;
  simt::ProgramPtr single, merged;

  explicit Stepped(std::string source, const std::string& name = "",
                   const passes::StepShape& shape = {},
                   passes::Motion motion = passes::Motion::exchanged, unsigned choice = 0,
                   const std::vector<passes::BlockShape>& launched = {})
      : module(parsed(std::move(source))), kernel(emulate(*module, name)),
        seen(kernel, {.time = std::chrono::seconds(30)}, launched), plan(seen.find(motion, choice)),
        entry(passes::write_steps(seen.kernel(), plan, shape, "merged")) {
    if (!entry.refused.empty()) return;
    both = parsed(*module->text + "\n" + entry.text + "\n");
    contract.kernel = kernel.body.function->name;
    contract.steps = {entry.contract};
    for (const ptx::Symbol& symbol : kernel.body.symbols) {
      if (symbol.kind != ptx::Symbol::Kind::parameter) continue;
      contract.places.resize(std::max<std::size_t>(contract.places.size(), symbol.index + 1));
      contract.places[symbol.index] = {static_cast<unsigned>(symbol.offset),
                                       static_cast<unsigned>(symbol.size)};
    }
    contract.parameters = static_cast<unsigned>(contract.places.size());
    single = program(contract.kernel);
    merged = program("merged");
  }

private:
  [[nodiscard]] simt::ProgramPtr program(const std::string& name) const {
    auto made = simt::compile(both, name);
    EXPECT_TRUE(made) << made.error();
    return made.value_or(nullptr);
  }
};

// Adds the addresses in global memory of all elements that are loaded and stored. Empty, or what is
// wrong.
inline std::string run_watched(const simt::Program& program, simt::Launch& launch,
                               simt::Memory& memory, std::set<std::uint64_t>& loaded,
                               std::set<std::uint64_t>& stored) {
  launch.observer = [&](const simt::Access& access) {
    if (access.space != ptx::Space::global) return;
    std::set<std::uint64_t>& all = access.kind == simt::Access::Kind::load ? loaded : stored;
    const unsigned element = ptx::bit_width(access.inst->mods.type) / 8;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned byte = 0; byte < access.bytes && (access.mask >> lane & 1) != 0;
           byte += element)
        all.insert(access.addresses[lane] + byte);
  };
  const simt::Result result = simt::run(program, launch, memory);
  return result.ok() ? "" : result.message;
}

// What a host has: buffers, numbers, and a launch.
struct StepHost {
  const Stepped& stepped;
  simt::Dim3 grid, block;
  std::vector<std::uint64_t> arguments; // buffers: their number, or `at` some byte of one
  std::vector<std::vector<std::uint8_t>> buffers;
  std::vector<unsigned> pointers; // parts of parameters that are buffers
  // Parameters that are structures; a buffer's number where its address belongs.
  std::map<unsigned, std::vector<std::uint8_t>> structures{};
  unsigned shared = 0; // dynamic, bytes

  struct Outcome {
    std::string error;
    simt::Memory memory;
    std::set<std::uint64_t> loaded, stored; // addresses
    unsigned merged_launches = 0;
  };

  [[nodiscard]] std::string fit_error() const {
    const auto addresses = place();
    const auto fitted = fit(addresses.first);
    return fitted ? "" : fitted.error();
  }

  // `steps` launches; as many merged as can be, unless `plain`.
  [[nodiscard]] Outcome run(unsigned steps, bool plain) const {
    auto [values, memory] = place();
    const contract::Steps& entry = stepped.entry.contract;
    const std::uint64_t fourth = entry.rotation ? place_fourth(values, memory) : 0;
    Outcome outcome{.error = "", .memory = std::move(memory), .loaded = {}, .stored = {}};
    const unsigned count = launches_at_a_time(entry);
    while (steps != 0 && outcome.error.empty()) {
      const bool merges = !plain && steps > count;
      if (merges) {
        launch_merged(values, fourth, outcome);
      } else {
        launch(*stepped.single, grid, block, values, nullptr, outcome, nullptr, shared);
      }
      for (unsigned n = merges ? count : 1; n > 0; --n, --steps)
        values = moved(values);
    }
    return outcome;
  }

  // Empty if both end with the same bytes. `merged`: counts the launches of several steps.
  [[nodiscard]] std::string difference(unsigned steps, unsigned* merged = nullptr) const {
    const Outcome left = run(steps, true), right = run(steps, false);
    if (merged != nullptr) *merged += right.merged_launches;
    if (!left.error.empty()) return "plain: " + left.error;
    if (!right.error.empty()) return "merged: " + right.error;
    if (const auto found = simt::first_difference(left.memory, right.memory))
      return fmt::format("{} byte {}: {} {}", found->allocation, found->offset, found->left,
                         found->right);
    return {};
  }

  // Merged launches load nothing that no launch of a single step loads or stores.
  [[nodiscard]] bool loads_what_single_ones_touch(unsigned steps) const {
    Outcome plain = run(steps, true);
    plain.loaded.merge(plain.stored);
    return std::ranges::includes(plain.loaded, run(steps, false).loaded);
  }

  using Values = std::vector<std::vector<std::uint8_t>>; // bytes of parameters

  // A buffer's number, and how many bytes behind its begin.
  [[nodiscard]] static std::uint64_t at(unsigned buffer, std::uint64_t byte) {
    return byte << 8 | buffer;
  }
  static std::uint64_t address_of(std::uint64_t place,
                                  const std::vector<std::uint64_t>& addresses) {
    return addresses[place & 0xff] + (place >> 8);
  }

  // With memory that has the buffers.
  [[nodiscard]] std::pair<Values, simt::Memory> place() const {
    simt::Memory memory;
    std::vector<std::uint64_t> addresses;
    for (std::size_t n = 0; n < buffers.size(); ++n)
      addresses.push_back(memory.allocate(fmt::format("buffer{}", n), buffers[n]));
    Values values;
    for (unsigned n = 0; n < arguments.size(); ++n) {
      const auto structure = structures.find(n);
      if (structure != structures.end()) {
        values.push_back(structure->second);
        continue;
      }
      std::memcpy(values.emplace_back(8).data(), &arguments[n], 8);
    }
    for (const unsigned part : pointers)
      put(values, part, address_of(contract::address_in(bytes_of(values), part), addresses));
    return {values, memory};
  }

  [[nodiscard]] tl::expected<contract::FittedSteps, std::string> fit(const Values& values) const {
    return contract::fit(
        stepped.contract, stepped.entry.contract,
        {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, bytes_of(values), shared});
  }

  static void launch(const simt::Program& program, simt::Dim3 grid, simt::Dim3 block,
                     const Values& values, const std::array<std::uint32_t, 4>* threads,
                     Outcome& outcome, const contract::StepArrays* arrays = nullptr,
                     unsigned shared = 0) {
    simt::Launch launch{.grid = grid, .block = block, .arguments = {}};
    launch.dynamic_shared = shared;
    for (const std::vector<std::uint8_t>& value : values)
      launch.arguments.emplace_back().bytes.assign(value.begin(), value.end());
    const auto add = [&](const auto* value) {
      if (value == nullptr) return;
      simt::Argument more;
      more.bytes.resize(sizeof *value);
      std::memcpy(more.bytes.data(), value, sizeof *value);
      launch.arguments.push_back(std::move(more));
    };
    add(threads);
    add(arrays);
    outcome.error = run_watched(program, launch, outcome.memory, outcome.loaded, outcome.stored);
  }

  static contract::ParameterBytes bytes_of(const Values& values) {
    return [&values](unsigned number) -> const void* { return values[number].data(); };
  }
  static void put(Values& values, unsigned part, std::uint64_t address) {
    std::memcpy(values[contract::number_of(part)].data() + contract::byte_of(part), &address, 8);
  }

private:
  [[nodiscard]] Values moved(const Values& values) const {
    Values next = values;
    for (const unsigned part : contract::moving(stepped.entry.contract))
      put(next, moves_to(stepped.entry.contract, part),
          contract::address_in(bytes_of(values), part));
    return next;
  }

  // What is used of the fourth array has to have been written to it.
  [[nodiscard]] std::uint64_t place_fourth(const Values& values, simt::Memory& memory) const {
    const auto fitted = fit(values);
    if (!fitted) return 0;
    const std::uint64_t base = memory.allocate_undefined("fourth", contract::fourth_bytes(*fitted));
    const unsigned next = stepped.entry.contract.rotation->next;
    return contract::fourth_at(*fitted, contract::address_in(bytes_of(values), next), base);
  }

  void launch_merged(const Values& values, std::uint64_t fourth, Outcome& outcome) const {
    const auto fitted = fit(values);
    if (!fitted) {
      outcome.error = fitted.error();
      return;
    }
    ++outcome.merged_launches;
    const auto make = [&](const contract::StepArrays* arrays) {
      launch(*stepped.merged, {fitted->grid[0], fitted->grid[1], fitted->grid[2]},
             {fitted->block[0], fitted->block[1], fitted->block[2]}, values, &fitted->threads,
             outcome, arrays);
    };
    const auto& rotation = stepped.entry.contract.rotation;
    if (!rotation) return make(nullptr);
    for (const contract::StepArrays& arrays : contract::paired(*rotation, bytes_of(values), fourth))
      if (outcome.error.empty()) make(&arrays);
  }
};

// Numbers that stay numbers.
inline std::vector<std::uint8_t> random_elements(std::size_t count, unsigned bytes, bool is_float,
                                                 unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> data(count * bytes);
  for (std::size_t n = 0; n < count; ++n) {
    std::uint64_t bits = random();
    if (is_float && bytes == 4) {
      const float value = static_cast<float>(bits >> 40) * 0x1p-24F - 0.25F;
      std::memcpy(&bits, &value, 4);
    } else if (is_float && bytes == 2) {
      bits &= 0x3bff; // up to 1
    } else if (is_float) {
      const double value = static_cast<double>(bits >> 11) * 0x1p-53 - 0.25;
      std::memcpy(&bits, &value, 8);
    }
    std::memcpy(data.data() + n * bytes, &bits, bytes);
  }
  return data;
}

inline unsigned number_of_seeds(const char* variable, unsigned usual) {
  const char* const text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? usual : static_cast<unsigned>(std::atoi(text));
}

} // namespace ptxasw::test
