// What apply() lets through and what it refuses, edit by edit.
#include "passes/shared/apply.hpp"
#include "passes/shared/bindings.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ptxasw {
namespace {

using ::testing::HasSubstr;

constexpr const char* body = R"(
add.u32 %r4, %r3, 1;
{ .reg .b32 %r4; mov.u32 %r4, 9; // inner
st.global.u32 [%rd2], %r4; }
st.global.u32 [%rd2+4], %r4;
ret;)";

class Applied : public ::testing::Test {
protected:
  // Puts `code` in front of `before`; {4} in it is the %r4 that `use` reads, {3} %r3.
  std::string put(std::string_view before, std::string_view use, std::string code,
                  const std::string& text = test::kernel_text(body)) {
    const ptx::Module module = ptx::parse(text, "test.ptx");
    std::vector<ptx::Mention> mentions;
    const ptx::Body resolved = ptx::resolve(module, module.functions[0], &mentions);
    const auto at = static_cast<std::uint32_t>(text.find(before));
    for (const auto& [place, from] :
         {std::pair{"{4}", text.find(use)}, std::pair{"{3}", text.find("%r3,")}}) {
      const auto meant = std::ranges::find_if(mentions, [&](const ptx::Mention& m) {
        return m.where.begin >= from && module.slice(m.where) == fmt::format("%r{}", place[1]);
      });
      const std::string name = passes::marked({meant->arg.id, 0}, module.slice(meant->where));
      for (std::size_t n = code.find(place); n != code.npos; n = code.find(place))
        code.replace(n, 3, name);
    }
    passes::FunctionEdits change{0, {{{at, at}, code}}, {}};
    result = passes::apply(module, std::span(&change, 1)).text;
    if (!change.refused.empty()) {
      EXPECT_EQ(result, text);
    }
    return change.refused;
  }
  std::string result;
};

constexpr const char *inner = "st.global.u32 [%rd2],", *outer = "st.global.u32 [%rd2+4],";

TEST_F(Applied, MarksComeOutOfTheText) {
  EXPECT_EQ(put(outer, outer, "add.u32 {4}, {4}, {3};\n"), "");
  EXPECT_THAT(result, HasSubstr("}\nadd.u32 %r4, %r4, %r3;\nst.global.u32 [%rd2+4], %r4;"));
}

TEST_F(Applied, EachRegisterInItsOwnScope) {
  EXPECT_EQ(put(inner, inner, "add.u32 {4}, {4}, {3};\n"), "");
  EXPECT_THAT(put(inner, outer, "add.u32 {3}, {4}, {3};\n"), HasSubstr("another register"));
  EXPECT_THAT(put(outer, inner, "add.u32 {3}, {4}, {3};\n"), HasSubstr("another register"));
}

TEST_F(Applied, DeclarationsOfTheRewriteHideNothing) {
  EXPECT_EQ(put(outer, outer, ".reg .b32 %new; mov.u32 %new, 1; mov.u32 {4}, %new;\n"), "");
  EXPECT_THAT(put(inner, inner, ".reg .b32 %r3; mov.u32 {3}, 1;\n"), HasSubstr("another register"));
  EXPECT_THAT(put(outer, outer, "{ .reg .b32 %r4; mov.u32 {4}, 1; }\n"),
              HasSubstr("another register"));
}

// All that is kept in the block would be another register, which is no harm if it is one like it.
TEST_F(Applied, WhatIsKeptKeepsItsType) {
  const std::string text =
      test::kernel_text("{ mov.u32 %r7, 9; st.global.u32 [%rd2+8], %r7; }\n" + std::string(body));
  EXPECT_EQ(put("mov.u32 %r7", outer, ".reg .b32 %r7;\n", text), "");
  EXPECT_THAT(put("mov.u32 %r7", outer, ".reg .f32 %r7;\n", text), HasSubstr("another type"));
}

TEST_F(Applied, WhatIsKeptKeepsItsMeaning) {
  const std::string text = test::kernel_text(
      ".shared .align 4 .b8 s[256];\n{ mov.u32 %r7, s; st.shared.u32 [%r7], %r7; }\n" +
      std::string(body));
  EXPECT_EQ(put("mov.u32 %r7", outer, ".reg .b32 %t;\n", text), "");
  EXPECT_THAT(put("mov.u32 %r7", outer, ".reg .b32 s;\n", text), HasSubstr("something else"));
}

