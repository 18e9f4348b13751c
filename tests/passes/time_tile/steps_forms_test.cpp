// Steps as people write them (bench/steps/forms, as nvcc made them): recognised, or why not; and T
// at once leave what T launches leave, at every size, and touch nothing else.
#include "passes/time_tile/any_host.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string form(const std::string& name) {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/" + name + ".ptx");
}

struct Form {
  const char* name;
  std::string reads;
  passes::Motion motion = passes::Motion::exchanged;
  unsigned choice = 0;
  unsigned vector = 1; // bytes that the kernel loads together
};

// Of which a part may have been loaded.
std::set<std::uint64_t> elements(const std::set<std::uint64_t>& addresses, unsigned bytes) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t address : addresses)
    all.insert(address / bytes * bytes);
  return all;
}

class StepForms : public ::testing::TestWithParam<Form> {};

TEST_P(StepForms, LeaveTheSame) {
  const Form row = GetParam();
  const bool turns = row.motion == passes::Motion::rotated;
  unsigned merged = 0;
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {turns ? 6U : 5U, 64, 4, 8, 2},
        {3, 32, 4, 8, 4, 0, true}}) {
    const Stepped stepped(form(row.name), "", shape, row.motion, row.choice);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    if (shape.lanes && !stepped.entry.refused.empty()) continue; // not every form has rows in warps
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 4 && !shape.lanes)
      test::expect_that_ptxas_takes(*stepped.both->text,
                                    fmt::format("forms_{}_{}", row.name, row.choice));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      if (!host.fit_error().empty()) continue; // too small to have an inside
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      auto plain = host.run(shape.count + 3, true);
      const auto several = host.run(shape.count + 3, false);
      plain.loaded.merge(plain.stored);
      const unsigned whole =
          stepped.plan.arrays[0].parts == 1 ? row.vector : stepped.plan.arrays[0].bytes;
      if (!turns) {
        EXPECT_TRUE(
            std::ranges::includes(elements(plain.loaded, whole), elements(several.loaded, whole)))
            << nx << 'x' << ny;
      }
    }
  }
  EXPECT_GE(merged, 5U);
}

TEST(StepsWithLoops, ThatMeet) {
  for (const char* kernel : {"taps_of_a_tile", "three_apart", "some_rows"}) {
    const Stepped stepped(form("loops"), kernel,
                          {.count = 3, .width = 64, .strips = 4, .rows = 16, .columns = 1});
    ASSERT_EQ(stepped.entry.refused.text, "") << kernel;
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{5U, 7U}, {33U, 17U}, {70U, 35U}}) {
      const StepHost host = host_for(stepped, nx, ny, {16, 8, 1}, nx);
      if (!host.fit_error().empty()) continue;
      EXPECT_EQ(host.difference(6, &merged), "") << kernel << ' ' << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << kernel;
    }
    EXPECT_GE(merged, 2U) << kernel;
  }
}

constexpr const char* star = "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* ring = "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)";

// All places so near along each axis.
std::string square(unsigned array, int reach) {
  std::string all;
  for (int x = -reach; x <= reach; ++x)
    for (int y = -reach; y <= reach; ++y)
      all += fmt::format("{}{}({},{},0)", all.empty() ? "" : " ", array, x, y);
  return all;
}

std::string of_each_field(unsigned fields, const std::string& reads) {
  std::string all = reads;
  for (unsigned n = 1; n < fields; ++n)
    all += " " + reads;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    T, StepForms,
    ::testing::Values(
        Form{"returns_a", star}, Form{"copied_rim_a", star}, Form{"clamp_a", star},
        Form{"hotspot_a", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0)"},
        Form{"torus_a", "0(-1,-1,0) 0(-1,0,0) 0(-1,1,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,-1,0) "
                        "0(1,0,0) 0(1,1,0)"},
        Form{"ring_a", "0(-1,0,0) 0(0,0,0) 0(1,0,0)"}, Form{"size_t_a", star},
        Form{"unsigned_a", ring}, Form{"linear_a", ring}, Form{"constant_a", star},
        Form{"mask_a", ring}, Form{"device_b", star}, Form{"float2_a", star},
        Form{"float2_c", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0)"},
        Form{"fields_b", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)"},
        Form{"template_a", "0(-2,0,0) 0(-1,0,0) 0(0,-2,0) 0(0,-1,0) 0(0,1,0) 0(0,2,0) 0(1,0,0) "
                           "0(2,0,0)"},
        Form{"views_a", star}, Form{"gridstride_a", "0(-1,0,0) 0(0,0,0) 0(1,0,0)"},
        Form{"gridstride_b", "1(-1,0,0) 1(0,-1,0) 1(0,1,0) 1(1,0,0)"}, Form{"gridlinear_a", ring},
        Form{"gridsize_b", "0(-1,0,0) 0(0,0,0) 0(1,0,0)"},
        Form{"taps_a", "0(-3,0,0) 0(-2,0,0) 0(-1,0,0) 0(0,0,0) 0(1,0,0) 0(2,0,0) 0(3,0,0)"},
        Form{"taps_b", square(0, 2)}, Form{"taps_d", square(1, 1)}, Form{"taps_f", square(1, 1)},
        Form{"march_c", star}, Form{"march_d", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0)"},
        Form{"coefficients_a", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0)"},
        Form{"coefficients_a", star, passes::Motion::exchanged, 1},
        Form{"two_fields_a", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0) 1(-1,0,0) 1(0,-1,0) "
                             "1(0,0,0) 1(0,1,0) 1(1,0,0)"},
        Form{"float4_b", of_each_field(4, "1(-1,0,0) 1(0,-1,0) 1(0,1,0) 1(1,0,0)"),
             passes::Motion::exchanged, 0, 16},
        Form{"structure_a", of_each_field(3, star)},
        Form{"structure_b", "1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(-1,0,0) 1(0,0,0) 1(1,0,0)"},
        Form{"channels_b", of_each_field(3, ring)}),
    [](const auto& row) { return fmt::format("{}_{}", row.param.name, row.param.choice); });

