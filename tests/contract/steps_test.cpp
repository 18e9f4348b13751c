// When launches are time steps that may become one, and with what sizes.
#include "contract/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ptxasw::contract {
namespace {

Expression expression(std::string_view word) {
  const auto made = to_expression(word);
  EXPECT_TRUE(made) << word;
  return made.value_or(Expression{});
}

std::optional<std::int64_t> value(std::string_view word) {
  const Quantities quantities{.parameter = [](unsigned number) -> std::optional<std::uint64_t> {
                                if (number > 1) return std::nullopt;
                                return number == 0 ? 0xffffffff : 7;
                              },
                              .threads = {100, 20, 3},
                              .block = {32, 4, 1}};
  const auto made = to_expression(word);
  if (!made) return std::nullopt;
  EXPECT_EQ(to_word(*made), word);
  const auto result = evaluate(*made, quantities);
  if (!result) return std::nullopt;
  return static_cast<std::int64_t>(*result);
}

TEST(Expression, IsExact) {
  EXPECT_EQ(value("-12"), -12);
  EXPECT_EQ(value("p1s32,3,+"), 10);
  EXPECT_EQ(value("p0s32"), -1);
  EXPECT_EQ(value("p0u32"), 0xffffffff);
  EXPECT_EQ(value("p0u32,p1u32,*,32,-"), std::int64_t{0xffffffff} * 7 - 32);
  EXPECT_EQ(value("2147483647,1,+,s32"), -2147483648LL);
  EXPECT_EQ(value("-1,u32"), 0xffffffff);
  EXPECT_EQ(value("tx,ty,max,tz,min"), 3);
  EXPECT_EQ(value("bx,by,*,bz,-"), 127);
}

TEST(Expression, HasNoValueWhereOneIsMissing) {
  EXPECT_EQ(value("p2s32"), std::nullopt);
  std::string large = "p0u32";
  for (unsigned n = 0; n < 3; ++n)
    large += ",p0u32,*";
  EXPECT_EQ(value(large), std::nullopt); // 2^128
}

TEST(Expression, IsOneWord) {
  for (const char* word : {"", ",", "1,", "1,2", "1,+", "+", "s32", "p1", "p1s16", "p-1s32", "t",
                           "tw", "1 ", "99999999999999999999", "p70000s32"})
    EXPECT_FALSE(to_expression(word)) << word;
}

// jacobi(in, out, coefficients, n), n rows and columns of f32.
Contract jacobi() {
  return {.kernel = "jacobi",
          .parameters = 4,
          .parameter_bytes = 28,
          .places = {{0, 8}, {8, 8}, {16, 8}, {24, 4}},
          .variants = {{.entry = "jacobi", .name = "original"}},
          .steps = {{.entry = "jacobi5",
                     .count = 5,
                     .swaps = {{0, 1}},
                     .block = {64, 4, 1},
                     .covers = {54, 54, 1},
                     .conditions = {{expression("p3s32,3,-"), "nothing to do"}},
                     .touched = {{0, true, expression("0"), expression("p3s32,p3s32,*,4,*")},
                                 {1, true, expression("0"), expression("p3s32,p3s32,*,4,*")},
                                 {2, false, expression("-4"), expression("p3s32,4,*")}}}}};
}

struct Arguments {
  std::uint64_t in = 0x10000, out = 0x20000, coefficients = 0x30000;
  int n = 100;
  std::array<unsigned, 3> grid{4, 25, 1}, block{32, 4, 1};
  [[nodiscard]] StepLaunch launch() const {
    return {grid, block, [this](unsigned number) -> const void* {
              switch (number) {
              case 0: return &in;
              case 1: return &out;
              case 2: return &coefficients;
              case 3: return &n;
              default: return nullptr;
              }
            }};
  }
  [[nodiscard]] auto fitted() const {
    static const Contract contract = jacobi();
    return fit(contract, contract.steps[0], launch());
  }
};

TEST(Steps, FitALaunch) {
  const auto fitted = Arguments{}.fitted();
  ASSERT_TRUE(fitted) << fitted.error();
  EXPECT_THAT(fitted->grid, testing::ElementsAre(3, 2, 1));
  EXPECT_THAT(fitted->block, testing::ElementsAre(64, 4, 1));
  EXPECT_THAT(fitted->threads, testing::ElementsAre(128, 100, 1, 5));
  ASSERT_EQ(fitted->ranges.size(), 3U);
  EXPECT_EQ(fitted->ranges[0].begin, 0x10000U);
  EXPECT_EQ(fitted->ranges[0].end, 0x10000U + 40000);
  EXPECT_TRUE(fitted->ranges[0].written);
  EXPECT_EQ(fitted->ranges[2].begin, 0x30000U - 4);
  EXPECT_FALSE(fitted->ranges[2].written);
}

TEST(Steps, WhatDoesNotHoldIsRefused) {
  EXPECT_EQ(Arguments{.n = 2}.fitted().error(), "nothing to do");
  EXPECT_EQ((Arguments{.grid = {1U << 31, 1, 1}}.fitted().error()), "the grid is too large");
  EXPECT_EQ((Arguments{.grid = {1, 1U << 22, 1}}.fitted().error()), "the grid is too large");
  EXPECT_EQ((Arguments{.grid = {0, 1, 1}}.fitted().error()), "the grid is too large");
}

TEST(Steps, ArraysThatOverlapAreRefused) {
  EXPECT_EQ(Arguments{.out = 0x10000}.fitted().error(), "the arrays overlap");
  EXPECT_EQ(Arguments{.out = 0x10000 + 39999}.fitted().error(), "the arrays overlap");
  EXPECT_TRUE(Arguments{.out = 0x10000 + 40000}.fitted());
  EXPECT_EQ(Arguments{.coefficients = 0x20000}.fitted().error(), "the arrays overlap");
  EXPECT_EQ(Arguments{.coefficients = 0x10000 - 399}.fitted().error(), "the arrays overlap");
  EXPECT_TRUE(Arguments{.coefficients = 0x10000 - 400}.fitted());
  const auto wrapped = Arguments{.in = std::numeric_limits<std::uint64_t>::max() - 10}.fitted();
  EXPECT_EQ(wrapped.error(), "what is read and written is not known");
}

TEST(Steps, FollowEachOtherWithTheArraysExchanged) {
  const Contract contract = jacobi();
  const Arguments first;
  const auto follow = [&](const Arguments& next) {
    return follows(contract, contract.steps[0], first.launch(), next.launch());
  };
  const Arguments exchanged{.in = first.out, .out = first.in};
  EXPECT_TRUE(follow(exchanged));
  EXPECT_FALSE(follow(first));
  Arguments other = exchanged;
  other.n = 99;
  EXPECT_FALSE(follow(other));
  other = exchanged;
  other.coefficients += 4;
  EXPECT_FALSE(follow(other));
  other = exchanged;
  other.block = {64, 2, 1};
  EXPECT_FALSE(follow(other));
  other = exchanged;
  other.grid[2] = 2;
  EXPECT_FALSE(follow(other));
}

// wave(old, now, next, n)
Contract wave() {
  Contract made = jacobi();
  Steps& steps = made.steps[0];
  steps.count = 6;
  steps.swaps.clear();
  steps.rotation = Rotation{.old = 0, .now = 1, .next = 2};
  for (Touched& touched : steps.touched)
    touched = {touched.parameter, true, expression("-4"), expression("p3s32,4,*")};
  return made;
}

TEST(RotatedSteps, FollowEachOtherWithTheArraysMovedOn) {
  const Contract contract = wave();
  const Arguments first;
  const auto follow = [&](std::uint64_t old, std::uint64_t now, std::uint64_t next) {
    return follows(contract, contract.steps[0], first.launch(),
                   Arguments{.in = old, .out = now, .coefficients = next}.launch());
  };
  EXPECT_TRUE(follow(first.out, first.coefficients, first.in));
  EXPECT_FALSE(follow(first.in, first.out, first.coefficients)) << "once more";
  EXPECT_FALSE(follow(first.coefficients, first.in, first.out)) << "backwards";
  EXPECT_FALSE(follow(first.out, first.in, first.coefficients)) << "two exchanged";
  EXPECT_FALSE(follow(first.coefficients, first.out, first.in));
  EXPECT_FALSE(follow(first.out, first.coefficients, 0x40000)) << "another array";
  Arguments other{.in = first.out, .out = first.coefficients, .coefficients = first.in, .n = 99};
  EXPECT_FALSE(follows(contract, contract.steps[0], first.launch(), other.launch()));
}

TEST(RotatedSteps, OfWhichNoTwoArraysOverlap) {
  const Contract contract = wave();
  const auto fitted = [&](const Arguments& arguments) {
    return fit(contract, contract.steps[0], arguments.launch());
  };
  ASSERT_TRUE(fitted({}));
  for (const Arguments& same : {Arguments{.in = 0x20000}, {.in = 0x30000}, {.out = 0x30000}})
    EXPECT_EQ(fitted(same).error(), "the arrays overlap");
  Contract unknown = contract;
  unknown.steps[0].touched.pop_back();
  EXPECT_EQ(fit(unknown, unknown.steps[0], Arguments{}.launch()).error(),
            "what is read and written is not known");
}

TEST(RotatedSteps, HaveRoomInAFourthArray) {
  const Contract contract = wave();
  for (const std::uint64_t next : {0x30000, 0x30004, 0x30008, 0x3000c}) {
    const Arguments arguments{.coefficients = next};
    const auto fitted = fit(contract, contract.steps[0], arguments.launch());
    ASSERT_TRUE(fitted && fitted->next);
    const std::uint64_t begin = 0x50000, bytes = fourth_bytes(*fitted),
                        fourth = fourth_at(*fitted, next, begin);
    EXPECT_GE(bytes, 404U);
    EXPECT_LE(bytes, 404U + 16);
    EXPECT_GE(fourth - 4, begin);
    EXPECT_LE(fourth + 400, begin + bytes);
    EXPECT_EQ(fourth % 16, next % 16);
  }
}

TEST(RotatedSteps, OfAPairReadWhatTheOtherWrote) {
  const Contract contract = wave();
  const Arguments arguments;
  const auto [first, second] =
      paired(*contract.steps[0].rotation, arguments.launch().parameters, 0x40000);
  EXPECT_EQ(first.read_old, arguments.in);
  EXPECT_EQ(first.read_now, arguments.out);
  EXPECT_EQ(first.write_old, 0x40000U);
  EXPECT_EQ(first.write_now, arguments.coefficients);
  EXPECT_EQ(second.read_old, first.write_old);
  EXPECT_EQ(second.read_now, first.write_now);
  EXPECT_EQ(second.write_old, first.read_old);
  EXPECT_EQ(second.write_now, first.read_now);
  EXPECT_EQ(launches_at_a_time(contract.steps[0]), 12U);
}

TEST(RotatedSteps, AreReadBack) {
  const Contract contract = wave();
  const auto read = decode(encode(contract));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
}

TEST(RotatedSteps, ThatDoNotComeRoundAreNoContract) {
  const auto is_read = [](auto change) {
    Contract contract = wave();
    change(contract.steps[0]);
    return decode(encode(contract)).has_value();
  };
  EXPECT_TRUE(is_read([](Steps& s) { s.count = 9; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.count = 5; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.count = 8; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.rotation->now = 0; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.rotation->next = 1; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.rotation->next = 0; }));
  EXPECT_FALSE(is_read([](Steps& s) { s.rotation->next = 3; })) << "no pointer";
  EXPECT_FALSE(is_read([](Steps& s) { s.rotation->next = 4; })) << "no parameter";
  EXPECT_FALSE(is_read([](Steps& s) { s.swaps = {{0, 1}}; })) << "one way of moving";
}

TEST(Steps, MayWait) {
  Contract contract = jacobi();
  contract.steps[0].waits = true;
  const std::string text = encode(contract);
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
}

TEST(Steps, MayHaveExtents) {
  Contract contract = jacobi();
  Steps& steps = contract.steps[0];
  steps.covers = {30, 4, 1};
  steps.extents = {expression("p3s32"), expression("p3s32,2,-"), expression("1")};
  const std::string text = encode(contract);
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
  const auto fitted = [&](std::uint32_t n) {
    return fit(contract, steps, Arguments{.n = static_cast<int>(n)}.launch());
  };
  ASSERT_TRUE(fitted(100));
  EXPECT_EQ(fitted(100)->threads, (std::array<std::uint32_t, 4>{100, 98, 1, 5}));
  EXPECT_EQ(fitted(100)->grid, (std::array<unsigned, 3>{4, 25, 1}));
  EXPECT_EQ(fitted(2).error(), "nothing is stored");
  EXPECT_EQ(fitted(~0U).error(), "nothing is stored");
}

// jacobi of a structure {in, out, n}.
struct Structure {
  std::uint64_t in = 0x10000, out = 0x20000;
  std::int32_t n = 100, more = 7;
  [[nodiscard]] StepLaunch launch() const {
    return {{4, 25, 1}, {32, 4, 1}, [this](unsigned number) -> const void* {
              return number == 0 ? this : nullptr;
            }};
  }
};

Contract of_structure() {
  Contract contract = jacobi();
  contract.parameters = 1;
  contract.parameter_bytes = sizeof(Structure);
  contract.places = {{0, sizeof(Structure)}};
  Steps& steps = contract.steps[0];
  steps.swaps = {{part(0, 0), part(0, 8)}};
  steps.conditions = {{expression("p0.16s32,3,-"), "nothing to do"}};
  const Expression size = expression("p0.16s32,p0.16s32,*,4,*");
  steps.touched = {{part(0, 0), true, expression("0"), size},
                   {part(0, 8), true, expression("0"), size}};
  return contract;
}

TEST(Steps, MayHangOnPartsOfParameters) {
  const Contract contract = of_structure();
  const std::string text = encode(contract);
  EXPECT_NE(text.find(R"("swap":[["0","0.8"]])"), std::string::npos);
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
  const auto fitted = fit(contract, contract.steps[0], Structure{}.launch());
  ASSERT_TRUE(fitted) << fitted.error();
  EXPECT_EQ(fitted->ranges[1].end, 0x20000U + 40000);
  EXPECT_EQ(fit(contract, contract.steps[0], Structure{.n = 2}.launch()).error(), "nothing to do");
  EXPECT_EQ(fit(contract, contract.steps[0], Structure{.n = 200}.launch()).error(),
            "the arrays overlap");
}

TEST(Steps, ArePartsOfParametersThatThereAre) {
  for (const unsigned beyond : {part(0, 20), part(0, 24), part(1, 0), part(0, 12)}) {
    Contract contract = of_structure();
    contract.steps[0].swaps = {{0, beyond}};
    EXPECT_FALSE(decode(encode(contract))) << beyond;
    contract = of_structure();
    contract.steps[0].touched[1].parameter = beyond;
    EXPECT_FALSE(decode(encode(contract))) << beyond;
  }
  for (const char* beyond : {"p0.24s32", "p1.4s32"}) {
    Contract contract = of_structure();
    contract.steps[0].conditions[0].value = expression(beyond);
    EXPECT_FALSE(decode(encode(contract))) << beyond;
  }
  for (const char* word : {"p0.s32", "p.4s32", "p0.-4s32", "p0.4.4s32", "p0.70000s32", "p0.0s32"})
    EXPECT_FALSE(to_expression(word)) << word;
}

TEST(Steps, MayReadVariables) {
  Contract contract = jacobi();
  contract.steps[0].variables = {{"coefficients", 24}, {"rate", 4}};
  const std::string text = encode(contract);
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
  for (const Variable& none : {Variable{"", 4}, Variable{"a b", 4}, Variable{"a", 0}}) {
    contract.steps[0].variables = {none};
    EXPECT_FALSE(decode(encode(contract)));
  }
}

// Pointers move, and all else of a structure stays.
TEST(Steps, FollowWithinAStructure) {
  const Contract contract = of_structure();
  const auto is_next = [&](const Structure& next) {
    return follows(contract, contract.steps[0], Structure{}.launch(), next.launch());
  };
  EXPECT_TRUE(is_next({.in = 0x20000, .out = 0x10000}));
  EXPECT_FALSE(is_next({}));
  EXPECT_FALSE(is_next({.in = 0x20000, .out = 0x20000}));
  EXPECT_FALSE(is_next({.in = 0x20000, .out = 0x10000, .n = 101}));
  EXPECT_FALSE(is_next({.in = 0x20000, .out = 0x10000, .more = 8}));
  EXPECT_FALSE(is_next({.in = 0x20000, .out = 0x10001}));
}

// One entry for several T: what is asked of a launch stands there once.
TEST(Steps, OfOneEntryThatIsToldHowMany) {
  Contract contract = jacobi();
  contract.steps[0].is_told = true;
  contract.steps.push_back(contract.steps[0]);
  contract.steps[1].count = 3;
  const std::string text = encode(contract);
  EXPECT_EQ(text.find("require"), text.rfind("require"));
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
  const Arguments arguments;
  EXPECT_THAT(fit(contract, contract.steps[1], arguments.launch())->threads[3], 3U);
}

} // namespace
} // namespace ptxasw::contract
