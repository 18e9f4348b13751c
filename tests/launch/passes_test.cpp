// Passes through a sequence of several kernels that are merged: what reaches the driver, that
// memory is as launches leave it, and who ends them.
#include "fixture.hpp"
#include "stencil.hpp"

#include "launch/report.hpp"
#include "launch/trampolines.hpp"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace ptxasw::launch {
namespace {

using contract::ArrayPlace;
using test::direct;
using test::EngineTest;
using test::expression;
using test::gpu;
using test::launched;
using test::points;
using test::value_of;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<unsigned>;

// What the kernels do within the rim: `s` changes v by u, `h` changes u by v, `d` both by itself.
void stage(char name, Words& v, Words& u) {
  const Words old = name == 'h' ? v : u;
  for (unsigned i = 1; i + 1 < points; ++i) {
    if (name == 's') v[i] = 3 * v[i] + old[i - 1] + 2 * old[i + 1] + 1;
    if (name == 'h') u[i] = 5 * u[i] + old[i - 1] + old[i + 1];
    if (name == 'd') v[i] = 7 * v[i] + 1;
  }
}

Words words(CUdeviceptr at) {
  const auto* const first = reinterpret_cast<const unsigned*>(at);
  return {first, first + points};
}
// Within the rim.
void store(const Words& from, CUdeviceptr at) {
  std::copy(from.begin() + 1, from.end() - 1, reinterpret_cast<unsigned*>(at) + 1);
}

contract::Sequence::Stage stage_of(char name) {
  const auto touched = [](unsigned part, bool written) {
    return contract::Touched{part, written, expression("0"), expression("p2s32,4,*")};
  };
  return {.kernel = std::string(1, name),
          .places = {{0, 8}, {8, 8}, {16, 4}},
          .conditions = {{expression("p2s32,3,-"), "nothing to do"}},
          .touched = {touched(0, name != 'h'), touched(1, name == 'h')}};
}

contract::Sequence sequence_of(const std::string& names, unsigned count) {
  contract::Sequence made{.entry = names + "_passes", .count = count, .waits = false};
  made.block = {32, 1, 1};
  made.covers = {16, 1, 1};
  for (unsigned n = 0; n < names.size(); ++n) {
    made.stages.push_back(stage_of(names[n]));
    if (n != 0)
      for (const unsigned number : {0U, 1U, 2U})
        made.equal.push_back({{0, number}, {n, number}, number == 2 ? 4U : 8U});
  }
  made.arrays = {{0, 0}, {0, 1}};
  return made;
}

// (v, u, n) of all kernels.
class PassesTest : public EngineTest {
protected:
  PassesTest() {
    for (const char name : std::string("shdo"))
      add(name);
    contract.sequences = {sequence_of("sh", 4), sequence_of("shd", 4)};
    keep_contract();
    add_entry("sh");
    add_entry("shd");
    for (const CUdeviceptr at : {v, u})
      for (unsigned i = 0; i < points; ++i)
        reinterpret_cast<unsigned*>(at)[i] = (at == v ? 3 : 5) * i * i + 1;
    plain_v = words(v);
    plain_u = words(u);
  }
  ~PassesTest() override {
    engine.reset();
    gpu().managed = false;
    gpu().room = std::size_t{1} << 30;
  }
  void add(char name) {
    fake::Function& made = gpu().add(module, std::string(1, name), {8, 8, 4});
    made.run = [name](const fake::Launched& launch) {
      const auto at_v = value_of<CUdeviceptr>(launch.parameters[0]),
                 at_u = value_of<CUdeviceptr>(launch.parameters[1]);
      Words of_v = words(at_v), of_u = words(at_u);
      stage(name, of_v, of_u);
      if (name != 'h') store(of_v, at_v);
      if (name == 'h') store(of_u, at_u);
    };
  }
  void keep_contract() { module.globals[contract::symbol_of("s")] = contract::encode(contract); }
  // What lies on the rim, which no stage stores to, is in the program's arrays.
  void add_entry(const std::string& names) {
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n < names.size(); ++n)
      sizes.insert(sizes.end(), {8, 8, 4});
    sizes.insert(sizes.end(), {4 * (3 * names.size() + 1), 2 * sizeof(ArrayPlace)});
    fake::Function& made = gpu().add(module, names + "_passes", sizes);
    made.run = [names](const fake::Launched& launch) {
      const auto& threads = launch.parameters[3 * names.size()];
      const auto& places = launch.parameters.back();
      const std::array at{value_of<ArrayPlace>(places, 0), value_of<ArrayPlace>(places, 1)};
      std::array<Words, 2> now;
      for (unsigned n = 0; n < 2; ++n) {
        now.at(n) = words(value_of<CUdeviceptr>(launch.parameters[n]));
        const Words read = words(at.at(n).read);
        std::copy(read.begin() + 1, read.end() - 1, now.at(n).begin() + 1);
      }
      for (unsigned n = 0; n < value_of<unsigned>(threads, 3 * names.size()); ++n)
        for (const char name : names)
          stage(name, now[0], now[1]);
      store(now[0], at[0].write);
      store(now[1], at[1].write);
    };
  }
  void begin(const std::string& settings = "no-images,steps=60000000") {
    engine = std::make_unique<Engine>(read_settings(settings));
    launch_all("o");
    gpu().launches.clear();
  }

