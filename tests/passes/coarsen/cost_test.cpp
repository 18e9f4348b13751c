// The coarsening model: what must hold whatever its constants are, and what it makes of kernels
// that were measured on an H200 (the figures are those of bench/kernels as ptxas 13.0 gave them).
#include "oracle/straight_path.hpp"
#include "passes/coarsen/cost/cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace ptxasw::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const target::Profile& hopper() {
  return *target::find_profile("sm_90");
}

Usage usage(unsigned registers, unsigned path, double latency, unsigned stores = 1) {
  return {.registers = registers,
          .path = StraightPath{.instructions = path, .stores = stores, .latency = latency}};
}

CoarsenBaseline laplacian() {
  return {.work = {.wavefronts = 12.2, .loads = 7, .instructions = 60},
          .memory_bytes = 256,
          .stored_bytes = 128,
          .usage = usage(22, 56, 573)};
}

CoarsenCandidate y4() {
  return {.how = {.factors = {1, 4, 1}},
          .work = {.wavefronts = 9.9, .loads = 5.5, .instructions = 43},
          .usage = usage(32, 160, 1253, 4)};
}

double gain(const CoarsenCandidate& candidate) {
  return coarsening_gain(hopper(), laplacian(), candidate);
}

// Single launches as an H200 ran them, before kernels asked for the size of the launch.
TEST(Coarsening, MeasuredGains) {
  const auto of_launch = [](double blocks, unsigned threads, bool in_l2) {
    return launch_gain(hopper(), laplacian(), y4(),
                       {.blocks = blocks, .threads = threads, .in_l2 = in_l2});
  };
  EXPECT_NEAR(of_launch(29 * 24 * 24, 512, false), 1.28, 0.1);
  EXPECT_NEAR(of_launch(4 * 2112 * 2, 512, false), 1.16, 0.1);
  EXPECT_NEAR(of_launch(29 * 48 * 48, 128, false), 1.02, 0.03) << "blocks start no faster";
  EXPECT_NEAR(of_launch(35 * 88 * 88, 64, false), 1.00, 0.03);
  EXPECT_LT(of_launch(8 * 8 * 8, 256, true), 0.9) << "a launch of half a wave";
  CoarsenBaseline gradient{.work = {.wavefronts = 13.7, .loads = 6, .instructions = 65},
                           .memory_bytes = 512,
                           .stored_bytes = 384,
                           .usage = usage(23, 61, 570, 3)};
  CoarsenCandidate four{.how = {.factors = {1, 4, 1}},
                        .work = {.wavefronts = 12.9, .loads = 5.5, .instructions = 49},
                        .usage = usage(32, 180, 1500, 12)};
  EXPECT_LT(coarsening_gain(hopper(), gradient, four), 1.02) << "three arrays are written";
}

// bench/coarsen_model.py says so, too: bench/fit and this model are one.
TEST(Coarsening, TheModelOfTheFit) {
  const LaunchShape launch{.blocks = 16704, .threads = 512};
  EXPECT_NEAR(
      launch_cycles(hopper(), laplacian(), laplacian().work, *laplacian().usage, {}, launch), 60498,
      1);
  EXPECT_NEAR(launch_cycles(hopper(), laplacian(), y4().work, *y4().usage, y4().how, launch), 50872,
              1);
}

TEST(Coarsening, MoreOfAnythingIsWorse) {
  const double usual = gain(y4());
  CoarsenCandidate worse = y4();
  worse.work.wavefronts += 1;
  EXPECT_LT(gain(worse), usual);
  worse = y4();
  worse.usage->path->instructions += 40;
  EXPECT_LT(gain(worse), usual);
  worse = y4();
  worse.usage->path->latency *= 2;
  EXPECT_LT(gain(worse), usual);
  worse = y4();
  worse.usage->registers = 40;
  EXPECT_LT(gain(worse), usual);
  worse = y4();
  worse.how.factors = {1, 1, 4};
  EXPECT_LT(gain(worse), usual) << "rows along z are far apart";
}

