// Many launches of one kernel as one: what a contract says about an entry that does T time steps,
// and whether some launches are T such steps.
//
// The kernel is a step: it reads its arrays `in` and writes its arrays `out`, and the program
// launches it again and again with `in` and `out` exchanged. The entry for T steps (T is odd) is
// launched with the parameters of the first of T such launches. Afterwards
//   - `out` has, byte for byte, what T launches leave there;
//   - `in` is as it was (T launches would have left in it what the last but one wrote).
// So launching entries for T steps, again with `in` and `out` exchanged from one to the next, and
// at least one single launch behind them, leaves all memory as the single launches would have: a
// step writes the same elements whatever its values are. A run of n launches is (n-1)/T times the
// entry and then n - (n-1)/T*T >= 1 times the kernel itself.
//
// That holds where fit() says so. What it cannot know is that nobody looks at the arrays, or writes
// to them, in between: that is for whoever merges launches.
#pragma once

#include "contract/contract.hpp"
#include "contract/expression.hpp"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::contract {

// The value of a kernel's parameter: as many bytes as Contract::places says.
using ParameterBytes = std::function<const void*(unsigned number)>;

// One launch of the kernel.
struct StepLaunch {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  ParameterBytes parameters;
};

// Bytes that some launch of the run may read or write: [begin, end).
struct TouchedRange {
  std::uint64_t begin = 0, end = 0;
  bool written = false;
};

// How an entry is launched that does the first T of a run of launches.
struct FittedSteps {
  std::array<unsigned, 3> grid{}, block{};
  // Behind the kernel's own parameters: threads of the original launch along x, y, z.
  std::array<std::uint32_t, 3> threads{};
  std::vector<TouchedRange> ranges;
};

// Can `steps` stand for launches that begin with this one? Or why not: the arrays overlap, an index
// wraps, two threads would write one element, the grid gets too large.
[[nodiscard]] tl::expected<FittedSteps, std::string>
fit(const Contract& contract, const Steps& steps, const StepLaunch& launch);

// Is `next` the launch that follows `before` in such a run: the same grid, block and parameters,
// `in` and `out` exchanged?
[[nodiscard]] bool follows(const Contract& contract, const Steps& steps, const StepLaunch& before,
                           const StepLaunch& next);

} // namespace ptxasw::contract
