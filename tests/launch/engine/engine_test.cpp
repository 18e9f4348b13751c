// What becomes of launches, with a driver that records them.
#include "fixture.hpp"

#include "launch/choose/model.hpp"
#include "launch/choose/sampler.hpp"
#include "launch/report/report.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::InOtherBlocks;
using test::launched;
using test::Program;
using testing::ElementsAre;

// The parameters of Program's kernel as cuLaunchKernel's `extra` has them.
struct InABuffer {
  struct {
    CUdeviceptr pointer;
    unsigned n;
  } values;
  std::size_t size = 12;
  void* extra[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &values, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
  Request of(Request request) {
    request.parameters = nullptr;
    request.extra = extra;
    return request;
  }
};

TEST_F(EngineTest, BlocksOfAnotherShape) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:256"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all[0].grid, ElementsAre(20, 1, 1));
  EXPECT_THAT(all[0].block, ElementsAre(256, 1, 1));
  const auto original = test::value_of<contract::OriginalShape>(all[0].parameters[2]);
  EXPECT_THAT(original.blocks, ElementsAre(50, 1, 1));
  EXPECT_THAT(original.block, ElementsAre(100, 1, 1));
  EXPECT_THAT(original.threads, ElementsAre(5000, 1, 1));
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 1U) << i;
}

TEST_F(EngineTest, BlocksStayAsTheyAre) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:256"));
  const auto entry_of = [&](const Request& request) {
    engine.launch(request, direct);
    return launched().back().entry;
  };
  EXPECT_EQ(entry_of(p.request(20, 256)), "k") << "it is that shape";
  EXPECT_EQ(entry_of(p.request(2, 100)), "k") << "fewer threads than in one such block";
  EXPECT_EQ(entry_of(p.request(1U << 24, 128)), "k") << "too many threads";
  Request request = p.request();
  request.shared = 64;
  EXPECT_EQ(entry_of(request), "k") << "dynamic shared memory";
  request = p.request();
  request.grid = {25, 2, 1};
  EXPECT_EQ(entry_of(request), "k") << "the kernel does not read indices along y";
  p.reshaped.most_threads = 128;
  engine.forget_handles();
  EXPECT_EQ(entry_of(p.request(51)), "k") << "blocks of 256 do not launch";
  Engine by_model(read_settings(""));
  p.reshaped.most_threads = 1024;
  by_model.launch(p.request(40), direct);
  EXPECT_EQ(launched().back().entry, "k__ptxasw_x4") << "the model does not try shapes";
}

TEST_F(EngineTest, BlocksOfAnotherShapeInABuffer) {
  InOtherBlocks p;
  Engine engine(read_settings("policy=block:1024"));
  InABuffer parameters{{p.pointer, 4999}};
  const Request request = parameters.of(p.request(50));
  EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_reshaped");
  EXPECT_THAT(all[0].grid, ElementsAre(5, 1, 1));
  EXPECT_THAT(test::value_of<contract::OriginalShape>(all[0].parameters[2]).threads,
              ElementsAre(5000, 1, 1));
}

// The program may ask a node for its function, and set other parameters.
TEST_F(EngineTest, WhatIsCapturedIsTheProgramsOwn) {
  for (const char* settings : {"", "policy=x:2", "report", "check"}) {
    Program p;
    Engine engine(read_settings(settings));
    gpu().capturing = true;
    engine.launch(p.request(), direct);
    EXPECT_EQ(launched().back().entry, "k") << settings;
    gpu().capturing = false;
    engine.launch(p.request(), direct);
    EXPECT_NE(launched().back().entry, "k") << settings;
    gpu().modules.clear();
  }
}

