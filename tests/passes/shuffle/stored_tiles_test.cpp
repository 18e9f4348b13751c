// Loads of what the thread itself has stored: variables, tiles, and numbers of threads.
#include "passes/shuffle/stored_found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::also;
using test::Block;
using test::found;
using test::limits;
using test::load_of;
using test::own;
using test::plain;
using test::tile_with_rim;
using test::why_not;
using ::testing::HasSubstr;

// --- Variables -----------------------------------------------------------------------------------

TEST(Stored, DynamicSharedMemory) {
  std::string text = test::replaced(own(plain), ".shared .align 16 .b8 tile[8192];", "");
  text.insert(text.find(".visible"), ".extern .shared .align 16 .b8 tile[];\n"
                                     ".extern .shared .align 16 .b8 more[];\n");
  EXPECT_EQ(why_not(text, {64, 1, 1}), "");
  // Arrays of this kind lie on top of each other.
  std::string two = text;
  two.insert(two.rfind("st.global"), "mov.u32 %r40, more; mad.lo.u32 %r41, %r3, 4, %r40;"
                                     "st.shared.u32 [%r41+4], %r3;\n");
  EXPECT_THAT(why_not(two, {64, 1, 1}), HasSubstr("another thread may write it"));
}

TEST(Stored, OneOfTwoVariables) {
  for (const char* variables : {"%r20, %r23", "%r23, %r20"})
    EXPECT_THAT(also("", fmt::format("setp.lt.u32 %p1, %r10, 9; selp.b32 %r30, {}, %p1; "
                                     "mad.lo.u32 %r31, %r3, 4, %r30; st.shared.u32 [%r31+4], %r3;",
                                     variables)),
                HasSubstr("another thread may write it"));
}

TEST(Stored, AddressesThatAreNumbers) {
  EXPECT_THAT(also("", "st.shared.u32 [64], %r3;"), HasSubstr("another thread may write it"));
}

// --- Tiles ---------------------------------------------------------------------------------------

TEST(Stored, ATileWithARim) {
  EXPECT_EQ(limits(tile_with_rim()), (Block{32, 8, 1}));
  EXPECT_EQ(limits(tile_with_rim(), {32, 8, 1}), Block{});
  EXPECT_EQ(limits(tile_with_rim(), {16, 4, 1}), Block{});
  for (const Block& block : {Block{33, 8, 1}, Block{32, 9, 1}, Block{32, 8, 2}})
    EXPECT_THAT(why_not(tile_with_rim(), block), HasSubstr("another thread may write it"));
  const auto f = found(tile_with_rim(), {32, 8, 1});
  for (std::size_t n = 1; n < 5; ++n)
    EXPECT_FALSE(load_of(f, n).cover) << n;
  EXPECT_TRUE(load_of(found(tile_with_rim(), {32, 8, 1}, ForwardMode::all, true), 0).cover);
}

// A statement about the largest block is one about the launch, too.
TEST(Stored, NoMoreThreadsThanStated) {
  EXPECT_THAT(why_not(own(fmt::format("{}\nst.shared.u32 [%r21+64], %r3;", plain))),
              HasSubstr("another thread may write it")); // in blocks of more than half a warp
  std::string larger = own(fmt::format("{}\nst.shared.u32 [%r21+256], %r3;", plain));
  EXPECT_EQ(limits(larger), (Block{64, 1, 1}));
  larger.insert(larger.find('{'), ".maxntid 64, 1, 1\n");
  EXPECT_EQ(limits(larger), (Block{0, 1, 1}));
}

std::string numbered(const std::string& number) {
  return own(fmt::format(R"(
    mov.u32 %r30, %ntid.x;
    mov.u32 %r31, %ntid.y;
    mov.u32 %r32, %tid.z;
    {}
    mad.lo.u32 %r34, %r33, 4, %r20;
    st.shared.u32 [%r34], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r34];)",
                         number));
}

