// The conditions of the axis along a loop, one small loop each: what is carried, from where, with
// which checks; and for everything that must be refused, the reason.
#include "passes/loop_carry/find.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ptxasw {
namespace {

using ::testing::HasSubstr;

struct Rotated {
  test::Emulated emulated;
  passes::LoopCarryPlan plan;

  explicit Rotated(const std::string& text, const passes::JustificationOptions& options = {})
      : emulated(text) {
    sym::Solver solver(*emulated.kernel.context, {.paranoid = options.paranoid});
    plan = passes::find_carried_loops(emulated.kernel, solver, options);
  }
  // Of the loads of the kernel, in program order, parameters aside.
  [[nodiscard]] std::size_t event(std::size_t load) const {
    const auto& events = emulated.kernel.trace.events;
    for (std::size_t e = 0; e < events.size(); ++e)
      if (events[e].kind == emulator::EventKind::load && load-- == 0) return e;
    ADD_FAILURE() << "no such load";
    return 0;
  }
  [[nodiscard]] const passes::Carried* carried(std::size_t load) const {
    for (const passes::CarriedLoop& loop : plan.loops)
      for (const passes::Carried& carried : loop.loads)
        if (carried.event == event(load)) return &carried;
    return nullptr;
  }
  [[nodiscard]] std::string kept(std::size_t load) const {
    const auto found = plan.kept.find(event(load));
    return found == plan.kept.end() ? "" : found->second.text;
  }
};

// n trips (at least one) of `body`; %rd4 = in + 4*tid.x moves by 256 bytes a trip, so does
// %rd5 = out + 4*tid.x, and the index %r6 = tid.x by %r2 = m elements.
Rotated in_loop(const std::string& body, const passes::JustificationOptions& options = {},
                const std::string& before = "") {
  return Rotated(test::kernel_text(before + R"(
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r5, 0;
    mov.u32 %r6, %r3;
    LOOP: )" + body + R"(
    add.s64 %rd4, %rd4, 256;
    add.s64 %rd5, %rd5, 256;
    add.s32 %r6, %r6, %r2;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, %r1;
    @%p1 bra LOOP;
    ret;)"),
                 options);
}

TEST(Rotation, EachFromTheOneAhead) {
  const Rotated r = in_loop(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+256];
    ld.global.f32 %f3, [%rd4+512];)");
  ASSERT_NE(r.carried(0), nullptr) << r.kept(0);
  ASSERT_NE(r.carried(1), nullptr) << r.kept(1);
  EXPECT_EQ(r.carried(0)->source, r.event(1));
  EXPECT_EQ(r.carried(1)->source, r.event(2));
  EXPECT_EQ(r.kept(2), "no load of the iteration before has read it");
  EXPECT_TRUE(r.carried(0)->checks.empty());
  EXPECT_TRUE(r.carried(0)->slice.empty());
  EXPECT_FALSE(r.carried(0)->needs_copy);
  EXPECT_EQ(r.carried(0)->proof, sym::ProofKind::normal_form);
}

TEST(Rotation, WhatStaysWhereItIs) {
  const Rotated r = in_loop("ld.global.f32 %f1, [%rd1];");
  ASSERT_NE(r.carried(0), nullptr) << r.kept(0);
  EXPECT_EQ(r.carried(0)->source, r.event(0));
}

TEST(Rotation, BackwardsAndOneTripOnly) {
  const Rotated r = in_loop(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+-256];
    ld.global.f32 %f3, [%rd4+1024];)");
  EXPECT_EQ(r.carried(0), nullptr);
  ASSERT_NE(r.carried(1), nullptr);
  EXPECT_EQ(r.carried(1)->source, r.event(0));
  EXPECT_EQ(r.carried(2), nullptr);
}

TEST(Rotation, PartsOfElementsAreNotCarried) {
  const Rotated r = in_loop(R"(
    ld.global.u16 %r11, [%rd4];
    ld.global.u32 %r10, [%rd4+256];
    ld.global.s16 %r12, [%rd4+512];
    ld.global.u16 %r13, [%rd4+768];)");
  EXPECT_THAT(r.kept(0), HasSubstr("another width"));
  EXPECT_THAT(r.kept(1), HasSubstr("another width"));
  EXPECT_THAT(r.kept(2), HasSubstr("another width"));
}

TEST(Rotation, LoadsOfSomeBytesTakeNoPart) {
  const std::string mask = ".pragma \"used_bytes_mask 0x3\";\n",
                    first = "ld.global.u32 %r10, [%rd4];\n",
                    second = "ld.global.u32 %r11, [%rd4+256];\n";
  EXPECT_NE(in_loop(first + second).carried(0), nullptr);
  EXPECT_THAT(in_loop(mask + first + second).kept(0), HasSubstr("used_bytes_mask"));
  EXPECT_EQ(in_loop(first + mask + second).carried(0), nullptr);
}

