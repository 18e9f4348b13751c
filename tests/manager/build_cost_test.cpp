// What a module costs grows with the number of its kernels and no faster: counted, not timed.
#include "driver/environment.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/ptxas.hpp"
#include "manager/optimize.hpp"
#include "oracle/fake.hpp"
#include "ptx/edited.hpp"
#include "ptx/parse.hpp"

#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>

namespace ptxasw::manager {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text of a kernel under another name.
std::string kernel_of(const std::string& text, const std::string& name, const std::string& other) {
  const ptx::Module module = ptx::parse(text);
  const auto function = std::ranges::find(module.functions, name, &ptx::Function::name);
  const ptx::Range header = module.statements[function->statement].range;
  const std::uint32_t end = module.body_of(*function).back().range.end;
  std::string kernel = text.substr(header.begin, end - header.begin);
  const std::string labels = "$L__BB"; // of the module; each kernel has its own
  for (const auto& [old, now] : {std::pair(name, other), std::pair(labels, "$" + other + "_BB")})
    for (std::size_t at = kernel.find(old); at != std::string::npos;
         at = kernel.find(old, at + now.size()))
      kernel.replace(at, old.size(), now);
  return kernel + "\n\n";
}

std::string many(const std::string& golden, const std::string& name, unsigned count) {
  const std::string text = file(golden);
  std::string all = ".version 8.0\n.target sm_90\n.address_size 64\n\n";
  for (unsigned n = 0; n < count; ++n)
    all += kernel_of(text, name, fmt::format("kernel{}", n));
  return all;
}

struct Cost {
  unsigned runs, parses, emulations, changed, texts;
};

Cost cost_of(const std::string& text, Assembler& assembler, bool details = false) {
  const unsigned texts = ptx::texts_read();
  Options options;
  options.details = details;
  const Report report = run(text, "many.ptx", options, true, &assembler).report;
  return {report.calls, report.parses, report.emulations,
          static_cast<unsigned>(std::ranges::count(report.kernels, true, &KernelReport::changed)),
          ptx::texts_read() - texts};
}

TEST(BuildCost, KernelsThatAreRewrittenShareTheRunsOfPtxas) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({"", ""}, environment);
  if (!found) GTEST_SKIP() << "no ptxas: " << found.error();
  driver::Ptxas ptxas(*found, "sm_90");
  const Cost few = cost_of(many("boxes", "box9x9", 2), ptxas);
  const Cost more = cost_of(many("boxes", "box9x9", 8), ptxas);
  EXPECT_EQ(few.changed, 2U);
  EXPECT_EQ(more.changed, 8U);
  EXPECT_EQ(more.runs, few.runs);
  EXPECT_EQ(more.parses, few.parses);
  EXPECT_EQ(more.texts, few.texts);
  EXPECT_EQ(more.emulations, 4 * few.emulations);
}

TEST(BuildCost, KernelsThatAreLeftAloneAreNotTried) {
  oracle::FakeAssembler fake([](const AssemblyRequest&) { return std::nullopt; });
  const Cost few = cost_of(many("jacobi", "jacobi", 2), fake, true);
  const Cost more = cost_of(many("jacobi", "jacobi", 8), fake, true);
  EXPECT_EQ(more.changed, 0U);
  EXPECT_TRUE(fake.asked.empty());
  EXPECT_EQ(more.texts, few.texts);
}

// The first text that is tried is often the one that is kept: then it is of all kernels, unless the
// others are more than what is tried.
TEST(BuildCost, TheFirstTextIsOfAllKernelsWhereFewAreNotTried) {
  const std::string vecadd = file("vecadd");
  const auto asked_first = [&](unsigned others) {
    oracle::FakeAssembler fake([](const AssemblyRequest&) { return std::nullopt; });
    std::string text = many("boxes", "box9x9", 1);
    for (unsigned n = 0; n < others; ++n)
      text += kernel_of(vecadd, "vecadd", fmt::format("small{}", n));
    Options options;
    options.effort = Effort::thorough;
    options.coarsen_budget = 1000;
    run(text, "many.ptx", options, true, &fake);
    return fake.asked.size() > 1 ? fake.asked[1].entries : std::vector<std::string>{"none"};
  };
  EXPECT_THAT(asked_first(0), testing::IsEmpty());
  EXPECT_THAT(asked_first(3), testing::IsEmpty());
  EXPECT_THAT(asked_first(300), testing::ElementsAre("kernel0"));
}

} // namespace
} // namespace ptxasw::manager
