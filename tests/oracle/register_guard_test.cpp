// Kernels that might not launch any more go back, alone and through the whole pipeline.
#include "oracle/register_guard.hpp"

#include "oracle/fake.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <stdexcept>

namespace ptxasw::oracle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  const char* name;
  Usage before, after;
  bool bounded;
  bool reverted;
  std::optional<BlockSizes> resident = {};
  BlockSizes sizes = {};
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}
class Guard : public testing::TestWithParam<Case> {};

TEST_P(Guard, Decides) {
  const auto& c = GetParam();
  const std::vector<std::string> changed{"k"};
  const auto back =
      kernels_to_revert(changed, {{"k", c.after}},
                        {[&](const std::vector<std::string>&) {
                           return oracle::UsageTable{{"k", c.before}};
                         },
                         [&](std::string_view) {
                           return Launches{c.bounded, c.sizes, c.resident, 228U << 10};
                         }});
  EXPECT_EQ(!back.empty(), c.reverted);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Guard,
    testing::Values(
        Case{"SixtyFour", {20, 0, 0, 0}, {64, 0, 0, 0}, false, false},
        Case{"SixtyFive", {20, 0, 0, 0}, {65, 0, 0, 0}, false, true},
        Case{"SixtyFiveBounded", {20, 0, 0, 0}, {65, 0, 0, 0}, true, false},
        Case{"NoMoreThanBefore", {80, 0, 0, 0}, {80, 0, 0, 0}, false, false},
        Case{"AsManyBlocks", {20, 0, 0, 0}, {32, 0, 0, 0}, false, false, BlockSizes{}},
        Case{"FewerBlocks", {32, 0, 0, 0}, {33, 0, 0, 0}, false, true, BlockSizes{}},
        Case{"FewerBlocksBounded", {32, 0, 0, 0}, {40, 0, 0, 0}, true, true, BlockSizes{1, 1024}},
        Case{"NoFewerOfThatSize",
             {34, 0, 0, 0},
             {64, 0, 0, 0},
             false,
             false,
             BlockSizes{1024, 1024}},
        Case{"NotOfThatSizeAnyway", {130, 0, 0, 0}, {168, 0, 0, 0}, false, false, BlockSizes{}},
        Case{"TooManyForSome", {130, 0, 0, 0}, {176, 0, 0, 0}, false, true},
        Case{"EnoughForThatSize", {130, 0, 0, 0}, {255, 0, 0, 0}, false, false, {}, {256, 256}},
        Case{"TooManyForThatSize", {130, 0, 0, 0}, {255, 0, 0, 0}, false, true, {}, {288, 288}},
        Case{"MoreShared", {20, 0, 0, 0, 4096}, {20, 0, 0, 0, 8192}, false, true, BlockSizes{}},
        Case{"SharedOfThatSize",
             {20, 0, 0, 0, 4096},
             {20, 0, 0, 0, 8192},
             false,
             false,
             BlockSizes{256, 256}},
        Case{"TooMuchSharedForThatSize",
             {20, 0, 0, 0, 20000},
             {20, 0, 0, 0, 40000},
             true,
             true,
             BlockSizes{256, 256}},
        Case{"SharedAsFarAsAllowed", {20, 0, 0, 0, 4096}, {20, 0, 0, 0, 8192}, false, false},
        Case{"OneMoreThanBefore", {80, 0, 0, 0}, {81, 0, 0, 0}, false, true},
        Case{"NewStack", {20, 0, 0, 0}, {20, 8, 0, 0}, true, true},
        Case{"OldStack", {20, 8, 0, 0}, {20, 8, 0, 0}, false, false},
        Case{"MoreSpillStores", {20, 8, 4, 4}, {20, 8, 8, 4}, true, true},
        Case{"MoreSpillLoads", {20, 8, 4, 4}, {20, 8, 4, 8}, true, true}));

TEST(RegisterGuard, AsksOnlyWhenItMust) {
  const std::vector<std::string> changed{"small", "not compiled"};
  const Questions none{[](const auto&) -> oracle::UsageTable { throw std::logic_error("asked"); },
                       [](std::string_view) -> Launches { throw std::logic_error("asked"); }};
  EXPECT_THAT(kernels_to_revert(changed, {{"small", Usage{32, 0, 0, 0}}}, none), IsEmpty());
  EXPECT_EQ(kernels_to_revert(changed, {}, none).size(), 2U) << "-v said nothing";
  const Questions loose{none.before, [](std::string_view) { return Launches{}; }};
  EXPECT_THAT(kernels_to_revert(changed, {{"small", Usage{64, 0, 0, 0}}}, loose), IsEmpty());
}

TEST(RegisterGuard, WhatIsNotKnownGoesBack) {
  const std::vector<std::string> changed{"k"};
  const Questions questions{[](const auto&) {
                              return oracle::UsageTable{{"k", Usage{20, 0, 0, 0}}};
                            },
                            [](std::string_view) { return Launches{.states_size = true}; }};
  EXPECT_EQ(kernels_to_revert(changed, {{"k", std::nullopt}}, questions).size(), 1U);
}