TEST(Rotation, IndicesThatMayWrapAreChecked) {
  const std::string body = R"(
    mul.wide.s32 %rd10, %r6, 4;
    add.s64 %rd11, %rd1, %rd10;
    mul.wide.s32 %rd12, %r2, 4;
    add.s64 %rd13, %rd11, %rd12;
    ld.global.f32 %f1, [%rd11];
    ld.global.f32 %f2, [%rd13];)";
  const Rotated r = in_loop(body);
  ASSERT_NE(r.carried(0), nullptr) << r.kept(0);
  ASSERT_EQ(r.carried(0)->checks.size(), 1U);
  EXPECT_EQ(r.carried(0)->checks[0].fact.units.lowest, -1);
  EXPECT_EQ(r.carried(0)->slice.size(), 2U);
  const Rotated promised = in_loop(body, {.no_index_wrap = true});
  ASSERT_NE(promised.carried(0), nullptr);
  EXPECT_TRUE(promised.carried(0)->checks.empty());
  EXPECT_EQ(promised.carried(0)->promised.size(), 1U);
}

TEST(Rotation, Z3RepeatsTheProofs) {
  const Rotated r = in_loop(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+256];)",
                            {.paranoid = true});
  ASSERT_NE(r.carried(0), nullptr) << r.kept(0);
}

TEST(Rotation, StoresThatMayMeet) {
  const auto with = [](const std::string& store) {
    return in_loop("ld.global.f32 %f1, [%rd4];\n" + store + "\nld.global.f32 %f2, [%rd4+256];")
        .kept(0);
  };
  // Ahead of the source and behind the load: neither trip's values are older than the store.
  EXPECT_EQ(with("st.global.f32 [%rd5], %f1;"), "");
  const auto ahead = in_loop("st.global.f32 [%rd5], %f1;\nld.global.f32 %f1, [%rd4];\n"
                             "ld.global.f32 %f2, [%rd4+256];");
  EXPECT_THAT(ahead.kept(0), HasSubstr("may write it"));
  const auto behind = in_loop("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+256];\n"
                              "st.global.f32 [%rd5], %f1;");
  EXPECT_THAT(behind.kept(0), HasSubstr("may write it"));
  // What cannot be changed, and what lies apart.
  const auto read_only = in_loop("ld.global.nc.f32 %f1, [%rd4];\nld.global.nc.f32 %f2, "
                                 "[%rd4+256];\nst.global.f32 [%rd5], %f1;");
  EXPECT_NE(read_only.carried(0), nullptr) << read_only.kept(0);
  const auto apart = in_loop("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+256];\n"
                             "st.global.f32 [%rd4+-1024], %f1;");
  EXPECT_NE(apart.carried(0), nullptr) << apart.kept(0);
  const auto meets = in_loop("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+256];\n"
                             "st.global.f32 [%rd4+256], %f1;");
  EXPECT_THAT(meets.kept(0), HasSubstr("may write it"));
  const auto now = in_loop("st.global.f32 [%rd4], %f1;\nld.global.f32 %f1, [%rd4];\n"
                           "ld.global.f32 %f2, [%rd4+256];");
  EXPECT_THAT(now.kept(0), HasSubstr("may write it"));
}

// Nobody asks what a generic address is.
TEST(Rotation, GenericAddressesMayBeOfAnyMemory) {
  const auto with = [](const std::string& store) {
    return in_loop("ld.f32 %f1, [%rd4];\nld.f32 %f2, [%rd4+256];\n" + store);
  };
  const Rotated alone = with("");
  EXPECT_NE(alone.carried(0), nullptr) << alone.kept(0);
  EXPECT_THAT(with("st.shared.f32 [%r6], %f1;").kept(0), HasSubstr("may write it"));
  EXPECT_THAT(with("st.local.f32 [%r6], %f1;").kept(0), HasSubstr("may write it"));
  EXPECT_THAT(with("st.f32 [%rd5], %f1;").kept(0), HasSubstr("may write it"));
  const Rotated of_global = in_loop("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+256];\n"
                                    "st.shared.f32 [%r6], %f1;");
  EXPECT_NE(of_global.carried(0), nullptr) << of_global.kept(0);
}

TEST(Rotation, ReadOnlySourcesOfPlainLoads) {
  const Rotated r = in_loop("ld.global.f32 %f1, [%rd4];\nld.global.nc.f32 %f2, [%rd4+256];");
  EXPECT_THAT(r.kept(0), HasSubstr(".nc"));
}

