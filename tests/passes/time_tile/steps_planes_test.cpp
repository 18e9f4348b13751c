// Stencils with neighbours along three axes: T steps at once leave what T launches leave.
// PTXASW_STEPS_FUZZ=N makes N random ones.
#include "passes/time_tile/space_stencil.hpp"
#include "passes/time_tile/step_case.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::SpaceStencil;
using test::StepHost;
using test::Stepped;

struct Extent {
  unsigned x, y, z;
};

// kernel(in, out, nx, ny, nz): as the suite has them.
StepHost cube(const Stepped& stepped, const Extent& size, unsigned bytes) {
  const std::size_t count = std::size_t{size.x} * size.y * size.z;
  return {.stepped = stepped,
          .grid = {(size.x + 31) / 32, (size.y + 3) / 4, size.z},
          .block = {32, 4, 1},
          .arguments = {0, 1, size.x, size.y, size.z},
          .buffers = {test::random_elements(count, bytes, true, 1),
                      test::random_elements(count, bytes, true, 2)},
          .pointers = {0, 1}};
}

struct CubeRow {
  const char* kernel;
  unsigned bytes, reach;
};

class PlanesOfTheSuite : public ::testing::TestWithParam<CubeRow> {};

TEST_P(PlanesOfTheSuite, LeaveTheSame) {
  const CubeRow row = GetParam();
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 3},
        {.count = 3, .width = 64, .strips = 8, .rows = 4, .columns = 2, .planes = 16}}) {
    if (row.bytes > 4 && shape.columns > 1) continue; // not in shared memory
    const Stepped stepped(test::golden_ptx("iterated3d"), row.kernel, shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text,
                                  fmt::format("planes_{}_{}", row.kernel, shape.columns));
    for (const Extent& size : {Extent{2 * row.reach + 1, 2 * row.reach + 1, 2 * row.reach + 1},
                               Extent{33, 29, 9}, Extent{70, 31, 7}}) {
      unsigned merged = 0;
      EXPECT_EQ(cube(stepped, size, row.bytes).difference(7, &merged), "")
          << row.kernel << ' ' << size.x << 'x' << size.y << 'x' << size.z;
      EXPECT_EQ(merged, 2U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(T, PlanesOfTheSuite,
                         ::testing::Values(CubeRow{"j3d7pt_f32", 4, 1}, CubeRow{"j3d7pt_f64", 8, 1},
                                           CubeRow{"j3d27pt_f32", 4, 1},
                                           CubeRow{"j3d27pt_f64", 8, 1}),
                         [](const auto& row) { return std::string(row.param.kernel); });

// forms/in_space.cu
std::string refused(const char* kernel, const passes::StepShape& shape) {
  const std::string text =
      test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/in_space.ptx");
  return Stepped(text, kernel, shape).entry.refused.text;
}

constexpr passes::StepShape usual_shape{
    .count = 3, .width = 32, .strips = 8, .rows = 4, .planes = 8};

TEST(StepsInSpace, AreThoseOfOneArrayAndGuardsOfOneAxis) {
  EXPECT_EQ(refused("faces", usual_shape), "");
  EXPECT_EQ(refused("far", usual_shape), "");
  EXPECT_EQ(refused("clamped", usual_shape), "");
  EXPECT_EQ(refused("copied_rim", usual_shape), "");
  EXPECT_EQ(refused("coefficients", usual_shape), "");
  for (const auto& [kernel, why] : {std::pair("two_arrays", "it has several arrays"),
                                    {"halves", "its elements are not of 4 or 8 bytes"},
                                    {"slanted", "its guards are not of one axis each"},
                                    {"masked", "its guards are not of one axis each"},
                                    {"strided", "its threads take several places"},
                                    {"around", "they go around a torus"}})
    EXPECT_EQ(refused(kernel, usual_shape),
              fmt::format("its neighbours lie along three axes, and {}", why))
        << kernel;
  EXPECT_EQ(refused("flat", usual_shape), "its neighbours do not lie along three axes");
}

TEST(StepsInSpace, HaveRegionsOfWholeWarps) {
  const auto with = [](auto change) {
    passes::StepShape shape = usual_shape;
    change(shape);
    return refused("faces", shape);
  };
  EXPECT_EQ(with([](auto& s) { s.width = 64; }), "rows are no part of a warp");
  EXPECT_EQ(with([](auto& s) { s.rows = 1; }), "a strip has fewer rows than other strips read");
  EXPECT_EQ(with([](auto& s) { s.strips = 3; }), "so many steps reach beyond a region");
  EXPECT_EQ(with([](auto& s) { s.strips = 32; }), "a region does not fit into shared memory");
  EXPECT_EQ(with([](auto& s) { s.count = 2; }), "no such shape");
  passes::StepShape deep = usual_shape;
  deep.planes = 0;
  EXPECT_EQ(refused("faces", deep), "its neighbours lie along three axes");
}

// (T + 1) * 5 + 2 planes are known: all bits of a word.
TEST(StepsInSpace, MayKnowAsManyPlanesAsAWordHasBits) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny, .param .u32 nz)
{
.reg .pred %p<9>;
.reg .b32 %r<40>;
.reg .b64 %rd<40>;
.reg .f32 %f<20>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [nx];
ld.param.u32 %r2, [ny];
ld.param.u32 %r3, [nz];
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %ntid.x;
mov.u32 %r6, %tid.x;
mad.lo.s32 %r10, %r4, %r5, %r6;
mov.u32 %r7, %ctaid.y;
mov.u32 %r8, %ntid.y;
mov.u32 %r9, %tid.y;
mad.lo.s32 %r11, %r7, %r8, %r9;
mov.u32 %r12, %ctaid.z;
setp.lt.s32 %p1, %r10, 1;
@%p1 bra end;
setp.lt.s32 %p2, %r11, 1;
@%p2 bra end;
setp.lt.s32 %p3, %r12, 5;
@%p3 bra end;
sub.s32 %r20, %r1, 1;
setp.ge.s32 %p4, %r10, %r20;
@%p4 bra end;
sub.s32 %r21, %r2, 1;
setp.ge.s32 %p5, %r11, %r21;
@%p5 bra end;
sub.s32 %r24, %r3, 5;
setp.ge.s32 %p6, %r12, %r24;
@%p6 bra end;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r22, %r12, %r2, %r11;
mad.lo.s32 %r23, %r22, %r1, %r10;
mul.wide.s32 %rd5, %r23, 4;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
mul.wide.s32 %rd8, %r1, 4;
cvt.s64.s32 %rd10, %r2;
mul.lo.s64 %rd9, %rd8, %rd10;
mul.lo.s64 %rd11, %rd9, 5;
add.s64 %rd12, %rd6, %rd8;
sub.s64 %rd13, %rd6, %rd8;
add.s64 %rd14, %rd6, %rd11;
sub.s64 %rd15, %rd6, %rd11;
ld.global.f32 %f1, [%rd6+4];
ld.global.f32 %f2, [%rd6+-4];
ld.global.f32 %f3, [%rd12];
ld.global.f32 %f4, [%rd13];
ld.global.f32 %f5, [%rd14];
ld.global.f32 %f6, [%rd15];
add.rn.f32 %f7, %f1, %f2;
sub.rn.f32 %f8, %f7, %f3;
add.rn.f32 %f9, %f8, %f4;
sub.rn.f32 %f10, %f9, %f5;
add.rn.f32 %f11, %f10, %f6;
mul.rn.f32 %f12, %f11, 0f3E800000;
st.global.f32 [%rd7], %f12;
end: ret;
}
)";
  const Stepped stepped(text, "k", {.count = 5, .width = 32, .strips = 4, .rows = 5, .planes = 7});
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const Extent& size : {Extent{3, 3, 11}, Extent{9, 7, 14}}) {
    unsigned merged = 0;
    const StepHost host = cube(stepped, size, 4);
    EXPECT_EQ(host.difference(6, &merged), "");
    EXPECT_EQ(merged, 1U);
    const auto plain = host.run(6, true), several = host.run(6, false);
    EXPECT_TRUE(std::ranges::includes(plain.loaded, several.loaded));
  }
}

