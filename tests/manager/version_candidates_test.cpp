// What contracts say that entries gain.
#include "manager/version_candidates.hpp"

#include "emulator/kernel_text.hpp"
#include "target/numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ptxasw::manager {
namespace {

passes::CoarsenChoices two_copies(bool in_order) {
  passes::CoarsenChoices choices;
  choices.original.work = {.wavefronts = 20, .loads = 2, .instructions = 20};
  choices.original.memory_bytes = 256;
  choices.original.usage = Usage{
      .registers = 12, .path = StraightPath{.instructions = 22, .stores = 1, .latency = 1200}};
  choices.in_order = in_order;
  choices.candidates = {
      {.how = {.factors = {2, 1, 1}},
       .work = {.wavefronts = 20, .loads = 2, .instructions = 17},
       .usage = Usage{.registers = 16,
                      .path = StraightPath{.instructions = 36, .stores = 2, .latency = 1300}}}};
  return choices;
}

// As volatile_sum does, which gained 0.81 to 0.89 of what the model says.
TEST(VariantWays, LoadsThatKeepTheirOrderGainLess) {
  const target::Profile& profile = *target::find_profile("sm_90");
  const std::vector<VersionCandidate> free = best_candidates(profile, two_copies(false)),
                                      ordered = best_candidates(profile, two_copies(true));
  ASSERT_EQ(free.size(), 1U);
  ASSERT_EQ(ordered.size(), 1U);
  for (std::size_t n = 0; n < free[0].gains.size(); ++n)
    for (std::size_t k = 0; k < contract::waves.size(); ++k)
      EXPECT_NEAR(ordered[0].gains[n].by_waves[k], 0.87 * free[0].gains[n].by_waves[k], 1e-9);
}

// A standard form that merges blocks is told by the launch; another one gains wherever it is.
TEST(VariantWays, WhatTheStandardFormGains) {
  const target::Profile& profile = *target::find_profile("sm_90");
  const auto at = [&](std::optional<std::uint64_t> merged_from, double waves) {
    const contract::Variant variant{
        .gains = gains_of_standard({.kernel = "k", .merged_from = merged_from}, profile)};
    return contract::gain_of(variant, 256, waves);
  };
  EXPECT_GT(at(std::nullopt, 0.1), numbers::launch::worth_it);
  EXPECT_EQ(at(std::nullopt, 0.1), at(std::nullopt, 64));
  EXPECT_LT(at(500'000, 0.25), 1) << "it asks for its size";
  EXPECT_EQ(at(500'000, 64), 1);
}

TEST(VariantWays, WhichLoadsKeepTheirOrder) {
  const auto in_order = [](const std::string& load) {
    test::Emulated k(test::kernel_text(load + " %f1, [%rd1]; st.global.f32 [%rd2], %f1; ret;"));
    sym::Solver solver(*k.kernel.context);
    return passes::coarsen_choices(k.kernel, solver, *target::find_profile("sm_90"),
                                   CoarsenGrid::launcher)
        .in_order;
  };
  EXPECT_TRUE(in_order("ld.volatile.global.f32"));
  EXPECT_TRUE(in_order("ld.relaxed.gpu.global.f32"));
  EXPECT_FALSE(in_order("ld.global.f32"));
  EXPECT_FALSE(in_order("ld.global.nc.f32"));
}

passes::CoarsenChoices choices_of(const std::string& body,
                                  CoarsenGrid grid = CoarsenGrid::launcher) {
  test::Emulated k(test::kernel_text(body));
  EXPECT_EQ(k.kernel.trace.refused.text, "");
  sym::Solver solver(*k.kernel.context);
  return passes::coarsen_choices(k.kernel, solver, *target::find_profile("sm_90"), grid);
}

// Of columns the load is named, and the L1 cache only where it is asked.
TEST(VariantWays, WhyColumnsAreNotMerged) {
  const Why global = choices_of(R"(
    mul.lo.u32 %r5, %r3, %r1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd2], %f1;
    ret;)")
                         .why;
  EXPECT_EQ(global.reason, Reason::vertical_access);
  EXPECT_NE(global.text.find("the load at PTX line "), std::string::npos) << global.text;
  EXPECT_NE(global.text.find("L1 cache"), std::string::npos) << global.text;
  const Why shared = choices_of(R"(
    .shared .align 4 .b8 tile[4224];
    mul.lo.u32 %r5, %r3, 132;
    mov.u32 %r6, tile;
    add.u32 %r7, %r6, %r5;
    ld.shared.f32 %f1, [%r7];
    st.global.f32 [%rd2], %f1;
    ret;)")
                         .why;
  EXPECT_EQ(shared.reason, Reason::vertical_access);
  EXPECT_NE(shared.text.find("in shared memory"), std::string::npos) << shared.text;
  EXPECT_EQ(shared.text.find("L1 cache"), std::string::npos) << shared.text;
}

// Lanes lie a parameter apart. Along y two and four copies share one of two loads, along x none.
TEST(VariantWays, ColumnsThatCopiesShareAreMeasured) {
  const std::string body = R"(
    mov.u32 %r4, %ctaid.y;
    mov.u32 %r9, %ctaid.x;
    mad.lo.u32 %r8, %r9, 64, %r3;
    mul.lo.u32 %r5, %r8, %r2;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    mad.lo.u32 %r6, %r4, %r1, %r8;
    mul.wide.u32 %rd5, %r6, 4;
    add.s64 %rd6, %rd2, %rd5;
    ld.global.nc.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd6];
    fma.rn.f32 %f2, %f1, %f1, %f2;
    st.global.f32 [%rd6], %f2;
    ret;)";
  const passes::CoarsenChoices choices = choices_of(body);
  ASSERT_FALSE(choices.candidates.empty()) << choices.why.text;
  for (const CoarsenCandidate& candidate : choices.candidates) {
    EXPECT_EQ(candidate.how.factors[0], 1U);
    EXPECT_LE(candidate.how.copies(), 4U);
  }
  EXPECT_EQ(choices_of(body, CoarsenGrid::kernel).why.reason, Reason::vertical_access);
}

// A row for each y, whose length is `bound`: the sum of what `load` gives, times what is the same
// in all rows.
std::string row_of_length(const std::string& bound, const std::string& load) {
  return "mov.u32 %r4, %ctaid.y;\nmov.u32 %r7, %ctaid.x;\n" + bound + R"(
    mov.u32 %r6, 0;
    mov.f32 %f1, 0f00000000;
    again:
    mad.lo.u32 %r8, %r6, %r1, %r3;
    mul.wide.u32 %rd3, %r8, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.nc.f32 %f2, [%rd4];
    mad.lo.u32 %r9, %r4, %r2, %r6;
    mul.wide.u32 %rd5, %r9, 4;
    add.s64 %rd6, %rd1, %rd5;)" +
         load + R"(
    fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, %r5;
    @%p1 bra again;
    mad.lo.u32 %r10, %r4, %r1, %r3;
    mul.wide.u32 %rd7, %r10, 4;
    add.s64 %rd8, %rd2, %rd7;
    st.global.f32 [%rd8], %f1;
    ret;)";
}

