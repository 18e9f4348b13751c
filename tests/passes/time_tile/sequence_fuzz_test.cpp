// Random kernels that are a step together: passes against passes that are merged.
// PTXASW_SEQUENCES_FUZZ=N makes N of them.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/stage_kernel.hpp"
#include "passes/time_tile/step_case.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::SequenceCase;
using test::StageArgument;
using test::StageElement;
using test::StageKernel;
using test::StageLaunch;
using test::StageParameter;
using test::StageRandom;
using test::StageSizes;

constexpr unsigned most_passes = 12;

struct Program {
  std::string text;
  std::vector<StageLaunch> stages;
  std::vector<std::vector<std::uint8_t>> buffers;
};

// Room around the arrays that no kernel needs.
Program program_of(StageRandom& random) {
  const bool planar = random.chance(4, 5), transposed = planar && random.chance(1, 6);
  const StageElement& first = test::stage_elements[random.below(test::stage_elements.size())];
  std::vector<StageElement> like;
  std::ranges::copy_if(test::stage_elements, std::back_inserter(like),
                       [&](const StageElement& one) { return one.held == first.held; });
  const bool mixes = random.chance(1, 3);
  const unsigned count = 2 + random.below(3);
  std::vector<StageElement> arrays;
  for (unsigned n = 0; n < count; ++n)
    arrays.push_back(mixes ? like[random.below(like.size())] : first);
  Program made;
  made.text = ".version 8.0\n.target sm_90\n.address_size 64\n";

  const auto size = [&] {
    constexpr std::array small{1U, 2U, 3U, 5U};
    return random.chance(1, 6) ? small[random.below(small.size())]
                               : 6 + random.below(random.chance(1, 3) ? 130 : 60);
  };
  StageSizes sizes{size(), planar ? size() : 1, 0, 0, 0};
  const auto [across, along] =
      transposed ? std::pair(sizes.ny, sizes.nx) : std::pair(sizes.nx, sizes.ny);
  sizes.pitch = across + random.below(3);
  sizes.at_x = random.below(sizes.nx);
  sizes.at_y = random.below(sizes.ny);
  const unsigned room = 3 * sizes.pitch + 5;
  const std::size_t places = std::size_t{sizes.pitch} * along + 2 * std::size_t{room};
  const bool are_numbers = first.name[0] == 'f' && random.chance(3, 4); // else also none
  for (unsigned n = 0; n < count; ++n)
    made.buffers.push_back(
        test::random_elements(places, arrays[n].bytes, are_numbers, n + random.below(99)));
  made.buffers.push_back(test::random_elements(2 * places, 8, are_numbers, 77));

  const bool exchanges = random.chance(1, 3);
  const unsigned kernels = exchanges ? 1 + random.below(2) : 2 + random.below(3);
  std::vector<std::pair<StageKernel, std::vector<unsigned>>> all; // with the arrays of its slots
  for (unsigned k = 0; k < kernels; ++k) {
    std::vector<unsigned> order;
    for (unsigned n = 0; n < count; ++n)
      order.push_back(n);
    for (unsigned n = 0; n < count; ++n)
      std::swap(order[n], order[n + random.below(count - n)]);
    const unsigned writes = count > 2 && random.chance(1, 4) ? 2 : 1;
    order.resize(std::min<std::size_t>(count, writes + 1 + random.below(2)));
    std::vector<StageElement> slots;
    for (const unsigned n : order)
      slots.push_back(exchanges && !mixes ? first : arrays[n]);
    if (exchanges && mixes)
      for (StageElement& one : slots)
        one = first;
    all.emplace_back(StageKernel(random, k, planar, transposed, slots, writes), order);
    made.text += all.back().first.text();
  }
  if (exchanges)
    for (unsigned n = 0; n < count; ++n)
      made.buffers[n] = test::random_elements(places, first.bytes, are_numbers, n);
  const unsigned turns = exchanges ? 2 + random.below(2) : 1;
  constexpr std::array<std::pair<unsigned, unsigned>, 6> shapes{
      {{16, 4}, {8, 8}, {32, 2}, {64, 1}, {1, 16}, {33, 3}}};
  std::vector<StageLaunch> launches;
  for (const auto& [kernel, order] : all) {
    StageLaunch launch{.kernel = kernel.name, .grid = {}, .block = {}, .arguments = {}};
    auto [bx, by] = shapes[random.below(shapes.size())];
    if (!planar) by = 1;
    launch.block = {bx, by};
    const auto blocks = [&](unsigned n, unsigned block) {
      const unsigned enough = (n + block - 1) / block;
      return random.chance(1, 8) ? (enough + 1) / 2 : enough + (random.chance(1, 4) ? 1 : 0);
    };
    launch.grid = {blocks(sizes.nx, bx), planar ? blocks(sizes.ny, by) : 1};
    launches.push_back(launch);
  }
  std::array<std::vector<std::uint64_t>, 2> varying; // values, numbers
  const bool value_varies = random.chance(1, 3), number_varies = random.chance(1, 3);
  unsigned time = 0;
  for (unsigned turn = 0; turn < turns; ++turn)
    for (unsigned k = 0; k < kernels; ++k) {
      const auto& [kernel, order] = all[k];
      StageLaunch launch = launches[k];
      for (const StageParameter& one : kernel.parameters) {
        using enum StageParameter::Is;
        StageArgument argument;
        switch (one.is) {
        case slot: {
          const unsigned n = (order[one.slot] + turn) % count;
          const unsigned bytes = exchanges ? first.bytes : arrays[n].bytes;
          argument = {.buffer = static_cast<int>(n), .value = std::uint64_t{room} * bytes};
          break;
        }
        case coefficients:
          argument = {.buffer = static_cast<int>(count), .value = std::uint64_t{room} * 8};
          break;
        case nx: argument = test::number(sizes.nx); break;
        case ny: argument = test::number(sizes.ny); break;
        case pitch: argument = test::number(sizes.pitch); break;
        case at_x: argument = test::number(sizes.at_x); break;
        case at_y: argument = test::number(sizes.at_y); break;
        case value:
        case index: {
          argument = test::number(5, one.is == value && kernel.held() == 64 ? 8 : 4);
          if (one.is == index) argument.value = 1;
          if (one.is == value ? !value_varies : !number_varies) break;
          for (unsigned pass = 0; pass < 4 * most_passes; ++pass)
            argument.varying.push_back(one.is == index ? (pass + time) % 4 : pass * 77 + time * 3);
        }
        }
        launch.arguments.push_back(argument);
      }
      ++time;
      made.stages.push_back(std::move(launch));
    }
  return made;
}

