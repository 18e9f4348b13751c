// A contract comes back as it was written, and nothing else comes back at all.
#include "contract/contract.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ptxasw::contract {
namespace {

Contract example() {
  return {.kernel = "_Z6jacobiPf",
          .code = 0xfedcba9876543210,
          .parameters = 5,
          .parameter_bytes = 36,
          .places = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 4}},
          .accesses = {{.count = 3, .bytes = 4, .along = {far_apart, 4, 0}},
                       {.count = 1, .bytes = 8, .along = {-8, far_apart, 1LL << 33}}},
          .variants = {{.entry = "_Z6jacobiPf", .name = "standard", .kind = Kind::rewritten},
                       {.entry = "_Z6jacobiPf__ptxasw_original", .name = "original"},
                       {.entry = "_Z6jacobiPf__ptxasw_x2y4",
                        .name = "x:2,y:4",
                        .kind = Kind::coarsened,
                        .divide = {2, 4, 1},
                        .rest = contract::Rest::hangs_over,
                        .gains = {{64, {1.25, 1, 1, 1, 1, 1, 1, 1, 2}}, {256, {0.5}}}},
                       {.entry = "_Z6jacobiPf__ptxasw_reshaped",
                        .name = "block:32x8x1",
                        .kind = Kind::reshaped,
                        .rest = Rest::reshaped,
                        .block = {32, 8, 0}},
                       {.entry = "_Z6jacobiPf__ptxasw_thread_swap32",
                        .name = "thread-swap:32",
                        .kind = Kind::remapped,
                        .rows = {32, 1}}},
          .steps = {{.entry = "_Z6jacobiPf__ptxasw_steps5",
                     .count = 5,
                     .swaps = {{0, 1}, {3, 2}},
                     .block = {64, 4, 1},
                     .covers = {54, 54, 1},
                     .conditions = {{*to_expression("p4s32,-1,+,tx,min"), "it is small"}},
                     .touched = {{0, true, *to_expression("0"), *to_expression("p4s32,4,*")}}},
                    {.entry = "_Z6jacobiPf__ptxasw_steps3", .count = 3, .swaps = {{0, 1}}}}};
}

// With the checksum that fits it.
std::string signed_again(std::string body) {
  char line[80];
  std::snprintf(line, sizeof line, "ptxasw-launch 5 %zu %016llx\n", body.size(),
                static_cast<unsigned long long>(hash(body)));
  return line + body;
}

std::string body_of(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(Contract, ComesBack) {
  const auto read = decode(encode(example()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, example());
  EXPECT_EQ(signed_again(body_of(encode(example()))), encode(example()));
}

TEST(Contract, SaysOfWhichTextItIs) {
  Contract told = example();
  told.text = 0xfeed;
  const std::string text = encode(told);
  EXPECT_TRUE(text.starts_with("ptxasw-launch 10 "));
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, told);
  std::string earlier = body_of(text); // of a version that knows of no such word
  EXPECT_FALSE(decode(signed_again(earlier)));
}

TEST(Contract, MayBePadded) {
  EXPECT_TRUE(decode(encode(example()) + std::string(8, '\0')));
}

TEST(Contract, TheOriginalGridIsAligned) {
  EXPECT_EQ(grid_offset({.parameter_bytes = 36}), 36U);
  EXPECT_EQ(grid_offset({.parameter_bytes = 33}), 36U);
  EXPECT_EQ(grid_offset({}), 0U);
}

TEST(Contract, OfAnotherVersionIsRefused) {
  std::string text = encode(example());
  text.replace(0, 15, "ptxasw-launch 4");
  const auto read = decode(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), "of version 4, which is not 5 to 12");
}

TEST(Contract, DamagedIsRefused) {
  const std::string text = encode(example());
  std::mt19937 random(1);
  unsigned refused = 0;
  for (unsigned n = 0; n < 4000; ++n) {
    std::string damaged = text;
    switch (n % 3) {
    case 0: damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8)); break;
    case 1: damaged.resize(random() % damaged.size()); break;
    case 2: damaged.insert(random() % damaged.size(), 1, static_cast<char>(random())); break;
    }
    const auto read = decode(damaged);
    if (!read) {
      ++refused;
    } else {
      EXPECT_EQ(*read, example()) << n; // a byte put behind the end
    }
  }
  EXPECT_GT(refused, 3950U);
}