TEST(Coarsening, NothingIsNoGain) {
  CoarsenCandidate same{.how = {.factors = {1, 1, 1}}, .work = laplacian().work};
  same.usage = laplacian().usage;
  EXPECT_DOUBLE_EQ(gain(same), 1);
  same.usage.reset();
  EXPECT_EQ(gain(same), 0);
}

TEST(Coarsening, WhatMustNotBeTaken) {
  const auto reason = [](const CoarsenCandidate& candidate) {
    return why_not(laplacian(), candidate).text;
  };
  EXPECT_THAT(reason(y4()), IsEmpty());
  CoarsenCandidate bad = y4();
  bad.usage->registers = 65;
  EXPECT_THAT(reason(bad), HasSubstr("blocks of 897 threads could not be launched"));
  CoarsenBaseline known = laplacian();
  known.resident.reset();
  EXPECT_THAT(why_not(known, bad), HasSubstr("could not be launched"));
  known.threads = 896;
  EXPECT_THAT(why_not(known, bad).text, IsEmpty());
  CoarsenBaseline bounded = laplacian();
  bounded.bounded = true;
  bounded.resident.reset();
  EXPECT_THAT(why_not(bounded, bad).text, IsEmpty());
  bad = y4();
  bad.usage->spill_loads = 4;
  EXPECT_THAT(reason(bad), HasSubstr("spills 4 bytes"));
  bad = y4();
  bad.usage->stack = 8;
  EXPECT_THAT(reason(bad), HasSubstr("stack"));
  bad = y4();
  bad.usage->path->stores = 3;
  EXPECT_THAT(reason(bad), HasSubstr("another shape"));
  bad = y4();
  bad.usage.reset();
  EXPECT_THAT(reason(bad), HasSubstr("not assembled"));
}

// Takes what gains on average, whatever the worst launch does.
target::Profile bold() {
  target::Profile profile = hopper();
  profile.coarsen.worst = 0;
  profile.coarsen.margin = 1.01;
  return profile;
}

TEST(Coarsening, FewerCopiesIfTheyGainNearlyAsMuch) {
  CoarsenCandidate y8 = y4();
  y8.how.factors = {1, 8, 1};
  y8.work.wavefronts = 9.7;
  y8.usage = usage(32, 318, 2000, 8);
  std::vector<CoarsenCandidate> candidates{y8, y4()};
  choose_coarsening(bold(), laplacian(), candidates);
  ASSERT_TRUE(candidates[0].chosen);
  EXPECT_EQ(candidates[0].how.copies(), 4U);
  EXPECT_FALSE(candidates[1].chosen);
  EXPECT_NE(candidates[1].verdict.text, "");
  candidates = {y8, y4()};
  candidates[0].work.wavefronts = 1;
  choose_coarsening(bold(), laplacian(), candidates);
  EXPECT_EQ(candidates[0].how.copies(), 8U);
}

TEST(Coarsening, NoLaunchMayLoseMuch) {
  const ExpectedGain expected = expected_gain(hopper(), laplacian(), y4());
  EXPECT_LT(expected.worst, expected.mean);
  target::Profile careful = bold();
  for (const bool taken : {true, false}) {
    careful.coarsen.worst = expected.worst + (taken ? -0.001 : 0.001);
    std::vector<CoarsenCandidate> candidates{y4()};
    choose_coarsening(careful, laplacian(), candidates);
    EXPECT_EQ(candidates[0].chosen, taken);
    EXPECT_DOUBLE_EQ(candidates[0].worst, expected.worst);
    EXPECT_EQ(candidates[0].verdict.reason == Reason::may_lose, !taken)
        << candidates[0].verdict.text;
  }
}

