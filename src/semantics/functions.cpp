// Functions on concrete bits: bit counting and address windows here, floating point next door.
#include "semantics/domain.hpp"
#include "semantics/float_functions.hpp"
#include "semantics/windows.hpp"

#include <bit>
#include <limits>

namespace ptxasw::sem {

namespace {

unsigned leading_zeros(std::uint64_t v, unsigned width) {
  return static_cast<unsigned>(std::countl_zero(v)) - (64 - width);
}

Bits reversed(std::uint64_t v, unsigned width) {
  std::uint64_t r = 0;
  for (unsigned i = 0; i < width; ++i)
    r |= (v >> i & 1U) << (width - 1 - i);
  return r;
}

// fns: the |offset|-th set bit of mask from position base, upward or downward.
std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  constexpr std::uint32_t missing = ~0U;
  if (base > 31) return missing;
  if (offset == std::numeric_limits<std::int32_t>::min()) return 0; // has no magnitude
  if (offset == 0) return (mask >> base & 1U) != 0 ? base : missing;
  const int step = offset > 0 ? 1 : -1;
  std::int64_t count = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1U) != 0 && --count == 0) return static_cast<std::uint32_t>(at);
  return missing;
}

} // namespace

Bits compute(const Function& function, unsigned, std::span<const Bits> args) {
  const auto a = args.empty() ? std::uint64_t{0} : static_cast<std::uint64_t>(args[0]);
  const unsigned width = ptx::bit_width(function.from);
  switch (function.fn) {
  case Fn::popc: return static_cast<unsigned>(std::popcount(a));
  case Fn::clz: return leading_zeros(a, width);
  case Fn::brev: return reversed(a, width);
  case Fn::fns:
    return find_nth_set(static_cast<std::uint32_t>(args[0]), static_cast<std::uint32_t>(args[1]),
                        static_cast<std::int32_t>(static_cast<std::uint32_t>(args[2])));
  case Fn::window: return window_base(function.space);
  case Fn::in_window: return space_of(a) == function.space ? 1 : 0;
  default: return compute_float(function, args);
  }
}

} // namespace ptxasw::sem
