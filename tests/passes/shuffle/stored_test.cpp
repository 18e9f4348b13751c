// The conditions of loads that read what the thread itself has stored, one small kernel each; and
// for everything that must be refused, the reason.
#include "passes/shuffle/stored_found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::also;
using test::Block;
using test::found;
using test::limits;
using test::load_of;
using test::own;
using test::plain;
using test::why_not;
using ::testing::HasSubstr;

TEST(Stored, TheOwnElement) {
  const auto f = found(own(plain));
  const passes::Load& load = load_of(f, 0);
  ASSERT_TRUE(load.cover) << load.kept.text;
  EXPECT_TRUE(load.cover->stored);
  EXPECT_EQ(load.cover->delta, 0);
  EXPECT_FALSE(load.cover->needs_copy);
  EXPECT_EQ(load.cover->at_most, (Block{0, 1, 1})); // other rows would store there as well
  EXPECT_FALSE(load_of(f, 1).cover);
  EXPECT_TRUE(load_of(found(own(plain), {}, ForwardMode::all, true), 0).cover);
}

TEST(Stored, OnlyWhereItIsAskedFor) {
  EXPECT_FALSE(load_of(found(own(plain), {}, ForwardMode::none), 0).cover);
  const auto f = found(own(plain), {}, ForwardMode::automatic);
  EXPECT_EQ(load_of(f, 0).kept.reason, Reason::gains_too_little);
  EXPECT_TRUE(load_of(found(own(plain), {64, 1, 1}, ForwardMode::automatic), 0).cover);
}

TEST(Stored, BlocksOfAKnownSize) {
  EXPECT_EQ(limits(own(plain), {64, 1, 1}), Block{});
  EXPECT_EQ(limits(own(plain), {1024, 1, 1}), Block{});
  EXPECT_THAT(why_not(own(plain), {64, 2, 1}), HasSubstr("another thread may write it"));
  EXPECT_THAT(why_not(own(plain), {64, 1, 2}), HasSubstr("another thread may write it"));
}

// --- The value -----------------------------------------------------------------------------------

TEST(Stored, ARegisterThatIsWrittenAgainIsCopied) {
  const auto f = found(own(R"(
    st.shared.u32 [%r21], %r10;
    add.u32 %r10, %r10, 1;
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];)"));
  ASSERT_TRUE(load_of(f, 0).cover);
  EXPECT_TRUE(load_of(f, 0).cover->needs_copy);
}

