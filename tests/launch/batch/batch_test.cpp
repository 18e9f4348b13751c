// Sequences that go out together: what reaches the driver, in which order, and who ends them.
#include "fixture.hpp"

#include "launch/report/report.hpp"
#include "launch/waiting/trampolines.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::value_of;
using testing::Each;
using testing::HasSubstr;

// Kernels a, b, c, ... that write their parameter to a list; each launch has another one. A launch
// of the program's takes a while; a node of a graph takes none.
class BatchTest : public EngineTest {
protected:
  BatchTest() {
    for (const char name : std::string("abcdefgh")) {
      fake::Function& made = gpu().add(module, std::string(1, name), {4});
      made.run = [this](const fake::Launched& launch) {
        seen.push_back(value_of<unsigned>(launch.parameters[0]));
        if (launch.by != "a node") std::this_thread::sleep_for(cost);
      };
      functions[name] = reinterpret_cast<CUfunction>(&made);
    }
    gpu().launches.clear();
  }
  ~BatchTest() override {
    engine.reset();
    gpu().graph_result = CUDA_SUCCESS;
  }
  static inline const auto other = reinterpret_cast<CUstream>(0x80);
  void launch(char name, CUstream stream = other) {
    unsigned value = next++;
    void* parameters[] = {&value};
    EXPECT_EQ(
        engine->launch({functions[name], {4, 1, 1}, {32, 1, 1}, 0, stream, parameters}, direct),
        CUDA_SUCCESS);
  }
  void launch_all(const std::string& names, CUstream stream = other) {
    for (const char name : names)
      launch(name, stream);
  }
  // So often that it is known what is faster.
  void learn(const std::string& names, CUstream stream = other) {
    for (unsigned n = 0; n < 120; ++n)
      pass(names, stream);
  }
  // And another call behind it, as a trampoline tells it.
  void pass(const std::string& names, CUstream stream = other) {
    launch_all(names, stream);
    engine->flush();
  }
  void launch_in_no_order(CUstream stream) {
    unsigned state = 1;
    const auto any = [&] { return "abcdefgh"[(state = state * 1103515245 + 12345) >> 16 & 7]; };
    for (unsigned n = 0; n < 5000; ++n) {
      launch(any(), stream);
      if (any() == 'a') engine->flush();
    }
  }
  // How the launches since the last call were made: G for a node of a graph.
  static std::string how() {
    std::string all;
    for (const fake::Launched& one : std::exchange(gpu().launches, {}))
      all += one.by == "a node" ? 'G' : '-';
    return all;
  }
  void expect_in_order() {
    ASSERT_EQ(seen.size(), next);
    for (unsigned n = 0; n < next; ++n)
      ASSERT_EQ(seen[n], n);
  }
  fake::Module& module = gpu().add_module();
  std::map<char, CUfunction> functions;
  std::vector<unsigned> seen;
  unsigned next = 0;
  std::chrono::microseconds cost{30};
  std::unique_ptr<Engine> engine = std::make_unique<Engine>(
      read_settings("no-images,batch,steps=60000000")); // nothing is too slow
};

TEST_F(BatchTest, GoesOutWhereThatIsFaster) {
  learn("abcd");
  EXPECT_THAT(how(), HasSubstr("GGGG"));
  const unsigned before = gpu().calls["cuGraphInstantiate"];
  for (unsigned n = 0; n < 20; ++n)
    pass("abcd");
  EXPECT_THAT(how(), Each('G'));
  EXPECT_EQ(gpu().calls["cuGraphInstantiate"], before) << "the executable is kept";
  expect_in_order();
}

// Eight passes of either kind tell.
TEST_F(BatchTest, WhatIsClearIsSoonKnown) {
  for (unsigned n = 0; n < 22; ++n)
    pass("abcd");
  EXPECT_THAT(how(), HasSubstr("GGGG"));
  for (unsigned n = 0; n < 10; ++n)
    pass("abcd");
  EXPECT_THAT(how(), Each('G'));
  expect_in_order();
}

