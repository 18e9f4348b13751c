// Steps of kernels that have other versions, too: merged before all of these were tried.
#include "launch/choose/trials.hpp"
#include "stencil.hpp"

#include <map>
#include <string>

namespace ptxasw::launch {
namespace {

using test::launched;
using test::Stencil;

// The model prefers the version for its launches.
struct OfTwoVersions : Stencil {
  fake::Function& two = test::gpu().add(module, "s__ptxasw_x2", {8, 8, 4});

  explicit OfTwoVersions(double milliseconds)
      : Stencil("no-images,policy=measure,steps=60000000", false, true) {
    kernel.milliseconds = 0.1;
    two.milliseconds = milliseconds;
    three.milliseconds = five.milliseconds = 0.15;
    two.run = kernel.run;
    auto& bytes = module.globals[contract::symbol_of("s")];
    contract::Contract contract = contract::decode(bytes).value();
    contract.variants.push_back({.entry = "s__ptxasw_x2",
                                 .name = "x:2",
                                 .kind = contract::Kind::coarsened,
                                 .divide = {2, 1, 1},
                                 .rest = contract::Rest::hangs_over,
                                 .gains = {{32, {1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}}}});
    bytes = contract::encode(contract);
  }

  // Of more blocks than the model thinks are few.
  void steps(unsigned count) {
    for (unsigned n = 0; n < count; ++n, moved()) {
      Request more = request();
      more.grid = {40, 1, 1};
      EXPECT_EQ(engine.launch(more, test::direct), CUDA_SUCCESS);
    }
  }

  // So many that some are merged.
  void many_steps() {
    steps(40);
    settle();
    steps(160);
    engine.flush();
  }

  // How often each was launched since that was asked.
  static std::map<std::string, unsigned> launches() {
    std::map<std::string, unsigned> all;
    for (const fake::Launched& one : launched())
      ++all[one.entry];
    return all;
  }
};

TEST(MergeVersions, WaitsForOneTimeOfEither) {
  OfTwoVersions s(0.09);
  s.many_steps();
  auto made = OfTwoVersions::launches();
  EXPECT_GE(made["s5"], 8U);
  EXPECT_GE(made["s"], 1U);
  EXPECT_GE(made["s__ptxasw_x2"], 17U);
  s.expect_as_launched_singly();
}

TEST(MergeVersions, LeavesWhatWasSlower) {
  OfTwoVersions s(0.2);
  s.many_steps();
  EXPECT_GE(OfTwoVersions::launches()["s__ptxasw_x2"], 17U);
  s.steps(102);
  s.engine.flush();
  auto made = OfTwoVersions::launches();
  EXPECT_GE(made["s5"], 8U);
  EXPECT_GE(made["s"], 1U);
  EXPECT_EQ(made["s__ptxasw_x2"], 0U);
  s.expect_as_launched_singly();
}

// Times that nobody has looked at since they were read.
TEST(MergeVersions, LeavesWhatIsFoundToBeSlowerAsItIsAsked) {
  Shape shape;
  shape.usable = {true, true};
  shape.timings.resize(2);
  shape.by_model = 1;
  shape.chosen = 1;
  shape.decided = false;
  EXPECT_FALSE(knows_choice(shape));
  shape.timings[0].add(100, true);
  EXPECT_FALSE(knows_choice(shape));
  shape.timings[1].add(200, true);
  EXPECT_TRUE(knows_choice(shape));
  EXPECT_EQ(shape.chosen, 0U);
}

// What an entry takes may hang on the data: it is timed again now and then.
TEST(MergeVersions, LeavesEntriesThatHaveBecomeSlower) {
  Stencil s;
  s.kernel.milliseconds = s.three.milliseconds = s.five.milliseconds = 1;
  s.steps(400);
  s.engine.flush();
  EXPECT_GE(OfTwoVersions::launches()["s5"], 40U);
  s.three.milliseconds = s.five.milliseconds = 20;
  s.steps(1600);
  s.engine.flush();
  EXPECT_GE(OfTwoVersions::launches()["s5"], 20U);
  s.steps(400);
  s.engine.flush();
  auto made = OfTwoVersions::launches();
  EXPECT_EQ(made["s5"] + made["s3"], 0U);
  EXPECT_EQ(made["s"], 400U);
  s.expect_as_launched_singly();
}

TEST(MergeVersions, LeavesSlowEntriesOnceTheyAreKnown) {
  Stencil s;
  s.kernel.milliseconds = 1;
  s.three.milliseconds = s.five.milliseconds = 20;
  test::gpu().events_done = false;
  s.steps(400);
  EXPECT_GE(OfTwoVersions::launches()["s5"], 40U);
  test::gpu().events_done = true;
  s.steps(600);
  auto made = OfTwoVersions::launches();
  EXPECT_LE(made["s5"] + made["s3"], 10U);
  s.engine.flush();
  s.expect_as_launched_singly();
}

} // namespace
} // namespace ptxasw::launch
