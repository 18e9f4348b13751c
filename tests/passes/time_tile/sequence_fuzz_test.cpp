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

// Kernels, and how a host launches them: with sizes and arrays of its own each time.
class Host {
public:
  explicit Host(StageRandom& random) : random_(random) {
    like_first();
    for (unsigned k = 0; k < (exchanges_ ? 1 + below(2) : 2 + below(3)); ++k)
      add_kernel(k);
  }

  // Of which other stages may have been told something else before.
  Program program() {
    Program made{
        .text = ".version 8.0\n.target sm_90\n.address_size 64\n", .stages = {}, .buffers = {}};
    for (const auto& [kernel, order] : kernels_)
      made.text += kernel.text();
    choose_sizes();
    const std::size_t places =
        std::size_t{sizes_.pitch} * (transposed_ ? sizes_.nx : sizes_.ny) + 2 * std::size_t{room()};
    // Of floating-point numbers, or also what is none.
    const bool are_numbers = arrays_[0].name[0] == 'f' && chance(3, 4);
    for (const StageElement& one : arrays_)
      made.buffers.push_back(test::random_elements(places, one.bytes, are_numbers, below(99)));
    made.buffers.push_back(test::random_elements(2 * places, 8, are_numbers, 77));
    const unsigned turns = exchanges_ ? turns_ : 1;
    std::vector<StageLaunch> launches;
    for (const auto& [kernel, order] : kernels_)
      launches.push_back(launch_of(kernel));
    for (unsigned turn = 0; turn < turns; ++turn)
      for (std::size_t k = 0; k < kernels_.size(); ++k)
        made.stages.push_back(with_arguments(launches[k], k, turn));
    if (chance(1, 4)) spoil(made.stages[below(made.stages.size())]);
    return made;
  }

private:
  unsigned below(std::size_t n) { return random_.below(n); }
  bool chance(unsigned n, unsigned of) { return random_.chance(n, of); }
  // Around the arrays, which no kernel needs.
  [[nodiscard]] unsigned room() const { return 3 * sizes_.pitch + 5; }

  void like_first() {
    const StageElement& first = test::stage_elements[below(test::stage_elements.size())];
    std::vector<StageElement> like;
    std::ranges::copy_if(test::stage_elements, std::back_inserter(like),
                         [&](const StageElement& one) { return one.held == first.held; });
    const bool mixes = !exchanges_ && chance(1, 3);
    for (unsigned n = 0; n < count_; ++n)
      arrays_.push_back(mixes ? like[below(like.size())] : first);
  }

  void add_kernel(unsigned k) {
    std::vector<unsigned> order(count_);
    for (unsigned n = 0; n < count_; ++n)
      order[n] = n;
    for (unsigned n = 0; n < count_; ++n)
      std::swap(order[n], order[n + below(count_ - n)]);
    const unsigned writes = count_ > 2 && chance(1, 4) ? 2 : 1;
    order.resize(std::min<std::size_t>(count_, writes + 1 + below(2)));
    if (chance(1, 8)) order.push_back(order[below(order.size())]); // by two names
    std::vector<StageElement> slots;
    for (const unsigned n : order)
      slots.push_back(arrays_[n]);
    kernels_.emplace_back(StageKernel(random_, k, planar_, transposed_, slots, writes, around_),
                          order);
  }

  unsigned size() {
    constexpr std::array small{1U, 2U, 3U, 5U};
    return chance(1, 6) ? small[below(small.size())] : 6 + below(chance(1, 3) ? 130 : 60);
  }
  void choose_sizes() {
    sizes_.nx = size();
    sizes_.ny = !planar_ ? 1 : chance(1, 4) ? sizes_.nx : size();
    sizes_.pitch = (transposed_ ? sizes_.ny : sizes_.nx) + (chance(1, 2) ? 0 : below(3));
    sizes_.at_x = below(sizes_.nx);
    sizes_.at_y = chance(1, 4) ? std::min(sizes_.at_x, sizes_.ny - 1) : below(sizes_.ny);
  }

