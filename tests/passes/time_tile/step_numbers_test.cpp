// Sizes that are written in the program, by which compilers divide with shifts, masks and products.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tuple>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string numbers() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/numbers.ptx");
}

struct OfNumbers {
  const char* kernel;
  unsigned width, height;
};

class StepsOfNumbers : public ::testing::TestWithParam<OfNumbers> {};

TEST_P(StepsOfNumbers, LeaveTheSame) {
  const auto& [kernel, width, height] = GetParam();
  const std::string text = numbers();
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {5, 64, 4, 8, 2}}) {
    const Stepped stepped(text, kernel, shape);
    ASSERT_EQ(stepped.plan.refused.text, "");
    ASSERT_EQ(stepped.entry.refused.text, "");
    EXPECT_EQ(offsets_text(stepped.plan), "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)");
    unsigned merged = 0;
    for (const unsigned more : {0U, 5U}) { // threads that are no places
      const StepHost host = host_for(stepped, width + more, height + more, {32, 4, 1}, more);
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << more;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << more;
    }
    EXPECT_EQ(merged, 2U);
    // Threads for half of the places.
    const StepHost few = host_for(stepped, width, height / 2, {32, 1, 1}, 1, width * height);
    const std::string why = stepped.plan.rows ? "some rows have no threads" : "";
    EXPECT_EQ(few.fit_error(), why);
    EXPECT_EQ(few.difference(shape.count + 3), why.empty() ? "" : "merged: " + why);
  }
}

INSTANTIATE_TEST_SUITE_P(
    T, StepsOfNumbers,
    ::testing::Values(OfNumbers{"ring_64_48", 64, 48}, OfNumbers{"ring_37_41", 37, 41},
                      OfNumbers{"ring_56_45", 56, 45}, OfNumbers{"rows_64_48", 64, 48},
                      OfNumbers{"rows_37_41", 37, 41}, OfNumbers{"rows_56_45", 56, 45},
                      OfNumbers{"rows_u_64_48", 64, 48}, OfNumbers{"rows_u_264_250", 264, 250},
                      OfNumbers{"torus_64_48", 64, 48}, OfNumbers{"torus_37_41", 37, 41},
                      OfNumbers{"torus_56_45", 56, 45}, OfNumbers{"torus_u_64_48", 64, 48}),
    [](const auto& row) { return std::string(row.param.kernel); });

// Without a guard: as many threads as places.
TEST(StepsOfNumbers, WithoutAGuard) {
  for (const auto& [kernel, width, height, threads] : {std::tuple{"exact_64_48", 64U, 48U, 128U},
                                                       {"exact_64_64", 64U, 64U, 256U},
                                                       {"exact_100_60", 100U, 60U, 80U}}) {
    const Stepped stepped(numbers(), kernel,
                          {.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 2});
    ASSERT_EQ(stepped.plan.refused.text, "") << kernel;
    ASSERT_EQ(stepped.entry.refused.text, "") << kernel;
    StepHost host = host_for(stepped, width, height, {threads, 1, 1}, 1, threads);
    host.grid.x = width * height / threads;
    unsigned merged = 0;
    EXPECT_EQ(host.difference(6, &merged), "") << kernel;
    EXPECT_EQ(merged, 1U);
    ++host.grid.x;
    EXPECT_EQ(host.fit_error(), "some threads are no places") << kernel;
    host.grid.x -= 2;
    EXPECT_EQ(host.fit_error(), "some rows have no threads") << kernel;
  }
}

// What divides by nothing, or by something else as soon as numbers are larger.
TEST(StepsOfNumbers, ThatAreNotThose) {
  const std::string text = numbers();
  const auto with = [&](std::string_view kernel, std::string_view old, std::string_view now) {
    std::string changed = text;
    std::size_t at = changed.find(fmt::format(".entry {}(", kernel));
    const std::size_t end = changed.find("\n}", at);
    EXPECT_LT(changed.find(old, at), end) << old;
    while ((at = changed.find(old, at)) < end)
      changed.replace(at, old.size(), now), at += now.size();
    const Stepped stepped(changed, std::string(kernel),
                          {.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 2});
    if (!stepped.plan.refused.empty()) return stepped.plan.refused.text;
    if (!stepped.entry.refused.empty()) return stepped.entry.refused.text;
    const StepHost host = host_for(stepped, 56, 45, {32, 4, 1}, 1, 4000);
    const std::string why = host.fit_error();
    if (!why.empty()) return why;
    EXPECT_EQ(host.difference(6), "") << kernel << ' ' << now;
    return std::string();
  };
  EXPECT_EQ(with("rows_56_45", "-1840700269", "-1840700269"), "");
  EXPECT_NE(with("rows_56_45", "-1840700269", "-1840700268"), "");
  EXPECT_NE(with("rows_56_45", "-1840700269", "-1840700000"), "");
  EXPECT_NE(with("rows_56_45", ", 5;", ", 6;"), "");
  EXPECT_NE(with("torus_56_45", ", 5;", ", 4;"), "");
  EXPECT_NE(with("ring_56_45", "-1840700269", "1840700269"), "");
}

// Each level is looked at twice: so many only as the depth has a limit.
TEST(StepsOfNumbers, ThatStandInOneAnotherAreReadInNoTime) {
  std::string work = "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\n"
                     "mad.lo.s32 %r8, %r4, %r5, %r3;\n";
  unsigned last = 8;
  for (unsigned n = 0; n < 24; ++n, last += 2)
    work += fmt::format("mul.lo.s32 %r{}, %r{}, {};\nshr.u32 %r{}, %r{}, 3;\n", last + 1, last,
                        0x9e3779b1 + 2 * n, last + 2, last + 1);
  work += fmt::format(R"(
mul.wide.u32 %rd3, %r{}, 4;
add.s64 %rd4, %rd1, %rd3;
ld.global.f32 %f1, [%rd4];
mul.wide.u32 %rd5, %r8, 4;
add.s64 %rd6, %rd2, %rd5;
st.global.f32 [%rd6], %f1;
ret;)",
                      last);
  const Stepped stepped(test::kernel_text(work), "k", {});
  EXPECT_NE(stepped.plan.refused.text, "");
}

} // namespace
} // namespace ptxasw
