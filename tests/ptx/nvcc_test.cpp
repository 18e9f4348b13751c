// Everything that nvcc makes from tests/corpus/*.cu is read completely and printed byte for byte.
//
// A source names its architectures in a line `// ARCH: 75 90 | 80 86`: those before the bar are
// compiled by default, and all of them, each plain, with -G and with -lineinfo, when the
// environment variable PTXASW_FULL_MATRIX is set. By default the first is compiled with -G and the
// last with -lineinfo.
#include "files.hpp"
#include "lossless.hpp"
#include "ptx/body.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include <unistd.h>

namespace {

using namespace ptxasw;
using namespace ptxasw::ptx;

struct Compilation {
  std::filesystem::path source;
  std::string architecture, mode;

  [[nodiscard]] std::string name() const {
    std::string result = source.stem().string();
    result.append("_").append(architecture).append(mode);
    std::erase(result, '-');
    return result;
  }
  friend void PrintTo(const Compilation& c, std::ostream* out) { *out << c.name(); }
};

// What is to be compiled of one source.
std::vector<Compilation> compilations(const std::filesystem::path& source, bool full) {
  const std::string text = test::read_file(source);
  const std::string mark = "// ARCH:";
  std::istringstream words(text.substr(text.find(mark) + mark.size()));
  std::vector<std::string> architectures;
  std::string line, word;
  std::getline(words, line);
  for (std::istringstream in(line); in >> word;) {
    if (word == "|" && !full) break;
    if (word != "|") architectures.push_back(word);
  }
  std::vector<Compilation> result;
  for (const std::string& architecture : architectures) {
    if (full) {
      for (const char* mode : {"", "-G", "-lineinfo"})
        result.push_back({source, architecture, mode});
    } else {
      const char* mode = architectures.size() == 1              ? ""
                         : architecture == architectures.back() ? "-lineinfo"
                                                                : "-G";
      result.push_back({source, architecture, mode});
    }
  }
  return result;
}

std::vector<Compilation> matrix() {
  const bool full = std::getenv("PTXASW_FULL_MATRIX") != nullptr; // NOLINT(concurrency-mt-unsafe)
  std::vector<Compilation> result;
  for (const auto& source : test::files_below("tests/corpus", ".cu"))
    for (Compilation& compilation : compilations(source, full))
      result.push_back(std::move(compilation));
  return result;
}

std::string nvcc() {
  for (const char* candidate : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const std::string command = fmt::format("{} --version >/dev/null 2>&1", candidate);
    if (std::system(command.c_str()) == 0) return candidate; // NOLINT(concurrency-mt-unsafe)
  }
  return {};
}

class Nvcc : public testing::TestWithParam<Compilation> {};

TEST_P(Nvcc, OutputIsReadCompletely) {
  static const std::string compiler = nvcc();
  if (compiler.empty()) GTEST_SKIP() << "nvcc is not installed";
  const Compilation& wanted = GetParam();
  const std::string output =
      fmt::format("{}ptxasw_{}_{}.ptx", testing::TempDir(), getpid(), wanted.name());
  const std::string command =
      fmt::format("{} -std=c++17 -w -ptx -arch=sm_{} {} -o '{}' '{}'", compiler,
                  wanted.architecture, wanted.mode, output, wanted.source.string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command; // NOLINT(concurrency-mt-unsafe)
  const std::string text = test::read_file(output);
  std::filesystem::remove(output);
  ASSERT_GT(text.size(), 1000U);

  const Module module = parse(text, wanted.name());
  test::expect_lossless(module, text);
  test::expect_understood(module);
  for (const Instruction& instruction : module.instructions)
    ASSERT_NE(instruction.op, Op::unknown) << module.slice(instruction.mnemonic);
  for (const Function& function : module.functions)
    for (const Diagnostic& d : resolve(module, function).diagnostics)
      ADD_FAILURE() << render(d, *module.text, module.lines, module.file);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Nvcc, testing::ValuesIn(matrix()),
                         [](const auto& one) { return one.param.name(); });

} // namespace