// Blocks that make different numbers of iterations are not worth merging, whatever they share.
TEST(VariantWays, BlocksOfUnevenWorkAreLeftAlone) {
  const std::string load = "\nld.global.nc.f32 %f3, [%rd6];";
  EXPECT_FALSE(choices_of(row_of_length("mov.u32 %r5, %r2;", load)).candidates.empty());
  for (const std::string bound : {"ld.global.nc.u32 %r5, [%rd1];", // of all, but loaded
                                  "mul.wide.u32 %rd10, %r4, 4;\nadd.s64 %rd11, %rd1, "
                                  "%rd10;\nld.global.nc.u32 %r5, [%rd11];"}) {
    const passes::CoarsenChoices choices = choices_of(row_of_length(bound, load));
    EXPECT_TRUE(choices.candidates.empty()) << bound;
    EXPECT_EQ(choices.why.reason, Reason::uneven_work) << bound;
  }
  const auto along_y = [](const CoarsenCandidate& way) { return way.how.factors[1] > 1; };
  const passes::CoarsenChoices triangle = choices_of(row_of_length("add.u32 %r5, %r4, 1;", load));
  EXPECT_TRUE(std::ranges::none_of(triangle.candidates, along_y)) << "as many as the row's number";
}

// What a warp moves in a loop that walks through memory counts as often as it makes a trip; loads
// that are whole trips or less than a line apart meet the same bytes.
TEST(VariantWays, StreamsCountTripByTrip) {
  const auto bytes = [](const std::string& loads) {
    return choices_of(R"(
      mov.u32 %r4, %ctaid.x;
      mov.u32 %r5, %ntid.x;
      mad.lo.u32 %r6, %r4, %r5, %r3;
      mul.wide.u32 %rd3, %r6, 4;
      add.s64 %rd4, %rd1, %rd3;
      mul.wide.u32 %rd5, %r1, 4;
      mov.u32 %r7, 0;
      mov.u32 %r8, 0;
      again:
      add.s64 %rd6, %rd4, %rd5;
      )" + loads + R"(
      add.s64 %rd4, %rd6, %rd5;
      add.u32 %r7, %r7, 1;
      setp.lt.u32 %p1, %r7, 16;
      @%p1 bra again;
      add.s64 %rd7, %rd2, %rd3;
      st.global.u32 [%rd7], %r8;
      ret;)")
        .original.memory_bytes;
  };
  const std::string one = "ld.global.nc.u32 %r9, [%rd4];\nadd.u32 %r8, %r8, %r9;\n";
  const std::string next = "ld.global.nc.u32 %r9, [%rd4+4];\nadd.u32 %r8, %r8, %r9;\n";
  const std::string other = "ld.global.nc.u32 %r10, [%rd6];\nadd.u32 %r8, %r8, %r10;\n";
  EXPECT_EQ(bytes(one), 128 + 16 * 128);
  EXPECT_EQ(bytes(one + next), 128 + 16 * 128);
  EXPECT_EQ(bytes(one + other), 128 + 2 * 16 * 128) << "half a trip apart";
}

