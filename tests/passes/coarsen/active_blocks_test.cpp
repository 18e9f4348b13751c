// Blocks beside a diagonal leave at once, and others do not.
#include "passes/coarsen/cost/active_blocks.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

namespace ptxasw::passes {
namespace {

const std::string x =
    "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\nmad.lo.u32 %r6, %r4, %r5, %r3;\n";
const std::string y = "mov.u32 %r14, %ctaid.y;\nmov.u32 %r15, %ntid.y;\nmov.u32 %r13, %tid.y;\n"
                      "mad.lo.u32 %r16, %r14, %r15, %r13;\n";
const std::string exit_x = "setp.ge.s32 %p1, %r6, %r1;\n";

double at_work(const std::string& code) {
  const ptx::Module module = ptx::parse(test::kernel_text(code + "\nret;"), "t.ptx");
  return share_at_work(ptx::resolve(module, module.functions[0]));
}

TEST(AtWork, HalfOfTheBlocksLeaveBesideADiagonal) {
  const std::string leave = "@%p1 ret;\nst.global.u32 [%rd2], %r3;";
  EXPECT_EQ(at_work(x + y + "setp.lt.s32 %p1, %r6, %r16;\n" + leave), 0.5);
  EXPECT_EQ(at_work(x + y + exit_x + "@%p1 ret;\nsetp.gt.s32 %p1, %r16, %r6;\n" + leave), 0.5);
  EXPECT_EQ(at_work(x + "mov.u32 %r14, %ctaid.y;\nsetp.lt.u32 %p1, %r14, %r4;\n" + leave), 0.5)
      << "blocks";
  EXPECT_EQ(at_work(x + y + exit_x + leave), 1);
  EXPECT_EQ(at_work(x + y + "setp.ne.s32 %p1, %r6, %r16;\n" + leave), 1);
  EXPECT_EQ(at_work(x + "add.u32 %r7, %r4, 1;\nsetp.lt.u32 %p1, %r7, %r6;\n" + leave), 1)
      << "one axis";
  EXPECT_EQ(at_work(x + y + "setp.lt.u32 %p1, %r13, %r3;\n" + leave), 1) << "in each block";
  EXPECT_EQ(at_work(x + y + "setp.lt.u32 %p1, %r13, %r6;\n" + leave), 1) << "a rim";
  EXPECT_EQ(at_work(x + y + "and.b32 %r7, %r6, 15;\nsetp.lt.u32 %p1, %r7, %r16;\n" + leave), 1);
  EXPECT_EQ(at_work(x + y + "ld.global.u32 %r7, [%rd2];\nsetp.lt.u32 %p1, %r6, %r7;\n" + leave), 1)
      << "data";
}

} // namespace
} // namespace ptxasw::passes
