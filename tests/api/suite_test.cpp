// The benchmark kernels as nvcc compiles them (tests/golden/ptx): how many loads are covered, and
// that the rewritten text is well-formed and deterministic.
#include "passes/pin_fma/contraction.hpp"
#include "ptxasw/ptxasw.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace ptxasw {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(PTXASW_SOURCE_DIR "/tests/golden/ptx") / (name + ".ptx");
}

// The counts do not depend on what ptxas does with products.
Options forced() {
  Options options;
  options.shuffle = ShuffleMode::all;
  options.fp_contract = FpContract::any;
  return options;
}

KernelReport kernel_of(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.kernels, name, &KernelReport::name);
  EXPECT_NE(found, report.kernels.end()) << name;
  return found == report.kernels.end() ? KernelReport{} : *found;
}

struct Row {
  const char* file;
  const char* kernel;
  unsigned loads, covered;
  double mean_delta;
  unsigned max_delta = 31;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.kernel;
}

class Suite : public ::testing::TestWithParam<Row> {};

TEST_P(Suite, CoversWhatIsPublished) {
  const Row& row = GetParam();
  Options options = forced();
  options.shuffle_max_delta = row.max_delta;
  const Optimized result = optimize(read(golden(row.file)), row.file, options);
  const KernelReport kernel = kernel_of(result.report, row.kernel);
  EXPECT_EQ(kernel.left_alone.text, "");
  EXPECT_EQ(kernel.loads, row.loads);
  EXPECT_EQ(kernel.covered, row.covered);
  EXPECT_NEAR(kernel.mean_delta, row.mean_delta, 0.005);
  EXPECT_EQ(result.changed, row.covered > 0 || result.report.kernels.size() > 1);
}

// Loads and covered loads as in the paper's Table 2; where nvcc's PTX has other loads than NVHPC's,
// as the prior prototype counted them on nvcc's.
constexpr Row rows[] = {
    {"divergence", "divergence", 6, 1, 2.00},
    {"gameoflife", "gameoflife", 9, 6, 1.33},
    {"gaussblur", "gaussblur", 25, 20, 1.50},
    {"gradient", "gradient", 6, 1, 2.00},
    {"jacobi", "jacobi", 9, 6, 1.00},
    {"lapgsrb", "lapgsrb", 25, 12, 1.17},
    {"laplacian", "laplacian", 7, 2, 1.00},
    {"matmul", "matmul", 11, 0, 0},
    {"matvec", "matvec", 10, 0, 0},
    {"sincos", "sincos_xy", 10, 0, 0},
    {"tricubic", "tricubic", 67, 48, 2.00},
    {"tricubic2", "tricubic2", 67, 48, 2.00},
    {"uxx1", "uxx1", 17, 3, 1.33},
    {"vecadd", "vecadd", 2, 0, 0},
    {"wave13pt", "wave13pt", 14, 4, 1.50},
    {"whispering", "whispering", 18, 5, 1.00},
    {"hypterm", "hypterm_x", 48, 42, 2.86},
    {"transposed", "transposed1", 3, 2, 1.50},
    {"transposed", "transposed4", 9, 8, 4.50},
};
INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(rows),
                         [](const auto& instance) { return std::string(instance.param.kernel); });

// As published, on NVHPC's code. In the derivative 26 rows of four loads lie along the lanes, and
// two of each have a neighbour one lane away.
TEST(Suites, OneNeighbourEachWay) {
  const std::map<std::string, unsigned> published = {
      {"hypterm", 12}, {"derivative", 52}, {"rhs4th3fort", 44}};
  for (const auto& [name, shuffles] : published) {
    Options options = forced();
    options.shuffle_max_delta = 1;
    const Optimized result = optimize(read(golden(name)), name, options);
    unsigned covered = 0;
    for (const KernelReport& kernel : result.report.kernels)
      covered += kernel.covered;
    EXPECT_GE(covered, shuffles) << name;
  }
}

TEST(Suites, SameInputSameBytes) {
  Options options = forced();
  for (const auto& entry : std::filesystem::directory_iterator(golden("").parent_path())) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string text = read(entry.path());
    const Optimized first = optimize(text, "a.ptx", options);
    const Optimized second = optimize(text, "a.ptx", options);
    EXPECT_EQ(first.text, second.text) << entry.path();
    EXPECT_TRUE(first.report.messages.empty()) << first.report.messages.front().text;
  }
}