StepHost host_of(const Stepped& stepped, const SpaceStencil& stencil, std::mt19937& random) {
  const auto size = [&](unsigned most) {
    return static_cast<unsigned>(2 * stencil.reach + 1) + static_cast<unsigned>(random() % most);
  };
  const Extent of{size(random() % 3 == 0 ? 70 : 30), size(random() % 3 == 0 ? 40 : 20), size(14)};
  const unsigned pitch = of.x + static_cast<unsigned>(random() % 3),
                 height = of.y + static_cast<unsigned>(random() % 2);
  const unsigned deep = stencil.by_block ? 1 : 2;
  const std::size_t count = std::size_t{pitch} * height * of.z;
  StepHost host{.stepped = stepped,
                .grid = {(of.x + 31) / 32, (of.y + 3) / 4, (of.z + deep - 1) / deep},
                .block = {32, 4, deep},
                .arguments = {0, 1, of.x, of.y, of.z, pitch, height, 2},
                .buffers = {},
                .pointers = {0, 1, 7}};
  for (unsigned n = 1; n <= 3; ++n)
    host.buffers.push_back(
        test::random_elements(count, stencil.type.bytes, stencil.type.is_float, n));
  // Not all of the array has threads.
  if (random() % 4 == 0) host.grid.y = std::max(1U, host.grid.y - 1);
  if (random() % 4 == 0) host.grid.z = std::max(1U, host.grid.z - 2);
  return host;
}