TEST(Rotation, WhoWaitsForOthers) {
  for (const char* what : {"bar.sync 0;", "membar.gl;", "atom.global.add.u32 %r20, [%rd2], 1;"}) {
    const Rotated behind = in_loop(std::string("ld.global.nc.f32 %f1, [%rd4];\n"
                                               "ld.global.nc.f32 %f2, [%rd4+256];\n") +
                                   what);
    EXPECT_THAT(behind.kept(0), HasSubstr("orders memory")) << what;
    const Rotated ahead = in_loop(std::string(what) + "\nld.global.nc.f32 %f1, [%rd4];\n"
                                                      "ld.global.nc.f32 %f2, [%rd4+256];\n");
    EXPECT_THAT(ahead.kept(0), HasSubstr("orders memory")) << what;
  }
}

TEST(Rotation, LoadsThatEveryTripMustDo) {
  EXPECT_THAT(in_loop("ld.volatile.global.f32 %f1, [%rd4];\nld.volatile.global.f32 %f2, "
                      "[%rd4+256];")
                  .kept(0),
              HasSubstr("volatile"));
  EXPECT_THAT(in_loop("ld.global.cv.f32 %f1, [%rd4];\nld.global.cv.f32 %f2, [%rd4+256];").kept(0),
              HasSubstr("cache operator"));
  EXPECT_THAT(in_loop("ld.local.f32 %f1, [%rd4];\nld.local.f32 %f2, [%rd4+256];").kept(0),
              HasSubstr("local memory"));
  EXPECT_THAT(in_loop("ld.global.u8 %rs1, [%rd4];\nld.global.u8 %rs2, [%rd4+256];").kept(0), "");
}

TEST(Rotation, PredicatedLoadsNeitherTakeNorGive) {
  const char* before = "setp.lt.u32 %p2, %r3, 7;\n";
  const Rotated taker =
      in_loop("@%p2 ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+256];", {}, before);
  EXPECT_THAT(taker.kept(0), HasSubstr("predicated"));
  const Rotated giver =
      in_loop("ld.global.f32 %f1, [%rd4];\n@%p2 ld.global.f32 %f2, [%rd4+256];", {}, before);
  EXPECT_EQ(giver.carried(0), nullptr);
}

TEST(Rotation, LoopsOfSeveralBlocks) {
  const Rotated r = in_loop("ld.global.f32 %f1, [%rd4];\nsetp.lt.u32 %p2, %r3, 7;\n@%p2 bra SKIP;\n"
                            "ld.global.f32 %f2, [%rd4+256];\nSKIP:");
  EXPECT_THAT(r.kept(0), HasSubstr("branches inside"));
}

TEST(Rotation, AddressesThatTheLoopFinds) {
  // Whatever is loaded tells where to go on.
  const Rotated chase = in_loop("ld.global.u64 %rd6, [%rd6];", {}, "mov.u64 %rd6, %rd1;");
  EXPECT_EQ(chase.carried(0), nullptr);
  const Rotated indirect = in_loop(R"(
    ld.global.u32 %r20, [%rd5];
    mul.wide.u32 %rd7, %r20, 4;
    add.s64 %rd8, %rd1, %rd7;
    ld.global.f32 %f1, [%rd8];)");
  EXPECT_THAT(indirect.kept(1), HasSubstr("changes freely"));
  // By way of memory that cannot change: known, and not to be computed ahead of the loop.
  const Rotated table = in_loop(R"(
    ld.global.nc.u32 %r20, [%rd1];
    mul.wide.u32 %rd7, %r20, 4;
    add.s64 %rd8, %rd1, %rd7;
    ld.global.f32 %f1, [%rd8];)");
  EXPECT_THAT(table.kept(1), HasSubstr("ahead of the loop"));
}

TEST(Rotation, SlicesArePlain) {
  const auto with = [](const std::string& move) {
    return in_loop("setp.lt.u32 %p2, %r3, 99;\nmov.u64 %rd6, %rd4;\n" + move +
                   "\nld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd6+256];");
  };
  EXPECT_NE(with("add.s64 %rd6, %rd6, 4;").carried(0), nullptr);
  EXPECT_EQ(with("@%p2 add.s64 %rd6, %rd6, 0;").carried(0), nullptr);
}

TEST(Rotation, SourcesThatAreOverwritten) {
  const Rotated r = in_loop(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+256];
    mov.f32 %f2, 0f00000000;)");
  ASSERT_NE(r.carried(0), nullptr) << r.kept(0);
  EXPECT_TRUE(r.carried(0)->needs_copy);
}

} // namespace
} // namespace ptxasw
