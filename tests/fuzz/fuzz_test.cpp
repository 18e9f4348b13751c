// Fixed seeds of the fuzzer, and checks of the fuzzer itself.
#include "fuzz/check.hpp"
#include "fuzz/generator.hpp"

#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace ptxasw::fuzz {
namespace {

constexpr std::uint64_t seeds_each = 100;

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, RewrittenKernelsAreEqual) {
  for (const Rewrite rewrite : rewrites) {
    unsigned rewritten = 0, equal = 0;
    for (std::uint64_t seed = GetParam(); seed < GetParam() + seeds_each; ++seed) {
      const Round round = check(generate(seed), seed, rewrite);
      ASSERT_EQ(round.problem, "") << "seed " << seed;
      rewritten += round.rewritten.empty() ? 0 : 1;
      equal += round.equal;
    }
    // A fuzzer that finds nothing to rewrite, or nothing to compare, would say nothing.
    EXPECT_GT(rewritten, seeds_each / 10);
    EXPECT_GT(equal, rewritten);
  }
}

INSTANTIATE_TEST_SUITE_P(From, Seeds,
                         testing::Range<std::uint64_t>(1, 500, seeds_each)); // more: tools/fuzz

TEST(Shipped, KernelsAreEqual) {
  unsigned rewritten = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Round round = check(generate(seed), seed, Rewrite::shipped);
    ASSERT_EQ(round.problem, "") << "seed " << seed;
    rewritten += round.rewritten.empty() ? 0 : 1;
  }
  RecordProperty("rewritten", static_cast<int>(rewritten));
}

TEST(Trees, KernelsAreEqual) {
  unsigned in_registers = 0, rotated = 0, equal = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Round round = check(generate_trees(seed), seed, Rewrite::trees);
    ASSERT_EQ(round.problem, "") << "seed " << seed;
    in_registers += round.in_registers ? 1 : 0;
    rotated += round.rotated ? 1 : 0;
    equal += round.equal;
  }
  EXPECT_GT(in_registers, 60U);
  EXPECT_GT(rotated, 15U);
  EXPECT_GT(equal, 200U);
}

TEST(Generator, SameSeedSameKernel) {
  EXPECT_EQ(generate(7), generate(7));
  EXPECT_NE(generate(7), generate(8));
}

TEST(Generator, KernelsAreUnderstood) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ptx::Module module = ptx::parse(generate(seed));
    ASSERT_TRUE(module.diagnostics.empty())
        << "seed " << seed << ": " << module.diagnostics[0].message;
    const ptx::Body body = ptx::resolve(module, module.functions.back());
    ASSERT_TRUE(body.usable) << "seed " << seed << ": " << body.diagnostics[0].message;
    for (const ptx::Inst& inst : body.insts)
      ASSERT_FALSE(inst.opaque) << "seed " << seed;
  }
}

TEST(Generator, PtxasTakesTheKernels) {
  const char* home = std::getenv("CUDA_HOME");
  const std::string ptxas = std::string(home == nullptr ? "/usr/local/cuda" : home) + "/bin/ptxas";
  if (!std::filesystem::exists(ptxas)) GTEST_SKIP() << "no ptxas at " << ptxas;
  const auto folder = std::filesystem::path(testing::TempDir()) / "ptxasw-fuzz-kernels";
  std::filesystem::create_directories(folder);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto file = folder / (std::to_string(seed) + ".ptx");
    std::ofstream(file) << (seed % 4 == 0 ? generate_trees(seed) : generate(seed));
    const std::string command = ptxas + " -O1 -arch=sm_90 -o /dev/null " + file.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << "seed " << seed;
  }
  std::filesystem::remove_all(folder);
}

// Shuffles without the load that lanes at the edge fall back to are wrong, and mostly seen to be:
// some rewritten kernels have moves only, some only launches that say nothing.
TEST(Check, SeesWrongRewrites) {
  const Options options = everything_on(0);
  const auto harm = [](std::string& rewritten) {
    std::istringstream in(std::exchange(rewritten, {}));
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with("\t@!%ptxasw") || line.find(" ld.") == line.npos)
        rewritten += line + '\n';
  };
  unsigned rewritten = 0, seen = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Round round = check_shuffles(generate(seed), seed, options, harm);
    rewritten += round.rewritten.empty() ? 0 : 1;
    seen += round.problem.empty() ? 0 : 1;
  }
  EXPECT_GT(rewritten, 20U);
  EXPECT_GT(seen, rewritten / 3);
}

TEST(Shrink, KeepsWhatTheFailureNeeds) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "line " + std::to_string(i) + "\n";
  const auto fails = [](const std::string& t) {
    return t.find("line 17\n") != std::string::npos && t.find("line 80\n") != std::string::npos;
  };
  EXPECT_EQ(shrink(text, fails), "line 17\nline 80\n");
}

} // namespace
} // namespace ptxasw::fuzz