// The checksum fits, and still they are none.
TEST(Contract, WordsThatNoModuleHasAreRefused) {
  const std::string body = body_of(encode(example()));
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string changed = body;
    const std::size_t at = changed.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    changed.replace(at, what.size(), instead);
    return decode(signed_again(changed));
  };
  EXPECT_TRUE(with("x:2,y:4 ", "anything "));
  EXPECT_TRUE(with("grid 2 4 1 appended", "grid 2 4 1 -"));
  EXPECT_FALSE(with("grid 2 4 1", "grid 0 4 1"));
  EXPECT_FALSE(with("grid 2 4 1", "grid 32 4 1"));
  EXPECT_FALSE(with("grid 2 4 1 appended", "grid 2 4 appended"));
  EXPECT_TRUE(with("grid 2 4 1 appended", "grid 2 1 1 rest"));
  EXPECT_FALSE(with("grid 2 4 1 appended", "grid 2 4 1 rest")); // blocks of one axis only
  EXPECT_FALSE(with("grid 2 4 1 appended", "grid 1 1 1 rest"));
  EXPECT_FALSE(with("grid 2 4 1 appended", "grid 2 4 1 others"));
  EXPECT_FALSE(with("grid 1 1 1 reshaped", "grid 2 1 1 reshaped"));
  EXPECT_FALSE(with("block 32 8 0", "block 0 8 0"));
  EXPECT_FALSE(with("block 32 8 0", "block 32 64 0"));
  EXPECT_FALSE(with("block 32 8 0", "block 1 1 128"));
  EXPECT_FALSE(with("block 32 8 0", "block 32 8"));
  EXPECT_FALSE(with("block 32 8 0\n", ""));
  EXPECT_FALSE(with("coarsened", "merged"));
  EXPECT_TRUE(with("rows 32 y", "rows 8 z"));
  EXPECT_TRUE(with("rows 32 y\n", ""));
  EXPECT_FALSE(with("rows 32 y", "rows 1 y"));
  EXPECT_FALSE(with("rows 32 y", "rows 64 y"));
  EXPECT_FALSE(with("rows 32 y", "rows 32 x"));
  EXPECT_FALSE(with("rows 32 y", "rows 32"));
  EXPECT_FALSE(with("rows 32 y", "rows 32 y 1"));
  EXPECT_FALSE(with("remapped", "rewritten")); // rows of a kernel whose threads stay
  EXPECT_TRUE(with("access 3 4 far 4 0\n", ""));
  EXPECT_FALSE(with("access 3 4 far 4 0", "access 0 4 far 4 0"));
  EXPECT_FALSE(with("access 3 4 far 4 0", "access 3 0 far 4 0"));
  EXPECT_FALSE(with("access 3 4 far 4 0", "access 3 4 near 4 0"));
  EXPECT_FALSE(with("access 3 4 far 4 0", "access 3 4 far 4"));
  EXPECT_FALSE(with("access 3 4 far 4 0", "access 3 4 far 4 0 0"));
  EXPECT_FALSE(with("8589934592", "8589934592000"));
  EXPECT_FALSE(with("parameters 5", "parameters 5000"));
  EXPECT_FALSE(with("parameters 5", "parameters 6"));
  EXPECT_FALSE(with("places 0:8", "places 0:40"));
  EXPECT_FALSE(with("steps5 5", "steps5 4"));
  EXPECT_FALSE(with("steps5 5", "steps5 1"));
  EXPECT_FALSE(with("swap 0:1 3:2", "swap 0:1 3:1"));
  EXPECT_FALSE(with("swap 0:1 3:2", "swap 0:1 3:4")); // not as wide as a pointer
  EXPECT_FALSE(with("swap 0:1 3:2", "swap 0:0"));
  EXPECT_FALSE(with("swap 0:1 3:2", "swap"));
  EXPECT_FALSE(with("block 64 4 1", "block 64 64 1"));
  EXPECT_FALSE(with("54 54 1", "54 0 1"));
  EXPECT_FALSE(with("p4s32,-1,+", "p5s32,-1,+"));
  EXPECT_FALSE(with("tx,min", "tw,min"));
  EXPECT_FALSE(with(" it is small", ""));
  EXPECT_FALSE(with("touch 0 writes", "touch 0 moves"));
  EXPECT_FALSE(with("touch 0 writes 0", "touch 0 writes"));
  EXPECT_FALSE(with("64:1.250", "512:1.250"));
  EXPECT_FALSE(with("64:1.250", "64:nan"));
  EXPECT_FALSE(with("64:1.250/", "64:"));
  EXPECT_FALSE(with("variant _Z6jacobiPf standard", "variant other standard"));
  EXPECT_FALSE(with("fedcba9876543210", "fedcba9876543210 more"));
  EXPECT_FALSE(decode(signed_again("kernel k 0\nparameters 0 0\nplaces -\n")));
  EXPECT_FALSE(decode(signed_again("")));
}

TEST(Contract, TheGridOfAVariant) {
  Variant variant{.divide = {4, 1, 1}};
  const auto blocks = [&](unsigned axis, unsigned of) {
    const Blocks found = blocks_of(variant, axis, of);
    return std::pair{found.groups, found.alone};
  };
  EXPECT_EQ(blocks(0, 8), std::pair(2U, 0U));
  variant.rest = Rest::hangs_over;
  EXPECT_EQ(blocks(0, 11), std::pair(3U, 0U));
  variant.rest = Rest::by_itself;
  EXPECT_EQ(blocks(0, 11), std::pair(2U, 3U));
  EXPECT_EQ(blocks(0, 3), std::pair(0U, 3U));
  EXPECT_EQ(blocks(1, 11), std::pair(11U, 0U));
}

TEST(Contract, GainsAreInterpolated) {
  const Variant variant{
      .gains = {{64, {2, 1, 1, 1, 1, 1, 1, 1, 3}}, {256, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}};
  EXPECT_EQ(gain_of(variant, 32, 0.1), 2);
  EXPECT_EQ(gain_of(variant, 64, 0.25), 2);
  EXPECT_DOUBLE_EQ(gain_of(variant, 128, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(gain_of(variant, 64, 0.25 * std::sqrt(2.0)), 1.5);
  EXPECT_EQ(gain_of(variant, 64, 3), 1);
  EXPECT_EQ(gain_of(variant, 64, 1000), 3);
  EXPECT_EQ(gain_of(variant, 1024, 1000), 1);
  EXPECT_EQ(gain_of({}, 128, 1), 0);
}

} // namespace
} // namespace ptxasw::contract