// Where blocks meet and walk through memory, what is saved has to come from there: packed weights,
// which are each block's own, and a table in shared memory that all have are not worth merging.
TEST(VariantWays, ATableInSharedMemoryIsNoReasonToMergeStreams) {
  const auto along_y = [](const std::string& row) {
    const passes::CoarsenChoices choices = choices_of(".shared .align 4 .b8 table[1024];\n" +
                                                      std::string(R"(
      shl.b32 %r20, %r3, 2;
      mov.u32 %r21, table;
      add.u32 %r22, %r21, %r20;
      st.shared.u32 [%r22], %r3;
      bar.sync 0;
      mov.u32 %r4, %ctaid.x;
      mov.u32 %r5, %ctaid.y;)") + row + R"(
      mov.u32 %r7, 0;
      mov.u32 %r8, 0;
      again:
      mad.lo.u32 %r9, %r6, 16, %r7;
      mad.lo.u32 %r9, %r9, 256, %r3;
      mul.wide.u32 %rd3, %r9, 4;
      add.s64 %rd4, %rd1, %rd3;
      ld.global.nc.u32 %r10, [%rd4];
      shl.b32 %r11, %r7, 2;
      add.u32 %r12, %r21, %r11;
      ld.shared.u32 %r13, [%r12];
      mad.lo.u32 %r8, %r10, %r13, %r8;
      add.u32 %r7, %r7, 1;
      setp.lt.u32 %p1, %r7, 16;
      @%p1 bra again;
      mad.lo.u32 %r14, %r5, %r1, %r4;
      mad.lo.u32 %r14, %r14, 256, %r3;
      mul.wide.u32 %rd5, %r14, 4;
      add.s64 %rd6, %rd2, %rd5;
      st.global.u32 [%rd6], %r8;
      ret;)");
    return std::ranges::count_if(
        choices.candidates, [](const CoarsenCandidate& way) { return way.how.factors[1] > 1; });
  };
  EXPECT_EQ(along_y("mad.lo.u32 %r6, %r5, %r2, %r4;"), 0);
  EXPECT_GT(along_y("mov.u32 %r6, %r4;"), 0) << "the same weights for all y";
}

} // namespace
} // namespace ptxasw::manager
