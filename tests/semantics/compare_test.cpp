// Comparison and selection (PTX ISA 9.3, 9.7.6, 9.7.7).
#include "semantics/cases.hpp"

namespace ptxasw {
namespace {

using harness::expect;

constexpr std::uint64_t f32_1 = 0x3f800000, f32_2 = 0x40000000, nan32 = 0x7fc00000;

TEST(Compare, IntegersBySignOfTheType) {
  expect({
      {"setp.lt.s32 p, r, r", {0xffffffff, 0}, {1}},
      {"setp.lt.u32 p, r, r", {0xffffffff, 0}, {0}},
      {"setp.ge.s64 p, d, d", {0x8000000000000000, 0}, {0}},
      {"setp.le.u16 p, h, h", {0x8000, 0x8000}, {1}},
      {"setp.gt.s16 p, h, h", {0x7fff, 0x8000}, {1}},
      {"setp.hi.u32 p, r, r", {0x80000000, 0x7fffffff}, {1}},
      {"setp.lo.u32 p, r, r", {5, 5}, {0}},
      {"setp.ls.u32 p, r, r", {5, 5}, {1}},
      {"setp.hs.u32 p, r, r", {5, 6}, {0}},
      {"setp.ne.b64 p, d, d", {0x100000000, 0}, {1}},
      {"setp.eq.s32 p, r, -1", {0xffffffff}, {1}},
  });
}

TEST(Compare, BothResultsAreCombined) {
  expect({
      {"setp.lt.s32 p|p, r, r", {1, 2}, {1, 0}},
      {"setp.lt.and.s32 p|p, r, r, p", {1, 2, 0}, {0, 0}},
      {"setp.lt.and.s32 p|p, r, r, p", {2, 1, 1}, {0, 1}},
      {"setp.lt.or.s32 p|p, r, r, !p", {2, 1, 1}, {0, 1}},
      {"setp.lt.xor.s32 p|p, r, r, p", {1, 2, 1}, {0, 1}},
      {"setp.lt.s32 p|_, r, r", {1, 2}, {1}},
      {"setp.lt.s32 _|p, r, r", {1, 2}, {0}},
  });
}

TEST(Compare, OrderedIsFalseAndUnorderedTrueOnNaN) {
  for (const char* how : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    expect({{fmt::format("setp.{}.f32 p, r, r", how), {nan32, f32_1}, {0}}});
  for (const char* how : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    expect({{fmt::format("setp.{}.f32 p, r, r", how), {f32_1, nan32}, {1}}});
  expect({
      {"setp.lt.f32 p, r, r", {f32_1, f32_2}, {1}},
      {"setp.ltu.f32 p, r, r", {f32_2, f32_1}, {0}},
      {"setp.eq.f32 p, r, r", {0, 0x80000000}, {1}},
      {"setp.lt.f32 p, r, r", {0x80000000, 0}, {0}},
      {"setp.lt.f32 p, r, r", {0, 1}, {1}},     // a subnormal
      {"setp.lt.ftz.f32 p, r, r", {0, 1}, {0}}, // flushed
      {"setp.num.f64 p, d, d", {0x7ff0000000000000, 0}, {1}},
      {"setp.gt.f16 p, h, h", {0x3c00, 0xbc00}, {1}},
      {"setp.gt.bf16 p, h, h", {0x3f80, 0x3f00}, {1}},
      {"setp.lt.f16x2 p|p, r, r", {0x3c004000, 0x40003c00}, {0, 1}},
      {"setp.lt.f32 p, r, 1.5", {f32_1}, {1}},
      {"setp.eq.f64 p, d, 0f3F800000", {0x3ff0000000000000}, {1}},
  });
}

TEST(Compare, SetWritesOnesOrOne) {
  expect({
      {"set.lt.u32.s32 r, r, r", {0xffffffff, 0}, {0xffffffff}},
      {"set.lt.f32.u32 r, r, r", {0, 1}, {f32_1}},
      {"set.lt.f32.u32 r, r, r", {1, 0}, {0}},
      {"set.eq.and.s32.u64 r, d, d, !p", {7, 7, 1}, {0}},
      {"set.geu.u16.f16 h, h, h", {0x7e00, 0}, {0xffff}},
      {"set.gt.f16.f16 h, h, h", {0x3c00, 0}, {0x3c00}},
      {"set.lt.f16x2.f16x2 r, r, r", {0x00003c00, 0x3c000000}, {0x3c000000}},
      {"set.lt.u32.f16x2 r, r, r", {0x00003c00, 0x3c000000}, {0xffff0000}},
  });
}

TEST(Compare, Select) {
  expect({
      {"selp.b32 r, r, r, p", {5, 6, 1}, {5}},
      {"selp.b64 d, d, d, !p", {5, 6, 1}, {6}},
      {"selp.f32 r, 1.5, r, p", {6, 1}, {0x3fc00000}},
      {"slct.b32.s32 r, r, r, r", {5, 6, 0}, {5}},
      {"slct.b32.s32 r, r, r, r", {5, 6, 0x80000000}, {6}},
      {"slct.b64.f32 d, d, d, r", {5, 6, 0x80000000}, {5}}, // -0 is not below 0
      {"slct.b32.f32 r, r, r, r", {5, 6, 0x80000001}, {6}},
      {"slct.ftz.b32.f32 r, r, r, r", {5, 6, 0x80000001}, {5}},
      {"slct.b16.f32 h, h, h, r", {5, 6, nan32}, {6}},
  });
}

} // namespace
} // namespace ptxasw