TEST(Stored, WidthsAndForms) {
  const auto with = [](const std::string& store, const std::string& load) {
    return why_not(own(fmt::format(R"(
    mov.b32 %f1, %r10;
    cvt.u16.u32 %rs1, %r10;
    cvt.u64.u32 %rd10, %r10;
    shl.b32 %r25, %r3, 4;
    add.u32 %r26, %r20, %r25;
    {}
    bar.sync 0;
    {}
    mov.u32 %r11, %r12;)",
                                   store, load)));
  };
  EXPECT_EQ(with("st.shared.f32 [%r26], %f1;", "ld.shared.u32 %r12, [%r26];"), "");
  EXPECT_EQ(with("st.shared.u64 [%r26], %rd10;", "ld.shared.b64 %rd11, [%r26];"), "");
  EXPECT_EQ(with("st.shared.v2.u32 [%r26], {%r10, %r3};", "ld.shared.v2.u32 {%r12, %r13}, [%r26];"),
            "");
  constexpr const char* other = "has another width or no registers";
  EXPECT_THAT(with("st.shared.u64 [%r26], %rd10;", "ld.shared.u32 %r12, [%r26];"),
              HasSubstr(other));
  EXPECT_THAT(with("st.shared.u32 [%r26], %r10;", "ld.shared.u64 %rd11, [%r26];"),
              HasSubstr(other));
  EXPECT_THAT(with("st.shared.u16 [%r26], %rs1;", "ld.shared.u16 %rs2, [%r26];"), HasSubstr(other));
  EXPECT_THAT(with("st.shared.u16 [%r26], %r10;", "ld.shared.u32 %r12, [%r26];"), HasSubstr(other));
  EXPECT_THAT(with("st.shared.u8 [%r26], %r10;", "ld.shared.u8 %r12, [%r26];"), HasSubstr(other));
  EXPECT_THAT(with("st.shared.u32 [%r26], %r10;", "ld.shared.u32 %rd11, [%r26];"),
              HasSubstr(other));
  EXPECT_THAT(with("st.shared.u32 [%r26], %rd10;", "ld.shared.u32 %r12, [%r26];"),
              HasSubstr(other));
  EXPECT_THAT(with("st.shared.u32 [%r26], 7;", "ld.shared.u32 %r12, [%r26];"), HasSubstr(other));
  EXPECT_THAT(with("st.shared.v2.u32 [%r26], {%r10, %r3};", "ld.shared.u32 %r12, [%r26];"),
              HasSubstr(other));
  EXPECT_THAT(with("st.volatile.shared.u32 [%r26], %r10;", "ld.shared.u32 %r12, [%r26];"),
              HasSubstr("volatile"));
  EXPECT_THAT(with("st.shared.u32 [%r26], %r10;", "ld.volatile.shared.u32 %r12, [%r26];"),
              HasSubstr("volatile"));
  EXPECT_THAT(with("st.shared.u32 [%r26], %r10;", "ld.relaxed.cta.shared.u32 %r12, [%r26];"),
              HasSubstr("volatile"));
  EXPECT_THAT(with("st.shared.u32 [%r26], %r10;",
                   ".pragma \"used_bytes_mask 3\";\nld.shared.u32 %r12, [%r26];"),
              HasSubstr("used_bytes_mask"));
}

// --- That it ran
// ----------------------------------------------------------------------------------

TEST(Stored, PredicatesOfStoreAndLoad) {
  const auto with = [](const std::string& text) {
    return why_not(own("setp.lt.u32 %p1, %r3, 20;\nsetp.lt.u32 %p2, %r3, 10;\n"
                       "setp.lt.u32 %p3, %r3, 21;\nmov.u32 %r11, 0;\n" +
                       text));
  };
  EXPECT_EQ(with("@%p1 st.shared.u32 [%r21], %r10; bar.sync 0; @%p1 ld.shared.u32 %r11, [%r21];"),
            "");
  EXPECT_EQ(with("@%p1 st.shared.u32 [%r21], %r10; bar.sync 0; @%p2 ld.shared.u32 %r11, [%r21];"),
            "");
  EXPECT_EQ(with("@%p1 st.shared.u32 [%r21], %r10; @!%p2 bra X; ld.shared.u32 %r11, [%r21]; X:"),
            "");
  for (const char* load : {"@%p3 ld", "@!%p1 ld", "ld"})
    EXPECT_THAT(
        with(fmt::format("@%p1 st.shared.u32 [%r21], %r10; {}.shared.u32 %r11, [%r21];", load)),
        HasSubstr("may not have run"));
  EXPECT_THAT(with("@!%p1 bra X; st.shared.u32 [%r21], %r10; X: ld.shared.u32 %r11, [%r21];"),
              HasSubstr("does not precede it on every path"));
}