  void launch(char name) {
    void* parameters[] = {&v, &u, &size};
    EXPECT_EQ(
        engine->launch({reinterpret_cast<CUfunction>(module.functions[std::string(1, name)].get()),
                        {4, 1, 1},
                        {32, 1, 1},
                        shared,
                        stream,
                        parameters},
                       direct),
        CUDA_SUCCESS);
    stage(name, plain_v, plain_u);
  }
  void launch_all(const std::string& names, unsigned times = 1) {
    for (unsigned t = 0; t < times; ++t)
      for (const char name : names)
        launch(name);
  }
  void other_call() {
    engine->flush();
    EXPECT_EQ(words(v), plain_v);
    EXPECT_EQ(words(u), plain_u);
  }
  // So often that it is known whether it gains.
  void learn(const std::string& names, unsigned times) {
    for (unsigned t = 0; t < 24; ++t) {
      launch_all(names, times);
      other_call();
      if (engine->merger() != nullptr) engine->merger()->settle();
    }
    gpu().launches.clear();
  }
  // How the launches since the last call were made: a stage, or how many passes an entry did.
  static std::string how() {
    std::string all;
    for (const fake::Launched& one : launched())
      all += one.entry.size() == 1 ? one.entry : std::to_string(told(one));
    return all;
  }
  static unsigned told(const fake::Launched& one) {
    const auto& threads = one.parameters[one.parameters.size() - 2];
    return value_of<unsigned>(threads, threads.size() / 4 - 1);
  }
  std::string pass(const std::string& names, unsigned times) {
    launch_all(names, times);
    other_call();
    return how();
  }

  fake::Module& module = gpu().add_module();
  contract::Contract contract{.kernel = "s",
                              .parameters = 3,
                              .parameter_bytes = 20,
                              .places = {{0, 8}, {8, 8}, {16, 4}},
                              .variants = {{.entry = "s", .name = "original"}}};
  std::vector<unsigned char>&a = gpu().allocate(4 * points), &b = gpu().allocate(4 * points);
  CUdeviceptr v = reinterpret_cast<CUdeviceptr>(a.data()),
              u = reinterpret_cast<CUdeviceptr>(b.data());
  unsigned size = points, shared = 0;
  CUstream stream = reinterpret_cast<CUstream>(0x80);
  Words plain_v, plain_u; // what plain launches leave
  std::unique_ptr<Engine> engine;
};

// --- what is merged
// -------------------------------------------------------------------------------

TEST_F(PassesTest, AreMergedInPairs) {
  begin();
  learn("sh", 15);
  EXPECT_EQ(pass("sh", 15), "4443");
  EXPECT_EQ(pass("sh", 15), "4443");
  learn("sh", 2);
  EXPECT_EQ(pass("sh", 2), "11");
  learn("sh", 9);
  EXPECT_EQ(pass("sh", 9), "3222");
}