TEST_F(EngineTest, HandlesOfTheRuntimeAreKernels) {
  Program p;
  Engine engine(read_settings("policy=x:2"));
  Request request = p.request();
  request.function = gpu().kernel_of(p.kernel);
  engine.launch(request, direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
}

TEST_F(EngineTest, ParametersInABuffer) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  InABuffer parameters{{p.pointer, 4999}};
  const Request request = parameters.of(p.request(7));
  EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
  const auto all = launched();
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[1]), 4999U);
  EXPECT_EQ(test::value_of<unsigned>(all[0].parameters[2]), 7U);

  parameters.size = 8; // too few: the driver's business
  engine.launch(request, direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, KernelsWithoutContractGoThrough) {
  Program p("k", false);
  Engine engine(read_settings("policy=x:4,report"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
  Request request = p.request();
  request.function = reinterpret_cast<CUfunction>(0x1234);
  EXPECT_EQ(engine.launch(request, direct), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EngineTest, DamagedContractsAreRefused) {
  std::mt19937 random(7);
  for (unsigned n = 0; n < 300; ++n) {
    Program p("k" + std::to_string(n));
    std::string& bytes = p.module.globals.begin()->second;
    if (n % 2 == 0)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    else
      bytes.resize(random() % bytes.size());
    Engine engine(read_settings("policy=x:4"));
    EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
    EXPECT_EQ(launched()[0].entry, "k" + std::to_string(n));
  }
}

TEST_F(EngineTest, AContractOfAnotherKernelIsRefused) {
  Program p;
  p.module.globals[contract::symbol_of("k")] = contract::encode(test::contract_of("other"));
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, EntriesThatTheModuleHasNotAreLeftOut) {
  Program p;
  p.module.functions.erase("k__ptxasw_x4");
  Engine engine(read_settings(""));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x2");
}

TEST_F(EngineTest, WhatDoesNotLaunchEndsInTheOriginal) {
  Program p;
  p.four.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  Engine engine(read_settings("policy=x:4"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].entry, "k");
  EXPECT_EQ(all[1].entry, "k");
}

TEST_F(EngineTest, BlocksTooLargeForAVariantLaunchTheOriginal) {
  Program p;
  p.four.most_threads = 64;
  Engine engine(read_settings("policy=x:4"));
  const unsigned before = gpu().calls["cuLaunchKernel"];
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
  EXPECT_EQ(gpu().calls["cuLaunchKernel"] - before, 1U) << "and x:4 was not even tried";
}

// The program's own mistakes come back as they would.
TEST_F(EngineTest, ErrorsAreTheProgramsOwn) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  EXPECT_EQ(engine.launch(p.request(0), direct), CUDA_ERROR_INVALID_VALUE);
  p.kernel.most_threads = 64; // the variants would take it
  Engine again(read_settings("policy=x:4"));
  EXPECT_EQ(again.launch(p.request(), direct), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  p.kernel.most_threads = 1024;
  Engine third(read_settings("policy=x:4"));
  Request tall = p.request();
  tall.grid = {1, 70000, 1};
  third.launch(tall, direct);
  EXPECT_EQ(launched().back().entry, "k");
}

TEST_F(EngineTest, HandlesAreForgotten) {
  Program p;
  Engine engine(read_settings("policy=x:4"));
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
  p.module.globals.clear();
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
  engine.forget_handles();
  engine.launch(p.request(), direct);
  EXPECT_EQ(launched()[0].entry, "k");
}

TEST_F(EngineTest, CapturesAreNotDisturbed) {
  Program p;
  gpu().capturing = true;
  gpu().copied_in_strict_mode = false;
  Engine engine(read_settings("policy=measure,report,check"));
  const unsigned before = gpu().calls["cuEventCreate"];
  for (unsigned n = 0; n < 20; ++n)
    engine.launch(p.request(), direct);
  EXPECT_FALSE(gpu().copied_in_strict_mode);
  EXPECT_EQ(gpu().mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(gpu().calls["cuEventCreate"], before);
  EXPECT_EQ(launched().size(), 20U);
}

TEST_F(EngineTest, AThreadsMemoryGoesWithIt) {
  Program p;
  Engine engine(read_settings(""));
  struct Late {
    std::function<void()> call;
    ~Late() {
      if (call) call();
    }
  };
  std::thread([&] {
    thread_local Late late; // made before what the engine remembers, so destroyed after it
    late.call = [&] { EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS); };
    engine.launch(p.request(), direct);
  }).join();
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(all[1].entry, "k");
}

TEST_F(EngineTest, ManyThreads) {
  Program p;
  Engine engine(read_settings("policy=measure,report"));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Request request = p.request(60 + t % 2);
      for (unsigned n = 0; n < 300; ++n) {
        EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
        if (t == 0 && n % 50 == 0) engine.forget_handles();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(launched().size(), 2400U);
}

TEST(Settings, AreWords) {
  EXPECT_TRUE(read_settings("off").off);
  EXPECT_EQ(read_settings("").policy, Policy::measure);
  EXPECT_EQ(read_settings("policy=model,log").policy, Policy::model);
  const Settings named = read_settings("policy=x:2,y:4,report=a.json,check=10");
  EXPECT_EQ(named.name, "x:2,y:4");
  EXPECT_EQ(named.report_file, "a.json");
  EXPECT_EQ(named.check, 10U);
  EXPECT_EQ(read_settings("check").check, 1U);
  EXPECT_EQ(read_settings("check=no").complaint, "check=no");
  EXPECT_EQ(read_settings("steps,check=0").longest_wait, 100U);
  EXPECT_EQ(read_settings("steps,check=0").complaint, "check=0");
  EXPECT_EQ(read_settings("steps=250").longest_wait, 250U);
  EXPECT_TRUE(read_settings("steps=250").steps);
  EXPECT_EQ(read_settings("nonsense").complaint, "nonsense");
}

} // namespace
} // namespace ptxasw::launch
