// What contracts say that entries gain.
#include "pipeline/variant_ways.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

namespace ptxasw::pipeline {
namespace {

CoarsenChoices two_copies(bool in_order) {
  CoarsenChoices choices;
  choices.original.work = {.wavefronts = 20, .loads = 2, .instructions = 20};
  choices.original.memory_bytes = 256;
  choices.original.usage = Usage{
      .registers = 12, .path = StraightPath{.instructions = 22, .stores = 1, .latency = 1200}};
  choices.in_order = in_order;
  choices.candidates = {
      {.how = {.factors = {2, 1, 1}},
       .work = {.wavefronts = 20, .loads = 2, .instructions = 17},
       .usage = Usage{.registers = 16,
                      .path = StraightPath{.instructions = 36, .stores = 2, .latency = 1300}}}};
  return choices;
}

// As volatile_sum does, which gained 0.81 to 0.89 of what the model says.
TEST(VariantWays, LoadsThatKeepTheirOrderGainLess) {
  const cost::Profile& profile = *cost::find_profile("sm_90");
  const std::vector<Way> free = best_ways(profile, two_copies(false)),
                         ordered = best_ways(profile, two_copies(true));
  ASSERT_EQ(free.size(), 1U);
  ASSERT_EQ(ordered.size(), 1U);
  for (std::size_t n = 0; n < free[0].gains.size(); ++n)
    for (std::size_t k = 0; k < contract::waves.size(); ++k)
      EXPECT_NEAR(ordered[0].gains[n].by_waves[k], 0.87 * free[0].gains[n].by_waves[k], 1e-9);
}

TEST(VariantWays, WhichLoadsKeepTheirOrder) {
  const auto in_order = [](const std::string& load) {
    test::Emulated k(test::kernel_text(load + " %f1, [%rd1]; st.global.f32 [%rd2], %f1; ret;"));
    sym::Solver solver(*k.kernel.context);
    return coarsen_choices(k.kernel, solver, *cost::find_profile("sm_90"), CoarsenGrid::launcher)
        .in_order;
  };
  EXPECT_TRUE(in_order("ld.volatile.global.f32"));
  EXPECT_TRUE(in_order("ld.relaxed.gpu.global.f32"));
  EXPECT_FALSE(in_order("ld.global.f32"));
  EXPECT_FALSE(in_order("ld.global.nc.f32"));
}

} // namespace
} // namespace ptxasw::pipeline