TEST_F(PassesTest, OfTheirOwnMemoryAndBack) {
  begin();
  learn("sh", 8);
  launch_all("sh", 8);
  other_call();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  const auto places = [&](unsigned launch, unsigned array) {
    return value_of<ArrayPlace>(all[launch].parameters[7], array);
  };
  for (const unsigned array : {0U, 1U}) {
    const CUdeviceptr program = array == 0 ? v : u;
    EXPECT_EQ(places(0, array).read, program);
    EXPECT_EQ(places(1, array).write, program);
    EXPECT_EQ(places(0, array).write, places(1, array).read);
    EXPECT_NE(places(0, array).write, program);
  }
  const auto ours = std::minmax(places(0, 0).write, places(0, 1).write);
  EXPECT_GE(ours.second - ours.first, 4 * points) << "apart";
  EXPECT_EQ(all[0].grid, (std::vector<unsigned>{8, 1, 1}));
  EXPECT_EQ(all[0].block, (std::vector<unsigned>{32, 1, 1}));
  EXPECT_EQ(all[0].stream, stream);
  EXPECT_EQ(value_of<CUdeviceptr>(all[0].parameters[4]), u) << "of the second stage";
  EXPECT_EQ(value_of<unsigned>(all[0].parameters[6], 3), 128U) << "threads of the second stage";
}

TEST_F(PassesTest, WhatIsNoPassIsMadeAsItCame) {
  begin();
  learn("hs", 5);
  EXPECT_EQ(pass("hs", 5), "h22s");
  learn("shshsdshsh", 2);
  EXPECT_EQ(pass("shshsdshsh", 2), "11sd22sd11");
  learn("shdshdshd", 1);
  EXPECT_EQ(pass("shdshdshd", 1), "21") << "the longer sequence";
}

TEST_F(PassesTest, AnOddPassIsLeftOver) {
  contract.sequences = {sequence_of("sh", 1)};
  keep_contract();
  begin();
  learn("sh", 5);
  EXPECT_EQ(pass("sh", 5), "1111sh");
}

// In pieces of whole passes.
TEST_F(PassesTest, OfALongRun) {
  begin();
  launch_all("shd", 500);
  other_call();
  engine->merger()->settle();
  gpu().launches.clear();
  launch_all("shd", 21 * 20);
  std::string all;
  for (unsigned n = 0; n < 20; ++n)
    all += "444333";
  EXPECT_THAT(how(), testing::EndsWith(all.substr(6 * 8)));
  launch_all("shd", 10);
  other_call();
  EXPECT_EQ(how(), "3322") << "a piece that ends early is merged, too";
}

TEST_F(PassesTest, EntriesThatWaitBeginEarly) {
  contract.sequences[0].waits = true;
  keep_contract();
  begin();
  learn("sh", 16);
  launch_all("sh", 16);
  other_call();
  std::vector<bool> early;
  for (const auto& one : launched())
    early.push_back(one.ahead);
  EXPECT_THAT(early, ElementsAre(false, true, true, true));
}

// The stage is launched as its best variant. An entry knows it as the program does.
TEST_F(PassesTest, OfVariantsOfAKernel) {
  contract.variants.push_back({.entry = "s2",
                               .name = "x:2",
                               .kind = contract::Kind::coarsened,
                               .divide = {2, 1, 1},
                               .rest = contract::Rest::hangs_over});
  keep_contract();
  gpu().add(module, "s2", {8, 8, 4, 12}).run = module.functions["s"]->run;
  begin("no-images,steps=60000000,policy=x:2");
  launch_all("sh");
  EXPECT_EQ(launched()[0].entry, "s2");
  other_call();
  learn("sh", 6);
  launch_all("sh", 6);
  other_call();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(told(all[0]), 3U);
  EXPECT_EQ(value_of<unsigned>(all[0].parameters[6], 0), 128U);
}

// --- where nothing is
// -----------------------------------------------------------------------------

TEST_F(PassesTest, OnlyWhereItIsAskedFor) {
  for (const char* settings : {"", "batch", "steps,check", "early"}) {
    begin(settings);
    learn("sh", 6);
    EXPECT_THAT(pass("sh", 6), Each(testing::AnyOf('s', 'h'))) << settings;
  }
}

TEST_F(PassesTest, NotOfOtherParameters) {
  begin();
  learn("sh", 6);
  const unsigned less = points - 1;
  launch_all("sh", 2);
  size = less;
  launch_all("sh", 2);
  size = points;
  launch_all("sh", 2);
  other_call();
  EXPECT_EQ(how(), "111111") << "each two that are the same";
  EXPECT_EQ(pass("sh", 6), "33");
  size = less;
  launch_all("s");
  size = points;
  launch_all("h");
  launch_all("sh", 5);
  other_call();
  EXPECT_EQ(how(), "sh3"
                   "2");
  for (unsigned t = 0; t < 6; ++t) {
    size = points - 1 - t % 2;
    launch('s');
    size = points;
    launch('h');
  }
  other_call();
  EXPECT_EQ(how(), "shshshshshsh");
}

