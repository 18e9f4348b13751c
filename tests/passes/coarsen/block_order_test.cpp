// Where the lockstep form is cut into segments that run copy by copy: what stands once for all
// copies must not run ahead of what a copy has yet to read, load or store.
#include "passes/coarsen/find/block_order.hpp"

#include "emulator/kernel_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;

// Do the last two instructions stand in one segment? %r4, %r5 and %rd4 differ between replicas.
bool together(const std::string& code, passes::CopyOrder order = passes::CopyOrder::copies) {
  const Emulated e(kernel_text("mov.u32 %r4, %ctaid.y;\nadd.s32 %r5, %r4, %r3;\n"
                               "mul.wide.s32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                               "setp.eq.u32 %p1, %r1, 3;\nsetp.eq.u32 %p2, %r4, 3;\n" +
                               code));
  const ptx::Special seeds[] = {ptx::Special::ctaid_y};
  const ptx::Body& body = e.kernel.body;
  const auto segment =
      passes::make_schedule(body, analysis::find_replica_divergence(body, seeds), 2, order).segment;
  return segment.back() == segment[segment.size() - 2];
}

TEST(BlockOrder, Segments) {
  const struct {
    const char* code;
    bool together;
  } cases[] = {
      {"ld.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f1, %f1;", true},
      {"ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd1];", true},
      {"ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd4], %f1;", true},
      {"st.global.u32 [%rd4], %r4;\nld.global.f32 %f1, [%rd4+4];", false},
      {"st.global.u32 [%rd4], %r4;\nld.global.f32 %f1, [%rd1];", false},
      // What stands once and writes memory, or a register that copies have read.
      {"ld.global.f32 %f1, [%rd4];\nst.global.u32 [%rd1], %r3;", false},
      {"add.s32 %r6, %r5, %r3;\nmov.u32 %r3, 1;", false},
      {"mov.u64 %rd9, %rd1;\n@%p2 ld.global.f32 %f1, [%rd9];\nadd.s64 %rd9, %rd9, 4;", false},
      {"@%p1 add.s32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r1, 4;", false},
      {"mov.u32 %r6, 1;\nadd.s32 %r7, %r1, %r6;\nmov.u32 %r6, 2;", true},
      // Places where control may come from elsewhere, or go to.
      {"add.s32 %r6, %r5, 1;\nL:\nadd.s32 %r7, %r5, 2;", false},
      {"add.s32 %r6, %r5, 1;\nret;", false},
      {"{\nadd.s32 %r6, %r5, 1;\n}\nadd.s32 %r7, %r5, 2;", false},
      {"add.s32 %r6, %r5, 1;\n.loc 1 1 1\nadd.s32 %r7, %r5, 2;", true},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(together(one.code), one.together) << one.code;
    EXPECT_FALSE(together(one.code, passes::CopyOrder::instructions)) << one.code;
  }
}

TEST(BlockOrder, CopyAfterCopyInASegment) {
  const Emulated e(kernel_text("mov.u32 %r4, %ctaid.y;\nadd.s32 %r5, %r4, 1;\nret;"));
  const ptx::Special seeds[] = {ptx::Special::ctaid_y};
  const auto run = [&](passes::CopyOrder order) {
    std::string text;
    for (const passes::Step& step :
         passes::make_schedule(e.kernel.body,
                               analysis::find_replica_divergence(e.kernel.body, seeds), 2, order)
             .steps) {
      if (step.inst >= 5) text += fmt::format("{}.{} ", step.inst - 5, step.copy);
    }
    return text;
  };
  EXPECT_EQ(run(passes::CopyOrder::copies), "0.0 1.0 0.1 1.1 2.0 2.1 ");
  EXPECT_EQ(run(passes::CopyOrder::instructions), "0.0 0.1 1.0 1.1 2.0 2.1 ");
}

} // namespace
} // namespace ptxasw