std::string described(const Program& program) {
  std::string all = program.text;
  for (const StageLaunch& stage : program.stages) {
    all += fmt::format("{} <{},{}> <{},{}>", stage.kernel, stage.grid.x, stage.grid.y,
                       stage.block.x, stage.block.y);
    for (const StageArgument& one : stage.arguments)
      all += one.buffer >= 0 ? fmt::format(" b{}+{}", one.buffer, one.value)
                             : fmt::format(" {}{}", one.value, one.varying.empty() ? "" : "...");
    all += '\n';
  }
  return all;
}

TEST(SequencesFuzz, LeaveTheSame) {
  const unsigned count = test::number_of_seeds("PTXASW_SEQUENCES_FUZZ", 60),
                 first = test::number_of_seeds("PTXASW_SEQUENCES_SEED", 1);
  constexpr std::array shapes{passes::StepShape{.count = 2, .width = 32, .strips = 2, .rows = 16},
                              passes::StepShape{.count = 1, .width = 32, .strips = 4, .rows = 8},
                              passes::StepShape{.count = 3, .width = 64, .strips = 4, .rows = 10},
                              passes::StepShape{.count = 2, .width = 48, .strips = 1, .rows = 32},
                              passes::StepShape{.count = 1, .width = 16, .strips = 2, .rows = 12}};
  unsigned merged = 0;
  for (unsigned seed = first; seed < first + count && !HasFailure(); ++seed) {
    StageRandom random(seed);
    const Program program = program_of(random);
    const SequenceCase made(program.text, program.stages, program.buffers,
                            shapes[random.below(shapes.size())]);
    if (!made.plan.refused.empty() || !made.entry.refused.empty()) continue;
    const unsigned most = made.entry.contract.count;
    const std::string found = made.difference({most, most, 1, 1}, random.below(2));
    // Sizes for which it is none, or a program that is wrong itself.
    if (found.starts_with(test::does_not_fit) || found.starts_with("plain: ")) continue;
    ++merged;
    EXPECT_EQ(found, "") << "seed " << seed << '\n' << described(program);
  }
  EXPECT_GE(merged, count / 20);
}

} // namespace
} // namespace ptxasw
