// Cubins put together by hand: sections, line tables, and where operands come from.
#include "machine/cubins.hpp"
#include "machine/operations.hpp"

#include <gmock/gmock.h>

namespace ptxasw::machine {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::Field;
using testing::UnorderedElementsAre;

std::set<std::string> computed(const Words& words, const std::vector<unsigned>& lines) {
  const std::string bytes = cubin(words, lines);
  const auto code = read_code(bytes);
  EXPECT_TRUE(code.contains("k"));
  EXPECT_EQ(code.at("k").unknown(), "");
  return operations(code.at("k"), [](std::uint32_t line) { return line; });
}

TEST(Code, LinesComeFromTheTable) {
  const std::string bytes = cubin({three(ldg, 1, 9, 0), three(fmul, 2, 1, 1), stop}, {7, 9, 8});
  const auto functions = read_code(bytes);
  ASSERT_TRUE(functions.contains("k"));
  const auto& lines = functions.at("k").lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, 7U);
  EXPECT_EQ(lines[1].line, 9U);
  EXPECT_EQ(lines[2].line, 8U);
}

TEST(Code, DamagedFilesAreRead) {
  const std::string whole = cubin({three(fmul, 2, 1, 1), stop}, {7, 9});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    read_code(part);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    read_code(flipped);
  }
  EXPECT_TRUE(read_code("garbage").empty());
}

TEST(Code, UnknownArchitecturesAreNotJudged) {
  const std::string bytes = cubin({three(fmul, 2, 1, 1), stop}, {7, 9}, 130);
  EXPECT_NE(read_code(bytes).at("k").unknown(), "");
  const std::string matrix = cubin({three(0x23c, 2, 1, 1), stop}, {7, 9});
  EXPECT_THAT(read_code(matrix).at("k").unknown(), testing::HasSubstr("line 7"));
}

TEST(Operations, RegistersAndOrderDoNotCount) {
  const auto one = computed(
      {three(ldg, 1, 9, 0), three(ldg, 2, 9, 0), three(fmul, 3, 1, 2), three(fadd, 4, 3, 1), stop},
      {5, 6, 7, 8, 9});
  const auto other = computed(
      {three(ldg, 8, 9, 0), three(ldg, 1, 9, 0), three(fmul, 2, 8, 1), three(fadd, 2, 1, 2), stop},
      {6, 5, 7, 8, 9});
  EXPECT_EQ(one, other);
  EXPECT_THAT(one, ElementsAre("7: mul f32 0 {other of 5} {other of 6} ",
                               "8: add f32 0 {mul of 7} {other of 5} "));
}

TEST(Operations, AnotherFusingIsAnotherSet) {
  const Words loads{three(ldg, 1, 9, 0), three(ldg, 2, 9, 0)};
  Words first = loads, second = loads;
  for (const auto& i : {three(fmul, 3, 1, 1), three(ffma, 4, 2, 2, 3), stop})
    first.push_back(i);
  for (const auto& i : {three(fmul, 3, 2, 2), three(ffma, 4, 1, 1, 3), stop})
    second.push_back(i);
  EXPECT_NE(computed(first, {5, 6, 7, 9, 10}), computed(second, {5, 6, 8, 9, 10}));
  EXPECT_NE(computed(first, {5, 6, 7, 9, 10}), computed(second, {5, 6, 7, 9, 10}));
}

TEST(Operations, SignsOfFactorsAreTheProducts) {
  const auto with = [](std::uint64_t high) {
    return computed({three(ldg, 1, 9, 0),
                     three(ldg, 2, 9, 0),
                     {three(ffma, 4, 1, 2)[0] | (high >> 63 << 63), (high & ~(1ULL << 63)) | 1},
                     stop},
                    {5, 6, 7, 8});
  };
  const std::uint64_t minus_a = 1U << 8, minus_b = 1ULL << 63, minus_c = 1U << 11;
  EXPECT_EQ(with(minus_a), with(minus_b));
  EXPECT_EQ(with(minus_a | minus_b), with(0));
  EXPECT_NE(with(minus_a), with(0));
  EXPECT_NE(with(minus_c), with(minus_a));
}

TEST(Operations, MovesAreSeenThroughAlongAllPaths) {
  // a loop whose sum begins with a product: R4 = R1 * R1; do { R5 = R4; R4 = R5 + R1 } while (p)
  const std::array<std::uint64_t, 2> back{0xfffffffc00f40947, 0x000fc0000383ffff};
  const auto all = computed({three(ldg, 1, 9, 0), three(fmul, 4, 1, 1), three(mov, 5, 0, 4),
                             three(fadd, 4, 5, 1), back, stop},
                            {5, 6, 7, 8, 9, 10});
  EXPECT_THAT(all, testing::Contains("8: add f32 0 {add of 8,mul of 6} {other of 5} "));
}

TEST(Operations, KindsOfEachLine) {
  const std::string bytes = cubin({three(ldg, 1, 9, 0), three(mufu, 2, 0, 1, 0x1400),
                                   three(fmul, 3, 2, 1), three(ffma, 4, 3, 1, 2), stop, loop},
                                  {5, 6, 6, 7, 8, 8});
  const Performances found =
      performances(read_code(bytes).at("k"), [](std::uint32_t line) { return line; });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at(6), UnorderedElementsAre(Field(&Performed::kind, "function  50"),
                                                Field(&Performed::kind, "mul f32 0")));
  EXPECT_THAT(found.at(7), ElementsAre(Field(&Performed::kind, "fma f32 0")));
}

} // namespace
} // namespace ptxasw::machine