// What a function needs, its callers need.
TEST(RegisterGuard, KernelsThatCallWhatWasChanged) {
  const auto back = [](const std::string& linkage, unsigned of_caller, unsigned of_other = 32) {
    const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n" + linkage +
                             ".func f()\n{ ret; }\n.entry k()\n{ call f; ret; }\n"
                             ".entry other()\n{ ret; }\n";
    const std::vector<std::string> changed{"f"};
    return functions_to_revert(
        changed, text, {{"k", Usage{of_caller, 0, 0, 0}}, {"other", Usage{of_other, 0, 0, 0}}},
        {[](const auto&) {
           return oracle::UsageTable{{"k", Usage{64, 0, 0, 0}}, {"other", Usage{32, 0, 0, 0}}};
         },
         [](std::string_view) { return Launches{}; }});
  };
  EXPECT_THAT(back("", 64), IsEmpty());
  ASSERT_EQ(back("", 72).size(), 1U);
  EXPECT_EQ(back("", 72)[0].kernel, "f");
  EXPECT_EQ(back("", 72)[0].before->registers, 64U);
  EXPECT_THAT(back("", 64, 72), IsEmpty()) << "it calls nothing";
  EXPECT_EQ(back(".visible ", 64).size(), 1U) << "kernels of other files may call it";
  EXPECT_EQ(back(".weak ", 64).size(), 1U);
}

// --- settle ------------------------------------------------------------------------------------

std::string said(const std::string& kernel, unsigned registers) {
  return fmt::format("info : Compiling entry function '{0}' for 'sm_90'\n"
                     "info : Function properties for {0}\n    0 bytes stack frame\n"
                     "info : Used {1} registers\n",
                     kernel, registers);
}

// Two kernels; the text names those that are rewritten.
Printed rewritten(const std::vector<Reverted>& reverted) {
  Printed result;
  for (const std::string name : {"a", "b"}) {
    if (std::ranges::find(reverted, name, &Reverted::kernel) != reverted.end()) continue;
    result.made.text += name;
    result.changed.push_back({name, {}});
  }
  result.made.changed = !result.changed.empty();
  return result;
}

Committed settled(Assembler& assembler) {
  return commit_rewrites(
      rewritten({}), "original", assembler, [](std::string_view) { return Launches{}; }, rewritten);
}

TEST(Settle, WhatFitsIsKeptAtOnce) {
  oracle::FakeAssembler fake([](const AssemblyRequest&) {
    return Assembled{"", said("a", 64) + said("b", 64)};
  });
  EXPECT_EQ(settled(fake).printed.made.text, "ab");
  EXPECT_EQ(fake.asked.size(), 1U);
}

TEST(Settle, OneKernelGoesBackAndTheOtherStays) {
  oracle::FakeAssembler fake([](const AssemblyRequest& request) {
    const bool is_a_rewritten = request.text.starts_with("a");
    return Assembled{"", said("a", is_a_rewritten ? 65 : 20) + said("b", 30)};
  });
  const Committed result = settled(fake);
  EXPECT_EQ(result.printed.made.text, "b");
  ASSERT_EQ(result.reverted.size(), 1U);
  EXPECT_EQ(result.reverted[0].kernel, "a");
  EXPECT_EQ(result.reverted[0].before, (Usage{20, 0, 0, 0}));
  EXPECT_EQ(result.reverted[0].after, (Usage{65, 0, 0, 0}));
  EXPECT_EQ(fake.asked.back().text, "b") << "what is returned is what was kept last";
}

TEST(Settle, AFunctionGoesBackForItsCaller) {
  oracle::FakeAssembler fake([](const AssemblyRequest& request) {
    return Assembled{"", said("k", request.text == "f" ? 72 : 64)};
  });
  const auto without = [](const std::vector<Reverted>& reverted) {
    Printed result;
    result.made.changed = reverted.empty();
    if (reverted.empty()) result.changed.push_back({"f", {}});
    if (reverted.empty()) result.made.text = "f";
    return result;
  };
  const Committed result = commit_rewrites(
      without({}), ".func f() { ret; }\n.entry k() { call f; ret; }\n", fake,
      [](std::string_view) { return Launches{}; }, without);
  EXPECT_FALSE(result.printed.made.changed);
  ASSERT_EQ(result.reverted.size(), 1U);
  EXPECT_EQ(result.reverted[0].kernel, "f");
}

TEST(Settle, OnlyTheGuiltyOneOfARefusedTextGoesBack) {
  oracle::FakeAssembler picky([](const AssemblyRequest& request) -> std::optional<Assembled> {
    if (request.text.starts_with("a")) return std::nullopt;
    return Assembled{"", said("a", 20) + said("b", 30)};
  });
  const Committed result = settled(picky);
  EXPECT_EQ(result.printed.made.text, "b");
  ASSERT_EQ(result.reverted.size(), 1U);
  EXPECT_EQ(result.reverted[0].kernel, "a");
}

TEST(Settle, WhatIsNotTakenGoesBackUnlessTheOriginalIsNotTakenEither) {
  oracle::FakeAssembler picky([](const AssemblyRequest& request) -> std::optional<Assembled> {
    if (request.text != "original") return std::nullopt;
    return Assembled{};
  });
  EXPECT_FALSE(settled(picky).printed.made.changed);
  oracle::FakeAssembler takes_nothing(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return std::nullopt; });
  EXPECT_TRUE(settled(takes_nothing).printed.made.changed);
}

// Of kernels that have to keep their body, one whose machine code is not known goes back.
TEST(Settle, ABodyThatMustStayIsLookedAt) {
  oracle::FakeAssembler fake([](const AssemblyRequest&) {
    return Assembled{"no cubin", said("a", 20) + said("b", 30)};
  });
  const auto keeping = [](const std::vector<Reverted>& reverted) {
    Printed result = rewritten(reverted);
    for (Changed& one : result.changed)
      one.keeps_body = one.kernel == "a";
    return result;
  };
  const Committed result = commit_rewrites(
      keeping({}), "original", fake, [](std::string_view) { return Launches{}; }, keeping);
  EXPECT_EQ(result.printed.made.text, "b");
  ASSERT_EQ(result.reverted.size(), 1U);
  EXPECT_EQ(result.reverted[0].body_changed, "it is not known");
  EXPECT_EQ(result.reverted[0].after, (Usage{20, 0, 0, 0}));
}

} // namespace
} // namespace ptxasw::oracle
