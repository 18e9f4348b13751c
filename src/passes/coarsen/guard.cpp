// All in 32 bits, which ptxas can keep in uniform registers: blocks (a grid of 2^32 of them runs
// for a second at least) times the whole warps of a block, so that 2^37 threads are needed to be
// taken for few.
#include "passes/coarsen/guard.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <limits>

namespace ptxasw::passes {

using numbers::coarsen::some_rows; // of blocks: a launch of fewer is small, or flat
using ptx::Special;

namespace {

constexpr std::uint64_t warp = 32, most_threads = 1024;

// The largest number stands for all that are larger.
std::uint32_t divided(std::uint64_t number, std::uint64_t by) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min((number + by - 1) / by, most));
}

} // namespace

std::string LaunchSize::has_enough_along(unsigned axis, Text& text) const {
  const std::string number = registers_.make("b32");
  std::string many = registers_.make("pred");
  text.line("mov.u32 \t{}, %nctaid.{};", number, "xyz"[axis]);
  text.line("setp.ge.u32 \t{}, {}, {};", many, number, enough_along(axis));
  return many;
}

std::uint32_t LaunchSize::enough_along(unsigned axis) const {
  const std::uint32_t blocks = divided(least_, states_threads() ? stated_threads() : most_threads);
  for (unsigned other = 0; other < 3; ++other)
    if (other != axis && reads(Special::nctaid_x, Special::ctaid_x, other))
      return std::min(blocks, some_rows);
  return blocks;
}

std::string LaunchSize::is_small(Text& text) const {
  if (least_ == 0) return {};
  const std::string small = registers_.make("pred");
  std::string all = product(text, "%nctaid", Special::nctaid_x, Special::ctaid_x);
  std::uint64_t unit = 1;
  if (states_threads()) {
    unit = stated_threads();
  } else if (const std::string threads = product(text, "%ntid", Special::ntid_x, Special::tid_x);
             !threads.empty()) {
    const std::string warps = registers_.make("b32"), sum = registers_.make("b32");
    text.line("shr.u32 \t{}, {}, 5;", warps, threads);
    text.line("mul.lo.u32 \t{}, {}, {};", sum, all, warps);
    all = sum;
    unit = warp;
  }
  text.line("setp.lt.u32 \t{}, {}, {};", small, all, divided(least_, unit));
  return small;
}

std::uint64_t LaunchSize::stated_threads() const {
  std::uint64_t threads = 1;
  for (const std::uint32_t size : body_.function->reqntid)
    threads *= std::max(size, 1U);
  return threads;
}

bool LaunchSize::reads(Special size, Special index, unsigned axis) const {
  return ptx::reads_special(body_, ptx::along(size, axis)) ||
         ptx::reads_special(body_, ptx::along(index, axis));
}

// Over the axes along which the kernel reads the size or an index; empty if it reads none.
std::string LaunchSize::product(Text& text, std::string_view name, Special size,
                                Special index) const {
  std::string result;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (!reads(size, index, axis)) continue;
    const std::string factor = registers_.make("b32");
    text.line("mov.u32 \t{}, {}.{};", factor, name, "xyz"[axis]);
    if (result.empty()) {
      result = factor;
      continue;
    }
    const std::string both = registers_.make("b32");
    text.line("mul.lo.u32 \t{}, {}, {};", both, result, factor);
    result = both;
  }
  return result;
}

} // namespace ptxasw::passes
