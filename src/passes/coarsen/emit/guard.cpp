// All in 32 bits, which ptxas can keep in uniform registers: blocks (a grid of 2^32 of them runs
// for a second at least) times the whole warps of a block, so that 2^37 threads are needed to be
// taken for few.
#include "passes/coarsen/emit/guard.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <limits>

namespace ptxasw::passes {

using numbers::coarsen::some_rows; // of blocks: a launch of fewer is small, or flat
using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

namespace {

constexpr std::uint64_t warp = 32, most_threads = 1024;

// The largest number stands for all that are larger.
std::uint32_t divided(std::uint64_t number, std::uint64_t by) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min((number + by - 1) / by, most));
}

} // namespace

Reg LaunchSize::has_enough_along(unsigned axis, ptx::Code& code) const {
  const Reg number = code.special(along(Special::nctaid_x, axis));
  return code.setp(ge, u32, number, enough_along(axis));
}

std::uint32_t LaunchSize::enough_along(unsigned axis) const {
  const std::uint32_t blocks = divided(least_, states_threads() ? stated_threads() : most_threads);
  for (unsigned other = 0; other < 3; ++other)
    if (other != axis && reads(Special::nctaid_x, Special::ctaid_x, other))
      return std::min(blocks, some_rows);
  return blocks;
}

Reg LaunchSize::is_small(ptx::Code& code) const {
  if (least_ == 0) return {};
  Reg all = product(Special::nctaid_x, Special::ctaid_x, code);
  std::uint64_t unit = 1;
  if (states_threads()) {
    unit = stated_threads();
  } else if (const Reg threads = product(Special::ntid_x, Special::tid_x, code); !threads.empty()) {
    all = code.mul(u32, all, code.shr(u32, threads, 5));
    unit = warp;
  }
  return code.setp(lt, u32, all, divided(least_, unit));
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
Reg LaunchSize::product(Special size, Special index, ptx::Code& code) const {
  Reg result;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (!reads(size, index, axis)) continue;
    const Reg factor = code.special(along(size, axis));
    result = result.empty() ? factor : code.mul(u32, result, factor);
  }
  return result;
}

} // namespace ptxasw::passes
