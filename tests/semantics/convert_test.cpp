// Conversions, moves and addresses (PTX ISA 9.7.9).
#include "semantics/cases.hpp"
#include "semantics/windows.hpp"

namespace ptxasw {
namespace {

using harness::expect;

constexpr std::uint64_t quiet_nan32 = 0x7fc00000, nan64 = 0x7ff8000000000000;

TEST(Convert, IntegersAreCutThenExtendedByTheDestination) {
  expect({
      {"cvt.u8.u32 r, r", {0x1ff}, {0xff}},
      {"cvt.s8.u32 r, r", {0x1ff}, {0xffffffff}},
      {"cvt.s8.s32 h, r", {0x80}, {0xff80}},
      {"cvt.u16.s8 r, r", {0x80}, {0xff80}},
      {"cvt.s64.s32 d, r", {0x80000000}, {0xffffffff80000000}},
      {"cvt.u64.u32 d, r", {0x80000000}, {0x80000000}},
      {"cvt.u64.s32 d, r", {0x80000000}, {0xffffffff80000000}},
      {"cvt.u32.u64 r, d", {0x123456789}, {0x23456789}},
      {"cvt.s32.s8 r, r", {0xffffff7f}, {0x7f}},
  });
}

TEST(Convert, SaturationClampsToTheDestination) {
  expect({
      {"cvt.sat.u8.s32 r, r", {0xffffffff}, {0}},
      {"cvt.sat.u8.s32 r, r", {300}, {255}},
      {"cvt.sat.s8.s32 r, r", {0xffffff00}, {0xffffff80}},
      {"cvt.sat.s8.u32 r, r", {0xffffff00}, {0x7f}},
      {"cvt.sat.u32.s32 r, r", {0x80000000}, {0}},
      {"cvt.sat.s32.u32 r, r", {0x80000000}, {0x7fffffff}},
      {"cvt.sat.s64.u64 d, d", {~0ULL}, {0x7fffffffffffffff}},
      {"cvt.sat.u64.s64 d, d", {~0ULL}, {0}},
      {"cvt.sat.s32.s64 r, d", {0xffffffff00000000}, {0x80000000}},
  });
}

TEST(Convert, FloatsToIntegersRoundAndClamp) {
  expect({
      {"cvt.rni.s32.f32 r, r", {0x40200000}, {2}}, // 2.5, to even
      {"cvt.rni.s32.f32 r, r", {0x40600000}, {4}}, // 3.5
      {"cvt.rzi.s32.f32 r, r", {0xc0200000}, {0xfffffffe}},
      {"cvt.rmi.s32.f32 r, r", {0xc0200000}, {0xfffffffd}},
      {"cvt.rpi.s32.f32 r, r", {0x40200000}, {3}},
      {"cvt.rpi.u32.f32 r, r", {1}, {1}},
      {"cvt.rpi.ftz.u32.f32 r, r", {1}, {0}},
      {"cvt.rzi.u32.f32 r, r", {0xbf800000}, {0}},
      {"cvt.rzi.s32.f32 r, r", {0x4f000000}, {0x7fffffff}}, // 2^31
      {"cvt.rzi.s32.f32 r, r", {0xff800000}, {0x80000000}},
      {"cvt.rzi.u64.f32 d, r", {0x7f800000}, {~0ULL}},
      {"cvt.rzi.u8.f32 r, r", {0x43960000}, {255}}, // 300
      {"cvt.rzi.s8.f32 r, r", {0xc3960000}, {0xffffff80}},
      {"cvt.rni.s32.f64 r, d", {0x41dfffffffe00000}, {0x7fffffff}}, // 2^31 - 0.5
      {"cvt.rzi.s64.f64 d, d", {0x43e0000000000000}, {0x7fffffffffffffff}},
      // NaN: 0, but the most negative number where 64 bits take part
      {"cvt.rzi.s32.f32 r, r", {quiet_nan32}, {0}},
      {"cvt.rzi.s64.f32 d, r", {quiet_nan32}, {0x8000000000000000}},
      {"cvt.rzi.u32.f64 r, d", {nan64}, {0x80000000}},
      {"cvt.rzi.u64.f64 d, d", {nan64}, {0x8000000000000000}},
      {"cvt.rzi.s16.f16 h, h", {0x7e00}, {0}},
  });
}

TEST(Convert, IntegersToFloatsRoundOnce) {
  expect({
      {"cvt.rn.f32.s32 r, r", {0x01000001}, {0x4b800000}}, // 2^24 + 1, to even
      {"cvt.rp.f32.s32 r, r", {0x01000001}, {0x4b800001}},
      {"cvt.rz.f32.u32 r, r", {0xffffffff}, {0x4f7fffff}},
      {"cvt.rn.f32.u32 r, r", {0xffffffff}, {0x4f800000}},
      {"cvt.rm.f32.s32 r, r", {0xfeffffff}, {0xcb800001}},
      {"cvt.rn.f64.u64 d, d", {~0ULL}, {0x43f0000000000000}},
      {"cvt.rz.f64.s64 d, d", {0x7fffffffffffffff}, {0x43dfffffffffffff}},
      {"cvt.rn.f16.u32 h, r", {65520}, {0x7c00}}, // overflows
      {"cvt.rz.f16.u32 h, r", {0xffffffff}, {0x7bff}},
      {"cvt.rn.sat.f32.s32 r, r", {7}, {0x3f800000}},
      {"cvt.rn.f32.s8 r, h", {0xff}, {0xbf800000}},
  });
}

TEST(Convert, BetweenFormats) {
  expect({
      {"cvt.f64.f32 d, r", {1}, {0x36a0000000000000}},
      {"cvt.ftz.f64.f32 d, r", {0x80000001}, {0x8000000000000000}},
      {"cvt.rn.f32.f64 r, d", {0x3ff0000010000000}, {0x3f800000}}, // a tie
      {"cvt.rp.f32.f64 r, d", {0x3ff0000010000000}, {0x3f800001}},
      {"cvt.rn.f16.f32 h, r", {0x33000000}, {0}}, // 2^-25: a tie between 0 and 2^-24
      {"cvt.rn.f16.f32 h, r", {0x33000001}, {1}},
      {"cvt.rn.f16.f32 h, r", {0x477ff000}, {0x7c00}},
      {"cvt.rz.f16.f32 h, r", {0x477ff000}, {0x7bff}},
      {"cvt.f32.f16 r, h", {1}, {0x33800000}},
      {"cvt.f32.f16 r, h", {0xfe01}, {0x7fffffff}},
      {"cvt.rn.bf16.f32 h, r", {0x3f808000}, {0x3f80}},
      {"cvt.rn.bf16.f32 h, r", {0x3f818000}, {0x3f82}},
      {"cvt.f32.bf16 r, h", {0x3f81}, {0x3f810000}},
      {"cvt.rn.f16x2.f32 r, r, r", {0x3f800000, 0x40000000}, {0x3c004000}}, // a is the high half
      {"cvt.rn.relu.bf16x2.f32 r, r, r", {0xbf800000, 0x40000000}, {0x00004000}},
      {"cvt.rn.satfinite.f16.f32 h, r", {0x7f800000}, {0x7bff}},
      {"cvt.rn.relu.f16.f32 h, r", {0xbf800000}, {0}},
      {"cvt.rna.tf32.f32 r, r", {0x3f801000}, {0x3f802000}},
      {"cvt.rn.tf32.f32 r, r", {0x3f801000}, {0x3f800000}},
      {"cvt.sat.f32.f32 r, r", {quiet_nan32}, {0}},
      {"cvt.sat.f32.f32 r, r", {0x80000000}, {0}},
      {"cvt.rni.f32.f32 r, r", {0xbe800000}, {0x80000000}}, // -0.25
      {"cvt.rpi.f32.f32 r, r", {0x3e800000}, {0x3f800000}},
      {"cvt.rmi.f64.f64 d, d", {0xbfd0000000000000}, {0xbff0000000000000}},
      {"cvt.rzi.f16.f16 h, h", {0x3e00}, {0x3c00}},
      {"cvt.f64.f32 d, r", {0xff800001}, {0xfff8000020000000}}, // a NaN keeps sign and payload
  });
}

TEST(Move, PacksFromTheLeastSignificantEnd) {
  expect({
      {"mov.b32 r, {h, h}", {0x1111, 0x2222}, {0x22221111}},
      {"mov.b64 d, {r, r}", {1, 2}, {0x200000001}},
      {"mov.b64 d, {h, h, h, h}", {1, 2, 3, 4}, {0x0004000300020001}},
      {"mov.b64 {r, r}, d", {0x200000001}, {1, 2}},
      {"mov.b64 {_, r}, d", {0x200000001}, {2}},
      {"mov.b64 {h, h, h, h}, d", {0x0004000300020001}, {1, 2, 3, 4}},
      {"mov.b64 d, {r, 7}", {1}, {0x700000001}},
      {"mov.f32 r, 0.1", {}, {0x3dcccccd}},
      {"mov.f64 d, 0f3F800000", {}, {0x3ff0000000000000}},
      {"mov.u16 h, -1", {}, {0xffff}},
      {"mov.pred p, 1", {}, {1}},
  });
}

TEST(Move, WholeB128) {
  sem::ConcreteDomain domain;
  const harness::Program program("mov.b128 q, {d, d}; mov.b128 {d, d}, q");
  const auto results = program.run(domain, {5, 6});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[0] == ((sem::Bits{6} << 64) | 5));
  EXPECT_EQ(static_cast<std::uint64_t>(results[1]), 5U);
  EXPECT_EQ(static_cast<std::uint64_t>(results[2]), 6U);
}

TEST(Address, GenericIsWindowBasePlusOffset) {
  const std::uint64_t shared = sem::window_base(ptx::Space::shared);
  const std::uint64_t local = sem::window_base(ptx::Space::local);
  expect({
      {"cvta.global.u64 d, d", {0x7f0012345678}, {0x7f0012345678}},
      {"cvta.to.global.u64 d, d", {0x7f0012345678}, {0x7f0012345678}},
      {"cvta.shared.u64 d, d", {64}, {shared + 64}},
      {"cvta.to.shared.u64 d, d", {shared + 64}, {64}},
      {"cvta.local.u64 d, d", {64}, {local + 64}},
      {"isspacep.shared p, d", {shared + 64}, {1}},
      {"isspacep.shared p, d", {local}, {0}},
      {"isspacep.local p, d", {local}, {1}},
      {"isspacep.global p, d", {0x7f0012345678}, {1}},
      {"isspacep.global p, d", {shared}, {0}},
  });
}

TEST(Memory, LoadsExtendAndStoresCut) {
  sem::ConcreteDomain d;
  EXPECT_TRUE(sem::extend_loaded(d, ptx::Type::s8, sem::Bits{0x80}, 32) == 0xffffff80);
  EXPECT_TRUE(sem::extend_loaded(d, ptx::Type::u8, sem::Bits{0x80}, 32) == 0x80);
  EXPECT_TRUE(sem::extend_loaded(d, ptx::Type::b16, sem::Bits{0x8000}, 64) == 0x8000);
  EXPECT_TRUE(sem::extend_loaded(d, ptx::Type::f32, sem::Bits{0x80000000}, 32) == 0x80000000);
  EXPECT_TRUE(sem::truncate_stored(d, ptx::Type::u8, sem::Bits{0x1ff}, 32) == 0xff);
  EXPECT_TRUE(sem::truncate_stored(d, ptx::Type::b32, sem::Bits{7}, 64) == 7);
}

} // namespace
} // namespace ptxasw
