// Cubins put together by hand: sections, line tables, and where operands come from.
#include "sass/cubins.hpp"
#include "sass/operations.hpp"

#include <gmock/gmock.h>

namespace ptxasw::sass {
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

TEST(Code, JumpsToAnywhereAreNotJudged) {
  const Words words{three(fadd, 1, 2, 3), {0x7949, 0}, stop}; // BRX
  const std::string bytes = cubin(words, {6, 7, 8});
  EXPECT_THAT(read_code(bytes).at("k").unknown(), testing::HasSubstr("the jump of line 7"));
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

constexpr unsigned always = 7, p0 = 0, not_p0 = 8;

std::array<std::uint64_t, 2> guarded(unsigned guard, std::array<std::uint64_t, 2> words) {
  words[0] ^= std::uint64_t{always ^ guard} << 12;
  return words;
}
// Over so many instructions, as sm_90 writes it.
std::array<std::uint64_t, 2> call(std::uint64_t over) {
  return {0x7944 | 4 * over << 16, 0};
}
std::array<std::uint64_t, 2> branch(std::uint64_t over) {
  return {0x7947 | 4 * over << 16, 0x000fc00003800000};
}
constexpr std::array<std::uint64_t, 2> give_back{0x7950, 0};

// What line 9 adds to R1, if R4 is what line 6 multiplies and `middle` stands on lines 7 to 8.
std::set<std::string> sum_behind(const Words& middle, unsigned guard_of_sum = always,
                                 const Words& callee = {}) {
  Words words{three(ldg, 1, 10, 0), three(fmul, 4, 1, 1)};
  std::vector<unsigned> lines{5, 6};
  for (const auto& word : middle) {
    words.push_back(word);
    lines.push_back(&word == &middle.front() ? 7 : 8);
  }
  for (const auto& word : {guarded(guard_of_sum, three(fadd, 5, 4, 1)), stop}) {
    words.push_back(word);
    lines.push_back(9);
  }
  for (const auto& word : callee) {
    words.push_back(word);
    lines.push_back(10);
  }
  std::set<std::string> found;
  for (const std::string& operation : computed(words, lines))
    if (operation.starts_with("9: ")) found.insert(operation.substr(operation.find('{')));
  return found;
}

TEST(Operations, OppositeGuardsLeaveNothingBehind) {
  const auto one = guarded(p0, three(fmul, 4, 1, 10)),
             other = guarded(not_p0, three(fadd, 4, 1, 1));
  EXPECT_THAT(sum_behind({one, other}), ElementsAre("{add of 8,mul of 7} {other of 5} "));
  EXPECT_THAT(sum_behind({one, one}), ElementsAre("{mul of 6,mul of 7,mul of 8} {other of 5} "));
  // something else may change the predicate
  EXPECT_THAT(sum_behind({one, three(ldg, 9, 10, 0), other}),
              ElementsAre("{add of 8,mul of 6,mul of 7} {other of 5} "));
  // a branch may lead between them
  EXPECT_THAT(sum_behind({one, guarded(p0, branch(0)), other}),
              ElementsAre("{add of 8,mul of 6,mul of 7} {other of 5} "));
}

TEST(Operations, TheSameGuardReadsWhatItWrote) {
  const auto one = guarded(p0, three(fmul, 4, 1, 10));
  EXPECT_THAT(sum_behind({one}, p0), ElementsAre("{mul of 7} {other of 5} "));
  EXPECT_THAT(sum_behind({one}, not_p0), ElementsAre("{mul of 6,mul of 7} {other of 5} "));
  EXPECT_THAT(sum_behind({one}), ElementsAre("{mul of 6,mul of 7} {other of 5} "));
  EXPECT_THAT(sum_behind({one, three(ldg, 9, 10, 0)}, p0),
              ElementsAre("{mul of 6,mul of 7} {other of 5} "));
}

TEST(Operations, CallsHideWhatTheyCertainlyOverwrite) {
  const auto write = three(fadd, 4, 1, 1);
  const auto behind = [&](const Words& callee) { return sum_behind({call(2)}, always, callee); };
  const auto hidden = ElementsAre("{call of 7} {other of 5} ");
  const auto both = ElementsAre("{call of 7,mul of 6} {other of 5} ");
  EXPECT_THAT(behind({write, give_back}), hidden);
  EXPECT_THAT(behind({guarded(p0, write), guarded(not_p0, write), give_back}), hidden);
  EXPECT_THAT(behind({guarded(p0, write), give_back}), both);
  EXPECT_THAT(behind({guarded(p0, branch(1)), write, give_back}), both);
  EXPECT_THAT(behind({guarded(p0, give_back), write, give_back}), both);
  // no end is to be seen: anything may be written
  EXPECT_THAT(behind({write}), ElementsAre("{call of 7,mul of 6} {call of 7,other of 5} "));
  EXPECT_THAT(behind({three(fadd, 8, 1, 1), give_back}), ElementsAre("{mul of 6} {other of 5} "));
  EXPECT_THAT(sum_behind({guarded(p0, call(2))}, always, {write, give_back}), both);
  // what a callee calls may write, but hides nothing
  EXPECT_THAT(behind({call(1), give_back, write, give_back}), both);
}

TEST(Operations, KindsOfEachLine) {
  const std::string bytes = cubin({three(ldg, 1, 9, 0), three(mufu, 2, 0, 1, 0x1400),
                                   three(fmul, 3, 2, 1), three(ffma, 4, 3, 1, 2), stop, loop},
                                  {5, 6, 6, 7, 8, 8});
  const OperationsByLine found =
      operations_by_line(read_code(bytes).at("k"), [](std::uint32_t line) { return line; });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at(6), UnorderedElementsAre(Field(&LineOperation::kind, "function  50"),
                                                Field(&LineOperation::kind, "mul f32 0")));
  EXPECT_THAT(found.at(7), ElementsAre(Field(&LineOperation::kind, "fma f32 0")));
}

} // namespace
} // namespace ptxasw::sass