// As if ptxas fused the first product wherever it may.
std::string with_first_products_fused(const std::string& text) {
  using passes::FuseChoice;
  const ptx::Module module = ptx::parse(text, "w.ptx");
  const ptx::Body body = ptx::resolve(module, module.functions.at(0));
  const passes::Reaching reaching(body);
  const auto sites = passes::find_sites(body, reaching);
  passes::FuseChoices choices;
  for (const passes::Site& site : sites)
    choices[site.sum].fuse = site.product[0]   ? FuseChoice::Fuse::first
                             : site.product[1] ? FuseChoice::Fuse::second
                                               : FuseChoice::Fuse::none;
  return ptx::print(module, passes::pin(body, reaching, sites, choices));
}

TEST(Suites, PtxasFreedomHoldsAKernelBackUntilItIsPinned) {
  const std::string text = read(golden("whispering"));
  Options options = forced();
  options.fp_contract = FpContract::exact;
  const Optimized held = optimize(text, "w.ptx", options);
  EXPECT_FALSE(held.changed);
  EXPECT_EQ(kernel_of(held.report, "whispering").fusable, 2U);
  EXPECT_NE(kernel_of(held.report, "whispering").left_alone.text, "");
  const std::string pinned = with_first_products_fused(text);
  const Optimized done = optimize(pinned, "w.ptx", options);
  EXPECT_TRUE(done.changed);
  EXPECT_EQ(kernel_of(done.report, "whispering").fusable, 0U);
  EXPECT_EQ(std::ranges::count(pinned, '\n'), std::ranges::count(text, '\n'));
}

TEST(Suites, PromisedFactsAreNotCheckedButNamed) {
  Options options = forced();
  ASSERT_EQ(apply_option(options, "assume=no-index-wrap"), std::nullopt);
  const Optimized result = optimize(read(golden("jacobi")), "jacobi.ptx", options);
  EXPECT_EQ(result.text.find("setp.le.u32"), std::string::npos);
  unsigned promised = 0;
  for (const AccessReport& access : kernel_of(result.report, "jacobi").accesses)
    for (const Fact& fact : access.facts)
      promised += fact.kind == FactKind::promised ? 1 : 0;
  EXPECT_EQ(promised, 6U);
}

TEST(Suites, CoarseningSharesLoadsAcrossBlocks) {
  Options options;
  ASSERT_EQ(apply_option(options, "coarsen=y:4"), std::nullopt);
  const Optimized result = optimize(read(golden("jacobi")), "jacobi.ptx", options);
  EXPECT_TRUE(result.changed);
  const std::string& outcome = kernel_of(result.report, "jacobi").coarsening.text;
  EXPECT_NE(outcome.find("36 loads become 18"), std::string::npos) << outcome;
  const Optimized apart = optimize(read(golden("vecadd")), "vecadd.ptx", options);
  EXPECT_TRUE(apart.changed) << "what is asked for is done, if it saves loads or not";
  const Optimized refused = optimize(read(golden("sincos")), "sincos.ptx", options);
  EXPECT_FALSE(refused.changed);
  EXPECT_NE(kernel_of(refused.report, "sincos_xy").coarsening.text.find("local memory"),
            std::string::npos);
  for (const char* wrong : {"coarsen=", "coarsen=y", "coarsen=w:2", "coarsen=y:0", "coarsen=y:33",
                            "coarsen=x:32,y:32"}) {
    EXPECT_NE(apply_option(options, wrong), std::nullopt) << wrong;
  }
}

Optimized with(const std::string& file, std::initializer_list<const char*> given) {
  Options options;
  for (const char* option : given)
    EXPECT_EQ(apply_option(options, option), std::nullopt) << option;
  return optimize(read(golden(file)), file + ".ptx", options);
}

TEST(Suites, RemapsAreReported) {
  const Optimized walk = with("jacobi", {"remap=zigzag:4"});
  EXPECT_TRUE(walk.changed);
  EXPECT_EQ(kernel_of(walk.report, "jacobi").remapping.text, "remapped: zigzag:4");
  const Optimized linear = with("jacobi", {"remap=linear-column"});
  EXPECT_FALSE(linear.changed);
  EXPECT_EQ(kernel_of(linear.report, "jacobi").remapping.text,
            "not remapped (linear-column:64): it does not divide %ctaid.x * %ntid.x + %tid.x by a "
            "width known on entry");
  const Optimized merged = with("jacobi", {"coarsen=y:4", "remap=column"});
  EXPECT_EQ(kernel_of(merged.report, "jacobi").remapping.text,
            "not remapped (column:8): its blocks are merged already");
  const Optimized other = with("jacobi", {"remap=column@somebody_else"});
  EXPECT_FALSE(other.changed);
  EXPECT_EQ(kernel_of(other.report, "jacobi").remapping.text, "");
}