// Planes of one buffer need so much on chip that regions are small.
TEST(StepForms, TakePlanesOfOneBuffer) {
  for (const auto& [name, reads] :
       {std::pair{"planes_a", "0(0,0,0) 0(-1,0,0) 0(0,-1,0) 0(1,0,0) 0(0,1,0) 0(-1,-1,0) "
                              "0(1,-1,0) 0(1,1,0) 0(-1,1,0)"},
        {"planes_b", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0) 0(-1,0,0) 0(0,0,0) 0(1,0,0) "
                     "0(0,-1,0) 0(0,0,0) 0(0,1,0)"}}) {
    const Stepped stepped(form(name), "", {.count = 3, .width = 32, .strips = 8, .rows = 4});
    EXPECT_EQ(offsets_text(stepped.plan), reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text, name);
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      EXPECT_EQ(host.difference(6, &merged), "") << name << ' ' << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << name << ' ' << nx << 'x' << ny;
    }
    EXPECT_EQ(merged, 4U) << name;
  }
}

// x < 1 || y < 1 as (x - 1 | y - 1) < 0, and as !((-x & -y) < 0).
TEST(StepForms, TakeSignsOfSeveralNumbers) {
  const auto with = [](std::string text, std::string_view old, std::string_view other) {
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), other);
  };
  for (const char* signs : {"add.s32 %s1, %r1, -1;\nadd.s32 %s2, %r2, -1;\n"
                            "or.b32 %s3, %s1, %s2;\nsetp.lt.s32 %p1, %s3, 0;",
                            "neg.s32 %s1, %r1;\nneg.s32 %s2, %r2;\n"
                            "and.b32 %s3, %s1, %s2;\nsetp.ge.s32 %p1, %s3, 0;"}) {
    std::string text = with(form("constant_a"), "setp.lt.s32 \t%p1, %r1, 1;", signs);
    text = with(text, "setp.lt.s32 \t%p4, %r2, 1;", "mov.pred %p4, %p1;");
    text = with(text, "{\n", "{\n.reg .b32 %s<4>;\n");
    const Stepped stepped(text, "", {.count = 3, .width = 32, .strips = 4, .rows = 8});
    EXPECT_EQ(offsets_text(stepped.plan), star);
    ASSERT_EQ(stepped.entry.refused.text, "");
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{5U, 7U}, {70U, 35U}})
      EXPECT_EQ(host_for(stepped, nx, ny, {32, 4, 1}, nx).difference(5, &merged), "");
    EXPECT_EQ(merged, 2U);
  }
}

// 81, of which nvcc wrote nine in each iteration of a loop.
TEST(StepForms, TakeManyTaps) {
  const Stepped stepped(form("taps_e"), "",
                        {.count = 3, .width = 64, .strips = 4, .rows = 16, .columns = 2});
  EXPECT_EQ(offsets_text(stepped.plan), square(0, 4));
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{9U, 11U}, {70U, 45U}})
    EXPECT_EQ(host_for(stepped, nx, ny, {32, 4, 1}, nx).difference(5, &merged), "");
  EXPECT_EQ(merged, 2U);
}

// A field of the one structure is a row of both.
TEST(StepForms, TakeStructuresOfEqualSizes) {
  const Stepped stepped(form("views_a"), "", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {32, 4, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  host.structures[1][8] = 71;
  EXPECT_EQ(host.fit_error(), "its arrays differ in size");
}

TEST(StepFormsRefused, SayWhy) {
  for (const auto& [name, why] : {std::pair{"gridstride_c", Reason::step_loop},
                                  {"red_black_a", Reason::step_in_place},
                                  {"upwind_a", Reason::step_index}}) {
    const auto module = test::parsed(form(name));
    emulator::Kernel kernel = test::emulate(*module, "");
    const passes::StepPlan plan = passes::find_step(kernel);
    EXPECT_EQ(plan.refused.reason, why) << name << ": " << plan.refused.text;
  }
}

} // namespace
} // namespace ptxasw
