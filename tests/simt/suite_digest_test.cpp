// The interpreter against an H200: memory after the kernels of bench/kernels, as recorded in
// bench/results/h200/suites.txt. The GPU ran them assembled with -fmad=false, so that a product is
// fused into a sum where the PTX says so and nowhere else.
#include "../bench/gpu/plan.hpp"
#include "../bench/gpu/words.hpp"
#include "ptx/parse.hpp"
#include "simt/machine.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ptxasw::simt {
namespace {

constexpr std::uint64_t seed = 1;
constexpr const char* record = PTXASW_SOURCE_DIR "/bench/results/h200/suites.txt";

std::vector<std::uint8_t> filled(harness::Pattern pattern, std::uint64_t from, std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  const std::size_t size = harness::element_bytes(pattern);
  for (std::size_t i = 0; i < bytes / size; ++i) {
    const std::uint64_t value = harness::element(pattern, from, bytes / size, i);
    std::memcpy(&data[i * size], &value, size);
  }
  return data;
}

// The arrays of a case as Arrays of bench/gpu/memory.hpp has them.
struct Arrays {
  Memory memory;
  std::vector<std::uint64_t> bases;
  std::vector<Argument> arguments;
};
Arrays arrays_of(const harness::Case& c, bool bits) {
  Arrays made;
  for (const harness::Param& p : c.params) {
    if (p.kind == harness::Kind::word) {
      made.arguments.push_back(value(p.value));
      continue;
    }
    const bool poisoned = p.role == "out" && c.steps == 1;
    const std::size_t n = made.bases.size();
    made.bases.push_back(made.memory.allocate(
        fmt::format("{}", n),
        poisoned ? filled(harness::Pattern::poison, seed, bytes_of(p))
                 : filled(harness::pattern_of(p.type, bits), seed + 1000 * (n + 1), bytes_of(p))));
    made.arguments.push_back(value(made.bases.back()));
  }
  return made;
}

std::string run_case(const harness::Case& c, const Program& program, Arrays& arrays) {
  const auto dim = [](const std::array<unsigned, 3>& d) { return Dim3{d[0], d[1], d[2]}; };
  for (unsigned step = 0; step < std::min(c.steps, 2U); ++step) {
    if (step == 1) std::swap(arrays.arguments[0], arrays.arguments[1]);
    const Launch launch{.grid = dim(c.grid), .block = dim(c.block), .arguments = arrays.arguments};
    const Result result = run(program, launch, arrays.memory);
    if (!result.ok()) return result.message;
  }
  return {};
}

std::string stem(const harness::Case& c) {
  return c.variants.front().cubin.substr(0, c.variants.front().cubin.find('.'));
}

class SuiteDigest : public ::testing::TestWithParam<std::vector<harness::Case>> {};

TEST_P(SuiteDigest, MemoryIsTheSame) {
  const std::string name = stem(GetParam().front()) + ".ptx";
  std::ifstream in(std::string(PTXASW_SOURCE_DIR "/tests/golden/ptx/") + name);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto module = std::make_shared<const ptx::Module>(ptx::parse(text, name));
  for (const harness::Case& c : GetParam()) {
    const auto program = compile(module, c.entry);
    ASSERT_TRUE(program.has_value()) << program.error();
    EXPECT_EQ(c.digests.size(), 2U) << c.name;
    for (const harness::Digest& expected : c.digests) {
      Arrays arrays = arrays_of(c, expected.data == "bits");
      EXPECT_EQ(run_case(c, **program, arrays), "") << c.name;
      std::vector<std::uint64_t> found;
      for (const std::uint64_t base : arrays.bases) {
        const std::vector<std::uint8_t>& data = arrays.memory.find(base, 1)->data;
        found.push_back(harness::digest(data.data(), data.size()));
      }
      EXPECT_EQ(found, expected.arrays) << c.name << " " << expected.data;
    }
  }
}

// One test for each PTX file.
std::vector<std::vector<harness::Case>> recorded_suites() {
  std::vector<std::vector<harness::Case>> files;
  for (harness::Case& c : harness::read_plan(record)) {
    const auto same = [&](const auto& cases) { return stem(cases.front()) == stem(c); };
    auto file = std::ranges::find_if(files, same);
    if (file == files.end()) file = files.emplace(files.end());
    file->push_back(std::move(c));
  }
  return files;
}
INSTANTIATE_TEST_SUITE_P(, SuiteDigest, ::testing::ValuesIn(recorded_suites()),
                         [](const auto& instance) { return stem(instance.param.front()); });

} // namespace
} // namespace ptxasw::simt