// Unless most launches are said to be large: a short kernel is not taken, nor a way that saves
// little.
TEST(Coarsening, NoSmallLaunchMayLose) {
  target::Profile careful = bold();
  CoarsenBaseline kernel = laplacian();
  CoarsenCandidate way = y4();
  way.how.least_threads = 1000;
  const auto verdict = [&](const target::Profile& profile) {
    std::vector<CoarsenCandidate> candidates{way};
    choose_coarsening(profile, kernel, candidates);
    return candidates[0].verdict.text;
  };
  EXPECT_THAT(verdict(careful), HasSubstr("saves too little: 21 % of the loads"));
  way.work.loads = 5;
  EXPECT_THAT(verdict(careful), HasSubstr("too short: 56 instructions"));
  EXPECT_THAT(verdict(for_large_launches(careful)), IsEmpty());
  way.how.least_threads = 0; // who divides the grid asks nothing
  EXPECT_THAT(verdict(careful), IsEmpty());
  way.how.least_threads = 1000;
  kernel.usage->path->instructions = 200;
  EXPECT_THAT(verdict(careful), IsEmpty());
  way.body_changed = "a load waits";
  EXPECT_THAT(verdict(careful), HasSubstr("would run other machine code (a load waits)"));
  EXPECT_THAT(verdict(for_large_launches(careful)), IsEmpty());
  way.body_changed.clear();
  way.how.factors = {1, 8, 1};
  way.usage->path->stores = 8;
  EXPECT_THAT(verdict(careful), HasSubstr("8 replicas are merged in large launches only"));
}

// Loops of threads that do not meet: two copies.
TEST(Coarsening, NoSmallLaunchOfLoopsMayLose) {
  CoarsenBaseline kernel = laplacian();
  kernel.work.repeats = 3;
  kernel.work.loads = 128;
  kernel.usage->path->loop = {.instructions = 70, .loads = 32, .latency = 260};
  CoarsenCandidate way = y4();
  way.how = {.factors = {1, 2, 1}, .least_threads = 1000};
  way.work = {.wavefronts = 9.9, .loads = 96, .instructions = 43, .repeats = 3};
  way.usage = usage(32, 100, 800, 2);
  way.usage->path->loop = {.instructions = 104, .loads = 48, .latency = 300};
  const auto verdict = [&](const target::Profile& profile) {
    std::vector<CoarsenCandidate> candidates{way};
    choose_coarsening(profile, kernel, candidates);
    return candidates[0].verdict.text;
  };
  EXPECT_THAT(verdict(bold()), IsEmpty());
  const auto otherwise = [&](auto change) {
    const CoarsenCandidate before = way;
    change(way);
    std::string text = verdict(bold());
    way = before;
    return text;
  };
  EXPECT_THAT(otherwise([&](auto& one) { one.work.loads = 104; }), HasSubstr("saves too little"));
  EXPECT_THAT(otherwise([&](auto& one) {
                one.how.factors = {1, 4, 1};
                one.usage->path->stores = 4;
                one.usage->path->loop.loads = 96;
              }),
              HasSubstr("4 replicas are merged in large launches only"));
  way.body_changed = "a load waits";
  EXPECT_THAT(verdict(bold()), HasSubstr("other machine code"));
  EXPECT_THAT(verdict(for_large_launches(bold())), IsEmpty());
  way.how.least_threads = 0; // who divides the grid asks nothing
  EXPECT_THAT(verdict(bold()), IsEmpty());
}

