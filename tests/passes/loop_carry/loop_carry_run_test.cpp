// RunRotated loops on the interpreter: trips, widths, indices at their wrap, registers that are
// used again, each compared with the original under every schedule.
#include "passes/loop_carry/emit.hpp"

#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"
#include "passes/shuffle/shuffled.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using simt::Dim3;
using ::testing::HasSubstr;
using ::testing::Not;

struct RunRotated {
  unsigned carried = 0;
  std::string original, text;

  explicit RunRotated(std::string source, unsigned iterations = 1) : original(std::move(source)) {
    test::Emulated emulated(original);
    sym::Solver solver(*emulated.kernel.context, {});
    passes::LoopCarryPlan plan = passes::find_carried_loops(emulated.kernel, solver, {});
    for (passes::CarriedLoop& loop : plan.loops)
      if (!loop.again.empty()) loop.iterations = iterations;
    const auto edits = passes::rotate(emulated.kernel, plan);
    for (const passes::CarriedLoop& loop : plan.loops)
      carried += static_cast<unsigned>(loop.loads.size());
    text = test::applied(emulated.kernel, edits);
  }
  [[nodiscard]] std::string difference(Dim3 block, std::uint32_t n, std::uint32_t m) const {
    const simt::TrapCase launch{.name = "k",
                                .text = original,
                                .grid = {1},
                                .block = block,
                                .arguments = {"in", "out", std::to_string(n), std::to_string(m)}};
    return simt::compare(launch, text, simt::trap_schedules());
  }
};

// n trips of `body`, which leaves what it has read in %r20; %rd6 = in + 4*tid.x moves by 32 bytes a
// trip, the index %r6 by m elements.
std::string looping(const std::string& body, const std::string& before = "") {
  return test::kernel(before + R"(
    mov.u32 %r20, 1;
    mov.u32 %r5, 0;
    mov.u32 %r6, %r3;
    mov.u64 %rd6, %rd4;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    LOOP: )" + body + R"(
    add.s64 %rd6, %rd6, 32;
    add.s32 %r6, %r6, %r2;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r1;
    @%p1 bra LOOP;
    DONE:
    st.global.u32 [%rd50], %r20;)");
}

std::string take(const std::string& reg) {
  return fmt::format("mad.lo.u32 %r20, %r20, 31, {};\n", reg);
}

void expect_same(const std::string& text, unsigned carried) {
  const RunRotated rotated(text);
  EXPECT_EQ(rotated.carried, carried);
  for (const std::uint32_t iterations : {0U, 1U, 2U, 7U})
    for (const Dim3 block : {Dim3{1}, Dim3{40}, Dim3{16, 4}})
      EXPECT_EQ(rotated.difference(block, iterations, 9), "") << iterations << " trips\n"
                                                              << rotated.text;
}

TEST(RotateRun, AWindowThatMoves) {
  const std::string text = looping(R"(
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd6+32];
    ld.global.u32 %r12, [%rd6+64];
    ld.global.u32 %r13, [%rd6+-32];
    )" + take("%r10") + take("%r11") +
                                   take("%r12") + take("%r13"));
  expect_same(text, 3);
  const RunRotated rotated(text);
  EXPECT_THAT(rotated.text, HasSubstr("bra $ptxasw_rotated_0;"));
  EXPECT_THAT(rotated.text, Not(HasSubstr("bra LOOP;")));
  test::expect_that_ptxas_takes(rotated.text, "rotated");
}

constexpr const char* by_index = R"(
    mul.wide.s32 %rd10, %r6, 4;
    add.s64 %rd11, %rd1, %rd10;
    mul.wide.s32 %rd12, %r2, 4;
    add.s64 %rd13, %rd11, %rd12;
    ld.global.u32 %r10, [%rd11];
    ld.global.u32 %r11, [%rd13];
)";

const std::string window = R"(
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd6+32];
    ld.global.u32 %r12, [%rd6+64];
    )" + take("%r10") + take("%r11") +
                           take("%r12");

TEST(RotateRun, TripsOneAfterAnother) {
  for (const unsigned at_a_time : {2U, 3U, 4U}) {
    const RunRotated rotated(looping(window), at_a_time);
    EXPECT_THAT(rotated.text, HasSubstr("ptxasw_rotated_0_last:"));
    for (const std::uint32_t iterations : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 9U})
      EXPECT_EQ(rotated.difference({40}, iterations, 9), "") << iterations << " trips\n"
                                                             << rotated.text;
    if (at_a_time == 2) test::expect_that_ptxas_takes(rotated.text, "rotated_trips");
  }
  // Lanes that leave the loop at different trips, a negated predicate, several registers that say
  // when.
  std::string lanes = looping(window);
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"setp.lt.u32 %p1, %r5, %r1;", "setp.ge.u32 %p1, %r7, %r3;"},
           {"add.u32 %r5, %r5, 1;", "add.u32 %r7, %r7, %r5;\nadd.u32 %r5, %r5, 1;"},
           {"@%p1 bra LOOP;", "@!%p1 bra LOOP;"},
           {"mov.u32 %r5, 0;", "mov.u32 %r5, 0;\nmov.u32 %r7, 0;"}})
    lanes.replace(lanes.find(what), what.size(), by);
  const RunRotated rotated(lanes, 3);
  EXPECT_THAT(rotated.text, HasSubstr("ptxasw_rotated_0_last:"));
  EXPECT_EQ(rotated.difference({64}, 3, 9), "") << rotated.text;
}

