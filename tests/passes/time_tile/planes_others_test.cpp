// Steps with neighbours along three axes that read arrays which nobody stores to: T at once leave
// what T launches leave, and touch nothing else.
#include "passes/time_tile/step_case.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

struct OthersKernel {
  const char* name;
  unsigned bytes;
  bool is_float;
  unsigned others; // arrays that are read as well
};

std::string others_text() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/others_in_space.ptx");
}

constexpr std::array<passes::StepShape, 2> others_shapes{
    passes::StepShape{.count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 3},
    {.count = 3, .width = 64, .strips = 8, .rows = 4, .columns = 2, .planes = 16}};

StepHost others_host(const Stepped& stepped, const OthersKernel& row,
                     std::array<unsigned, 3> size) {
  const std::size_t count = std::size_t{size[0]} * size[1] * size[2];
  StepHost host{.stepped = stepped,
                .grid = {(size[0] + 31) / 32, (size[1] + 3) / 4, size[2]},
                .block = {32, 4, 1},
                .arguments = {0, 1, size[0], size[1], size[2]},
                .buffers = {},
                .pointers = {0, 1}};
  for (unsigned n = 0; n < 2 + row.others; ++n) {
    host.buffers.push_back(test::random_elements(count, row.bytes, row.is_float, n + 1));
    if (n < 2) continue;
    host.pointers.push_back(3 + n);
    host.arguments.push_back(n);
  }
  return host;
}

class PlanesWithOthers : public ::testing::TestWithParam<OthersKernel> {};

TEST_P(PlanesWithOthers, LeaveTheSame) {
  const OthersKernel row = GetParam();
  for (const passes::StepShape& shape : others_shapes) {
    if (row.bytes > 4 && shape.columns > 1) continue; // not in shared memory
    const Stepped stepped(others_text(), row.name, shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text,
                                  fmt::format("others_{}_{}", row.name, shape.columns));
    for (const std::array<unsigned, 3>& size : std::vector<std::array<unsigned, 3>>{
             {3, 3, 3}, {4, 5, 4}, {33, 29, 9}, {70, 31, 7}, {26, 26, 12}}) {
      unsigned merged = 0;
      const StepHost host = others_host(stepped, row, size);
      EXPECT_EQ(host.fit_error(), "");
      EXPECT_EQ(host.difference(7, &merged), "")
          << row.name << ' ' << size[0] << 'x' << size[1] << 'x' << size[2];
      EXPECT_EQ(merged, 2U);
      EXPECT_TRUE(host.loads_what_single_ones_touch(7)) << row.name << ' ' << size[0];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PlanesWithOthers,
    ::testing::Values(OthersKernel{"source", 4, true, 1}, OthersKernel{"flux", 8, true, 1},
                      OthersKernel{"power", 4, true, 1}, OthersKernel{"walls", 4, true, 2},
                      OthersKernel{"weighted", 4, true, 0}, OthersKernel{"gated", 4, false, 1}),
    [](const auto& row) { return std::string(row.param.name); });

// What a region computes beside its right places may be anything: no load hangs on it. No place
// reads the other array here.
TEST(PlanesWithOthers, LoadWhereValuesAreRight) {
  constexpr unsigned alike = 5;
  for (const auto& [name, shape] : {std::pair("gated", others_shapes[0]),
                                    {"gated", others_shapes[1]},
                                    {"gated_floor", others_shapes[0]},
                                    {"gated_floor", others_shapes[1]}}) {
    const OthersKernel row{name, 4, false, 1};
    const Stepped stepped(others_text(), row.name, shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    StepHost host = others_host(stepped, row, {70, 61, 21});
    for (unsigned n : {0U, 1U})
      for (std::size_t byte = 0; byte < host.buffers[n].size(); ++byte)
        host.buffers[n][byte] = byte % 4 == 0 ? alike : 0;
    EXPECT_EQ(host.difference(4), "") << name;
    EXPECT_TRUE(host.loads_what_single_ones_touch(4)) << name << ' ' << shape.columns;
  }
}

// An array that is written may not be read by the place's neighbours.
TEST(PlanesWithOthers, AreApartFromWhatIsStored) {
  const OthersKernel row{"source", 4, true, 1};
  const Stepped stepped(others_text(), row.name, others_shapes[0]);
  StepHost host = others_host(stepped, row, {9, 9, 9});
  EXPECT_EQ(host.fit_error(), "");
  host.arguments[5] = 1;
  EXPECT_EQ(host.fit_error(), "the arrays overlap");
}

// Perhaps no thread does the load.
TEST(PlanesWithOthers, LoadWhatIsTheSameForAllIfSomePlaceStores) {
  EXPECT_EQ(Stepped(others_text(), "holes", others_shapes[0]).entry.refused.text,
            "its neighbours lie along three axes, and all load the same behind guards that are no "
            "bounds");
}

} // namespace
} // namespace ptxasw