// How often ptxas has unrolled a loop is no gain: the loads of a trip tell how many trips there
// are.
TEST(Coarsening, TripsAreAsLongAsTheirLoads) {
  CoarsenBaseline kernel = laplacian();
  kernel.work.repeats = 3;
  kernel.work.loads = 64;
  kernel.usage->path->loop = {.instructions = 40, .loads = 16, .latency = 200};
  CoarsenCandidate way{.how = {.factors = {1, 2, 1}}, .work = kernel.work, .usage = kernel.usage};
  way.usage->path->stores = 2;
  way.usage->path->loop = {.instructions = 80, .loads = 32, .latency = 400};
  const double once = coarsening_gain(hopper(), kernel, way);
  way.usage->path->loop = {.instructions = 160, .loads = 64, .latency = 800};
  const double unrolled = coarsening_gain(hopper(), kernel, way);
  EXPECT_NEAR(once / unrolled, 1, 0.06);
  way.usage->path->loop.loads = 32;
  EXPECT_LT(coarsening_gain(hopper(), kernel, way), 0.9 * once) << "the same loads take twice";
  kernel.work.barriers = way.work.barriers = 1;
  EXPECT_EQ(coarsening_gain(hopper(), kernel, way),
            (way.usage->path->loop = {}, coarsening_gain(hopper(), kernel, way)));
}

// Loops between barriers are taken, and wait less: they need not save as much.
TEST(Coarsening, NoSmallLaunchOfBlocksThatMeetMayLose) {
  CoarsenBaseline kernel = laplacian();
  kernel.usage->path->instructions = 200;
  kernel.work.repeats = 3;
  kernel.work.barriers = 4;
  kernel.work.shared = 4096;
  kernel.shared_per_sm = 228U << 10;
  CoarsenCandidate way = y4();
  way.how.least_threads = 1000;
  way.work.repeats = 3;
  way.work.barriers = 1;
  way.work.shared = 5000;
  const auto verdict = [&] {
    std::vector<CoarsenCandidate> candidates{way};
    choose_coarsening(bold(), kernel, candidates);
    return candidates[0].verdict.text;
  };
  EXPECT_THAT(verdict(), IsEmpty());
  way.work.shared = 16384;
  EXPECT_THAT(verdict(),
              HasSubstr("16384 bytes of shared memory instead of 4096: an SM would hold"));
  kernel.resident.reset();
  EXPECT_THAT(verdict(), HasSubstr("less room in shared memory"));
  way.work.shared = 5000;
  way.work.loads = kernel.work.loads * 0.81;
  EXPECT_THAT(verdict(), HasSubstr("saves too little: 19 % of the loads, 20 %"));
}

TEST(Coarsening, LargeLaunchesAreToldByTheirThreads) {
  EXPECT_EQ(least_threads(for_large_launches(hopper()), y4().how), 3U * 132 * 2048 * 4);
  EXPECT_EQ(least_threads(hopper(), y4().how),
            static_cast<std::uint64_t>(hopper().coarsen.least_waves * 132 * 2048 * 4));
  EXPECT_EQ(least_threads(hopper(), {.factors = {2, 4, 1}}), 2 * least_threads(hopper(), y4().how));
}

TEST(Coarsening, TooLittleIsNothing) {
  std::vector<CoarsenCandidate> candidates{y4()};
  target::Profile picky = bold();
  picky.coarsen.margin = 1.5;
  choose_coarsening(picky, laplacian(), candidates);
  EXPECT_FALSE(candidates[0].chosen);
  EXPECT_THAT(candidates[0].verdict.text, HasSubstr("1.50 is asked for"));
  for (const target::Profile& profile : ptxasw::numbers::chips()) {
    const bool measured = profile.coarsen.provenance == target::Provenance::measured;
    EXPECT_GE(profile.coarsen.margin, measured ? 1.05 : 1.2) << profile.architecture;
  }
}

// A kernel that uses so many registers, and may lose resident blocks.
CoarsenBaseline loose(unsigned registers) {
  CoarsenBaseline kernel;
  kernel.usage = usage(registers, 1, 1);
  kernel.resident.reset();
  return kernel;
}
CoarsenBaseline strict(unsigned registers, BlockSizes sizes = {}) {
  CoarsenBaseline kernel = loose(registers);
  kernel.resident = sizes;
  return kernel;
}

