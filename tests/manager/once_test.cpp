// Every golden file is read once and each of its kernels emulated once, whatever is asked of ptxas
// on the way: also where multiply-adds are pinned, which makes another text of it.
#include "driver/environment.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/ptxas.hpp"
#include "ptx/edited.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ptxasw {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Once, EveryGoldenFileIsReadAndEmulatedOnce) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({"", ""}, environment);
  if (!found) GTEST_SKIP() << "no ptxas: " << found.error();
  driver::Ptxas ptxas(*found, "sm_90");
  Options options;
  options.coarsen = {1, 2, 1};
  options.fewer_blocks = true;
  unsigned pinned = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PTXASW_SOURCE_DIR "/tests/golden/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string text = read(entry.path());
    const auto bodies =
        std::ranges::count(ptx::parse(text).functions, false, &ptx::Function::is_declaration);
    const Report report = optimize(text, entry.path().filename(), options, &ptxas).report;
    EXPECT_EQ(report.parses, 1U) << entry.path();
    EXPECT_EQ(report.emulations, bodies) << entry.path();
    pinned += std::ranges::any_of(report.kernels, [](const auto& k) { return k.pinned != 0; });
  }
  EXPECT_GE(pinned, 5U) << "files with pinned multiply-adds";
}

// Versions are made of the text that was read and of what was found in it; what comes of each is
// read where it was changed. And a module does not grow beyond measure.
TEST(Once, AKernelWithVersionsAndEntriesForSeveralSteps) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({"", ""}, environment);
  if (!found) GTEST_SKIP() << "no ptxas: " << found.error();
  driver::Ptxas ptxas(*found, "sm_90");
  Options options;
  options.steps_auto = true;
  for (const bool variants : {false, true}) {
    options.variants = variants;
    for (const char* file : {"jacobi.ptx", "jacobi.lineinfo.ptx"}) {
      const std::string text = read(std::string(PTXASW_SOURCE_DIR "/tests/golden/ptx/") + file);
      const unsigned before = ptx::texts_read();
      const Optimized made = optimize(text, file, options, &ptxas);
      EXPECT_LE(ptx::texts_read() - before, 3U) << file;
      EXPECT_EQ(made.report.parses, 1U) << file;
      EXPECT_EQ(made.report.emulations, 1U) << file;
      EXPECT_LT(made.text.size(), (variants ? 50 : 40) * text.size()) << file;
      EXPECT_NE(made.text.find("__ptxasw_steps9"), std::string::npos) << file;
      EXPECT_EQ(made.text.find("__ptxasw_y4") != std::string::npos, variants) << file;
    }
  }
}

// A chip that nobody has measured is not judged by another one's numbers unsaid.
TEST(Chips, ReportsSayWhereNothingWasMeasured) {
  const std::string text = read(PTXASW_SOURCE_DIR "/tests/golden/ptx/transposed.ptx");
  const auto said = [&](const char* architecture) {
    Options options;
    options.architecture = architecture;
    const Report report = optimize(text, "t.ptx", options).report;
    EXPECT_EQ(report::to_text(report).find("nothing was measured") != std::string::npos,
              report::to_json(report).find("nothing was measured") != std::string::npos);
    return std::ranges::any_of(report.messages, [&](const Message& message) {
      return message.text.find(std::string("nothing was measured on ") + architecture) !=
             std::string::npos;
    });
  };
  EXPECT_FALSE(said("sm_90"));
  EXPECT_TRUE(said("sm_80"));
  EXPECT_TRUE(said("sm_120a"));
  EXPECT_TRUE(said("sm_70"));
}

} // namespace
} // namespace ptxasw
