// What a host is told of a contract's entries for several steps.
#include "ptxasw/steps.h"

#include "contract/contract.hpp"

#include <gtest/gtest.h>

namespace ptxasw {
namespace {

// Entries of arrays in rotation take a fourth one, and a host that exchanges arrays has none.
TEST(StepEntryOfAHost, ExchangesArrays) {
  contract::Contract contract{.kernel = "k",
                              .parameters = 3,
                              .parameter_bytes = 24,
                              .places = {{0, 8}, {8, 8}, {16, 8}},
                              .variants = {{.entry = "k", .name = "original"}}};
  contract.steps = {{.entry = "k5", .count = 5, .swaps = {{1, 2}}, .waits = true},
                    {.entry = "k6",
                     .count = 6,
                     .swaps = {},
                     .rotation = contract::Rotation{.old = 0, .now = 1, .next = 2}}};
  const std::string text = contract::encode(contract);
  const auto entries = step_entries(text);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "k5");
  EXPECT_TRUE(entries[0].waits);
  EXPECT_EQ(entries[0].exchanged, (std::vector<std::pair<unsigned, unsigned>>{{1, 2}}));
  std::uint64_t arrays[3] = {0x1000, 0x2000, 0x3000};
  void* parameters[] = {&arrays[0], &arrays[1], &arrays[2]};
  EXPECT_EQ(fit_steps(text, entries[0], {1, 1, 1}, {32, 1, 1}, parameters).why, "");
  EXPECT_EQ(fit_steps(text, {.name = "k6", .steps = 6}, {1, 1, 1}, {32, 1, 1}, parameters).why,
            "the contract has no such entry");
}

} // namespace
} // namespace ptxasw