TEST(Coarsening, RegisterLimitsKeepTheWarps) {
  EXPECT_THAT(register_limits(hopper(), loose(30), 32), IsEmpty());
  EXPECT_THAT(register_limits(hopper(), loose(30), 40), ElementsAre(32U));
  EXPECT_THAT(register_limits(hopper(), loose(36), 72), ElementsAre(40U, 64U));
  EXPECT_THAT(register_limits(hopper(), loose(48), 80), ElementsAre(64U));
}

TEST(Coarsening, RegisterLimitsKeepTheBlocks) {
  EXPECT_THAT(register_limits(hopper(), strict(30), 32), IsEmpty());
  EXPECT_THAT(register_limits(hopper(), strict(30), 40), ElementsAre(32U));
  EXPECT_THAT(register_limits(hopper(), strict(36), 72), ElementsAre(40U));
  EXPECT_THAT(register_limits(hopper(), strict(36, {1024, 1024}), 72), ElementsAre(64U));
}

TEST(Coarsening, MoreRegistersWhereWarpsAreMissingAnyway) {
  EXPECT_FALSE(may_want_more_registers(hopper(), loose(30), 32));
  EXPECT_TRUE(may_want_more_registers(hopper(), loose(30), 40));
  EXPECT_FALSE(may_want_more_registers(hopper(), loose(48), 48));
  EXPECT_FALSE(may_want_more_registers(hopper(), loose(30), 64));
  EXPECT_FALSE(may_want_more_registers(hopper(), strict(30), 40));
}

TEST(Coarsening, AsManyBlocksStayResident) {
  CoarsenBaseline original = laplacian();
  original.resident = BlockSizes{};
  CoarsenCandidate more = y4();
  more.usage->registers = 40;
  EXPECT_THAT(why_not(original, more), HasSubstr("an SM would hold"));
  more.usage->registers = 32;
  EXPECT_THAT(why_not(original, more).text, IsEmpty());
  original.resident = BlockSizes{32, 32};
  more.usage->registers = 40;
  EXPECT_THAT(why_not(original, more).text, IsEmpty());
}

// Of two that gain nearly the same, the one that gains more; in a loop the one that waits less.
TEST(Coarsening, LoopsWaitLess) {
  for (const double repeats : {1.0, 16.0}) {
    CoarsenBaseline original = laplacian();
    CoarsenCandidate busy = y4(), brief = y4();
    brief.usage->path->latency -= 1;
    brief.work.wavefronts *= 1.05;
    original.work.repeats = busy.work.repeats = brief.work.repeats = repeats;
    const double loss =
        coarsening_gain(hopper(), original, busy) - coarsening_gain(hopper(), original, brief);
    ASSERT_GT(loss, 0);
    std::vector<CoarsenCandidate> candidates{busy, brief};
    choose_coarsening(bold(), original, candidates);
    ASSERT_TRUE(candidates[0].chosen);
    EXPECT_EQ(candidates[0].usage->path->latency == brief.usage->path->latency, repeats > 1)
        << repeats;
  }
}

// --- The straight path -------------------------------------------------------------------------

struct Op {
  unsigned opcode = 0x221, guard = 7, stall = 1, write = 7, read = 7, wait = 0;
  int to = 0; // of a branch: how far from the next one
};
std::vector<sass::Instruction> code(const std::vector<Op>& ops) {
  std::string bytes;
  for (const Op& op : ops) {
    const auto distance = static_cast<std::uint64_t>(std::int64_t{16} * op.to);
    const std::uint64_t low = op.opcode | op.guard << 12U | distance << 32U;
    const std::uint64_t high = (distance >> 32U & 0x3ffffU) | std::uint64_t{op.stall} << 41U |
                               std::uint64_t{op.write} << 46U | std::uint64_t{op.read} << 49U |
                               std::uint64_t{op.wait} << 52U;
    bytes.append(reinterpret_cast<const char*>(&low), sizeof low);
    bytes.append(reinterpret_cast<const char*>(&high), sizeof high);
  }
  return sass::decode(bytes, 80);
}
const Op done{.opcode = 0x94d};

