// What remapped kernels look like: one in full, and names that are taken.
#include "passes/remap/remap_case.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/coarsen/coarsen_case.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Remapped;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const rows = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;

	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.y; // the row
	mov.u32 %r2, %nctaid.x;
	mad.lo.u32 %r3, %r1, %r2, %ctaid.x;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
)";

TEST(RemapText, InFull) {
  const Remapped zigzag(rows, {.kind = RemapKind::zigzag, .width = 4});
  EXPECT_EQ(zigzag.text, test::read_file(PTXASW_SOURCE_DIR "/tests/passes/remap/remap_golden.ptx"));
  EXPECT_TRUE(zigzag.result->diagnostics.empty());
}

TEST(RemapText, NamesThatAreTaken) {
  std::string source = rows;
  source.replace(source.find("the row"), 7, "$ptxasw_ %ptxasw_place");
  const Remapped swap(source, {.kind = RemapKind::swap});
  EXPECT_THAT(swap.text, HasSubstr("$ptxasw__as_launched:"));
  EXPECT_THAT(swap.text, HasSubstr("%ptxasw_place1_b32_0"));
}

TEST(RemapText, ARefusedKernelIsLeftAlone) {
  const Remapped refused(rows, {.kind = RemapKind::linear_column, .width = 4});
  EXPECT_NE(refused.plan.refused.text, "");
  EXPECT_EQ(refused.text, rows);
}

// Width and end are computed as the kernel would, from its parameters.
TEST(RemapText, WidthAndEndFromParameters) {
  const Remapped remapped(test::kernel_text(R"(mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r3; cvt.u32.u64 %r7, %rd2; sub.s32 %r8, %r7, 3;
    mul.lo.s32 %r9, %r8, %r1; setp.ge.s32 %p1, %r6, %r9; @%p1 ret; div.s32 %r10, %r6, %r8;
    mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r6; ret;)"),
                          {.kind = RemapKind::linear_column, .width = 4});
  ASSERT_EQ(remapped.plan.refused.text, "");
  EXPECT_THAT(remapped.text, HasSubstr("[out+0];"));
  EXPECT_THAT(remapped.text, HasSubstr("cvt.u32.u64"));
  EXPECT_THAT(remapped.text, HasSubstr(", 4294967293;"));
  EXPECT_TRUE(remapped.result->diagnostics.empty());
}

} // namespace
} // namespace ptxasw
