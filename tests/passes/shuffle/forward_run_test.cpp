// Kernels that take from registers what they have stored to shared memory, on the interpreter: each
// compared with the original in blocks for which that holds and in blocks for which it does not.
#include "passes/shuffle/shuffle.hpp"

#include "passes/coarsen/tiles.hpp"
#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"
#include "passes/warp_reduce/trees.hpp"
#include "simt/trap_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using simt::Dim3;
using test::own;
using test::tile_with_rim;
using ::testing::HasSubstr;
using ::testing::Not;

using Block = std::array<std::uint32_t, 3>;

struct Forwarded {
  std::size_t covered = 0;
  std::string original, text;

  explicit Forwarded(std::string source, const Block& block = {}, Emit emit = Emit::normal)
      : original(std::move(source)) {
    const ptx::Module module = ptx::parse(original, "test.ptx");
    emulator::Kernel kernel = emulator::emulate(module, module.functions.at(0), {}, block);
    sym::Solver solver(*kernel.context, {});
    passes::LanePlan plan =
        passes::find_lane_reuse(kernel, solver, {.forward = ForwardMode::all, .block = block});
    for (passes::Load& load : plan.loads)
      if (load.cover && !load.cover->stored) load.cover.reset(); // those are not what this is about
    const auto edits = passes::shuffle(kernel, plan, emit);
    for (const passes::Load& load : plan.loads)
      covered += load.cover ? 1 : 0;
    text = test::applied(kernel, edits);
  }
  // With the race detector on; the launch has to be one without a race.
  [[nodiscard]] std::string difference(Dim3 block) const {
    const simt::TrapCase launch{.name = "k",
                                .text = original,
                                .grid = {2},
                                .block = block,
                                .arguments = {"in", "out", "5", "7"}};
    return simt::compare(launch, text, simt::trap_schedules());
  }
};

void expect_same(const std::string& text, std::size_t covered, const std::vector<Dim3>& blocks) {
  for (const Emit emit : {Emit::normal, Emit::check, Emit::uniform_branch}) {
    const Forwarded forwarded(text, {}, emit);
    ASSERT_EQ(forwarded.covered, covered);
    for (const Dim3 block : blocks)
      EXPECT_EQ(forwarded.difference(block), "")
          << block.x << "x" << block.y << "x" << block.z << '\n'
          << forwarded.text;
  }
}

TEST(ForwardRun, TheOwnElement) {
  const std::string text = own(R"(
    st.shared.u32 [%r21], %r10;
    mov.u32 %r10, 3;
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];
    add.u32 %r11, %r11, %r10;)");
  expect_same(text, 1, {{1}, {31}, {64}, {256}});
  const Forwarded known(text, {64, 1, 1});
  EXPECT_THAT(known.text, Not(HasSubstr("ld.shared")));
  EXPECT_THAT(known.text, HasSubstr("bar.sync"));
  EXPECT_EQ(known.difference({64}), "");
  test::expect_that_ptxas_takes(Forwarded(text).text, "forward_own");
}

// In a block of two rows the threads of both store to one word, and read whichever stays: the
// question for the size keeps them from taking their own.
TEST(ForwardRun, BlocksForWhichItDoesNotHold) {
  const std::string text = own(R"(
    mov.u32 %r32, %tid.z;
    mov.u32 %r33, %ntid.y;
    mad.lo.u32 %r4, %r32, %r33, %r4;
    mad.lo.u32 %r10, %r4, 1000, %r10;
    st.shared.u32 [%r21], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];
    mov.u32 %r30, %ntid.x;
    mad.lo.u32 %r31, %r4, %r30, %r3;
    mul.wide.u32 %rd6, %r31, 4;
    add.s64 %rd5, %rd2, %rd6;)");
  const Forwarded forwarded(text);
  ASSERT_EQ(forwarded.covered, 1U);
  for (const Dim3 block : {Dim3{32, 2}, Dim3{16, 4}, Dim3{32, 1, 2}}) {
    const simt::TrapCase launch{.name = "k",
                                .text = text,
                                .grid = {1},
                                .block = block,
                                .arguments = {"in", "out", "5", "7"}};
    EXPECT_EQ(simt::compare(launch, forwarded.text, simt::trap_schedules()), "");
    const std::string unasked =
        test::replaced(forwarded.text, "@!%ptxasw_pred_1 ld.shared.u32 %r11, [%r21];", "");
    EXPECT_NE(simt::compare(launch, unasked, simt::trap_schedules()), "");
  }
}

TEST(ForwardRun, ATileWithARim) {
  expect_same(tile_with_rim(), 1, {{32, 8}, {16, 4}, {32, 3}, {8, 8}});
  const Forwarded known(tile_with_rim(), {32, 8, 1});
  EXPECT_EQ(known.covered, 1U);
  EXPECT_EQ(known.difference({32, 8}), "");
  test::expect_that_ptxas_takes(known.text, "forward_tile");
}

TEST(ForwardRun, GuardsLoopsAndVectors) {
  expect_same(own(R"(
    setp.lt.u32 %p1, %r3, 20;
    setp.lt.u32 %p2, %r3, 10;
    mov.u32 %r11, 77;
    @%p1 st.shared.u32 [%r21], %r10;
    bar.sync 0;
    @%p2 ld.shared.u32 %r11, [%r21];)"),
              1, {{64}, {16}});
  expect_same(own(R"(
    mov.u32 %r15, %r3;
    mov.u32 %r11, 0;
L:  st.shared.u32 [%r21], %r15;
    ld.shared.u32 %r12, [%r21];
    add.u32 %r11, %r11, %r12;
    add.u32 %r15, %r15, %r1;
    setp.lt.u32 %p1, %r15, 40;
    @%p1 bra L;)"),
              1, {{64}, {33}});
  expect_same(own(R"(
    shl.b32 %r25, %r3, 3;
    add.u32 %r26, %r20, %r25;
    st.shared.v2.u32 [%r26], {%r10, %r3};
    bar.sync 0;
    ld.shared.v2.u32 {%r3, %r10}, [%r26];
    sub.u32 %r11, %r3, %r10;)"),
              1, {{64}});
}

TEST(ForwardRun, StoredAheadOfALoop) {
  expect_same(own(R"(
    st.shared.u32 [%r21], %r10;
    mov.u32 %r11, 0;
    mov.u32 %r15, 0;
L:  bar.sync 0;
    ld.shared.u32 %r12, [%r21];
    mad.lo.u32 %r11, %r11, 3, %r12;
    add.u32 %r10, %r10, %r11;
    mul.lo.u32 %r12, %r12, %r12;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p1, %r15, %r1;
    @%p1 bra L;
    add.u32 %r11, %r11, %r10;)"),
              1, {{64}, {33}});
}

TEST(ForwardRun, TheAddressIsWhatIsLoaded) {
  expect_same(own(R"(
    st.shared.u32 [%r21], %r10;
    bar.sync 0;
    ld.shared.u32 %r21, [%r21];
    mov.u32 %r11, %r21;)"),
              1, {{64}});
}

TEST(ForwardRun, ARegisterOfAScope) {
  expect_same(own(R"(
    { .reg .b32 %mine; mul.lo.u32 %mine, %r10, 3; st.shared.u32 [%r21], %mine; }
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];)"),
              1, {{64}});
}

} // namespace
} // namespace ptxasw
