// Shuffles on top of coarsening: the second pass takes the first one's text as any other kernel.
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/verify.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace ptxasw {
namespace {

std::string golden(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Options with(std::array<unsigned, 3> coarsen, ShuffleMode shuffle) {
  Options options;
  options.coarsen = coarsen;
  options.shuffle = shuffle;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(30);
  return options;
}

TEST(CoarsenShuffle, OnePassDoesOneOfTheTwo) {
  const Optimized both =
      optimize(golden("jacobi"), "jacobi.ptx", with({1, 4, 1}, ShuffleMode::all));
  EXPECT_TRUE(both.changed);
  EXPECT_EQ(both.report.kernels[0].shuffles, 0U);
  EXPECT_EQ(both.text.find("shfl.sync"), std::string::npos);
}

TEST(CoarsenShuffle, TheSecondPassShufflesWhatIsLeft) {
  for (const std::string name : {"gameoflife", "jacobi", "laplacian"}) {
    const std::string before = golden(name);
    const Optimized merged = optimize(before, name + ".ptx", with({1, 4, 1}, ShuffleMode::none));
    const Optimized shuffled =
        optimize(merged.text, name + ".ptx", with({1, 1, 1}, ShuffleMode::all));
    EXPECT_GT(shuffled.report.kernels[0].shuffles, 8U) << name;
    simt::VerifyOptions options{.launches = 4, .schedules = 1, .threads = 1};
    options.grids = {{1, 8, 1}, {2, 5, 3}};
    options.blocks = {{64, 1, 1}, {40, 2, 1}};
    const auto module = [&](const std::string& text) {
      return std::make_shared<const ptx::Module>(ptx::parse(text, name));
    };
    const auto result = simt::verify(module(before), module(shuffled.text), name, options);
    EXPECT_TRUE(result.ok()) << simt::text_of(result, name);
  }
}

} // namespace
} // namespace ptxasw
