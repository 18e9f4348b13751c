// Loops with which threads walk over places: what is taken for one, and what looks like one.
#include "passes/time_tile/any_host.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string smooth() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/gridstride_a.ptx");
}

std::string with(std::string text, std::string_view old, std::string_view other) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  if (at != std::string::npos) text.replace(at, old.size(), other);
  return text;
}

// What is read in front of the loop is of the first place alone; so is what is stored there.
TEST(StepLoops, DoAllWithinTheLoop) {
  const std::string front = "cvta.to.global.u64 \t%rd2, %rd4;",
                    read = "ld.global.f32 \t%f1, [%rd6+-4];";
  std::string hoisted = with(smooth(), read, "");
  hoisted = with(hoisted, front,
                 front + "\nmul.wide.s32 %rd5, %r11, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
                         "ld.global.f32 %f1, [%rd6];");
  std::string stored =
      with(smooth(), "$L__BB0_5:\n", "st.global.f32 [%rd2], 0f00000000;\n$L__BB0_5:\n");
  for (const auto& [text, why] :
       {std::pair{hoisted, "it reads at the first place of a thread alone"},
        {stored, "it stores in front of a loop or behind it"}}) {
    const auto module = test::parsed(text);
    emulator::Kernel kernel = test::emulate(*module, "");
    const passes::StepPlan plan = passes::find_step(kernel);
    EXPECT_EQ(plan.refused.reason, Reason::step_loop) << plan.refused.text;
    EXPECT_NE(plan.refused.text.find(why), std::string::npos) << plan.refused.text;
  }
}

// Whatever blocks a launch has: fewer than places, more, one.
TEST(StepLoops, HaveAllPlacesOfAnyGrid) {
  const Stepped stepped(smooth(), "", {.count = 3, .width = 32, .strips = 1, .rows = 1});
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const unsigned n : {3U, 64U, 100U, 257U}) {
    StepHost host = host_for(stepped, n, 1, {32, 1, 1}, n);
    for (const unsigned blocks : {1U, 2U, 3U, 40U}) {
      host.grid.x = blocks;
      unsigned merged = 0;
      EXPECT_EQ(host.difference(5, &merged), "") << n << " by " << blocks;
      EXPECT_EQ(merged, 1U);
    }
  }
}

TEST(StepLoops, DoNotWrap) {
  const Stepped stepped(smooth(), "", {.count = 3, .width = 32, .strips = 1, .rows = 1});
  StepHost host = host_for(stepped, 100, 1, {32, 1, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  host.arguments[2] = 0x7fffffff - 64;
  host.grid.x = 1;
  EXPECT_EQ(host.fit_error(), "the arrays overlap"); // as they would of so many elements
  for (const auto& [n, blocks] : {std::pair{0x7fffffffU - 64, 3U}, {0x7fffffffU, 1U}}) {
    host.arguments[2] = n;
    host.grid.x = blocks;
    EXPECT_EQ(host.fit_error(), "an index wraps") << n;
  }
  for (const unsigned n : {0U, 0x80000000U, 0xffffffffU, 2U}) {
    host.arguments[2] = n;
    EXPECT_NE(host.fit_error(), "") << n;
  }
}

TEST(StepLoops, NearMissesAreRefused) {
  const std::string begin = "setp.ge.s32 \t%p1, %r11, %r7;", rim = "@%p4 bra \t$L__BB0_4;",
                    stored = "st.global.f32 \t[%rd7], %f6;", next = "add.s32 \t%r11, %r11, %r4;",
                    again = "setp.lt.s32 \t%p5, %r11, %r7;";
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           // other strides
           {with(smooth(), "mul.lo.s32 \t%r4, %r10, %r1;", "mov.u32 %r4, %r1;"), "it has loops"},
           {with(smooth(), next, "add.s32 %r11, %r11, 1;"), "it has loops"},
           {with(smooth(), next, "sub.s32 %r11, %r11, %r4;"), "it has loops"},
           // a loop that is left, or begun, elsewhere
           {with(smooth(), rim, "@%p4 bra $L__BB0_5;"), "it has loops"},
           {with(smooth(), "@%p1 bra \t$L__BB0_5;", ""),
            "a loop has a first iteration in any case"},
           {with(smooth(), begin, "setp.gt.s32 %p1, %r11, %r7;"),
            "a loop does not begin at the first place"},
           {with(smooth(), begin, "setp.ge.s32 %p1, %r9, %r7;"),
            "a loop does not begin at the first place"},
           {with(smooth(), again, "setp.gt.s32 %p5, %r11, %r7;"),
            "how far a loop goes is not known"},
           {with(smooth(), again, "setp.lt.s32 %p5, %r4, %r7;"),
            "how far a loop goes is not known"}}) {
    const auto module = test::parsed(text);
    emulator::Kernel kernel = test::emulate(*module, "");
    const passes::StepPlan plan = passes::find_step(kernel);
    EXPECT_EQ(plan.refused.text, why) << text;
    EXPECT_EQ(plan.refused.reason, Reason::step_loop);
  }
  // what a iteration hands on to the next
  std::string sums = with(smooth(), stored, "add.f32 %f7, %f7, %f6;\nst.global.f32 [%rd7], %f7;");
  sums = with(sums, "%f<7>", "%f<8>");
  sums = with(sums, "mov.u32 \t%r10, %nctaid.x;",
              "mov.u32 %r10, %nctaid.x;\nmov.f32 %f7, 0f00000000;");
  // the place of the next iteration
  std::string ahead = with(smooth(), stored, "cvt.rn.f32.s32 %f6, %r11;\n" + stored);
  ahead = with(ahead, next, "");
  ahead = with(ahead, "mul.wide.s32 \t%rd5, %r11, 4;", "mul.wide.s32 \t%rd5, %r11, 4;\n" + next);
  ahead = with(ahead, rim, "");
  for (const std::string& text : {sums, ahead}) {
    const auto module = test::parsed(text);
    emulator::Kernel kernel = test::emulate(*module, "");
    EXPECT_NE(
        passes::find_step(kernel).refused.text.find("a value goes from iteration to iteration"),
        std::string::npos)
        << passes::find_step(kernel).refused.text;
  }
}

} // namespace
} // namespace ptxasw