TEST_F(PassesTest, NotOfOtherGrids) {
  begin();
  learn("sh", 6);
  launch_all("sh", 3);
  void* parameters[] = {&v, &u, &size};
  engine->launch({reinterpret_cast<CUfunction>(module.functions["s"].get()),
                  {5, 1, 1},
                  {32, 1, 1},
                  0,
                  stream,
                  parameters},
                 direct);
  stage('s', plain_v, plain_u);
  other_call();
  EXPECT_EQ(how(), "21s");
}

TEST_F(PassesTest, NotOfArraysThatOverlap) {
  begin();
  const CUdeviceptr before = u;
  u = v + 4;
  for (unsigned t = 0; t < 24; ++t) {
    launch_all("sh", 6);
    engine->flush();
    engine->merger()->settle();
  }
  EXPECT_THAT(how(), Each(testing::AnyOf('s', 'h')));
  u = before;
}

TEST_F(PassesTest, NotWithoutMemory) {
  gpu().room = 2 * 4 * points;
  begin();
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
  gpu().room = std::size_t{1} << 30;
  for (unsigned t = 0; t < 3; ++t)
    learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "33") << "a while later";
}

TEST_F(PassesTest, NotOfManagedMemory) {
  gpu().managed = true;
  begin();
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
  gpu().managed = false;
  for (unsigned t = 0; t < 3; ++t)
    learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "33");
  gpu().managed = true;
  engine->flush();
  EXPECT_THAT(pass("sh", 6), "shshshshshsh") << "the address may be another allocation's";
}

TEST_F(PassesTest, NotWithDynamicSharedMemory) {
  shared = 16;
  begin();
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
}

TEST_F(PassesTest, NotOfAnotherModulesKernel) {
  begin();
  auto& other = gpu().add_module();
  other.functions["h"] = std::move(module.functions["h"]);
  other.functions["h"]->module = &other;
  module.functions.erase("h");
  const auto launch_both = [&] {
    for (unsigned t = 0; t < 6; ++t) {
      launch('s');
      std::swap(other.functions["h"], module.functions["h"]);
      module.functions["h"]->module = &other;
      launch('h');
      std::swap(other.functions["h"], module.functions["h"]);
    }
    other_call();
  };
  for (unsigned t = 0; t < 20; ++t) {
    launch_both();
    engine->merger()->settle();
  }
  EXPECT_THAT(how(), Each(testing::AnyOf('s', 'h')));
  module.functions.erase("h");
}

TEST_F(PassesTest, NotByAnEntryThatIsMissingOrDoesNotLaunch) {
  begin();
  module.functions.at("sh_passes")->result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
  engine.reset();
  module.functions.at("sh_passes")->result = CUDA_SUCCESS;
  module.functions.at("sh_passes")->most_threads = 31;
  begin();
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
  engine.reset();
  module.functions.erase("sh_passes");
  begin();
  learn("sh", 6);
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
}

// The first one of a pair has changed nothing of the program's.
TEST_F(PassesTest, TheSecondEntryOfAPairFails) {
  begin();
  learn("sh", 6);
  auto& entry = *module.functions.at("sh_passes");
  const auto run = entry.run;
  entry.run = [&](const fake::Launched& launch) {
    run(launch);
    entry.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  };
  EXPECT_EQ(pass("sh", 6), "3shshshshshsh");
  EXPECT_EQ(pass("sh", 6), "shshshshshsh") << "and not again for a while";
}

TEST_F(PassesTest, NotWhereTheyAreNoFaster) {
  module.functions.at("sh_passes")->milliseconds = 6;
  begin();
  for (unsigned t = 0; t < 24; ++t) {
    launch_all("sh", 6);
    other_call();
    engine->merger()->settle();
  }
  const std::string all = how();
  EXPECT_THAT(all, HasSubstr("33")) << "it was tried";
  EXPECT_THAT(pass("sh", 6), "shshshshshsh");
}

// --- who ends them
// --------------------------------------------------------------------------------

TEST_F(PassesTest, AnotherCallEndsThem) {
  begin();
  learn("sh", 15);
  launch_all("shs");
  EXPECT_EQ(how(), "") << "they wait";
  EXPECT_TRUE(is_waiting());
  other_call();
  EXPECT_EQ(how(), "shs");
  launch_all("shshs");
  other_call();
  EXPECT_EQ(how(), "11s");
}

