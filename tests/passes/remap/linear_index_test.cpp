// Which kernels have a linear index, and what is seen of its width and end.
#include "passes/remap/linear_index.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;

// %r6 = e; what follows uses it, and ends in an address.
std::string linear(const std::string& body) {
  return kernel_text("mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;\n"
                     "mad.lo.s32 %r6, %r4, %r5, %r3;\n" +
                     body +
                     "\nmul.wide.s32 %rd3, %r8, 4; add.s64 %rd3, %rd3, %rd1;\n"
                     "ld.global.u32 %r9, [%rd3]; st.global.u32 [%rd2], %r9; ret;");
}

struct Found {
  std::string refused, width, end;
};

Found find(const std::string& text) {
  Emulated emulated(text);
  const passes::LinearIndex index = passes::find_linear_index(emulated.kernel);
  const auto name = [&](sym::Term t) {
    return t.valid() ? emulated.kernel.context->to_string(t) : "";
  };
  return {index.refused, name(index.width), name(index.end)};
}

struct Case {
  const char* body;
  const char* width;
  const char* end;
};

const Case cases[] = {
    {"div.s32 %r8, %r6, %r1;", "n", ""},
    {"div.u32 %r8, %r6, %r1;", "n", ""},
    {"rem.s32 %r8, %r6, %r1;", "n", ""},
    {"rem.u32 %r8, %r6, %r2;", "m", ""},
    {"mul.lo.s32 %r7, %r1, %r2; setp.ge.s32 %p1, %r6, %r7; @%p1 ret; div.s32 %r8, %r6, %r1;", "n",
     "n*m"},
    {"setp.lt.u32 %p1, %r6, %r2; @!%p1 ret; div.s32 %r8, %r6, %r1;", "n", "m"},
    {"setp.gt.s32 %p1, %r6, %r2; @%p1 ret; div.s32 %r8, %r6, %r1;", "n", "m + 1"},
    {"add.s32 %r7, %r1, 2; div.s32 %r8, %r6, %r7;", "n + 2", ""},
    {"div.u32 %r8, %r6, 37;", "37", ""},
    // By a constant as compilers write it: x / 4096, x / 641 (unsigned and signed).
    {"shr.u32 %r8, %r6, 12;", "4096", ""},
    {"shr.s32 %r7, %r6, 31; shr.u32 %r7, %r7, 20; add.s32 %r7, %r6, %r7; shr.s32 %r8, %r7, 12;",
     "4096", ""},
    {"mul.hi.u32 %r8, %r6, 6700417;", "641", ""},
    {"mul.wide.u32 %rd4, %r6, 6700417; shr.u64 %rd4, %rd4, 32; cvt.u32.u64 %r8, %rd4;", "641", ""},
};

TEST(LinearIndex, Widths) {
  for (const Case& one : cases) {
    const Found found = find(linear(one.body));
    EXPECT_EQ(found.refused, "") << one.body;
    EXPECT_EQ(found.width, one.width) << one.body;
    EXPECT_EQ(found.end, one.end) << one.body;
  }
}

const char* const other_use =
    "it uses %ctaid.x and %tid.x for more than %ctaid.x * %ntid.x + %tid.x";
const char* const no_division =
    "it does not divide %ctaid.x * %ntid.x + %tid.x by a width known on entry";

TEST(LinearIndex, Refusals) {
  EXPECT_EQ(find(kernel_text("ret;")).refused, "it has no index %ctaid.x * %ntid.x + %tid.x");
  EXPECT_EQ(find(linear("mov.u32 %r8, %r6;")).refused, no_division);
  EXPECT_EQ(find(linear("xor.b32 %r8, %r6, 5;")).refused, no_division);
  EXPECT_EQ(find(linear("ld.global.u32 %r7, [%rd1]; div.s32 %r8, %r6, %r7;")).refused, no_division);
  EXPECT_EQ(find(linear("div.s32 %r8, %r6, %r1; add.s32 %r8, %r8, %r3;")).refused, other_use);
  EXPECT_EQ(
      find(linear("div.s32 %r8, %r6, %r1; shr.u32 %r7, %r4, 3; add.s32 %r8, %r8, %r7;")).refused,
      other_use);
  EXPECT_EQ(find(linear("div.s32 %r8, %r6, %r1; mov.u32 %r7, %laneid;")).refused, other_use);
  // A sum that may wrap must not be taken for one that does not.
  EXPECT_EQ(find(linear("div.s32 %r8, %r6, %r1; setp.lt.s32 %p1, %r6, 0; selp.b32 %r7, %r4, 0, %p1;"
                        "add.s32 %r8, %r8, %r7;"))
                .refused,
            other_use);
}

} // namespace
} // namespace ptxasw
