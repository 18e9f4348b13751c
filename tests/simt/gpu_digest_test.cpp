// The interpreter against an H200: memory after every trap kernel, as recorded in
// bench/results/h200/traps.txt.
#include "simt/trap_case.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace ptxasw::simt {
namespace {

struct Digests {
  std::string name, in, out, x;
};
void PrintTo(const Digests& digests, std::ostream* stream) {
  *stream << digests.name;
}

std::vector<Digests> recorded() {
  std::vector<Digests> all;
  std::ifstream file(PTXASW_SOURCE_DIR "/bench/results/h200/traps.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Digests d;
    words >> d.name >> d.in >> d.out >> d.x;
    // What the clock says differs from run to run.
    if (d.name != "h54_clock_constant") all.push_back(d);
  }
  return all;
}

// FNV-1a over words first..last of the buffer at `base`; words outside of every allocation are 0.
std::string digest(const Memory& memory, std::uint64_t base, std::int64_t first,
                   std::int64_t last) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::int64_t k = 4 * first; k < 4 * (last + 1); ++k) {
    const std::uint64_t address = base + static_cast<std::uint64_t>(k);
    std::uint8_t byte = 0;
    for (const Allocation& a : memory.allocations()) {
      if (a.contains(address, 1)) byte = a.data[address - a.base];
    }
    hash = (hash ^ byte) * 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

class GpuDigest : public ::testing::TestWithParam<Digests> {};

TEST_P(GpuDigest, MemoryIsTheSame) {
  const TrapCase trap = read_trap(std::filesystem::path(PTXASW_SOURCE_DIR "/tests/traps") /
                                  (GetParam().name + ".ptx"));
  const TrapRun ran = run_trap(trap, trap.text, {});
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_EQ(digest(ran.memory, trap_detail::in_base, -1024, 7167), GetParam().in);
  EXPECT_EQ(digest(ran.memory, trap_detail::out_base, 0, 16383), GetParam().out);
  EXPECT_EQ(digest(ran.memory, trap_detail::x_base, 0, 63), GetParam().x);
}

INSTANTIATE_TEST_SUITE_P(, GpuDigest, ::testing::ValuesIn(recorded()),
                         [](const auto& instance) { return instance.param.name; });

} // namespace
} // namespace ptxasw::simt
