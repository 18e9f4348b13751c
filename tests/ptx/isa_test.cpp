// The instruction set tables: names, groups, modifiers, special registers.
#include "ptx/isa.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace ptxasw::ptx;

TEST(Ops, EachNameFindsItsOp) {
#define PTX_OP(op, kind, count)                                                                    \
  EXPECT_EQ(find_op(name(Op::op)), Op::op) << #op;                                                 \
  EXPECT_EQ(group(Op::op), Group::kind) << #op;                                                    \
  EXPECT_EQ(results(Op::op), unsigned{count}) << #op;
#include "ptx/ops.def"
#undef PTX_OP
}

TEST(Ops, NamesAreThoseOfPtx) {
  EXPECT_EQ(name(Op::and_), "and");
  EXPECT_EQ(find_op("not"), Op::not_);
  EXPECT_EQ(find_op("and_"), Op::unknown);
  EXPECT_EQ(find_op("LD"), Op::unknown);
  EXPECT_EQ(find_op(""), Op::unknown);
  EXPECT_EQ(group(Op::unknown), Group::unknown);
}

TEST(Types, WidthsAndFamilies) {
  EXPECT_EQ(bit_width(Type::pred), 1U);
  EXPECT_EQ(bit_width(Type::b128), 128U);
  EXPECT_EQ(bit_width(Type::bf16x2), 32U);
  EXPECT_EQ(bit_width(Type::f32x2), 64U);
  EXPECT_EQ(bit_width(Type::other), 0U);
  EXPECT_TRUE(is_signed(Type::s16x2));
  EXPECT_FALSE(is_signed(Type::u64));
  EXPECT_TRUE(is_float(Type::tf32));
  EXPECT_FALSE(is_float(Type::b32));
  EXPECT_EQ(name(Type::f16x2), "f16x2");
  EXPECT_EQ(name(Space::const_), "const");
}

Modifiers decoded(Op op, std::vector<std::string_view> modifiers) {
  return decode(op, modifiers);
}

TEST(Modifiers, Load) {
  const Modifiers m = decoded(Op::ld, {".relaxed", ".gpu", ".global", ".nc", ".L1::evict_last",
                                       ".L2::128B", ".v4", ".f32"});
  EXPECT_FALSE(m.unknown);
  EXPECT_EQ(m.order, Order::relaxed);
  EXPECT_EQ(m.scope, Scope::gpu);
  EXPECT_EQ(m.space, Space::global);
  EXPECT_TRUE(m.nc);
  EXPECT_EQ(m.vector, 4);
  EXPECT_EQ(m.type, Type::f32);
  EXPECT_FALSE(m.cache_hint);
}

TEST(Modifiers, MeaningDependsOnTheOpcode) {
  EXPECT_EQ(decoded(Op::mul, {".lo", ".u32"}).half, Half::lo);
  EXPECT_EQ(decoded(Op::setp, {".lo", ".u32"}).compare, Compare::lo);
  EXPECT_EQ(decoded(Op::setp, {".eq", ".and", ".s32"}).bool_op, BoolOp::and_);
  EXPECT_EQ(decoded(Op::atom, {".and", ".b32"}).sub, Sub::and_);
  EXPECT_EQ(decoded(Op::vote, {".sync", ".uni", ".pred"}).sub, Sub::uni);
  EXPECT_TRUE(decoded(Op::bra, {".uni"}).uni);
  EXPECT_EQ(decoded(Op::bar, {".sync"}).sub, Sub::sync);
  EXPECT_TRUE(decoded(Op::shfl, {".sync", ".idx", ".b32"}).sync);
}

TEST(Modifiers, InOrder) {
  const Modifiers cvt = decoded(Op::cvt, {".rni", ".ftz", ".sat", ".s32", ".f32"});
  EXPECT_EQ(cvt.type, Type::s32);
  EXPECT_EQ(cvt.type2, Type::f32);
  EXPECT_EQ(cvt.rounding, Rounding::rni);
  EXPECT_TRUE(cvt.ftz && cvt.sat);
  const Modifiers cp = decoded(Op::cp, {".async", ".bulk", ".wait_group", ".read"});
  EXPECT_EQ(cp.sub, Sub::async);
  EXPECT_EQ(cp.sub2, Sub::bulk);
  EXPECT_EQ(cp.sub3, Sub::wait_group);
  const Modifiers copy = decoded(Op::cp, {".async", ".ca", ".shared", ".global"});
  EXPECT_EQ(copy.space, Space::shared);
  EXPECT_EQ(copy.space2, Space::global);
}

TEST(Modifiers, OfAMatrixAreReadAndNotModelled) {
  const Modifiers product = decoded(
      Op::mma, {".sync", ".aligned", ".m16n8k16", ".row", ".col", ".f32", ".f16", ".f16", ".f32"});
  EXPECT_TRUE(product.unknown);
  EXPECT_FALSE(product.unread);
  EXPECT_EQ(product.shape, Shape::m16n8k16);
  EXPECT_EQ(product.type4, Type::f32);
  const Modifiers load =
      decoded(Op::ldmatrix, {".sync", ".aligned", ".m8n8", ".x4", ".trans", ".shared", ".b16"});
  EXPECT_FALSE(load.unread);
  EXPECT_EQ(load.matrices, 4);
  EXPECT_TRUE(load.trans);
  EXPECT_TRUE(decoded(Op::mma, {".sp", ".sync", ".m16n8k16"}).unread);
}

TEST(Modifiers, WhatIsNotModelledIsUnknown) {
  EXPECT_TRUE(decoded(Op::add, {".bogus", ".s32"}).unknown);
  EXPECT_TRUE(decoded(Op::ld, {".shared::cluster", ".u32"}).unknown);
  EXPECT_EQ(decoded(Op::ld, {".shared::cluster", ".u32"}).space, Space::shared);
  EXPECT_FALSE(decoded(Op::cvt, {".pack", ".sat", ".u8", ".s32", ".b32"}).unknown);
  EXPECT_TRUE(decoded(Op::setp, {".lt", ".gt", ".s32"}).unknown);
  EXPECT_TRUE(decoded(Op::add, {".u8", ".u8", ".u8", ".u8"}).unknown);
  EXPECT_TRUE(decoded(Op::mul, {".rn", ".rz", ".f32"}).unknown);
  EXPECT_FALSE(decoded(Op::add, {}).unknown);
}

TEST(Specials, ByName) {
  EXPECT_EQ(find_special("%tid.x")->id, Special::tid_x);
  EXPECT_EQ(find_special("%cluster_ctarank")->id, Special::cluster_ctarank);
  EXPECT_EQ(find_special("WARP_SZ")->id, Special::warp_size);
  EXPECT_EQ(find_special("%clock64")->width, 64);
  EXPECT_EQ(find_special("%envreg31")->id, Special::other);
  EXPECT_EQ(find_special("%pm7_64")->width, 64);
  EXPECT_EQ(info(Special::laneid).name, "%laneid");
  for (const std::string_view name :
       {"%tid", "%tid.w", "tid.x", "%r1", "%envreg32", "%pm8", "%pm", "%pm01"})
    EXPECT_EQ(find_special(name), nullptr) << name;
}

} // namespace
