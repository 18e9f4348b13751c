// Logic, shifts and bit fields at their corners (PTX ISA 9.7.1, 9.7.8).
#include "semantics/cases.hpp"

namespace ptxasw {
namespace {

using harness::expect;

constexpr std::uint64_t all64 = ~0ULL;

TEST(Bits, ShiftAmountsAreClamped) {
  expect({
      {"shl.b32 r, r, r", {1, 31}, {0x80000000}},
      {"shl.b32 r, r, r", {1, 32}, {0}},
      {"shl.b32 r, r, r", {1, 0xffffffff}, {0}},
      {"shl.b16 h, h, r", {1, 15}, {0x8000}},
      {"shl.b16 h, h, r", {1, 16}, {0}},
      {"shl.b16 h, h, r", {1, 0x10000}, {0}}, // not an amount of 0
      {"shl.b64 d, d, r", {1, 63}, {0x8000000000000000}},
      {"shr.u32 r, r, r", {0x80000000, 31}, {1}},
      {"shr.u32 r, r, r", {0x80000000, 32}, {0}},
      {"shr.s32 r, r, r", {0x80000000, 31}, {0xffffffff}},
      {"shr.s32 r, r, r", {0x80000000, 100}, {0xffffffff}},
      {"shr.b32 r, r, r", {0x80000000, 4}, {0x08000000}},
      {"shr.s16 h, h, r", {0x8000, 0x10001}, {0xffff}},
      {"shr.u16 h, h, r", {0x8000, 15}, {1}},
      {"shr.s64 d, d, r", {0x8000000000000000, 64}, {all64}},
      {"shl.b32 r, r, -1", {5}, {0}},
  });
}

TEST(Bits, FunnelShiftsClampOrWrap) {
  // shf.l a, b: {b, a} << c, high half; shf.r: low half of {b, a} >> c.
  expect({
      {"shf.l.wrap.b32 r, r, r, r", {0x89abcdef, 0x01234567, 8}, {0x23456789}},
      {"shf.l.wrap.b32 r, r, r, r", {0x89abcdef, 0x01234567, 32}, {0x01234567}},
      {"shf.l.clamp.b32 r, r, r, r", {0x89abcdef, 0x01234567, 32}, {0x89abcdef}},
      {"shf.l.clamp.b32 r, r, r, r", {0x89abcdef, 0x01234567, 40}, {0x89abcdef}},
      {"shf.r.wrap.b32 r, r, r, r", {0x89abcdef, 0x01234567, 8}, {0x6789abcd}},
      {"shf.r.wrap.b32 r, r, r, r", {0x89abcdef, 0x01234567, 40}, {0x6789abcd}},
      {"shf.r.clamp.b32 r, r, r, r", {0x89abcdef, 0x01234567, 99}, {0x01234567}},
  });
}

TEST(Bits, LogicTables) {
  expect({
      {"cnot.b32 r, r", {0}, {1}},
      {"cnot.b64 d, d", {0x100000000}, {0}},
      {"not.b16 h, h", {0x00ff}, {0xff00}},
      {"and.pred p, p, !p", {1, 1}, {0}},
      {"xor.pred p, p, p", {1, 0}, {1}},
      {"not.pred p, p", {0}, {1}},
      {"lop3.b32 r, r, r, r, 0x80", {0xf0, 0xcc, 0xaa}, {0x80}},
      {"lop3.b32 r, r, r, r, 0x1a", {0xf0, 0xcc, 0xaa}, {0x1a}},
      {"lop3.b32 r, r, r, r, 0xff", {1, 2, 3}, {0xffffffff}},
      {"lop3.or.b32 r|p, r, r, r, 0x80, p", {1, 1, 2, 0}, {0, 0}},
      {"lop3.or.b32 r|p, r, r, r, 0x80, p", {1, 1, 1, 0}, {1, 1}},
      {"lop3.and.b32 r|p, r, r, r, 0x80, p", {1, 1, 1, 0}, {1, 0}},
  });
}

TEST(Bits, EveryLogicTable) {
  for (std::uint64_t table = 0; table < 256; ++table)
    expect({{fmt::format("lop3.b32 r, r, r, r, {}", table),
             {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa},
             {table * 0x01010101}}});
}

TEST(Bits, FieldsEndAtTheTop) {
  expect({
      {"bfe.u32 r, r, r, r", {0x12345678, 8, 8}, {0x56}},
      {"bfe.s32 r, r, r, r", {0x1234f678, 8, 8}, {0xfffffff6}},
      {"bfe.s32 r, r, r, r", {0x80000000, 28, 8}, {0xfffffff8}}, // past the top: the sign
      {"bfe.u32 r, r, r, r", {0x80000000, 28, 8}, {8}},
      {"bfe.s32 r, r, r, r", {0xffffffff, 5, 0}, {0}},
      {"bfe.s32 r, r, r, r", {0x80000000, 40, 3}, {0xffffffff}},
      {"bfe.u32 r, r, r, r", {0xffffffff, 40, 3}, {0}},
      {"bfe.u32 r, r, r, r", {0xdeadbeef, 0, 255}, {0xdeadbeef}},
      {"bfe.u32 r, r, r, r", {0xdeadbeef, 256, 32}, {0xdeadbeef}}, // modulo 256
      {"bfe.s64 d, d, r, r", {0x0000800000000000, 40, 8}, {0xffffffffffffff80}},
      {"bfi.b32 r, r, r, r, r", {0xff, 0, 8, 4}, {0xf00}},
      {"bfi.b32 r, r, r, r, r", {0xff, 0x12345678, 28, 8}, {0xf2345678}},
      {"bfi.b32 r, r, r, r, r", {0xff, 0x12345678, 32, 8}, {0x12345678}},
      {"bfi.b32 r, r, r, r, r", {0xff, 0x12345678, 4, 0}, {0x12345678}},
      {"bfi.b64 d, d, d, r, r", {all64, 0, 32, 200}, {0xffffffff00000000}},
      {"szext.wrap.u32 r, r, r", {0xffffffff, 0}, {0}},
      {"szext.wrap.s32 r, r, r", {0xf8, 8}, {0xfffffff8}},
      {"szext.wrap.s32 r, r, r", {0x78, 8}, {0x78}},
      {"szext.wrap.s32 r, r, r", {0x78, 32}, {0}},
      {"szext.clamp.s32 r, r, r", {0x80000078, 32}, {0x80000078}},
      {"szext.clamp.u32 r, r, r", {0xabcdef, 12}, {0xdef}},
      {"bmsk.wrap.b32 r, r, r", {1, 2}, {6}},
      {"bmsk.wrap.b32 r, r, r", {33, 34}, {6}},
      {"bmsk.clamp.b32 r, r, r", {33, 2}, {0}},
      {"bmsk.clamp.b32 r, r, r", {4, 40}, {0xfffffff0}},
      {"bmsk.clamp.b32 r, r, r", {30, 5}, {0xc0000000}},
      {"bmsk.clamp.b32 r, r, r", {3, 0}, {0}},
  });
}

TEST(Bits, CountsAndPositions) {
  expect({
      {"popc.b64 r, d", {all64}, {64}},
      {"clz.b32 r, r", {0}, {32}},
      {"clz.b64 r, d", {1}, {63}},
      {"brev.b32 r, r", {1}, {0x80000000}},
      {"brev.b64 d, d", {0xf}, {0xf000000000000000}},
      {"bfind.u32 r, r", {0}, {0xffffffff}},
      {"bfind.u32 r, r", {0x00010000}, {16}},
      {"bfind.s32 r, r", {0xffffffff}, {0xffffffff}},
      {"bfind.s32 r, r", {0xfffffff0}, {3}},
      {"bfind.shiftamt.u32 r, r", {0x00010000}, {15}},
      {"bfind.shiftamt.s64 r, d", {0}, {0xffffffff}},
      {"bfind.s64 r, d", {0x4000000000000000}, {62}},
      {"fns.b32 r, r, 3, r", {0xaaaaaaaa, 1}, {3}},
      {"fns.b32 r, r, 3, r", {0xaaaaaaaa, 0xffffffff}, {3}},
      {"fns.b32 r, r, 2, r", {0xaaaaaaaa, 1}, {3}},
      {"fns.b32 r, r, 2, r", {0xaaaaaaaa, 0xffffffff}, {1}},
      {"fns.b32 r, r, 2, r", {0xaaaaaaaa, 0}, {0xffffffff}},
      {"fns.b32 r, r, 0, r", {0xaaaaaaaa, 17}, {0xffffffff}},
  });
}

TEST(Bits, Permute) {
  constexpr std::uint64_t a = 0x83828180, b = 0x07060504; // bytes 0..3 negative, 4..7 positive
  expect({
      {"prmt.b32 r, r, r, r", {a, b, 0x3210}, {a}},
      {"prmt.b32 r, r, r, r", {a, b, 0x7654}, {b}},
      {"prmt.b32 r, r, r, r", {a, b, 0xc840}, {0x00ff0480}}, // msb: the byte's sign
      {"prmt.b32 r, r, r, r", {a, b, 0xffff0123}, {0x80818283}},
      {"prmt.b32.f4e r, r, r, r", {a, b, 1}, {0x04838281}},
      {"prmt.b32.b4e r, r, r, r", {a, b, 1}, {0x06078081}},
      {"prmt.b32.rc8 r, r, r, r", {a, b, 2}, {0x82828282}},
      {"prmt.b32.ecl r, r, r, r", {a, b, 1}, {0x83828181}},
      {"prmt.b32.ecr r, r, r, r", {a, b, 6}, {0x82828180}},
      {"prmt.b32.rc16 r, r, r, r", {a, b, 3}, {0x83828382}},
  });
}

} // namespace
} // namespace ptxasw