// Two that are declared by their whole names.
TEST_F(Applied, TheInnermostDeclarationCounts) {
  const ptx::Module module = ptx::parse(
      test::kernel_text(".reg .b32 %x;\nmov.u32 %x, 1;\n{ .reg .b32 %x; mov.u32 %x, 2;\n"
                        "st.global.u32 [%rd2], %x; }\nst.global.u32 [%rd2+4], %x;\nret;"),
      "test.ptx");
  const ptx::Body resolved = ptx::resolve(module, module.functions[0]);
  const passes::Names names(resolved);
  std::vector<std::pair<ptx::InstId, ptx::RegId>> stores;
  for (ptx::InstId i = 0; i < resolved.insts.size(); ++i)
    if (resolved.insts[i].op == ptx::Op::st)
      stores.emplace_back(i, resolved.src(resolved.insts[i])[0].id);
  ASSERT_EQ(stores.size(), 2U);
  const auto [inside, inner_x] = stores[0];
  const auto [behind, outer_x] = stores[1];
  ASSERT_NE(inner_x, outer_x);
  EXPECT_TRUE(names.known_at(inner_x, inside));
  EXPECT_TRUE(names.known_at(outer_x, behind));
  EXPECT_FALSE(names.known_at(outer_x, inside));
  EXPECT_FALSE(names.known_at(inner_x, behind));
}

TEST_F(Applied, OwnNamesNeedAMark) {
  EXPECT_THAT(put(outer, outer, "mov.u32 {4}, %r3;\n"), HasSubstr("declares a register"));
  EXPECT_THAT(put(outer, outer, "mov.u32 {4}, %r59;\n"), HasSubstr("declares a register"));
  EXPECT_THAT(put(outer, outer, "mov.u32 {4}, %r60;\n"), HasSubstr("not declared"));
  EXPECT_EQ(put(outer, outer, "mov.u32 {4}, %laneid;\n"), "");
}

TEST_F(Applied, RegistersCalledLikeSpecialOnes) {
  for (const std::string name : {"%laneid", "%tid"}) {
    const std::string text =
        test::kernel_text(fmt::format(".reg .b32 {};\nmov.u32 {}, 3;\n", name, name) + body);
    EXPECT_THAT(put(outer, outer, "mov.u32 {4}, {3};\n", text), HasSubstr("special register"));
  }
}

TEST_F(Applied, WhatPtxasWouldRefuse) {
  EXPECT_THAT(put(outer, outer, ".reg .b16 %h; mov.u16 %h, {4};\n"), HasSubstr("another width"));
  EXPECT_THAT(put(outer, outer, ".reg .b64 %d; add.u64 %d, %d, {4};\n"),
              HasSubstr("another width"));
  EXPECT_THAT(put(outer, outer, "bra nowhere;\n"), HasSubstr("not a label"));
  EXPECT_THAT(put(outer, outer, "mov.u32 {4}, ;\n"), HasSubstr("cannot be read"));
}

TEST_F(Applied, OthersAreStillRewritten) {
  std::string two = test::kernel_text(body);
  std::string second = two.substr(two.find(".visible"));
  second.replace(second.find("k("), 1, "l");
  two += second;
  const ptx::Module module = ptx::parse(two, "test.ptx");
  const auto end_of = [&](const char* name) {
    return static_cast<std::uint32_t>(two.find("ret;", two.find(name)));
  };
  const std::uint32_t k = end_of(" k("), l = end_of(" l(");
  std::vector<passes::FunctionEdits> changes{{0, {{{k, k}, "mov.u32 %r3, %r4;\n"}}, {}},
                                             {1, {{{l, l}, "membar.gl;\n"}}, {}}};
  const std::string text = passes::apply(module, changes).text;
  EXPECT_NE(changes[0].refused.text, "");
  EXPECT_EQ(changes[1].refused.text, "");
  EXPECT_EQ(text, std::string(two).insert(l, "membar.gl;\n"));
}

TEST_F(Applied, MarksOfTheInputAreNone) {
  std::string text = test::kernel_text(body);
  text.insert(0, "// \x01"
                 "3.0\x02\n");
  EXPECT_THAT(put(outer, outer, "mov.u32 {4}, {3};\n", text), HasSubstr("control characters"));
}

} // namespace
} // namespace ptxasw