TEST(Stored, ThreadsByTheirNumber) {
  const std::string plane = numbered("mad.lo.u32 %r33, %r4, %r30, %r3;"),
                    block = numbered("mad.lo.u32 %r33, %r32, %r31, %r4;"
                                     "mad.lo.u32 %r33, %r33, %r30, %r3;"),
                    wrong = numbered("mad.lo.u32 %r33, %r4, %r31, %r3;");
  EXPECT_EQ(limits(plane), (Block{0, 0, 1}));
  EXPECT_EQ(limits(block), Block{});
  EXPECT_EQ(limits(block, {7, 5, 3}), Block{});
  EXPECT_EQ(limits(wrong), (Block{0, 1, 1}));
  EXPECT_EQ(limits(wrong, {8, 8, 1}), Block{});
  EXPECT_THAT(why_not(wrong, {8, 4, 1}), HasSubstr("another thread may write it"));
}

// Of each warp a row of 33 words; and of 31, or with a bit left out.
TEST(Stored, RowsOfLanes) {
  const auto rows = [](unsigned pitch, unsigned mask = 31, unsigned shift = 5) {
    return own(fmt::format(R"(
    shr.u32 %r30, %r3, {};
    and.b32 %r31, %r3, {};
    mad.lo.u32 %r32, %r30, {}, %r20;
    mad.lo.u32 %r33, %r31, 4, %r32;
    st.shared.u32 [%r33], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r33];)",
                           shift, mask, pitch));
  };
  EXPECT_EQ(limits(rows(132), {256, 1, 1}), Block{});
  EXPECT_EQ(limits(rows(128), {250, 1, 1}), Block{});
  EXPECT_EQ(limits(rows(132)), (Block{0, 1, 1}));
  EXPECT_EQ(limits(rows(132, 15), {16, 1, 1}), Block{});
  constexpr const char* others = "another thread may write it";
  EXPECT_THAT(why_not(rows(124), {256, 1, 1}), HasSubstr(others));
  EXPECT_THAT(why_not(rows(132, 15), {256, 1, 1}), HasSubstr(others));
  EXPECT_THAT(why_not(rows(132, 31, 6), {256, 1, 1}), HasSubstr(others));
  EXPECT_THAT(why_not(rows(132, 31, 6), {33, 1, 1}), HasSubstr(others));
  // Lane 1 stores where lane 2 has its word.
  const std::string other_steps =
      test::replaced(rows(132), "ld.shared",
                     "mad.lo.u32 %r34, %r31, 8, %r32; st.shared.u32 [%r34], %r3;\n"
                     "st.shared.u32 [%r33], %r10;\nld.shared");
  EXPECT_THAT(why_not(other_steps, {64, 1, 1}), HasSubstr(others));
}

// Where sums of integers do not tell, Z3 does: of a block of any size the last thread stores one
// further on.
TEST(Stored, TheLastOfARow) {
  const auto last = [](int less, int offset) {
    return own(fmt::format(R"(
    mov.u32 %r30, %ntid.x;
    sub.u32 %r30, %r30, {};
    setp.ne.u32 %p1, %r3, %r30;
    {}
    @%p1 bra X;
    st.shared.u32 [%r21+{}], %r3;
X:)",
                           less, plain, offset));
  };
  EXPECT_EQ(limits(last(1, 4)), (Block{0, 1, 1}));
  EXPECT_EQ(limits(last(2, 8)), (Block{0, 1, 1}));
  EXPECT_THAT(why_not(last(2, 4)), HasSubstr("another thread may write it"));
  EXPECT_EQ(limits(last(2, 4), {1, 1, 1}), Block{});
  EXPECT_THAT(why_not(last(2, 4), {40, 1, 1}), HasSubstr("another thread may write it"));
  EXPECT_EQ(limits(last(1, 4), {40, 1, 1}), Block{});
}

} // namespace
} // namespace ptxasw