TEST_F(BatchTest, NotWhereItIsNot) {
  for (fake::Function* const f : {module.functions["a"].get(), module.functions["d"].get()})
    f->run = [this](const fake::Launched& launch) {
      seen.push_back(value_of<unsigned>(launch.parameters[0]));
      if (launch.by == "a node") std::this_thread::sleep_for(cost);
    };
  cost = std::chrono::microseconds(60);
  learn("addd");
  EXPECT_THAT(how(), HasSubstr("GGGG")) << "it was tried";
  for (unsigned n = 0; n < 20; ++n)
    pass("addd");
  EXPECT_THAT(how(), Each('-'));
  expect_in_order();
}

TEST_F(BatchTest, OnlyWhereItIsAskedFor) {
  for (const char* settings : {"", "batch,check", "early"}) {
    engine = std::make_unique<Engine>(read_settings(settings));
    learn("abcd");
    EXPECT_THAT(how(), Each('-')) << settings;
  }
}

TEST_F(BatchTest, ALoopWithoutOtherCalls) {
  for (unsigned n = 0; n < 3000; ++n)
    launch_all("abc");
  engine->flush();
  EXPECT_THAT(how(), HasSubstr(std::string(64, 'G')));
  expect_in_order();
}

// A short sequence is known, and then it comes many times in a row: that is a longer one.
TEST_F(BatchTest, PassesInARowAreALongerSequence) {
  learn("abcd");
  for (unsigned n = 0; n < 200; ++n) {
    for (unsigned pass = 0; pass < 16; ++pass)
      launch_all("abcd");
    engine->flush();
  }
  how();
  const unsigned before = gpu().calls["cuGraphLaunch"];
  for (unsigned pass = 0; pass < 16; ++pass)
    launch_all("abcd");
  EXPECT_EQ(how(), std::string(64, 'G'));
  EXPECT_EQ(gpu().calls["cuGraphLaunch"], before + 1);
  engine->flush();
  expect_in_order();
}

// What was put off is made before the other call, in order, and at once.
TEST_F(BatchTest, AnotherCallEndsIt) {
  learn("abcdefgh");
  how();
  launch_all("abc");
  EXPECT_EQ(how(), "") << "they wait";
  EXPECT_TRUE(is_waiting());
  engine->flush();
  EXPECT_EQ(how(), "---");
  expect_in_order();
}

TEST_F(BatchTest, AnotherLaunchEndsIt) {
  learn("abcdefgh");
  how();
  launch_all("abcg");
  EXPECT_EQ(how(), "----");
  engine->flush();
  launch_all("abc");
  launch('d', nullptr);
  EXPECT_EQ(how(), "----") << "of the default stream";
  engine->flush();
  launch_all("abc");
  std::thread([&] { launch('d'); }).join();
  EXPECT_EQ(how(), "----") << "of another thread";
  expect_in_order();
}

TEST_F(BatchTest, WhoWaitsSeesProgress) {
  engine = std::make_unique<Engine>(read_settings("batch"));
  cost = std::chrono::microseconds(0);
  for (fake::Function* const f : {module.functions["a"].get(), module.functions["b"].get()})
    f->run = [this](const fake::Launched& launch) {
      seen.push_back(value_of<unsigned>(launch.parameters[0]));
      if (launch.by != "a node")
        for (const auto begin = std::chrono::steady_clock::now();
             std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20);) {
        }
    };
  learn("abab");
  how();
  launch_all("aba");
  for (unsigned n = 0; n < 1000; ++n) {
    if (const std::lock_guard lock(gpu().mutex); gpu().launches.size() == 3) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  engine->flush(); // behind the one that looks, in case it is at it
  EXPECT_EQ(how().size(), 3U);
  expect_in_order();
}

TEST_F(BatchTest, AGraphThatFailsIsMadeSingly) {
  for (unsigned n = 0; n < 10; ++n)
    pass("abcd");
  gpu().graph_result = CUDA_ERROR_NOT_SUPPORTED;
  learn("abcd");
  EXPECT_THAT(how(), Each('-'));
  expect_in_order();
}

TEST_F(BatchTest, NotInACapture) {
  learn("abcd");
  gpu().capturing = true;
  engine->flush(); // the call that begins it
  how();
  for (unsigned n = 0; n < 8; ++n)
    pass("abcd");
  EXPECT_THAT(how(), Each('-'));
  expect_in_order();
}

