// Results compared launch by launch, and what is reported at the end.
#include "fixture.hpp"
#include "stencil.hpp"

#include "launch/choose/sampler.hpp"
#include "launch/report/report.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::EngineTest;
using test::gpu;
using test::launched;
using test::Program;
using testing::HasSubstr;

TEST_F(EngineTest, ChecksEveryVariant) {
  Program p;
  Engine engine(read_settings("policy=x:4,check"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(launched().size(), 1 + 3U);
  for (unsigned i = 0; i < p.n; ++i)
    ASSERT_EQ(test::value_of<unsigned>(p.memory, i), 1U) << i;
  Engine second(read_settings("check=3"));
  for (unsigned n = 0; n < 6; ++n)
    second.launch(p.request(), direct);
  EXPECT_EQ(launched().size(), 6 + 2 * 3U);
  EXPECT_EQ(test::value_of<unsigned>(p.memory, 4999), 7U);
}

TEST_F(EngineTest, AWrongVariantIsCaught) {
  Program p;
  p.two.run = [](const fake::Launched& l) {
    test::add_one(l, 2);
    reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(l.parameters[0]))[33] += 256;
  };
  const auto wrong = [&] {
    Engine engine(read_settings("check"));
    engine.launch(p.request(), direct);
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86),
              "k, grid 50x1x1, block 100x1x1: x:2 differs in buffer 1 of 1 \\(20000 bytes\\) at "
              "byte 133: 0 became 1");
}

TEST_F(EngineTest, WhatDoesNotRepeatItselfIsNotCompared) {
  Program p;
  unsigned runs = 0;
  p.kernel.run = [&](const fake::Launched& l) {
    *reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(l.parameters[0])) = ++runs;
  };
  Engine engine(read_settings("check"));
  EXPECT_EQ(engine.launch(p.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(runs, 2U) << "on copies";
  EXPECT_EQ(test::value_of<unsigned>(p.memory), 1U) << "x:4";
}

// Another thread's launch writes what is checked, or its neighbour in the same allocation.
TEST_F(EngineTest, WhatOtherThreadsDoIsNoDifference) {
  Program p;
  auto* const numbers = reinterpret_cast<unsigned*>(p.pointer);
  unsigned written = 0;
  for (fake::Function* function : {&p.kernel, &p.two, &p.four})
    function->run = [&, run = function->run](const fake::Launched& l) {
      numbers[4999] = ++written;
      run(l);
      numbers[4998] = ++written;
    };
  Engine engine(read_settings("policy=x:4,check"));
  p.n = 4000;
  EXPECT_EQ(engine.launch(p.request(40), direct), CUDA_SUCCESS);
  EXPECT_EQ(written, 8U);
  EXPECT_EQ(numbers[4998], 8U);
  EXPECT_EQ(numbers[3999], 1U);
  EXPECT_EQ(numbers[4000], 0U);
}

// What is in front may wait for this very thread.
TEST_F(EngineTest, ACheckDoesNotWaitForEver) {
  Program p;
  Kernels kernels;
  const Kernel* const kernel = kernels.find(p.function());
  CheckMemory memory;
  gpu().streams_end = false;
  const Candidate own{"k", [](const Request& request, const Copies&) { return direct(request); }};
  const Checked found =
      check(*kernel, p.request(), own, {own}, memory, std::chrono::milliseconds(5));
  gpu().streams_end = true;
  EXPECT_EQ(found.outcome, Checked::Outcome::not_done);
  EXPECT_EQ(found.text, "what was launched before does not end");
  EXPECT_TRUE(launched().empty());
}

// An address behind the end of an allocation, where another one begins, leads to both copies.
TEST_F(EngineTest, CopiesLieAsTheirOriginalsDo) {
  Copies copies;
  copies.add(0x10000, 0x1000);
  copies.add(0x11000, 0x800);
  copies.add(0x11a00, 0x600);
  copies.add(0x7fff00000100, 0x20);
  copies.place_at(0x500000);
  const auto at = [&](CUdeviceptr address) {
    std::array<unsigned char, 8> bytes{};
    std::memcpy(bytes.data(), &address, sizeof address);
    copies.redirect(bytes);
    std::memcpy(&address, bytes.data(), sizeof address);
    return address;
  };
  EXPECT_EQ(at(0x10010), 0x500010U);
  EXPECT_EQ(at(0x11000), 0x501000U);
  EXPECT_EQ(at(0x11800), 0x501800U) << "the end";
  EXPECT_EQ(at(0x11801), 0x11801U) << "in none";
  EXPECT_EQ(at(0x11a00), 0x501a00U);
  EXPECT_EQ(at(0x7fff00000100) % 0x1000, 0x100U);
  EXPECT_GT(at(0x7fff00000100), at(0x12000));
  EXPECT_EQ(at(0x7fff00000120) + 0, 0x500000 + copies.bytes());
  EXPECT_EQ(at(0x42), 0x42U);
}

std::string report_file() {
  return std::filesystem::temp_directory_path() /
         ("ptxasw-report-" + std::to_string(::getpid()) + ".json");
}

// What was written there; nothing if there is no such file.
std::string taken(const std::string& file) {
  std::FILE* in = std::fopen(file.c_str(), "r");
  if (in == nullptr) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), in));
  std::fclose(in);
  std::filesystem::remove(file);
  return text;
}