// Blocks take their lanes along, and the shuffles between them; threads that move do not.
TEST(Suites, RemapsAndShuffles) {
  const Optimized blocks = with("transposed", {"shuffle=all", "remap=swap"});
  EXPECT_EQ(kernel_of(blocks.report, "transposed4").shuffles, 8U);
  EXPECT_NE(blocks.text.find("shfl.sync"), std::string::npos);
  EXPECT_NE(blocks.text.find("$ptxasw_as_launched:"), std::string::npos);
  const Optimized threads = with("transposed", {"shuffle=all", "remap=thread-swap"});
  EXPECT_EQ(kernel_of(threads.report, "transposed4").shuffles, 0U);
  EXPECT_EQ(threads.text.find("shfl.sync"), std::string::npos);
}

TEST(Suites, RemapsThatAreProposed) {
  const std::map<std::string, std::string> proposed{{"mm_naive", "linear-column:64"},
                                                    {"heat_t", "thread-swap:32"},
                                                    {"transposed1", "thread-swap:8"},
                                                    {"transposed4", "thread-swap:8"}};
  for (const auto& entry : std::filesystem::directory_iterator(golden("x").parent_path())) {
    const Optimized result = with(entry.path().stem(), {"remap=auto", "shuffle=none"});
    for (const KernelReport& kernel : result.report.kernels) {
      const auto found = proposed.find(kernel.name);
      std::string expected =
          found == proposed.end() ? "not remapped" : "remapped: " + found->second;
      if (kernel.name.starts_with("pitch")) expected = "remapped: thread-swap:8"; // lanes lie apart
      EXPECT_TRUE(kernel.remapping.text.starts_with(expected))
          << kernel.name << ": " << kernel.remapping.text;
    }
  }
}

// A row of products that ptxas may fuse as it likes stays as it is until that is pinned.
TEST(Suites, RemapsWaitForPinnedProducts) {
  const Optimized held = with("whispering", {"remap=swap"});
  EXPECT_FALSE(held.changed);
  EXPECT_NE(kernel_of(held.report, "whispering").left_alone.text.find("products"),
            std::string::npos);
}

TEST(Suites, NothingChangesByDefault) {
  const std::string text = read(golden("jacobi"));
  const Optimized result = optimize(text, "jacobi.ptx", {});
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.text, text);
}

// The lanes of `transposed` are a parameter apart, which is 1 in an array of one word's height;
// with that written in as a constant the stride is known.
TEST(Suites, AutomaticTakesUncoalescedLoadsOnly) {
  Options options;
  options.shuffle = ShuffleMode::automatic;
  const Optimized coalesced = optimize(read(golden("jacobi")), "jacobi.ptx", options);
  EXPECT_FALSE(coalesced.changed);
  const std::string text = read(golden("transposed"));
  EXPECT_FALSE(optimize(text, "transposed.ptx", options).changed);
  const auto with_words_apart = [&](std::string_view words) {
    std::string known = text;
    for (const std::string name : {"transposed1", "transposed4"}) {
      const std::string load = ", [" + name + "_param_3];";
      const std::size_t at = known.find(load);
      const std::size_t start = known.rfind("ld.param.u32", at);
      known.replace(at, load.size(), fmt::format(", {};", words));
      known.replace(start, std::string("ld.param.u32").size(), "mov.u32");
    }
    return optimize(known, "transposed.ptx", options).report;
  };
  EXPECT_EQ(kernel_of(with_words_apart("1024"), "transposed4").shuffles, 8U);
  EXPECT_EQ(kernel_of(with_words_apart("1024"), "transposed1").shuffles, 2U);
  // Two of three loads are too few where lanes lie near each other.
  EXPECT_EQ(kernel_of(with_words_apart("64"), "transposed4").shuffles, 8U);
  EXPECT_EQ(kernel_of(with_words_apart("64"), "transposed1").shuffles, 0U);
}

TEST(Suites, ColumnsTakesStridesOfRunTime) {
  Options options;
  options.shuffle = ShuffleMode::columns;
  EXPECT_FALSE(optimize(read(golden("jacobi")), "jacobi.ptx", options).changed);
  const Optimized transposed = optimize(read(golden("transposed")), "transposed.ptx", options);
  EXPECT_EQ(kernel_of(transposed.report, "transposed1").shuffles, 2U);
  EXPECT_EQ(kernel_of(transposed.report, "transposed4").shuffles, 8U);
}

TEST(Suites, ParanoidProvesTheSame) {
  Options options = forced();
  options.paranoid = true;
  options.kernel_budget = std::chrono::seconds(20);
  const Optimized result = optimize(read(golden("jacobi")), "jacobi.ptx", options);
  EXPECT_EQ(kernel_of(result.report, "jacobi").covered, 6U);
  EXPECT_GE(kernel_of(result.report, "jacobi").z3_queries, 6U);
}

} // namespace
} // namespace ptxasw