TEST_F(BatchTest, NotOnTheThreadsOwnStream) {
  for (unsigned n = 0; n < 600; ++n)
    launch('a', CU_STREAM_PER_THREAD);
  EXPECT_THAT(how(), Each('-'));
  expect_in_order();
}

TEST_F(BatchTest, HandlesThatAreForgotten) {
  learn("abcd");
  how();
  launch_all("abc");
  engine->forget_handles();
  EXPECT_EQ(how(), "---");
  launch_all("abcd");
  EXPECT_EQ(how(), "----") << "they may be other kernels now";
  expect_in_order();
}

TEST_F(BatchTest, OnlyParametersThatChangedAreSet) {
  learn("abcd");
  const unsigned before = gpu().calls["cuGraphExecKernelNodeSetParams"];
  const auto same = [&] {
    const unsigned first = next;
    for (const char name : std::string("abcd")) {
      next = name == 'b' ? first : 7;
      launch(name);
    }
    next = first + 1;
  };
  same();
  same();
  same();
  EXPECT_EQ(gpu().calls["cuGraphExecKernelNodeSetParams"] - before, 4 + 1 + 1U);
}

// Of entries that wait the edges are programmatic, if the driver takes that.
TEST_F(BatchTest, EntriesBeginEarlyInAGraph) {
  for (const char name : {'a', 'b', 'c'}) {
    const std::string kernel(1, name);
    const contract::Contract contract{
        .kernel = kernel,
        .parameters = 1,
        .parameter_bytes = 4,
        .places = {{0, 4}},
        .variants = {{.entry = kernel, .name = "original", .waits = true}}};
    module.globals[contract::symbol_of(kernel)] = contract::encode(contract);
  }
  for (const bool taken : {true, false}) {
    gpu().programmatic_edges = taken;
    engine = std::make_unique<Engine>(read_settings("no-images,batch,early,steps=60000000"));
    learn("abdc");
    gpu().launches.clear();
    pass("abdc");
    std::string early;
    for (const fake::Launched& one : gpu().launches)
      early += one.by != "a node" ? '?' : one.ahead ? 'E' : '-';
    EXPECT_EQ(early, taken ? "-E--" : "----");
  }
  gpu().programmatic_edges = true;
  expect_in_order();
}

// A tool's callback launches and waits within the launch of a graph.
TEST_F(BatchTest, AToolMayCallTheDriverWithinALaunch) {
  const fake::Function& tool = gpu().add(module, "tool", {});
  unsigned calls = 0;
  auto& b = *module.functions["b"];
  b.run = [&, run = b.run](const fake::Launched& launch) {
    run(launch);
    if (launch.by != "a node") return;
    ++calls;
    engine->flush();
    engine->launch({reinterpret_cast<CUfunction>(const_cast<fake::Function*>(&tool)),
                    {1, 1, 1},
                    {1, 1, 1},
                    0,
                    reinterpret_cast<CUstream>(0x80)},
                   direct);
  };
  learn("abcd");
  EXPECT_THAT(how(), HasSubstr("GG-GG"));
  EXPECT_GT(calls, 20U);
  expect_in_order();
}

TEST_F(BatchTest, AForkedChildMakesNothing) {
  learn("abcdefgh");
  how();
  launch_all("abc");
  engine->before_fork(); // as the handlers do for the library's own engine
  EXPECT_EQ(how(), "---");
  engine->behind_fork(true);
  launch_all("abcdefgh");
  EXPECT_EQ(how(), "--------");
  expect_in_order();
}

TEST_F(BatchTest, TheReportSaysSo) {
  learn("abcd");
  EXPECT_THAT(report({}, {.batched = 8, .graphs = 2}, {}),
              HasSubstr("went out together, in 2 graphs"));
}

TEST_F(BatchTest, ManyThreads) {
  cost = std::chrono::microseconds(0);
  std::vector<std::thread> threads;
  std::atomic<unsigned> made{0};
  for (auto& [name, function] : module.functions)
    function->run = [&](const fake::Launched&) { ++made; };
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      unsigned value = t;
      void* parameters[] = {&value};
      for (unsigned n = 0; n < 2000; ++n)
        engine->launch({functions["abcd"[n % 4]],
                        {4, 1, 1},
                        {32, 1, 1},
                        0,
                        reinterpret_cast<CUstream>(0x1000 + 64 * t),
                        parameters},
                       direct);
    });
  for (std::thread& thread : threads)
    thread.join();
  engine->flush();
  EXPECT_EQ(made, 8 * 2000U);
}

