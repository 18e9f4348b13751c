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
// Three arrays in rotation: a launch reads old and now and writes next, and the next one has now,
// next and old in their places. An entry does T launches, T a multiple of three, and two of the
// arrays hold other values behind them, which it cannot write while its other blocks read: it reads
// two arrays and writes two others, one of which is a fourth, as large as next, that whoever
// launches it has. Entries come in pairs (paired()): the first writes the fourth and next, the
// second, with the same parameters, reads these and writes old and now. Behind a pair
//   - old and now have, byte for byte, what 2T launches leave there;
//   - next has, of the elements that a launch writes, older values.
// So pairs and at least one single launch behind them leave all memory as single launches would:
// the single one writes the same elements of next. Launchers make three.
//
// That holds where fit() says so. What it cannot know is where variables of the module lie that a
// step reads: nothing that is written may overlap these (overlap()). Nor that nobody looks at the
// arrays, or writes to them, in between: that is for whoever merges launches.
#pragma once

#include "contract/contract.hpp"
#include "contract/elements.hpp"
#include "contract/expression.hpp"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::contract {

// The value of a kernel's parameter: as many bytes as Contract::places says.
using ParameterBytes = std::function<const void*(unsigned number)>;

// One launch of the kernel.
struct StepLaunch {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  ParameterBytes parameters;
  unsigned shared = 0; // dynamic, bytes
};

// Bytes that some launch of the run may read or write: [begin, end).
struct TouchedRange {
  std::uint64_t begin = 0, end = 0;
  bool written = false;
};

// How an entry is launched that does the first T of a run of launches.
struct FittedSteps {
  std::array<unsigned, 3> grid{}, block{};
  // Behind the kernel's own parameters: threads of the original launch along x, y, z, or the
  // extents; and T.
  std::array<std::uint32_t, 4> threads{};
  std::vector<TouchedRange> ranges;
  // Of three arrays in rotation: where next is touched. The fourth is as long. Of two that are
  // exchanged: where out is.
  std::optional<TouchedRange> next;
  PlacedElements stored; // of out; of no bytes: not known
};

// Can `steps` stand for launches that begin with this one? Or why not: the arrays overlap, an index
// wraps, two threads would write one element, the grid gets too large.
[[nodiscard]] tl::expected<FittedSteps, std::string>
fit(const Contract& contract, const Steps& steps, const StepLaunch& launch);

// What a kernel that copies does: all these elements, to so far behind them.
struct FittedCopy {
  PlacedElements from;
  std::uint64_t to = 0; // of the first one
};
// Or why it is not known of this launch.
[[nodiscard]] tl::expected<FittedCopy, std::string> fit_copy(const Contract& contract,
                                                             const StepLaunch& launch);
// Some bytes of one range are written that are of the other, too.
[[nodiscard]] bool overlap(const TouchedRange& a, const TouchedRange& b);

// Is `next` the launch that follows `before` in such a run: the same grid, block and parameters,
// the arrays moved on?
[[nodiscard]] bool follows(const Contract& contract, const Steps& steps, const StepLaunch& before,
                           const StepLaunch& next);

// The part of a parameter in which the next launch of a run has what this one has in `part`.
[[nodiscard]] unsigned moves_to(const Steps& steps, unsigned part);
// Those that move: pointers, 8 bytes each.
[[nodiscard]] std::vector<unsigned> moving(const Steps& steps);
// What a pointer points to.
[[nodiscard]] std::uint64_t address_in(const ParameterBytes& parameters, unsigned part);
// Do both move the program's arrays in one way?
[[nodiscard]] bool move_alike(const Steps& a, const Steps& b);

// Behind the parameters of entries of three arrays in rotation, one more behind the threads: 32
// bytes, aligned to 8. Addresses of parameters: what lies in the arrays at an element's offset.
struct StepArrays {
  std::uint64_t read_old = 0, read_now = 0, write_old = 0, write_now = 0;
};
// Of the first and the second entry of a pair.
[[nodiscard]] std::array<StepArrays, 2>
paired(const Rotation& rotation, const ParameterBytes& parameters, std::uint64_t fourth);
// The address of a fourth array, as an entry has it, whose bytes are those from `begin` on.
// [begin, begin + fourth_bytes) has room for it, aligned as next is.
[[nodiscard]] std::uint64_t fourth_at(const FittedSteps& fitted, std::uint64_t next,
                                      std::uint64_t begin);
[[nodiscard]] std::uint64_t fourth_bytes(const FittedSteps& fitted);

// How many launches are made at a time with this entry, and how many single ones behind the last.
[[nodiscard]] constexpr unsigned launches_at_a_time(const Steps& steps) {
  return steps.rotation ? 2 * steps.count : steps.count;
}
[[nodiscard]] constexpr unsigned singles_behind(const Steps& steps) {
  return steps.rotation ? 3 : 1;
}

} // namespace ptxasw::contract