  StageLaunch launch_of(const StageKernel& kernel) {
    constexpr std::array<std::pair<unsigned, unsigned>, 6> shapes{
        {{16, 4}, {8, 8}, {32, 2}, {64, 1}, {1, 16}, {33, 3}}};
    auto [bx, by] = shapes[below(shapes.size())];
    if (!planar_) by = 1;
    const auto blocks = [&](unsigned n, unsigned block) {
      const unsigned enough = (n + block - 1) / block;
      return chance(1, 8) ? (enough + 1) / 2 : enough + (chance(1, 4) ? 1 : 0);
    };
    const unsigned across = blocks(sizes_.nx, bx), along = planar_ ? blocks(sizes_.ny, by) : 1;
    if (!planar_ && transposed_) return {kernel.name, {1, across}, {1, bx}, {}};
    return {kernel.name, {across, along}, {bx, by}, {}};
  }

  StageLaunch with_arguments(StageLaunch launch, std::size_t k, unsigned turn) const {
    const auto& [kernel, order] = kernels_[k];
    const auto time = static_cast<unsigned>(turn * kernels_.size() + k);
    for (const StageParameter& one : kernel.parameters) {
      using enum StageParameter::Is;
      StageArgument argument;
      switch (one.is) {
      case slot: {
        const unsigned n = (order[one.slot] + turn) % count_;
        argument = {.buffer = static_cast<int>(n),
                    .value = std::uint64_t{room()} * arrays_[n].bytes};
        break;
      }
      case coefficients:
        argument = {.buffer = static_cast<int>(count_), .value = std::uint64_t{room()} * 8};
        break;
      case nx: argument = test::number(sizes_.nx); break;
      case ny: argument = test::number(sizes_.ny); break;
      case pitch: argument = test::number(sizes_.pitch); break;
      case at_x: argument = test::number(sizes_.at_x); break;
      case at_y: argument = test::number(sizes_.at_y); break;
      case value: {
        argument = test::number(1000, kernel.held() == 64 ? 8 : 4);
        for (unsigned pass = 0; value_varies_ && pass < 4 * most_passes; ++pass)
          argument.varying.push_back(pass * 77 + time * 3);
        break;
      }
      case index: {
        argument = test::number(1);
        for (unsigned pass = 0; index_varies_ && pass < 4 * most_passes; ++pass)
          argument.varying.push_back((pass + time) % 4);
      }
      }
      launch.arguments.push_back(std::move(argument));
    }
    return launch;
  }

  // It has another size than the others, or an array that begins elsewhere or is another one.
  void spoil(StageLaunch& stage) {
    StageArgument& one = stage.arguments[below(stage.arguments.size())];
    if (!one.varying.empty()) return;
    if (one.buffer < 0) {
      one.value += chance(1, 2) ? 1 : -1U;
      one.value &= one.bytes == 4 ? 0xffffffffU : ~std::uint64_t{0};
    } else if (chance(1, 2)) {
      one.buffer = static_cast<int>(below(count_ + 1));
    } else {
      one.value += std::uint64_t{arrays_[0].bytes} * (chance(1, 2) ? sizes_.pitch : 1);
    }
  }

  StageRandom& random_;
  const bool planar_ = chance(4, 5), transposed_ = chance(1, 6), exchanges_ = chance(1, 3),
             value_varies_ = chance(1, 3), index_varies_ = chance(1, 3);
  const unsigned count_ = 2 + below(3), turns_ = 2 + below(2),
                 around_ = chance(1, 4) ? 1 + below(3) : 0; // axes of a torus
  std::vector<StageElement> arrays_;
  std::vector<std::pair<StageKernel, std::vector<unsigned>>> kernels_; // with the arrays of slots
  StageSizes sizes_;
};

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
    Host host(random);
    Program program = host.program();
    SequenceCase made(program.text, program.stages, program.buffers,
                      shapes[random.below(shapes.size())]);
    if (!made.plan.refused.empty() || !made.entry.refused.empty()) continue;
    if (random.chance(1, 3)) { // not what was seen
      program = host.program();
      made.stages = program.stages;
      made.buffers = program.buffers;
    }
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