TEST_F(PassesTest, AnotherLaunchEndsThem) {
  begin();
  learn("sh", 15);
  launch_all("sho");
  EXPECT_EQ(how(), "sho") << "of a kernel that is no stage";
  other_call();
  launch_all("shd");
  EXPECT_EQ(how(), "shd") << "of one that does not follow";
  other_call();
  launch_all("sh");
  std::thread([&] { launch('s'); }).join();
  EXPECT_EQ(how(), "sh") << "of another thread, which may begin one";
  other_call();
}

TEST_F(PassesTest, WhoWaitsSeesProgress) {
  begin("no-images,steps");
  for (unsigned t = 0; t < 24; ++t) {
    launch_all("sh", 15);
    other_call();
    engine->merger()->settle();
  }
  how();
  launch_all("shs");
  for (unsigned t = 0; t < 1000; ++t) {
    if (const std::lock_guard lock(gpu().mutex); gpu().launches.size() == 3) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  other_call();
  EXPECT_EQ(how(), "shs");
}

TEST_F(PassesTest, AForkedChildMakesNothing) {
  begin();
  learn("sh", 15);
  launch_all("shs");
  engine->before_fork();
  EXPECT_EQ(how(), "shs");
  engine->behind_fork(true);
  EXPECT_EQ(pass("hsh", 1), "hsh");
}

TEST_F(PassesTest, NotInACapture) {
  begin();
  learn("sh", 6);
  gpu().capturing = true;
  engine->flush();
  EXPECT_EQ(pass("sh", 6), "shshshshshsh");
}

TEST_F(PassesTest, HandlesThatAreForgotten) {
  begin();
  learn("sh", 6);
  launch_all("sh", 3);
  engine->forget_handles();
  EXPECT_EQ(how(), "21");
  EXPECT_EQ(pass("sh", 6), "shshshshshsh") << "they may be other kernels now";
}

// --- other launches
// -------------------------------------------------------------------------------

// What threads remember of stages that they launched before the sequence was known is forgotten.
class LaunchThatCounts final : public Launch {
public:
  explicit LaunchThatCounts(std::vector<std::uint64_t>& epochs) : epochs_(epochs) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<LaunchThatCounts>(epochs_);
  }
  CUresult operator()(const Request& request) const override { return direct(request); }
  void pass_from_now_on(const Request&, std::uint64_t epoch, std::uint64_t) const override {
    epochs_.push_back(epoch);
  }

private:
  std::vector<std::uint64_t>& epochs_;
};

TEST_F(PassesTest, StagesAreLookedAt) {
  engine = std::make_unique<Engine>(read_settings("no-images,steps"));
  std::vector<std::uint64_t> epochs;
  const LaunchThatCounts passing(epochs);
  const auto launch_one = [&](const char* name) {
    void* parameters[] = {&v, &u, &size};
    engine->launch({reinterpret_cast<CUfunction>(module.functions[name].get()),
                    {4, 1, 1},
                    {32, 1, 1},
                    0,
                    stream,
                    parameters},
                   passing);
    return std::exchange(epochs, {});
  };
  const std::size_t remembered = launch_one("h").size();
  launch_one("s");
  EXPECT_TRUE(launch_one("h").empty());
  EXPECT_TRUE(launch_one("s").empty());
  EXPECT_EQ(launch_one("o").size(), 1U) << "no stage";
  EXPECT_EQ(remembered, 0U) << "its module was looked through";
}

TEST_F(PassesTest, BesideGraphs) {
  begin("no-images,steps=60000000,batch");
  learn("sh", 6);
  EXPECT_EQ(pass("sh", 6), "33");
  learn("o", 6);
  EXPECT_EQ(pass("o", 6), "oooooo");
}

TEST_F(PassesTest, TheReportSaysSo) {
  begin();
  learn("sh", 6);
  pass("sh", 6);
  EXPECT_THAT(report({}, {.passes = 8, .entries = 2}, Format::text),
              HasSubstr("passes through several kernels, by 2 launches"));
  EXPECT_THAT(report({}, {.passes = 8, .entries = 2}, Format::json),
              HasSubstr("passes through several kernels, by 2 launches"));
}

} // namespace
} // namespace ptxasw::launch