// A graph is handed over while all others wait for their turn.
TEST_F(BatchTest, ThreadsThatWaitForOneAnotherAreLeftAlone) {
  std::atomic<unsigned> made{0};
  for (auto& [name, function] : module.functions)
    function->run = [&](const fake::Launched& launch) {
      ++made;
      std::this_thread::sleep_for(std::chrono::microseconds(launch.by == "a node" ? 50 : 1500));
    };
  const auto passes = [&](unsigned number, CUstream stream) {
    unsigned value = 0;
    void* parameters[] = {&value};
    for (unsigned n = 0; n < 4 * number; ++n)
      engine->launch({functions["abcd"[n % 4]], {4, 1, 1}, {32, 1, 1}, 0, stream, parameters},
                     direct);
  };
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 0; t < 6; ++t)
    threads.emplace_back(passes, 400, reinterpret_cast<CUstream>(0x1000 + 64 * t));
  for (std::thread& thread : threads)
    thread.join();
  engine->flush();
  EXPECT_EQ(made, 6 * 4 * 400U);
  unsigned left_alone = 0; // the last one has nobody who waits
  for (std::uintptr_t t = 0; t < 6; ++t) {
    launch('a', reinterpret_cast<CUstream>(0x1000 + 64 * t));
    left_alone += is_waiting() ? 0 : 1;
    engine->flush();
  }
  EXPECT_GE(left_alone, 2U);
}

TEST_F(BatchTest, StreamsInTurnHaveTheirOwnSequences) {
  const std::array streams{reinterpret_cast<CUstream>(0x80), reinterpret_cast<CUstream>(0x90)};
  const auto both = [&] {
    for (const char name : std::string("abcd"))
      for (CUstream stream : streams)
        launch(name, stream);
    engine->flush();
  };
  for (unsigned n = 0; n < 120; ++n)
    both();
  how();
  seen.clear();
  next = 0;
  both();
  EXPECT_EQ(how(), "GGGGGGGG");
  EXPECT_THAT(seen, testing::ElementsAre(0, 2, 4, 6, 1, 3, 5, 7)) << "each in its own order";
}

TEST_F(BatchTest, TheDefaultStreamIsInOrderWithTheOthers) {
  learn("abcd");
  learn("efgh", nullptr);
  how();
  seen.clear();
  next = 0;
  launch_all("abc");
  launch_all("efg", nullptr);
  launch('d');
  engine->flush();
  EXPECT_EQ(how(), "-------");
  expect_in_order();
}

// Where nothing repeats no time is spent, until there is another stream whose launches are in order
// with its own.
TEST_F(BatchTest, AStreamOfWhichNothingGoesOutIsLeftAlone) {
  for (const auto& [stream, second] : {std::pair<CUstream, CUstream>(other, nullptr),
                                       std::pair<CUstream, CUstream>(nullptr, other)}) {
    engine = std::make_unique<Engine>(read_settings("no-images,batch,steps=60000000"));
    cost = std::chrono::microseconds(0);
    launch_in_no_order(stream);
    how();
    cost = std::chrono::microseconds(30);
    learn("abcd", stream);
    EXPECT_THAT(how(), testing::Each('-'));
    launch('a', second);
    engine->flush();
    learn("abcd", stream);
    EXPECT_THAT(how(), HasSubstr("GGGG"));
    expect_in_order();
  }
}

// A few at a time.
TEST_F(BatchTest, WhatIsLeftAloneGoesBy) {
  cost = std::chrono::microseconds(0);
  const auto passing = [&](unsigned blocks) {
    const test::Passed passed;
    unsigned value = next++;
    void* parameters[] = {&value};
    engine->launch({functions['a'], {blocks, 1, 1}, {32, 1, 1}, 0, other, parameters}, passed);
    return passed.left;
  };
  EXPECT_EQ(passing(4), 0);
  launch_in_no_order(other);
  const std::uint64_t some = passing(4);
  EXPECT_GT(some, 0);
  EXPECT_LT(some, 100) << "it is looked at again";
  EXPECT_EQ(passing(5), 0) << "of a grid that is new";
}

