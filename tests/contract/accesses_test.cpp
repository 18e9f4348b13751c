// Sectors of a warp, counted where the block is known.
#include "contract/accesses.hpp"

#include <gtest/gtest.h>

namespace ptxasw::contract {
namespace {

TEST(Accesses, AWarpTakesThreadsAlongXFirst) {
  EXPECT_EQ(lanes_of({256, 4, 1}), (Lanes{32, 1, 1}));
  EXPECT_EQ(lanes_of({16, 8, 1}), (Lanes{16, 2, 1}));
  EXPECT_EQ(lanes_of({4, 2, 8}), (Lanes{4, 2, 4}));
  EXPECT_EQ(lanes_of({1, 1, 64}), (Lanes{1, 1, 32}));
}

TEST(Accesses, RowsOfSeveralBlocks) {
  EXPECT_EQ(lanes_of({8, 1}, {4, 100, 1}, {128, 1, 1}), (Lanes{4, 8, 1}));
  EXPECT_EQ(lanes_of({8, 1}, {4, 100, 1}, {128, 3, 1}), (Lanes{3, 9, 1})) << "three blocks";
  EXPECT_EQ(lanes_of({8, 1}, {4, 2, 1}, {128, 1, 1}), (Lanes{16, 2, 1})) << "there are no more";
  EXPECT_EQ(lanes_of({32, 2}, {4, 7, 64}, {128, 2, 1}), (Lanes{1, 1, 32}));
  EXPECT_EQ(lanes_of({8, 1}, {400, 1, 1}, {128, 1, 1}), (Lanes{32, 1, 1})) << "nothing to swap";
  EXPECT_EQ(lanes_of({0, 1}, {4, 100, 1}, {16, 2, 1}), (Lanes{16, 2, 1}));
}

TEST(Accesses, Sectors) {
  const auto of = [](Access access, Lanes lanes) { return sectors_of({access}, lanes); };
  EXPECT_EQ(of({.along = {4, 0, 0}}, {32, 1, 1}), 4);
  EXPECT_EQ(of({.along = {-4, 0, 0}}, {32, 1, 1}), 4);
  EXPECT_EQ(of({.along = {0, 0, 0}}, {32, 1, 1}), 1);
  EXPECT_EQ(of({.along = {far_apart, 4, 0}}, {32, 1, 1}), 32);
  EXPECT_EQ(of({.along = {far_apart, 4, 0}}, {4, 8, 1}), 4);
  EXPECT_EQ(of({.along = {4, far_apart, 0}}, {4, 8, 1}), 8);
  EXPECT_EQ(of({.count = 3, .along = {4096, 0, 0}}, {32, 1, 1}), 96);
  EXPECT_EQ(of({.bytes = 16, .along = {16, 0, 0}}, {32, 1, 1}), 16);
  EXPECT_EQ(of({.bytes = 64, .along = {far_apart, 0, 0}}, {32, 1, 1}), 64);
  EXPECT_EQ(sectors_of({}, {32, 1, 1}), 0);
}

} // namespace
} // namespace ptxasw::contract