TEST(Stored, Loops) {
  const auto loop = [](const std::string& ahead, const std::string& inside) {
    return why_not(own(fmt::format(R"(
    mov.u32 %r11, 0;
    mov.u32 %r15, 0;
    {}
L:  {}
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p1, %r15, %r1;
    @%p1 bra L;)",
                                   ahead, inside)));
  };
  const std::string store = "st.shared.u32 [%r21], %r10;", load = "ld.shared.u32 %r11, [%r21];";
  EXPECT_EQ(loop("", store + "bar.sync 0;" + load), "");
  EXPECT_EQ(loop(store, "bar.sync 0;" + load), "");
  EXPECT_EQ(loop("", store + "mov.u32 %r16, 0; M: add.u32 %r16, %r16, 1;" + load +
                         "setp.lt.u32 %p2, %r16, %r2; @%p2 bra M;"),
            "");
  // What the trip before has stored, and in the first one what was there.
  EXPECT_NE(loop("", load + "bar.sync 0;" + store), "");
  EXPECT_THAT(loop(store, load + "st.shared.u32 [%r21], %r3;"), HasSubstr("may write it"));
  EXPECT_THAT(loop(store, load + "add.u32 %r21, %r21, 4;"), HasSubstr("shared memory"));
  EXPECT_THAT(why_not(own(R"(
    mov.u32 %r15, 0;
L:  st.shared.u32 [%r21], %r15;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p1, %r15, %r1;
    @%p1 bra L;
    ld.shared.u32 %r11, [%r21];)")),
              HasSubstr("in a loop of its own"));
}

// Lanes may be in different trips; each takes its own value all the same.
TEST(Stored, LoopsOfOtherTripsInEachThread) {
  EXPECT_EQ(why_not(own(R"(
    mov.u32 %r15, %r3;
L:  st.shared.u32 [%r21], %r15;
    ld.shared.u32 %r11, [%r21];
    add.u32 %r15, %r11, 1;
    setp.lt.u32 %p1, %r15, %r1;
    @%p1 bra L;)")),
            "");
}

// --- Who else writes there
// -------------------------------------------------------------------------

TEST(Stored, TheThreadsOwnStores) {
  EXPECT_THAT(also("st.shared.u8 [%r21+3], %r10;"), HasSubstr("may write it"));
  EXPECT_THAT(also("st.shared.u16 [%r21], %rs1;"), HasSubstr("has another width"));
  EXPECT_EQ(also("", "st.shared.u32 [%r21], %r3;"), ""); // too late
  EXPECT_EQ(also("st.shared.u32 [%r21+4096], %r3;"), "");
  EXPECT_EQ(also("st.shared.u32 [%r21], %r3;"), ""); // which is the nearest then
  EXPECT_THAT(also("setp.eq.u32 %p1, %r10, 0; @%p1 st.shared.u32 [%r21], %r3;"),
              HasSubstr("may not have run"));
  EXPECT_THAT(also("@!%p1 bra X; st.shared.u32 [%r21], %r3; X:"),
              HasSubstr("does not precede it on every path"));
}

TEST(Stored, TheNearestStoreIsTaken) {
  const auto f = found(own(R"(
    st.shared.u32 [%r21], %r10;
    st.shared.u32 [%r21], %r3;
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];)"));
  const passes::Load& load = load_of(f, 0);
  ASSERT_TRUE(load.cover) << load.kept.text;
  const emulator::Kernel& kernel = f->kernel;
  const auto value =
      kernel.body.src(kernel.body.insts[kernel.trace.events[load.cover->source].inst]);
  EXPECT_EQ(kernel.body.registers[value[0].id].name, "%r3");
}

TEST(Stored, StoresOfOtherThreads) {
  constexpr const char* others = "another thread may write it";
  EXPECT_THAT(also("st.shared.u32 [%r21+4], %r3;"), HasSubstr(others));
  EXPECT_THAT(also("", "st.shared.u32 [%r21+4], %r3;"),
              HasSubstr(others)); // somewhere in the kernel
  EXPECT_THAT(also("", "st.shared.u32 [%r21+-252], %r3;"),
              HasSubstr(others)); // the first by the last
  EXPECT_EQ(also("", "st.shared.u32 [%r21+-256], %r3;"), "");
  EXPECT_THAT(also("", "st.shared.u8 [%r21+255], %r3;", {64, 2, 1}), HasSubstr(others));
  EXPECT_EQ(also("", "st.shared.u8 [%r21+3], %r3;"), ""); // by itself, too late
  EXPECT_THAT(also("", "st.shared.u64 [%r21+-4], %rd3;"), HasSubstr(others));
  // In reverse: others', but for one thread in the middle.
  EXPECT_THAT(
      also("", "sub.u32 %r30, 63, %r3; mad.lo.u32 %r31, %r30, 4, %r20; st.shared.u32 [%r31], %r3;"),
      HasSubstr(others));
  // At an index that was loaded.
  EXPECT_THAT(also("", "mad.lo.u32 %r31, %r10, 4, %r20; st.shared.u32 [%r31], %r3;"),
              HasSubstr(others));
  EXPECT_THAT(
      also("",
           "and.b32 %r30, %r10, 15; mad.lo.u32 %r31, %r30, 4, %r20; st.shared.u32 [%r31], %r3;"),
      HasSubstr(others));
  EXPECT_EQ(
      also(
          "",
          "and.b32 %r30, %r10, 15; mad.lo.u32 %r31, %r30, 4, %r20; st.shared.u32 [%r31+256], %r3;"),
      "");
  EXPECT_EQ(also("", "mad.lo.u32 %r31, %r10, 4, %r23; st.shared.u32 [%r31], %r3;"),
            ""); // another variable
}

// Two words, of which the second is the next thread's.
TEST(Stored, StoresThatBeginAhead) {
  const auto with = [](const char* store) {
    return why_not(own(fmt::format(R"(
    shl.b32 %r25, %r3, 3;
    add.u32 %r26, %r20, %r25;
    st.shared.u32 [%r26+4], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r26+4];
    bar.sync 0;
    {};)",
                                   store)),
                   {64, 1, 1});
  };
  EXPECT_THAT(with("st.shared.v2.u32 [%r26+8], {%r3, %r3}"),
              HasSubstr("another thread may write it"));
  EXPECT_EQ(with("st.shared.u32 [%r26+8], %r3"), "");
}

