// Which launches are passes through a sequence: by their kernels, their grids and the entries.
#include "passes_case.hpp"

#include <string>
#include <utility>

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::PassesTest;

TEST_F(PassesTest, NotOfKernelsThatTheContractDoesNotName) {
  begin();
  EXPECT_EQ(learnt_pass("sd", 6), "sdsdsdsdsdsd");
}

// Each kernel is a stage in its own module.
TEST_F(PassesTest, NotOfStagesOfTwoModules) {
  fake::Module& other = gpu().add_module();
  for (const char* name : {"s", "h"})
    gpu().add(other, name, {8, 8, 4}).run = module.functions[name]->run;
  other.globals = module.globals;
  begin();
  const auto launch_both = [&] {
    for (unsigned t = 0; t < 6; ++t) {
      launch('s');
      std::swap(other.functions["h"], module.functions["h"]);
      launch('h');
      std::swap(other.functions["h"], module.functions["h"]);
    }
    other_call();
    engine->merger()->settle();
  };
  EXPECT_EQ(learnt(launch_both), "shshshshshsh");
}

TEST_F(PassesTest, NotOfGridsThatTakeTurns) {
  begin();
  const auto launch_turns = [&] {
    for (unsigned t = 0; t < 6; ++t)
      for (const char name : {'s', 'h'})
        launch(name, 4 + t % 2);
    other_call();
    engine->merger()->settle();
  };
  EXPECT_EQ(learnt(launch_turns), "shshshshshsh");
}

TEST_F(PassesTest, ByAnotherEntryWhereABlockDoesNotLaunch) {
  contract.sequences = {sequence_of("shsh", 4), sequence_of("sh", 4)};
  keep_contract();
  add_entry("shsh");
  module.functions.at("shsh_passes")->most_threads = 31;
  begin();
  EXPECT_EQ(learnt_pass("sh", 8), "44");
}

// One launch is several stages of the entry: it is told the places of each.
TEST_F(PassesTest, OfALaunchThatIsSeveralStages) {
  contract.sequences = {sequence_of("sd", 4)};
  contract::Sequence::Stage& first = contract.sequences[0].stages[0];
  first.boxes.push_back(first.boxes[0]);
  first.boxes[1].extents = {test::expression("7"), test::expression("1"), test::expression("1")};
  keep_contract();
  add_entry("sd", 1);
  begin();
  learn("sd", 8);
  launch_all("sd", 8);
  other_call();
  const std::vector<fake::Launched> made = test::launched();
  ASSERT_EQ(made.size(), 2);
  const auto& threads = made[0].parameters[6];
  for (const auto& [n, places] : {std::pair{0U, 128U}, {3U, 7U}, {6U, 128U}, {9U, 4U}})
    EXPECT_EQ(test::value_of<unsigned>(threads, n), places);
}

// A pass that ends early is merged only where it is as the one before.
TEST_F(PassesTest, NotOfAPartWithOtherParameters) {
  begin();
  learn("sh", 6);
  --size;
  EXPECT_EQ(pass("sh", 4), "shshshsh");
  EXPECT_EQ(pass("sh", 6), "33");
}

// As many sequences are known as may be, and passes in a row become one more: the oldest one is
// forgotten, but not the one that goes on.
TEST_F(PassesTest, TheSequenceThatGoesOnIsKept) {
  begin();
  learn("sh", 3);
  const auto other = [&](unsigned blocks) {
    for (const char name : std::string("shsh"))
      launch(name, blocks);
    other_call();
    return how();
  };
  for (unsigned blocks = 5; blocks < 68; ++blocks)
    for (unsigned t = 0; t < 24; ++t)
      other(blocks);
  EXPECT_EQ(other(5), "11");
  launch_all("sh", 3 * 24);
  other_call();
  how();
  EXPECT_EQ(other(6), "11");
  EXPECT_EQ(other(5), "shsh");
}

// By the kernels the first ones are passes, by what they are launched with the last ones, of which
// nobody has loaded the entry yet.
TEST_F(PassesTest, NotByAnEntryThatIsNotLoaded) {
  contract.sequences = {sequence_of("sh", 4)};
  keep_contract();
  contract::Contract other = contract;
  other.kernel = "h";
  for (contract::Variant& variant : other.variants)
    variant.entry = "h";
  other.sequences = {sequence_of("hd", 4)};
  module.globals[contract::symbol_of("h")] = contract::encode(other);
  add_entry("hd");
  Settings settings = read_settings("no-images,steps=60000000");
  settings.tries_behind = 0;
  engine = std::make_unique<Engine>(settings);
  const auto launch_row = [&] {
    launch_all("sh");
    --size;
    launch('s');
    ++size;
    launch_all("hdhd");
    other_call();
    engine->merger()->settle();
  };
  EXPECT_EQ(learnt(launch_row), "shshdhd");
}

} // namespace
} // namespace ptxasw::launch
