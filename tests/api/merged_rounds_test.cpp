// Trees in registers on top of merged blocks, in one call; and only of kernels that were merged.
#include "passes/warp_reduce/trees.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace ptxasw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Options with(std::array<unsigned, 3> coarsen) {
  Options options;
  options.shuffle = ShuffleMode::none;
  options.coarsen = coarsen;
  options.warp_reduce = WarpReduceMode::all;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(30);
  return options;
}

// Each block its own words.
std::string by_block() {
  return test::replaced(test::looping(), "mul.wide.u32 %rd3, %r3, 4;",
                        "mov.u32 %r50, %ctaid.x;\nmov.u32 %r51, %ntid.x;\n"
                        "mad.lo.u32 %r52, %r50, %r51, %r3;\nmul.wide.u32 %rd3, %r52, 4;");
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t number = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++number;
  return number;
}

TEST(MergedRounds, BothInOneCall) {
  const std::string before = by_block();
  for (const unsigned copies : {2U, 3U, 4U}) {
    const Optimized both = optimize(before, "tree.ptx", with({copies, 1, 1}));
    const KernelReport& kernel = both.report.kernels.at(0);
    EXPECT_THAT(kernel.coarsening.text, HasSubstr("replicas in one block"));
    EXPECT_THAT(kernel.rounds.text, StartsWith("in registers")) << kernel.rounds.text;
    EXPECT_GE(count(both.text, "shfl.sync.down"), copies * 5);
    simt::VerifyOptions options{.launches = 4, .schedules = 2, .threads = 1};
    options.grids = {{1}, {4}, {7}, {12}};
    options.blocks = {{64}, {128}, {40}};
    options.arguments = {"random:u32:4096:1", "zeros:4096", "5", "7"};
    const auto module = [&](const std::string& text) {
      return std::make_shared<const ptx::Module>(ptx::parse(text, "tree.ptx"));
    };
    const auto result = simt::verify(module(before), module(both.text), "k", options);
    EXPECT_TRUE(result.ok()) << simt::text_of(result, "k");
  }
}

TEST(MergedRounds, OthersAreNotDoneTwice) {
  // A host says how large the second one's array is: it is not merged, and its tree is done at
  // once.
  std::string second = test::replaced(by_block(), ".shared .align 4 .b8 tile[8192];", "");
  second = test::replaced(second.substr(second.find(".visible")), " k(", " other(");
  const std::string both =
      test::replaced(by_block(), ".visible", ".extern .shared .align 4 .b8 rest[];\n.visible") +
      test::replaced(second, "mov.u32 %r20, tile;", "mov.u32 %r20, rest;");
  std::string text = both;
  const std::size_t other = text.find(" other(");
  for (std::size_t at = other; (at = text.find("[tile]", at)) != std::string::npos;)
    text.replace(at, 6, "[rest]");
  const Optimized done = optimize(text, "trees.ptx", with({2, 1, 1}));
  ASSERT_EQ(done.report.kernels.size(), 2U);
  EXPECT_THAT(done.report.kernels[0].rounds.text, StartsWith("in registers"));
  EXPECT_THAT(done.report.kernels[1].rounds.text, StartsWith("in registers"));
  EXPECT_THAT(done.report.kernels[1].coarsening.text, HasSubstr("not coarsened"));
  EXPECT_EQ(
      count(done.text.substr(done.text.find(" other(")), "ptxasw: steps of a tree within a warp"),
      1U);
}

} // namespace
} // namespace ptxasw