TEST(Stored, StoresOfSomeThreads) {
  constexpr const char* others = "another thread may write it";
  const auto behind = [](const std::string& condition, const std::string& address) {
    return also(
        "", fmt::format("setp.{}; @%p1 bra X; st.shared.u32 [{}], %r3; X:", condition, address));
  };
  EXPECT_EQ(behind("ne.u32 %p1, %r3, 0", "%r21+256"), "");
  EXPECT_EQ(behind("ge.u32 %p1, %r3, 4", "%r21+256"), "");
  EXPECT_EQ(behind("lt.u32 %p1, %r3, 60", "%r21+16"), ""); // 60 to 63 store 64 to 67
  EXPECT_THAT(behind("lt.u32 %p1, %r3, 59", "%r21+16"), HasSubstr(others));
  EXPECT_EQ(behind("gt.u32 %p1, %r3, 3", "%r21+-16"), "");
  EXPECT_THAT(behind("gt.u32 %p1, %r3, 4", "%r21+-16"), HasSubstr(others));
  EXPECT_THAT(behind("ge.u32 %p1, %r3, 5", "%r21+-16"), HasSubstr(others));
  EXPECT_THAT(behind("le.u32 %p1, %r3, 58", "%r21+16"), HasSubstr(others));
  EXPECT_EQ(behind("ge.u32 %p1, %r3, 4", "%r21+-16"), "");
  EXPECT_EQ(behind("le.u32 %p1, %r3, 59", "%r21+16"), "");
  EXPECT_EQ(behind("gt.s32 %p1, %r3, 3", "%r21+-16"), "");
  EXPECT_EQ(behind("le.s32 %p1, %r3, 59", "%r21+16"), "");
  EXPECT_EQ(behind("ne.u32 %p1, %r3, 0", "%r20"), ""); // thread 0, its own, too late
  EXPECT_THAT(behind("ne.u32 %p1, %r3, 1", "%r20"), HasSubstr(others));
  EXPECT_THAT(behind("ne.u32 %p1, %r10, 0", "%r20"), HasSubstr(others));
  EXPECT_THAT(also("setp.ne.u32 %p1, %r3, 0; @%p1 bra X; st.shared.u32 [%r20], %r3; X:"),
              HasSubstr("may write it")); // thread 0, its own, in between
}