TEST_F(BatchTest, AGridThatIsNewIsLookedAt) {
  cost = std::chrono::microseconds(0);
  launch_in_no_order(other);
  launch('a');
  EXPECT_FALSE(is_waiting());
  unsigned value = next++;
  void* parameters[] = {&value};
  engine->launch({functions['a'], {5, 1, 1}, {32, 1, 1}, 0, other, parameters}, direct);
  EXPECT_TRUE(is_waiting());
}

// Its launches wait for those to others.
TEST_F(BatchTest, TheDefaultStreamIsNotLeftAloneBesideOthers) {
  launch('a');
  engine->flush();
  cost = std::chrono::microseconds(0);
  launch_in_no_order(nullptr);
  cost = std::chrono::microseconds(30);
  learn("abcd");
  how();
  launch_all("abc");
  EXPECT_EQ(how(), "") << "they wait";
  launch('e', nullptr);
  EXPECT_EQ(how(), "----");
  expect_in_order();
}

// Launches of a sequence that gains nothing are not looked at for as long as others.
TEST_F(BatchTest, WhatGainsNothingIsSoonLeftAlone) {
  learn("abcd");
  learn("abcd");
  launch('a');
  EXPECT_TRUE(is_waiting());
  engine = std::make_unique<Engine>(read_settings("no-images,batch,steps=60000000"));
  for (const char* name : {"a", "d"})
    module.functions[name]->run = [this](const fake::Launched& launch) {
      if (launch.by == "a node") std::this_thread::sleep_for(cost);
    };
  cost = std::chrono::microseconds(60);
  learn("addd");
  learn("addd");
  launch('a');
  EXPECT_FALSE(is_waiting());
}

// Nothing is to be had then, and threads would wait for one another.
TEST_F(BatchTest, NotWhereThreadsLaunchToAStreamInTurn) {
  for (unsigned n = 0; n < 600; ++n) {
    std::thread([&] { launch('a'); }).join();
    launch('b');
  }
  gpu().launches.clear();
  learn("abcd");
  EXPECT_THAT(how(), testing::Each('-'));
}

// --- from one run of the program to the next -----------------------------------------------------

class BatchKept : public BatchTest {
protected:
  BatchKept() {
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~BatchKept() override { std::filesystem::remove_all(folder); }
  // Another run.
  std::string how_in(unsigned passes) {
    engine = std::make_unique<Engine>(read_settings("no-images,batch,steps=60000000"));
    gpu().launches.clear();
    for (unsigned n = 0; n < passes; ++n)
      pass("abcd");
    return how();
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ptxasw-batch-" + std::to_string(::getpid()));
};

TEST_F(BatchKept, WhatIsFasterGoesOutAtOnce) {
  EXPECT_EQ(how_in(60).substr(0, 40), std::string(40, '-'));
  EXPECT_EQ(how_in(5), "--------GGGGGGGGGGGG") << "once it is known to launch";
  expect_in_order();
  for (auto& [name, function] : module.functions)
    function->name = "other_" + name;
  EXPECT_EQ(how_in(5), std::string(20, '-')) << "of other kernels";
}

// On a machine with other work a launch may take as long as a node; then it is tried once more.
TEST_F(BatchKept, WhatIsSlowerIsNotTriedAgain) {
  for (auto& [name, function] : module.functions)
    function->run = [](const fake::Launched& launch) {
      std::this_thread::sleep_for(std::chrono::microseconds(launch.by == "a node" ? 900 : 30));
    };
  std::string again = "G";
  for (int tries = 0; tries < 8 && again.find('G') != std::string::npos; ++tries) {
    std::filesystem::remove_all(folder / "ptxasw");
    EXPECT_THAT(how_in(60), HasSubstr("GGGG"));
    again = how_in(60);
  }
  EXPECT_THAT(again, Each('-'));
}

} // namespace
} // namespace ptxasw::launch
