// Steps with neighbours along three axes whose rims are copied, clamped or something else: T at
// once leave what T launches leave, and touch nothing else.
#include "passes/time_tile/step_case.hpp"

#include <array>
#include <string>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

struct RimKernel {
  const char* file;
  const char* name;
  unsigned bytes;
  bool is_float, in_front; // the arrays are the first two parameters
};

std::string form(const RimKernel& row) {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/" +
                         std::string(row.file) + ".ptx");
}

StepHost rim_host(const Stepped& stepped, const RimKernel& row, std::array<unsigned, 3> size) {
  const std::size_t count = std::size_t{size[0]} * size[1] * size[2];
  StepHost host{.stepped = stepped,
                .grid = {(size[0] + 31) / 32, (size[1] + 3) / 4, row.in_front ? size[2] : 1},
                .block = {32, 4, 1},
                .arguments = {0, 1, size[0], size[1], size[2]},
                .buffers = {test::random_elements(count, row.bytes, row.is_float, 1),
                            test::random_elements(count, row.bytes, row.is_float, 2)},
                .pointers = {0, 1}};
  if (!row.in_front) {
    host.arguments = {size[0], size[1], size[2], 0, 1};
    host.pointers = {3, 4};
  }
  return host;
}

class PlanesWithRims : public ::testing::TestWithParam<RimKernel> {};

TEST_P(PlanesWithRims, LeaveTheSame) {
  const RimKernel row = GetParam();
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 3},
        {.count = 3, .width = 64, .strips = 8, .rows = 4, .columns = 2, .planes = 16}}) {
    if (row.bytes > 4 && shape.columns > 1) continue; // not in shared memory
    const Stepped stepped(form(row), row.name, shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text,
                                  fmt::format("rims_{}_{}", row.name, shape.columns));
    for (const std::array<unsigned, 3>& size : std::vector<std::array<unsigned, 3>>{
             {3, 3, 3}, {4, 5, 4}, {33, 29, 9}, {70, 31, 7}, {26, 26, 12}}) {
      unsigned merged = 0;
      const StepHost host = rim_host(stepped, row, size);
      EXPECT_EQ(host.fit_error(), "");
      EXPECT_EQ(host.difference(7, &merged), "")
          << row.name << ' ' << size[0] << 'x' << size[1] << 'x' << size[2];
      EXPECT_EQ(merged, 2U);
      EXPECT_TRUE(host.loads_what_single_ones_touch(7)) << row.name << ' ' << size[0];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, PlanesWithRims,
                         ::testing::Values(RimKernel{"rims_in_space", "copied", 4, true, true},
                                           RimKernel{"rims_in_space", "bottom", 8, true, true},
                                           RimKernel{"rims_in_space", "clamped", 4, false, true},
                                           RimKernel{"rims_in_space", "mixed", 4, true, true},
                                           RimKernel{"unrolled", "rim", 4, true, false}),
                         [](const auto& row) { return std::string(row.param.name); });

} // namespace
} // namespace ptxasw