// Below 4, too: the difference wraps.
TEST(Stored, ComparisonsOfDifferences) {
  EXPECT_THAT(also("", "sub.u32 %r30, %r3, 4; setp.lt.u32 %p1, %r30, 56; @%p1 bra X; "
                       "st.shared.u32 [%r21+16], %r3; X:"),
              HasSubstr("another thread may write it"));
  EXPECT_EQ(also("", "sub.u32 %r30, %r3, 4; setp.lt.s32 %p1, %r30, 56; @%p1 bra X; "
                     "st.shared.u32 [%r21+16], %r3; X:"),
            "");
}

// What is the same for all threads of the block, but not at all times, or not for all of them.
TEST(Stored, ValuesOfOtherThreads) {
  EXPECT_THAT(why_not(own(R"(
    mov.u32 %r15, 0;
L:  st.shared.u32 [%r21], %r15;
    ld.shared.u32 %r11, [%r21];
    bar.sync 0;
    add.u32 %r21, %r21, 4;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p1, %r15, 3;
    @%p1 bra L;)"),
                      {64, 1, 1}),
              HasSubstr("another thread may write it"));
  EXPECT_THAT(why_not(own(R"(
    mov.u32 %r30, %laneid;
    shl.b32 %r30, %r30, 2;
    add.u32 %r21, %r21, %r30;
    st.shared.u32 [%r21], %r10;
    ld.shared.u32 %r11, [%r21];)"),
                      {64, 1, 1}),
              HasSubstr("another thread may write it"));
}

// All store to one word, and see whose stays.
TEST(Stored, ARaceThatTheKernelLooksAt) {
  EXPECT_THAT(why_not(own(R"(
    st.shared.u32 [%r20], %r3;
    bar.sync 0;
    ld.shared.u32 %r11, [%r20];)"),
                      {64, 1, 1}),
              HasSubstr("another thread may write it"));
  EXPECT_EQ(why_not(own(R"(
    st.shared.u32 [%r20], %r3;
    bar.sync 0;
    ld.shared.u32 %r11, [%r20];)"),
                    {1, 1, 1}),
            "");
}

TEST(Stored, WhatElseWritesSharedMemory) {
  for (const char* text :
       {"red.shared.add.u32 [%r21], 1;", "atom.shared.add.u32 %r30, [%r24], 1;",
        "atom.add.u32 %r30, [%rd2], 1;", "st.u32 [%rd2], %r3;", "call leave;",
        "cp.async.ca.shared.global [%r24], [%rd4], 4;", "mbarrier.init.shared.b64 [%r24], 1;",
        "st.shared::cluster.u32 [%r24], %r3;",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r24], {%r3};"}) {
    std::string kernel = own(fmt::format("{}\nbar.sync 0;\n{}", plain, text));
    kernel += ".extern .func leave;\n";
    EXPECT_THAT(why_not(kernel, {64, 1, 1}), HasSubstr("shared memory")) << text;
  }
  for (const char* text :
       {"red.global.add.u32 [%rd2], 1;", "st.global.u32 [%rd2], %r3;", "bar.warp.sync -1;",
        "membar.cta;", "shfl.sync.down.b32 %r30, %r3, 1, 31, -1;"})
    EXPECT_EQ(why_not(own(fmt::format("{}\nbar.sync 0;\n{}", plain, text)), {64, 1, 1}), "")
        << text;
}

TEST(Stored, AFunctionDoesNotKnowWhoElseRuns) {
  const std::string text = test::replaced(own(plain), ".entry", ".func");
  EXPECT_THAT(why_not(text, {64, 1, 1}), HasSubstr("in a function"));
}

} // namespace
} // namespace ptxasw