unsigned number_in(const char* variable, unsigned usual) {
  const char* const text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? usual : static_cast<unsigned>(std::atoi(text));
}

TEST(StepsFuzz, InSpaceLeaveTheSame) {
  const unsigned count = number_in("PTXASW_STEPS_FUZZ", 25),
                 first = number_in("PTXASW_STEPS_SEED", 1);
  unsigned merged = 0, refused_rims = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const SpaceStencil stencil(seed);
    constexpr std::array shapes{
        passes::StepShape{.count = 3, .width = 32, .strips = 6, .rows = 5, .planes = 5},
        passes::StepShape{.count = 3, .width = 32, .strips = 7, .rows = 4, .planes = 16},
        passes::StepShape{.count = 5, .width = 32, .strips = 8, .rows = 4, .planes = 3},
        passes::StepShape{
            .count = 3, .width = 64, .strips = 6, .rows = 4, .columns = 2, .planes = 1}};
    // What fits into shared memory.
    const bool wide = stencil.type.bytes > 4 || stencil.reach > 1,
               widest = stencil.type.bytes > 4 && stencil.reach > 1;
    const passes::StepShape shape =
        widest ? passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 5, .planes = 6}
               : shapes[random() % (wide ? 2 : shapes.size())];
    const Stepped stepped(stencil.text(), "k", shape);
    if (stencil.has_rims && !stepped.entry.refused.empty()) { // some are left alone
      ++refused_rims;
      continue;
    }
    ASSERT_EQ(stepped.entry.refused.text, "") << seed << '\n' << stencil.text();
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}", seed));
    for (unsigned n = 0; n < 2; ++n) {
      const StepHost host = host_of(stepped, stencil, random);
      const unsigned steps = shape.count + 1 + static_cast<unsigned>(random() % 6);
      if (!host.fit_error().empty()) continue; // too small to have an inside
      EXPECT_EQ(host.difference(steps, &merged), "")
          << host.arguments[2] << 'x' << host.arguments[3] << 'x' << host.arguments[4] << ", "
          << steps << " steps\n"
          << stencil.text();
      auto plain = host.run(steps, true);
      const auto several = host.run(steps, false);
      EXPECT_TRUE(std::ranges::includes(plain.stored, several.stored)) << stencil.text();
      // What is copied at the rim alone is loaded everywhere: those places store it.
      if (stencil.has_rims) plain.loaded.insert(plain.stored.begin(), plain.stored.end());
      EXPECT_TRUE(std::ranges::includes(plain.loaded, several.loaded)) << stencil.text();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(merged, count / 2);
  EXPECT_LE(refused_rims, count / 10);
}

} // namespace
} // namespace ptxasw
