// `ptxasw analyze` over real kernels: golden files for the suites, and no surprise on anything
// else. PTXASW_UPDATE_GOLDEN=1 rewrites the golden files.
#include "ptxasw/ptxasw.hpp"
#include "report/reason.hpp"
#include "sanitized.hpp"
#include "source_dir.hpp"
#include "target/access.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ptxasw {
namespace {

namespace fs = std::filesystem;

const fs::path tests = PTXASW_SOURCE_DIR "/tests";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Everything but times.
std::string golden_text(const Report& report) {
  std::string text;
  for (const KernelReport& kernel : report.kernels) {
    text += fmt::format("kernel {} {}\n", kernel.name, kernel.left_alone.text);
    for (const AccessReport& access : kernel.accesses) {
      text += fmt::format(
          "{:5} {}.{}{} {} bytes, depth {}, stride {}, sectors {}-{}, {}\n      {}\n",
          access.ptx_line, access.is_store ? "st" : "ld", access.space, access.qualifiers,
          access.bytes, access.loop_depth,
          access.lane_stride ? std::to_string(*access.lane_stride) : "?", access.sectors[0],
          access.sectors[1], target::name(access.access), access.address);
    }
  }
  return text;
}

std::vector<fs::path> golden_inputs() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(tests / "golden/ptx"))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

class Golden : public ::testing::TestWithParam<fs::path> {};

TEST_P(Golden, AccessesReadAsBefore) {
  const std::string name = GetParam().filename().string();
  const Report report = analyze(read(GetParam()), name);
  EXPECT_EQ(report.opaque_statements, 0U);
  for (const KernelReport& kernel : report.kernels)
    EXPECT_TRUE(kernel.analyzed) << kernel.left_alone.text;
  const std::string text = golden_text(report);
  const fs::path file = tests / "golden/analyze" / (name + ".txt");
  if (std::getenv("PTXASW_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  EXPECT_EQ(text, read(file)) << "PTXASW_UPDATE_GOLDEN=1 accepts the new text";
}

INSTANTIATE_TEST_SUITE_P(, Golden, ::testing::ValuesIn(golden_inputs()), [](const auto& instance) {
  std::string name = instance.param.stem().string();
  std::ranges::replace(name, '.', '_');
  return name;
});

// Handwritten PTX of every kind: analysed or refused with a reason, never more.
TEST(Corpus, EveryKernelIsAnalysedOrRefusedWithAReason) {
  unsigned kernels = 0;
  for (const char* folder : {"corpus", "traps"}) {
    for (const auto& entry : fs::directory_iterator(tests / folder)) {
      if (entry.path().extension() != ".ptx") continue;
      Options options;
      options.shuffle = ShuffleMode::all;
      options.fp_contract = FpContract::any;
      const Optimized result = optimize(read(entry.path()), entry.path().string(), options);
      for (const KernelReport& kernel : result.report.kernels) {
        ++kernels;
        EXPECT_TRUE(kernel.analyzed || !kernel.left_alone.empty()) << entry.path() << kernel.name;
        EXPECT_NE(kernel.left_alone.reason, Reason::internal_error) << kernel.left_alone.text;
        for (const report::WhyNot& why : report::why_unchanged(kernel))
          EXPECT_NE(why.reason, Reason::other) << why.text;
        for (const AccessReport& access : kernel.accesses)
          EXPECT_NE(access.kept.reason, Reason::other) << access.kept.text;
      }
    }
  }
  EXPECT_GT(kernels, 60U);
}

// What nvcc makes of the corpus, for one architecture.
TEST(Corpus, WhatNvccMakesOfIt) {
  if (std::system("command -v nvcc > /dev/null 2>&1") != 0) GTEST_SKIP() << "no nvcc";
  const fs::path output = fs::path(::testing::TempDir()) / "ptxasw_corpus.ptx";
  unsigned kernels = 0, analyzed = 0;
  for (const char* name : {"async", "atomics", "control", "cub", "data", "groups", "maths",
                           "matrix", "narrow", "textures"}) {
    const std::string command =
        fmt::format("nvcc -arch=sm_90 -std=c++17 -w -ptx '{}' -o '{}'",
                    (tests / "corpus" / name).string() + ".cu", output.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const std::string text = read(output);
    const std::clock_t start = std::clock();
    const Report report = analyze(text, name);
    const double spent = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    // Nowhere near the budget of each, and never more than a tenth above it.
    EXPECT_LT(spent, 275.0 * static_cast<double>(report.kernels.size())) << name;
    for (const KernelReport& kernel : report.kernels) {
      ++kernels;
      analyzed += kernel.analyzed ? 1 : 0;
      EXPECT_TRUE(kernel.analyzed || !kernel.left_alone.empty()) << kernel.name;
    }
  }
  EXPECT_GT(analyzed, 60U);
  EXPECT_GE(kernels, analyzed);
}

// What stores write, on request: the sum that jacobi's only store takes.
TEST(Values, OfStoresOnRequest) {
  const std::string text = read(tests / "golden/ptx/jacobi.ptx");
  const auto stored = [&](bool values) {
    Options options;
    options.values = values;
    const Report report = analyze(text, "jacobi.ptx", options);
    for (const AccessReport& access : report.kernels.at(0).accesses) {
      EXPECT_TRUE(access.is_store || access.values.empty());
      if (access.is_store) return access.values;
    }
    return std::vector<std::string>{"no store"};
  };
  EXPECT_TRUE(stored(false).empty());
  const std::vector<std::string> values = stored(true);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_THAT(values[0], ::testing::StartsWith("fma"));
  EXPECT_THAT(values[0], ::testing::HasSubstr("ld(param_0 + 4*sext("));
  EXPECT_THAT(values[0], ::testing::HasSubstr("param_4"));
}

TEST(Corpus, BudgetsHold) {
  // A kernel of 3000 blocks, each adding to what the next needs.
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 "
                     "p)\n{\n.reg .b64 %rd<9>;\n.reg .pred %q;\n.reg .b32 %r<9>;\nld.param.u64 "
                     "%rd1, [p];\nmov.u32 %r1, %tid.x;\n";
  for (int block = 0; block < 3000; ++block) {
    text +=
        fmt::format("ld.global.u64 %rd2, [%rd1];\nsetp.eq.s64 %q, %rd2, 0;\n@%q bra L{0};\nadd.s64 "
                    "%rd1, %rd1, %rd2;\nL{0}:\n",
                    block);
  }
  text += "ret;\n}\n";
  Options options;
  options.kernel_budget = std::chrono::milliseconds(5);
  const Report report = analyze(text, "big.ptx", options);
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_FALSE(report.kernels[0].analyzed);
  if (test::sanitized) GTEST_SKIP() << "the clock may come first";
  EXPECT_EQ(report.kernels[0].left_alone.reason, Reason::budget_time);
}

TEST(Corpus, LargeInputsPassThrough) {
  Options options;
  options.size_limit = 10;
  options.shuffle = ShuffleMode::all;
  const Optimized result = optimize("// a comment of more than ten bytes", "x.ptx", options);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.report.messages.size(), 1U);
}

} // namespace
} // namespace ptxasw
