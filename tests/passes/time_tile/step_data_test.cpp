// Steps of which data decide what is loaded: T at once leave what T launches leave, and load what
// these load, whatever values come in between.
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/other_kernel/chosen_loads.hpp"

#include <string>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string data_forms() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/data.ptx");
}

struct DataForm {
  const char* kernel;
  const char* reads; // offsets, by the parameter
  passes::Motion motion = passes::Motion::exchanged;
};

class StepsWithData : public ::testing::TestWithParam<DataForm> {};

TEST_P(StepsWithData, LeaveTheSame) {
  const DataForm row = GetParam();
  const bool turns = row.motion == passes::Motion::rotated;
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {turns ? 6U : 5U, 64, 4, 8, 2},
        {3, 32, 4, 8, 4, 0, true}}) {
    const Stepped stepped(data_forms(), row.kernel, shape, row.motion);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    if (shape.lanes && !stepped.entry.refused.empty()) continue;
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 2)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("data_{}", row.kernel));
    const unsigned steps = shape.count * (turns ? 2 : 1) + 3;
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      if (!host.fit_error().empty()) continue;
      EXPECT_EQ(host.difference(steps, &merged), "") << nx << 'x' << ny;
      if (turns) continue; // it has a fourth array
      EXPECT_TRUE(host.loads_what_single_ones_touch(steps)) << nx << 'x' << ny;
    }
    EXPECT_GE(merged, turns ? 2U : 4U);
  }
}

constexpr const char* star_of_data = "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)";

INSTANTIATE_TEST_SUITE_P(
    T, StepsWithData,
    ::testing::Values(DataForm{"obstacle", star_of_data}, DataForm{"no_flux", star_of_data},
                      DataForm{"walls", star_of_data}, DataForm{"upwind", star_of_data},
                      DataForm{"burgers", "0(-1,0,0) 0(0,0,0) 0(1,0,0)"},
                      DataForm{"round_torus", star_of_data},
                      DataForm{"corner", "0(-1,-1,0) 0(-1,1,0) 0(0,0,0) 0(1,-1,0) 0(1,1,0)"},
                      DataForm{"fire", star_of_data}, DataForm{"states", star_of_data},
                      DataForm{"wave", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0) 0(0,0,0)",
                               passes::Motion::rotated}),
    [](const auto& row) { return std::string(row.param.kernel); });

// k(in, out, c, n): %rd6 is in's element of the place %r4, %rd8 that of c, %p4 a condition on data.
std::string choosing(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 c, .param .u32 n)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<29>;
.reg .f32 %f<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [c];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd10, %rd1;
cvta.to.global.u64 %rd4, %rd2;
cvta.to.global.u64 %rd11, %rd3;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %tid.x;
mov.u32 %r8, %ntid.x;
mad.lo.s32 %r4, %r2, %r8, %r3;
setp.lt.s32 %p2, %r4, 1;
@%p2 bra end;
add.s32 %r11, %r1, -1;
setp.ge.s32 %p1, %r4, %r11;
@%p1 bra end;
mul.wide.s32 %rd5, %r4, 4;
add.s64 %rd6, %rd10, %rd5;
add.s64 %rd7, %rd4, %rd5;
add.s64 %rd8, %rd11, %rd5;
ld.global.f32 %f1, [%rd8];
setp.gt.f32 %p4, %f1, 0f00000000;
)" + body +
         R"(
ld.global.f32 %f3, [%rd6];
add.f32 %f4, %f3, %f2;
mul.f32 %f5, %f4, 0f3F000000;
st.global.f32 [%rd7], %f5;
end: ret;
}
)";
}

const std::string either_side = R"(
selp.b64 %rd20, -4, 4, %p4;
add.s64 %rd21, %rd6, %rd20;
)";
const std::string load = "ld.global.f32 %f2, [%rd21];\n";

Stepped chosen(const std::string& body) {
  return Stepped(choosing(body), "k",
                 {.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4});
}

void expect_chosen(const std::string& body) {
  const Stepped stepped = chosen(body);
  ASSERT_EQ(stepped.entry.refused.text, "") << body;
  unsigned merged = 0;
  EXPECT_EQ(host_for(stepped, 70, 1, {64, 1, 1}, 1).difference(6, &merged), "") << body;
  EXPECT_EQ(merged, 1U);
}

TEST(ChosenLoads, BecomeBranches) {
  expect_chosen(either_side + load);
  expect_chosen("selp.b32 %r12, -1, 1, %p4;\nadd.s32 %r13, %r12, %r4;\n"
                "mul.wide.s32 %rd22, %r13, 4;\nadd.s64 %rd21, %rd10, %rd22;\n" +
                load);
  // Of a selection from a selection, by two data.
  expect_chosen("ld.global.f32 %f6, [%rd8+4];\nsetp.gt.f32 %p5, %f6, 0f00000000;\n"
                "selp.b64 %rd19, -4, 0, %p5;\nselp.b64 %rd20, %rd19, 4, %p4;\n"
                "add.s64 %rd21, %rd6, %rd20;\n" +
                load);
}

TEST(ChosenLoads, ReadWhatIsKnown) {
  const auto is_made = [](const std::string& body) {
    const auto module = test::parsed(choosing(body));
    const emulator::Kernel kernel = test::emulate(*module, "k");
    return passes::choose_loads(kernel).module != nullptr;
  };
  EXPECT_TRUE(is_made(either_side + load));
  // What is selected from, or the condition, or the address has another value by then.
  EXPECT_FALSE(is_made("mov.b64 %rd19, 4;\nselp.b64 %rd20, -4, %rd19, %p4;\n"
                       "add.s64 %rd21, %rd6, %rd20;\nmov.b64 %rd19, 8;\n" +
                       load));
  EXPECT_FALSE(is_made(either_side + "setp.lt.f32 %p4, %f1, 0f3F800000;\n" + load));
  EXPECT_FALSE(is_made(either_side + "add.s64 %rd21, %rd6, 4;\n" + load));
  // A place decides, which is a case.
  EXPECT_FALSE(is_made("setp.gt.s32 %p5, %r4, 3;\nselp.b64 %rd20, -4, 4, %p5;\n"
                       "add.s64 %rd21, %rd6, %rd20;\n" +
                       load));
  EXPECT_FALSE(is_made(either_side + "@%p4 ld.global.f32 %f2, [%rd21];\n"));
  EXPECT_FALSE(is_made(either_side + "ld.volatile.global.f32 %f2, [%rd21];\n"));
}

} // namespace
} // namespace ptxasw
