// The arithmetic of the remaps by itself: exact for the largest grids, and a bijection for symbolic
// ones, by Z3, as far as Z3 can divide.
#include "passes/remap/maps.hpp"

#include "symbolic/solver.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

namespace ptxasw::passes {
namespace {

// RapidCheck draws a seed from the clock unless told otherwise; RC_PARAMS still overrides this.
[[maybe_unused]] const int fixed_seed = setenv("RC_PARAMS", "seed=2025 max_success=400", 0);

// 32-bit numbers as the hardware has them; notices what must not happen.
struct Numbers {
  using Value = std::uint32_t;
  static Value number(unsigned n) { return n; }
  static Value exact(std::uint64_t n) {
    EXPECT_LT(n, std::uint64_t{1} << 32) << "wraps";
    return static_cast<Value>(n);
  }
  static Value add(Value a, Value b) { return exact(std::uint64_t{a} + b); }
  static Value sub(Value a, Value b) { return exact(std::uint64_t{a} - b); }
  static Value mul(Value a, Value b) { return exact(std::uint64_t{a} * b); }
  static Value div(Value a, Value b) { return a / b; }
  static Value rem(Value a, Value b) { return a % b; }
  static Value min(Value a, Value b) { return std::min(a, b); }
  static Value choose_odd(Value y, Value a, Value b) { return y % 2 == 1 ? a : b; }
};

// The n whose place this is.
std::uint64_t place_back(PlaceInPlane<std::uint32_t> p, std::uint64_t nx, std::uint64_t ny,
                         std::uint64_t width, bool zigzag) {
  const std::uint64_t w = std::min(nx, width), first = p.x / w * w, wide = std::min(nx - first, w),
                      x = zigzag && p.y % 2 == 1 ? wide - 1 - (p.x - first) : p.x - first;
  return first * ny + p.y * wide + x;
}

// Grids up to 2^31 - 1 by 65535, as long as they have fewer than 2^32 blocks.
RC_GTEST_PROP(RemapMaps, NoGridWraps, (bool zigzag)) {
  Numbers m;
  const auto bits = *rc::gen::inRange(0, 31);
  const auto nx = *rc::gen::inRange<std::uint32_t>(1, (2U << bits) - 1);
  const auto most = std::min<std::uint64_t>(65535, 0xffffffffU / nx);
  const auto ny = *rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(1, most + 1),
                                  rc::gen::just<std::uint32_t>(most));
  const auto width = *rc::gen::oneOf(rc::gen::inRange(1U, 300U), rc::gen::inRange(1U, 1U << 20));
  const std::uint32_t all = nx * ny;
  for (const std::uint32_t n :
       {0U, all - 1, all / 2, all - std::min(all, width), *rc::gen::inRange(0U, all)}) {
    const auto place = walk(m, n, nx, ny, width, zigzag);
    RC_ASSERT(place.x < nx);
    RC_ASSERT(place.y < ny);
    RC_ASSERT(place_back(place, nx, ny, width, zigzag) == n);
  }
}

// --- Symbolic grids ------------------------------------------------------------------------------

struct Terms {
  using Value = sym::Term;
  sym::Context& c;
  unsigned width;
  Value number(unsigned n) { return c.constant(width, n); }
  Value add(Value a, Value b) { return c.add(a, b); }
  Value sub(Value a, Value b) { return c.sub(a, b); }
  Value mul(Value a, Value b) { return c.mul(a, b); }
  Value div(Value a, Value b) { return c.udiv(a, b); }
  Value rem(Value a, Value b) { return c.urem(a, b); }
  Value min(Value a, Value b) { return c.ite(c.ult(a, b), a, b); }
  Value choose_odd(Value y, Value a, Value b) {
    return c.ite(c.eq(c.extract(y, 0, 1), c.constant(1, 1)), a, b);
  }
};

class SymbolicGrid : public ::testing::Test {
protected:
  static constexpr unsigned bits = 6; // of all numbers: Z3 takes minutes beyond 8
  sym::Context c;
  Terms m{c, bits};
  sym::Solver solver{
      c, {.query_budget = std::chrono::minutes(2), .total_budget = std::chrono::minutes(5)}};

  sym::Term size(const char* name) { return c.atom({.name = name, .width = bits, .lo = 1}); }
  sym::Term index(const char* name) { return c.atom({.name = name, .width = bits}); }
  // a * b < 2^bits
  sym::Term fits(sym::Term a, sym::Term b) {
    return c.ult(c.mul(c.zext(a, 2 * bits), c.zext(b, 2 * bits)),
                 c.constant(2 * bits, sym::Bits{1} << bits));
  }
};

TEST_F(SymbolicGrid, WalkIsABijection) {
  for (const bool zigzag : {false, true}) {
    for (const unsigned width : {1U, 3U, 4U}) {
      const sym::Term nx = size("nx"), ny = size("ny"), n = index("n");
      const auto place = walk(m, n, nx, ny, width, zigzag);
      const sym::Term full = m.min(nx, m.number(width)), first = m.mul(m.div(place.x, full), full),
                      wide = m.min(m.sub(nx, first), full), x = m.sub(place.x, first),
                      forth =
                          zigzag ? m.choose_odd(place.y, m.sub(m.sub(wide, m.number(1)), x), x) : x,
                      back = m.add(m.add(m.mul(first, ny), m.mul(place.y, wide)), forth);
      const std::array facts{fits(nx, ny), c.ult(n, m.mul(nx, ny))};
      const sym::Term goal = c.and_(c.and_(c.ult(place.x, nx), c.ult(place.y, ny)), c.eq(back, n));
      EXPECT_EQ(solver.prove(facts, goal).verdict, sym::Verdict::proved) << width << zigzag;
    }
  }
}

} // namespace
} // namespace ptxasw::passes
