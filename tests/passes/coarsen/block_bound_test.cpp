// The bound, by its definition: whenever the sum over the leaves stays below 2^31, an address has
// the value of its relaxed form. Leaves are drawn from all 32-bit numbers, small ones preferred.
#include "passes/coarsen/find/block_bound.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <map>

namespace ptxasw {
namespace {

using sym::Bits;
using sym::Term;

// The same numbers in every run; RC_PARAMS from outside still counts.
[[maybe_unused]] const int fixed_seed = setenv("RC_PARAMS", "seed=2024 max_success=400", 0);

// Indices of many shapes: signed and unsigned, widened twice, in parts, with negative constants.
constexpr const char* indices = R"(
    mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mad.lo.s32 %r6, %r5, %r2, %r3;
    add.s32 %r6, %r6, -7;
    mul.wide.s32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.f32 %f1, [%rd6+4];
    cvt.u64.u32 %rd7, %r1;
    cvt.s64.s32 %rd8, %r5;
    mul.lo.s64 %rd9, %rd7, %rd8;
    sub.s64 %rd9, %rd1, %rd9;
    ld.global.f32 %f1, [%rd9];
    cvt.u32.u64 %r7, %rd7;
    sub.s32 %r8, %r7, %r5;
    mul.wide.s32 %rd10, %r8, 8;
    add.s64 %rd10, %rd10, %rd2;
    ld.global.f64 %fd1, [%rd10];
    ret;
)";

RC_GTEST_PROP(BlockBoundProperty, RelaxedAddressesAreExactBelowTheBound, ()) {
  const test::Emulated emulated = test::emulate_body(indices);
  sym::Context& c = *emulated.kernel.context;
  passes::AxisPolynomial relaxed(c, {});
  passes::Bounds bounds(emulated.kernel, relaxed, [](Term) { return true; });
  std::map<Term, Bits> values;
  const auto value = [&](Term atom) {
    const auto [place, missing] = values.try_emplace(atom);
    if (missing) {
      const sym::Atom& info = c.atom_info(atom);
      const auto small = *rc::gen::inRange<std::uint64_t>(0, 5000);
      const auto any = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 32);
      place->second = *rc::gen::inRange(0, 4) == 0 ? any : small;
      if (info.width == 64) place->second = any * 1000;
      place->second = std::clamp(place->second, info.lo, info.hi);
    }
    return place->second;
  };
  const auto evaluate = [&](Term t) {
    return c.evaluate(
        t, [&](const sym::Atom&, Term atom) { return value(atom); },
        [](sym::FunctionKey, unsigned, std::span<const Bits>) { return Bits{0}; });
  };
  unsigned bounded = 0;
  for (const emulator::Event& event : emulated.kernel.trace.events) {
    const auto& bound = bounds.of(event.address);
    RC_ASSERT(bound.has_value());
    double sum = 0;
    for (const auto& [factors, coefficient] : bound->products) {
      auto product = static_cast<double>(coefficient);
      for (const Term factor : factors)
        product *= static_cast<double>(value(factor));
      sum += product;
    }
    if (sum >= 2147483648.0) continue;
    ++bounded;
    RC_ASSERT(evaluate(event.address) == evaluate(relaxed.of(event.address)));
  }
  RC_TAG(bounded);
}

TEST(BlockBoundProperty, SomeIndexIsBeyondTheBoundAndDiffers) {
  const test::Emulated emulated = test::emulate_body(indices);
  sym::Context& c = *emulated.kernel.context;
  passes::AxisPolynomial relaxed(c, {});
  const Term address = emulated.kernel.trace.events[0].address;
  const auto at = [&](Term t, Bits n) {
    return c.evaluate(
        t, [&](const sym::Atom& atom, Term) { return atom.name == "in" ? Bits{0} : n; },
        [](sym::FunctionKey, unsigned, std::span<const Bits>) { return Bits{0}; });
  };
  EXPECT_EQ(at(address, 1000), at(relaxed.of(address), 1000));
  EXPECT_NE(at(address, 60000), at(relaxed.of(address), 60000));
}

} // namespace
} // namespace ptxasw