// All that a framework launches may have attributes: then the report says so.
TEST_F(EngineTest, ReportsLaunchesWithAttributes) {
  const std::string file = report_file();
  Engine idle(read_settings("report=" + file)), writer(read_settings("report=" + file));
  idle.write_report();
  EXPECT_EQ(taken(file), "") << "a shell, for instance";
  for (unsigned n = 0; n < 3; ++n)
    writer.count_with_attributes();
  writer.write_report();
  EXPECT_THAT(taken(file),
              HasSubstr("\"note\": \"launched with attributes, which stay as they are\", "
                        "\"launches\": 3"));
}

TEST_F(EngineTest, ReportsWhatItDid) {
  Program p, other("other<float>", false);
  p.kernel.milliseconds = 4;
  const std::string file = report_file();
  Engine writer(read_settings("policy=x:4,report=" + file));
  writer.launch(p.request(), direct);
  for (unsigned n = 0; n < 600; ++n) {
    if (n % 8 == 0 && n > 500) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    writer.launch(p.request(), direct);
  }
  writer.launch(other.request(), direct);
  writer.write_report();
  const std::string text = taken(file);
  EXPECT_THAT(text, HasSubstr("\"kernel\": \"k\", \"grid\": \"50x1x1\", \"block\": \"100x1x1\", "
                              "\"variant\": \"x:4\", \"note\": \"\", \"launches\": 601, "
                              "\"microseconds\": 1000.000, \"gain\": 4.0000"));
  EXPECT_THAT(text, HasSubstr("its module has no launch contract for it"));
  EXPECT_THAT(text, HasSubstr("{\"kernel\": \"k\", \"versions\": [{\"names\": [\"x:2\"], \"does\": "
                              "\"one block does the work of 2 along x\"}, {\"names\": "));
}

// The options that the report names.
std::string advice_for(double milliseconds, unsigned launches, const std::string& settings) {
  Program p;
  p.kernel.milliseconds = milliseconds;
  const std::string file = report_file();
  Engine engine(read_settings(settings + ",no-images,report=" + file));
  for (unsigned n = 0; n < launches; ++n)
    engine.launch(p.request(), direct);
  engine.write_report();
  const std::string text = taken(file), begin = "\"hints\": [\n  {\"what\": \"";
  const auto at = text.find(begin);
  return at == std::string::npos
             ? ""
             : text.substr(at + begin.size(),
                           text.find('"', at + begin.size()) - at - begin.size());
}

TEST_F(EngineTest, TheReportSaysWhatWouldHelpShortLaunches) {
  EXPECT_EQ(advice_for(0.004, 3000, "policy=measure"), "--early --batch");
  EXPECT_EQ(advice_for(0.004, 3000, "policy=measure,early"), "--batch");
  EXPECT_EQ(advice_for(0.004, 3000, "policy=measure,early,batch"), "");
  EXPECT_EQ(advice_for(0.004, 300, "policy=measure"), "") << "there are few";
  EXPECT_EQ(advice_for(0.2, 3000, "policy=measure"), "") << "they are long";
}

TEST_F(EngineTest, TheReportSaysWhatWouldHelpSteps) {
  const auto advice = [](const std::string& settings) {
    const std::string file = report_file();
    test::Stencil s("no-images,report=" + file + settings);
    s.engine.write_report();
    return taken(file);
  };
  EXPECT_THAT(advice(""), HasSubstr("{\"what\": \"--steps\", \"text\": \"if the program exchanges "
                                    "arrays between launches of s, several of them can be one\"}"));
  EXPECT_THAT(advice(",steps"), HasSubstr("\"hints\": [\n]"));
}

// A loop of launches of microseconds is not slowed down for the sake of a table.
TEST_F(EngineTest, ShortRunsAreNotTimedForTheReport) {
  Program p;
  Engine engine(read_settings("report=/dev/null,policy=model"));
  const unsigned before = gpu().calls["cuEventCreate"];
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < 200; ++n)
    engine.launch(p.request(), direct);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(gpu().calls["cuEventCreate"] - before, 2 * (1 + taken.count() / 2));
}

// The original is what costs: it is timed as often as one per cent of the run allows.
TEST_F(EngineTest, TheOriginalIsSeldomTimed) {
  Program p;
  Shape shape;
  shape.predicted = {1, 1, 3};
  shape.usable = {true, true, true};
  shape.timings.assign(3, {});
  shape.chosen = 2;
  EXPECT_EQ(variant_to_sample(shape, 1000), no_variant) << "the first look only sets the clock";
  const auto next = [&](std::uint64_t number) {
    shape.next_sample = 1;
    return variant_to_sample(shape, number);
  };
  EXPECT_EQ(next(0), 2U);
  EXPECT_EQ(next(199), 2U) << "a single one would be more than one per cent";
  EXPECT_EQ(next(200), 0U);
  shape.timings[0] = {.samples = 1, .sum = 3e6, .least = 3e6};
  EXPECT_EQ(next(208), 2U) << "its turn";
  shape.timings[2] = {.samples = 1, .sum = 1e6, .least = 1e6};
  EXPECT_EQ(next(216), 2U) << "200 seconds have not gone by";
  sampled(shape, std::chrono::milliseconds(1));
  EXPECT_EQ(variant_to_sample(shape, 224), no_variant);
}

} // namespace
} // namespace ptxasw::launch