// Whether another trip follows hangs on what is loaded, or on an index that is checked; or lanes
// meet in the trip.
TEST(RotateRun, TripsThatAreNotKnownAhead) {
  std::string loaded = looping(window);
  loaded.replace(loaded.find("%p1, %r5, %r1;"), 14, "%p1, %r5, %r1;\nadd.u32 %r1, %r1, %r9;");
  loaded.replace(loaded.find("ld.global.u32 %r10"), 0, "ld.global.u32 %r9, [%rd1];\n");
  EXPECT_THAT(RunRotated(loaded, 2).text, Not(HasSubstr("_last")));
  EXPECT_THAT(RunRotated(looping(by_index + take("%r10")), 2).text, Not(HasSubstr("_last")));
  EXPECT_THAT(RunRotated(looping(window + "activemask.b32 %r18;\n"), 2).text,
              Not(HasSubstr("_last")));
  EXPECT_THAT(RunRotated(looping(window + "@%p1 add.u32 %r5, %r5, 1;\n"), 2).text,
              Not(HasSubstr("_last")));
}

TEST(RotateRun, WhatDoesNotMove) {
  expect_same(looping("ld.global.u32 %r10, [%rd4+16];\n" + take("%r10")), 1);
}

// Blocks of eight threads: no two share a word.
TEST(RotateRun, AStoreAheadOfTheSource) {
  const RunRotated rotated(looping(R"(
    ld.global.u32 %r10, [%rd6];
    xor.b32 %r12, %r10, %r20;
    st.global.u32 [%rd6+32], %r12;
    ld.global.u32 %r11, [%rd6+32];
    )" + take("%r10") + take("%r11")));
  EXPECT_EQ(rotated.carried, 1U);
  for (const std::uint32_t iterations : {1U, 2U, 7U})
    EXPECT_EQ(rotated.difference({8}, iterations, 9), "") << rotated.text;
}

TEST(RotateRun, RegistersThatAreUsedAgain) {
  expect_same(looping("ld.global.u32 %r10, [%rd6];\n" + take("%r10") +
                      "ld.global.u32 %r10, [%rd6+32];\n" + take("%r10") +
                      "ld.global.u32 %r10, [%rd6+64];\n" + take("%r10") + "mov.u32 %r10, 5;\n"),
              2);
}

TEST(RotateRun, WidthsAndVectors) {
  expect_same(looping(R"(
    ld.global.v2.u32 {%r10, %r11}, [%rd6];
    ld.global.v2.u32 {%r12, %r13}, [%rd6+32];
    ld.global.u64 %rd10, [%rd7];
    ld.global.u64 %rd11, [%rd7+32];
    ld.global.u8 %rs1, [%rd6+3];
    ld.global.u8 %rs2, [%rd6+35];
    ld.global.s16 %r14, [%rd6+2];
    ld.global.s16 %r15, [%rd6+34];
    add.s64 %rd7, %rd7, 32;
    cvt.u32.u64 %r16, %rd10;
    cvt.u32.u64 %r17, %rd11;
    cvt.u32.u16 %r18, %rs1;
    cvt.u32.u16 %r19, %rs2;
    )" + take("%r10") + take("%r11") +
                          take("%r12") + take("%r13") + take("%r14") + take("%r15") + take("%r16") +
                          take("%r17") + take("%r18") + take("%r19"),
                      "mul.wide.u32 %rd7, %r3, 8;\nadd.s64 %rd7, %rd7, %rd1;\n"
                      "and.b32 %r30, %r3, 1;\nmul.wide.u32 %rd8, %r30, 4;\n"
                      "add.s64 %rd4, %rd4, %rd8;\n"),
              4);
}

// The value takes the place of the address it came from.
TEST(RotateRun, TheAddressIsOverwritten) {
  expect_same(looping(R"(
    mov.u64 %rd9, %rd7;
    ld.global.u64 %rd10, [%rd9+32];
    ld.global.u64 %rd9, [%rd9];
    add.s64 %rd7, %rd7, 32;
    cvt.u32.u64 %r16, %rd10;
    cvt.u32.u64 %r17, %rd9;
    )" + take("%r16") + take("%r17"),
                      "mul.wide.u32 %rd7, %r3, 8;\nadd.s64 %rd7, %rd7, %rd1;\n"),
              1);
}

