// Sequences of kernels that are easily merged to something else than they do.
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"

#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::attack {
namespace {

using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using test::StageLaunch;
using ::testing::HasSubstr;

constexpr unsigned n = 100;

template <class Value> StageArgument each(unsigned bytes, const Value& value, int of = -1) {
  StageArgument made{.buffer = of, .bytes = bytes};
  for (unsigned pass = 0; pass < 16; ++pass)
    made.varying.push_back(value(pass));
  return made;
}
StageArgument step_from(unsigned first) {
  return each(4, [=](unsigned pass) { return first + pass; });
}

StageLaunch stage(const char* kernel, std::vector<StageArgument> arguments, unsigned blocks = 4) {
  return {kernel, {blocks}, {32}, std::move(arguments)};
}
StageLaunch pair_1() {
  return stage("pair_1", {buffer(1), buffer(0), number(n)});
}
StageLaunch pair_2() {
  return stage("pair_2", {buffer(0), buffer(1), number(n)});
}
// Of a and b, what they have in common.
StageLaunch second(const char* kernel, const std::vector<StageArgument>& more) {
  StageLaunch made = stage(kernel, {buffer(0), buffer(1)});
  made.arguments.insert(made.arguments.end(), more.begin(), more.end());
  return made;
}

SequenceCase made_of(std::vector<StageLaunch> stages) {
  std::vector<std::vector<std::uint8_t>> buffers;
  for (unsigned seed = 0; seed < 4; ++seed)
    buffers.push_back(test::random_elements(seed < 2 ? 128 : 16 * 128, 4, true, seed));
  return {test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/attack.ptx"),
          std::move(stages),
          std::move(buffers),
          {.count = 3, .width = 48}};
}
// Empty: the same memory.
std::string outcome(std::vector<StageLaunch> stages) {
  const SequenceCase made = made_of(std::move(stages));
  for (const Why& why : {made.plan.refused, made.entry.refused})
    if (!why.empty()) return why.text;
  const std::string all = made.difference({3, 3});
  return all.empty() ? made.difference({3, 1, 1, 3}, 1) : all;
}

TEST(Attack, AnArrayThatIsAnotherOneInEachPass) {
  const auto picture = [](unsigned pass) { return pass * 512; };
  EXPECT_THAT(
      outcome({pair_1(), pair_2(), stage("picture", {each(8, picture, 2), buffer(0), number(n)})}),
      HasSubstr("picture: a place or a guard hangs on what varies"));
  const auto turn = [](unsigned pass) { return pass % 2 * 512; };
  const auto other = [](unsigned pass) { return (pass + 1) % 2 * 512; };
  EXPECT_THAT(outcome({pair_1(), pair_2(),
                       stage("picture", {each(8, turn, 2), each(8, other, 2), number(n)})}),
              HasSubstr("picture: a place or a guard hangs on what varies"));
}

// That it is read is fine, if each one lies apart.
TEST(Attack, ASourceThatIsAnotherOneInEachPass) {
  const auto source = [](unsigned pass) { return pass * 512; };
  const std::vector<StageLaunch> stages{pair_1(),
                                        second("driven", {each(8, source, 2), number(n)})};
  EXPECT_EQ(outcome(stages), "");
  SequenceCase made = made_of(stages);
  EXPECT_TRUE(contract::is_asked(made.entry.contract, made.entry.contract.varying[0]));
  // In the last pass it is what is stepped.
  const auto begins = made.run(0, {}).memory.allocations();
  made.stages[1].arguments[2] =
      each(8, [&](unsigned pass) { return begins[pass < 5 ? 2 : 0].base; });
  EXPECT_THAT(made.run(6, {3, 3}).error, HasSubstr("overlap"));
}

TEST(Attack, WhatWasStoredIsReadAgain) {
  EXPECT_THAT(
      outcome({pair_1(), stage("reread", {buffer(0), buffer(2), buffer(3), buffer(1), number(n)})}),
      HasSubstr("reads what it has stored"));
}

TEST(Attack, AVaryingNumberOnOneOfTwoWays) {
  const auto real = [](unsigned pass) {
    return std::bit_cast<std::uint32_t>(0.5F * static_cast<float>(pass + 1));
  };
  EXPECT_EQ(outcome({pair_1(), second("either", {number(n), each(4, real)})}), "");
}

TEST(Attack, ThreadsThatGoFromPlaceToPlace) {
  for (const unsigned blocks : {2U, 4U, 6U})
    EXPECT_THAT(outcome({stage("strided_1", {buffer(1), buffer(0), number(n)}, blocks),
                         stage("strided_2", {buffer(0), buffer(1), number(n)}, blocks)}),
                HasSubstr("from place to place"));
}

TEST(Attack, PartsOfAVaryingNumber) {
  const auto wide = [](unsigned pass) { return (pass + 1) * 0x0123456789abcdefULL; };
  EXPECT_EQ(outcome({pair_1(), second("parts", {number(n), each(8, wide)})}), "");
}

// Either way where all passes go it; the other one is refused.
TEST(Attack, AVaryingNumberTellsTheWay) {
  EXPECT_EQ(outcome({pair_1(), second("late", {number(n), step_from(6)})}), "");
  EXPECT_THAT(outcome({pair_1(), second("late", {number(n), step_from(2)})}), HasSubstr("small"));
  const auto clamped = [](unsigned first) {
    return second("clamped", {buffer(2), number(n), step_from(first)});
  };
  EXPECT_EQ(outcome({pair_1(), clamped(4)}), "");
  EXPECT_THAT(outcome({pair_1(), clamped(2)}), HasSubstr("small"));
}

// A second store to one element of the row, which is told apart if it is the last one.
TEST(Attack, APointThatIsStoredToByItself) {
  for (const unsigned m : {0U, 1U, 50U, 98U})
    EXPECT_THAT(outcome({pair_1(), second("point", {number(n), number(m)})}), HasSubstr("rim"));
  for (const unsigned m : {n - 1, n, 200U})
    EXPECT_EQ(outcome({pair_1(), second("point", {number(n), number(m)})}), "");
}

} // namespace
} // namespace ptxasw::attack