TEST(StraightPath, LoadsUnderWayAtOnceTakeOneLatency) {
  const Op load{.opcode = 0x981, .write = 0}, use{.wait = 1}, store{.opcode = 0x986};
  const StraightPath together =
      oracle::straight_path(code({load, load, use, store, done}), 400).value();
  EXPECT_EQ(together.instructions, 5U);
  EXPECT_EQ(together.loads, 2U);
  EXPECT_EQ(together.stores, 1U);
  EXPECT_EQ(together.latency, 401 + 3);
  EXPECT_EQ(oracle::straight_path(code({load, use, load, use, done}), 400)->latency,
            400 + 1 + 400 + 2);
}

// A guarded branch two ahead, over a store or to one.
TEST(StraightPath, GoesWhereMoreIsStored) {
  const Op store{.opcode = 0x986}, far{.opcode = 0x947, .guard = 0, .to = 2},
      near{.opcode = 0x947, .guard = 0, .to = 1};
  EXPECT_EQ(oracle::straight_path(code({far, store, done, {}, done}), 400)->stores, 1U);
  EXPECT_EQ(oracle::straight_path(code({far, {}, done, store, done}), 400)->stores, 1U);
  EXPECT_EQ(oracle::straight_path(code({near, {}, done, store, done}), 400)->stores, 0U);
}

// Of a coarsened kernel, where launches go that are not merged.
TEST(StraightPath, TheOtherWayOfTheFirstBranch) {
  const Op store{.opcode = 0x986}, far{.opcode = 0x947, .guard = 0, .to = 2};
  const auto other = [](const std::vector<Op>& ops) { return oracle::other_path(code(ops), 400); };
  EXPECT_EQ(other({far, store, done, {}, done})->stores, 0U);
  EXPECT_EQ(other({far, store, done, {}, done})->instructions, 3U);
  EXPECT_EQ(other({far, {}, done, store, store, done})->stores, 0U);
  EXPECT_EQ(other({far, far, done, store, store, done})->stores, 1U)
      << "the second one leads where more is stored";
  EXPECT_FALSE(other({store, done})) << "there is but one";
  EXPECT_FALSE(other({{.opcode = 0x94d, .guard = 0}, far, store, done, {}, done}))
      << "some threads leave first";
}

// Two loops one after the other within a third: what stands between a branch back and where it
// leads.
TEST(StraightPath, LoopsOfTheCode) {
  const Op load{.opcode = 0x981, .write = 0}, use{.wait = 1}, store{.opcode = 0x986};
  const auto again = [](int to) { return Op{.opcode = 0x947, .guard = 0, .to = to}; };
  const auto loop = [](const std::vector<Op>& ops) {
    return oracle::straight_path(code(ops), 400)->loop;
  };
  const LoopPath inner =
      loop({{}, load, use, again(-3), load, load, use, again(-4), again(-9), store, done});
  EXPECT_EQ(inner, (LoopPath{.instructions = 4, .loads = 2, .latency = 43}))
      << "the innermost with the most loads";
  EXPECT_EQ(loop({{}, load, use, again(-3), store, done}),
            (LoopPath{.instructions = 3, .loads = 1, .latency = 42}));
  EXPECT_EQ(loop({load, store, done}), LoopPath{});
}

TEST(StraightPath, GuardedExitsAreNotTaken) {
  EXPECT_EQ(
      oracle::straight_path(code({{.opcode = 0x94d, .guard = 0}, {}, done, {}}), 400)->instructions,
      3U);
  EXPECT_FALSE(oracle::straight_path(code({{}, {}}), 400)) << "no exit";
  EXPECT_FALSE(oracle::straight_path({}, 400));
}

} // namespace
} // namespace ptxasw::passes