// What one address takes is used again by another, computed differently.
TEST(RotateRun, SlicesThatShareRegisters) {
  expect_same(looping(R"(
    add.s64 %rd10, %rd6, 8;
    mov.u64 %rd11, %rd10;
    ld.global.u32 %r10, [%rd11];
    add.s64 %rd11, %rd6, 64;
    add.s64 %rd11, %rd11, 16;
    ld.global.u32 %r11, [%rd11];
    ld.global.u32 %r12, [%rd10+32];
    ld.global.u32 %r13, [%rd11+32];
    )" + take("%r10") +
                      take("%r11") + take("%r12") + take("%r13")),
              2);
}

TEST(RotateRun, IndicesInThirtyTwoBits) {
  expect_same(looping(by_index + take("%r10") + take("%r11")), 1);
}

// Backwards, and by steps of which the products wrap in 32 bits.
TEST(RotateRun, IndicesThatGoBack) {
  const RunRotated rotated(looping(by_index + take("%r10") + take("%r11")));
  for (const std::uint32_t m : {1U, 0U, 0xffffffffU, 0xfffffff8U})
    EXPECT_EQ(rotated.difference({40}, 3, m), "") << rotated.text;
  EXPECT_THAT(rotated.text, HasSubstr("bra \t$ptxasw_rotated_0_original;"));
}

// An index that is computed in the trip is checked at the load.
TEST(RotateRun, IndicesOfTheTrip) {
  const std::string text =
      looping("add.s32 %r7, %r6, 1;\n" + std::string(by_index) + take("%r10") + take("%r11"));
  std::string inside = text;
  for (std::size_t at = 0; (at = inside.find("%rd10, %r6", at)) != std::string::npos;)
    inside.replace(at, 10, "%rd10, %r7");
  const RunRotated rotated(inside);
  EXPECT_EQ(rotated.carried, 1U);
  EXPECT_THAT(rotated.text, HasSubstr("@!%ptxasw_pred_"));
  EXPECT_THAT(rotated.text, Not(HasSubstr("_original")));
  for (const std::uint32_t m : {1U, 0U, 0xffffffffU, 0xfffffff8U})
    EXPECT_EQ(rotated.difference({40}, 3, m), "") << rotated.text;
}

TEST(RotateRun, ScopesThatHideNames) {
  const RunRotated rotated(looping(R"(
    { .reg .b32 %t;
    ld.global.u32 %t, [%rd6];
    )" + take("%t") + R"(
    }
    { .reg .b32 %t;
    ld.global.u32 %t, [%rd6+32];
    )" + take("%t") + "}\n"));
  EXPECT_EQ(rotated.carried, 1U);
  EXPECT_EQ(rotated.difference({40}, 5, 1), "") << rotated.text;
}

TEST(RotateRun, AddressesOfAnotherScope) {
  const RunRotated rotated(looping(R"(
    { .reg .b64 %a;
    mov.u64 %a, %rd6;
    ld.global.u32 %r10, [%a];
    ld.global.u32 %r11, [%a+32];
    }
    )" + take("%r10") + take("%r11")));
  EXPECT_EQ(rotated.difference({40}, 5, 1), "") << rotated.text;
}

// Lanes leave the loop at different trips.
TEST(RotateRun, TripsThatVaryByLane) {
  const RunRotated rotated(test::kernel(R"(
    mov.u32 %r20, 1;
    mov.u32 %r5, 0;
    LOOP:
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd4+32];
    mad.lo.u32 %r20, %r20, 31, %r10;
    mad.lo.u32 %r20, %r20, 31, %r11;
    add.s64 %rd4, %rd4, 32;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r3;
    @%p1 bra LOOP;
    st.global.u32 [%rd50], %r20;)"));
  EXPECT_EQ(rotated.carried, 1U);
  EXPECT_EQ(rotated.difference({64}, 1, 1), "") << rotated.text;
}

TEST(RotateRun, ALoopInALoop) {
  const RunRotated rotated(test::kernel(R"(
    mov.u32 %r20, 1;
    mov.u32 %r7, 0;
    OUTER:
    mul.wide.u32 %rd10, %r7, 128;
    add.s64 %rd6, %rd4, %rd10;
    mov.u32 %r5, 0;
    LOOP:
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd6+32];
    mad.lo.u32 %r20, %r20, 31, %r10;
    mad.lo.u32 %r20, %r20, 31, %r11;
    add.s64 %rd6, %rd6, 32;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r1;
    @%p1 bra LOOP;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, 3;
    @%p1 bra OUTER;
    st.global.u32 [%rd50], %r20;)"));
  EXPECT_EQ(rotated.carried, 1U);
  EXPECT_EQ(rotated.difference({64}, 4, 1), "") << rotated.text;
}

} // namespace
} // namespace ptxasw
