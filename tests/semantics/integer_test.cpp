// Integer arithmetic at its corners (PTX ISA 9.7.1, 9.7.2).
#include "semantics/cases.hpp"

namespace ptxasw {
namespace {

using harness::expect;

constexpr std::uint64_t min64 = 0x8000000000000000, max64 = 0x7fffffffffffffff, all_ones64 = ~0ULL;

TEST(Integer, AddAndSubtractWrapOrSaturate) {
  expect({
      {"add.s32 r, r, r", {0x7fffffff, 1}, {0x80000000}},
      {"add.u16 h, h, h", {0xffff, 2}, {1}},
      {"add.s64 d, d, d", {max64, 1}, {min64}},
      {"add.sat.s32 r, r, r", {0x7fffffff, 1}, {0x7fffffff}},
      {"add.sat.s32 r, r, r", {0x80000000, 0xffffffff}, {0x80000000}},
      {"add.sat.s32 r, r, r", {5, 0xfffffffe}, {3}},
      {"sub.s32 r, r, r", {0, 1}, {0xffffffff}},
      {"sub.sat.s32 r, r, r", {0x80000000, 1}, {0x80000000}},
      {"sub.sat.s32 r, r, r", {0, 0x80000000}, {0x7fffffff}},
      {"add.u16x2 r, r, r", {0xffff0001, 0x0001ffff}, {0}},
      {"add.s32 r, r, -8", {3}, {0xfffffffb}},
      {"add.s64 d, d, -8", {3}, {all_ones64 - 4}},
  });
}

TEST(Integer, CarriesRunThroughChains) {
  expect({
      {"add.cc.u32 r, r, r; addc.u32 r, r, r", {0xffffffff, 1, 2, 3}, {0, 6}},
      {"add.cc.u32 r, r, r; addc.u32 r, r, r", {0xfffffffe, 1, 2, 3}, {0xffffffff, 5}},
      {"add.cc.u64 d, d, d; addc.u64 d, d, d", {all_ones64, all_ones64, 0, 0}, {all_ones64 - 1, 1}},
      {"add.cc.u32 r, r, r; addc.cc.u32 r, r, r; addc.u32 r, r, r",
       {1, 0xffffffff, 0xffffffff, 0, 7, 0},
       {0, 0, 8}},
      {"sub.cc.u32 r, r, r; subc.u32 r, r, r", {0, 1, 5, 2}, {0xffffffff, 2}},
      {"sub.cc.u32 r, r, r; subc.u32 r, r, r", {1, 1, 5, 2}, {0, 3}},
      {"sub.cc.u32 r, r, r; subc.cc.u32 r, r, r; subc.u32 r, r, r",
       {0, 1, 0, 0, 9, 4},
       {0xffffffff, 0xffffffff, 4}},
      // The product's own parts never overflow; the addition may.
      {"mad.lo.cc.u32 r, r, r, r; madc.hi.u32 r, r, r, r",
       {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0},
       {0, 0xffffffff}},
      {"mad.hi.cc.u32 r, r, r, r; madc.lo.u32 r, r, r, r",
       {0x80000000, 2, 0xffffffff, 3, 5, 1},
       {0, 17}},
  });
}

TEST(Integer, MultiplyTakesThePartAskedFor) {
  expect({
      {"mul.lo.s32 r, r, r", {0x10000, 0x10001}, {0x10000}},
      {"mul.hi.u32 r, r, r", {0xffffffff, 0xffffffff}, {0xfffffffe}},
      {"mul.hi.s32 r, r, r", {0xffffffff, 0xffffffff}, {0}},
      {"mul.hi.s32 r, r, r", {0x80000000, 0x80000000}, {0x40000000}},
      {"mul.hi.s64 d, d, d", {min64, 2}, {all_ones64}},
      {"mul.hi.u64 d, d, d", {min64, 2}, {1}},
      {"mul.hi.s16 h, h, h", {0x8000, 0x8000}, {0x4000}},
      {"mul.wide.s32 d, r, r", {0xffffffff, 4}, {all_ones64 - 3}},
      {"mul.wide.u32 d, r, r", {0xffffffff, 4}, {0x3fffffffc}},
      {"mul.wide.s16 r, h, h", {0x8000, 0x8000}, {0x40000000}},
      {"mul.wide.u32 d, r, -1", {2}, {0x1fffffffe}},
      {"mad.lo.s32 r, r, r, r", {3, 0xffffffff, 10}, {7}},
      {"mad.hi.u32 r, r, r, r", {0x80000000, 4, 0xffffffff}, {1}},
      {"mad.wide.s32 d, r, r, d", {0xfffffffe, 8, 0x100000000}, {0xfffffff0}},
      {"mad.hi.sat.s32 r, r, r, r", {0x7fffffff, 0x7fffffff, 0x7fffffff}, {0x7fffffff}},
      {"mad.hi.sat.s32 r, r, r, r", {0x80000000, 0x7fffffff, 0x80000000}, {0x80000000}},
      {"mul24.lo.u32 r, r, r", {0xff000002, 0x01000003}, {6}},
      {"mul24.lo.s32 r, r, r", {0x00ffffff, 5}, {0xfffffffb}},
      {"mul24.hi.u32 r, r, r", {0xffffff, 0xffffff}, {0xfffffe00}},
      {"mad24.hi.sat.s32 r, r, r, r", {0x7fffff, 0x7fffff, 0x7fffffff}, {0x7fffffff}},
      {"mad24.lo.s32 r, r, r, r", {0xffffff, 5, 7}, {2}},
  });
}

TEST(Integer, DivideTruncatesAndByZeroGivesAllOnes) {
  expect({
      {"div.s32 r, r, r", {0xfffffff9, 2}, {0xfffffffd}},
      {"rem.s32 r, r, r", {0xfffffff9, 2}, {0xffffffff}},
      {"rem.s32 r, r, r", {7, 0xfffffffe}, {1}},
      {"div.s32 r, r, r", {0x80000000, 0xffffffff}, {0x80000000}},
      {"rem.s32 r, r, r", {0x80000000, 0xffffffff}, {0}},
      {"div.u32 r, r, r", {0xfffffff9, 2}, {0x7ffffffc}},
      {"div.s64 d, d, d", {min64, all_ones64}, {min64}},
      {"div.u16 h, h, h", {0xffff, 0x10}, {0xfff}},
      {"div.u32 r, r, r", {5, 0}, {0xffffffff}},
      {"div.s32 r, r, r", {0xfffffffb, 0}, {0xffffffff}},
      {"rem.u64 d, d, d", {5, 0}, {all_ones64}},
      {"rem.s16 h, h, h", {5, 0}, {0xffff}},
  });
}

TEST(Integer, AbsoluteMinimumAndDifference) {
  expect({
      {"abs.s32 r, r", {0x80000000}, {0x80000000}},
      {"abs.s16 h, h", {0xfffe}, {2}},
      {"neg.s64 d, d", {1}, {all_ones64}},
      {"min.s32 r, r, r", {0xffffffff, 1}, {0xffffffff}},
      {"min.u32 r, r, r", {0xffffffff, 1}, {1}},
      {"max.s16 h, h, h", {0x8000, 0x7fff}, {0x7fff}},
      {"max.u16 h, h, h", {0x8000, 0x7fff}, {0x8000}},
      {"min.relu.s32 r, r, r", {0xffffffff, 1}, {0}},
      {"max.relu.s16x2 r, r, r", {0xffff8000, 0xfffe0005}, {5}},
      {"min.s16x2 r, r, r", {0x80000001, 0x7fffffff}, {0x8000ffff}},
      {"max.u16x2 r, r, r", {0x80000001, 0x7fffffff}, {0x8000ffff}},
      {"sad.s32 r, r, r, r", {0xffffffff, 1, 10}, {12}},
      {"sad.u32 r, r, r, r", {0xffffffff, 1, 10}, {8}},
      {"sad.s16 h, h, h, h", {5, 9, 0xffff}, {3}},
  });
}

TEST(Integer, DotProductsExtendEachSide) {
  expect({
      {"dp4a.u32.u32 r, r, r, r", {0xff02ff01, 0x01010102, 1}, {0xff + 2 + 0xff + 2 + 1}},
      {"dp4a.s32.s32 r, r, r, r", {0xff02ff01, 0x01010102, 1}, {3}},
      {"dp4a.u32.s32 r, r, r, r", {0x000000ff, 0x000000ff, 0}, {0xffffff01}},
      {"dp4a.s32.u32 r, r, r, r", {0x00000080, 0x000000ff, 0}, {0xffff8080}},
      {"dp2a.lo.s32.u32 r, r, r, r", {0xffff0002, 0x00000304, 5}, {10}},
      {"dp2a.hi.u32.s32 r, r, r, r", {0xffff0002, 0xff030000, 0}, {0xffff0007}},
  });
}

} // namespace
} // namespace ptxasw
