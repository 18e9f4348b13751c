// Tiles in shared memory, seen through.
#include "passes/time_tile/any_host.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string tile(const std::string& name) {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/" + name + ".ptx");
}

struct Tile {
  const char* name;
  const char* reads;
  simt::Dim3 block;
};

constexpr unsigned room = 600; // for threads that no size keeps from loading

class StepTiles : public ::testing::TestWithParam<Tile> {};

TEST_P(StepTiles, LeaveTheSame) {
  const Tile row = GetParam();
  unsigned merged = 0;
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {5, 64, 4, 8, 2}}) {
    const Stepped stepped(tile(row.name), "", shape);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 4)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("tiles_{}", row.name));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, row.block, nx, room);
      if (!host.fit_error().empty()) {
        EXPECT_LT(nx, 7U) << host.fit_error();
        continue;
      }
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << nx << 'x' << ny;
    }
    StepHost other = host_for(stepped, 70, 35, row.block, 1, room);
    EXPECT_EQ(other.fit_error(), "");
    other.block.x /= 2;
    other.grid.x *= 2;
    EXPECT_EQ(other.fit_error(), "its tile is for blocks of another shape");
  }
  EXPECT_GE(merged, 4U);
}

constexpr const char* around = "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* cross = "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* seven = "0(-3,0,0) 0(-2,0,0) 0(-1,0,0) 0(0,0,0) 0(1,0,0) 0(2,0,0) 0(3,0,0)";

constexpr const char* square =
    "1(-2,-2,0) 1(-2,-1,0) 1(-2,0,0) 1(-2,1,0) 1(-2,2,0) 1(-1,-2,0) 1(-1,-1,0) 1(-1,0,0) "
    "1(-1,1,0) 1(-1,2,0) 1(0,-2,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(0,2,0) 1(1,-2,0) 1(1,-1,0) "
    "1(1,0,0) 1(1,1,0) 1(1,2,0) 1(2,-2,0) 1(2,-1,0) 1(2,0,0) 1(2,1,0) 1(2,2,0)";

INSTANTIATE_TEST_SUITE_P(
    T, StepTiles,
    ::testing::Values(Tile{"tile_a", around, {16, 16, 1}}, Tile{"tile_b", seven, {256, 1, 1}},
                      Tile{"tile_c", cross, {32, 8, 1}}, Tile{"tile_d", seven, {128, 1, 1}},
                      Tile{"tile_e", cross, {16, 16, 1}}, Tile{"tile_f", cross, {32, 16, 1}},
                      Tile{"tile_h", around, {32, 8, 1}}, Tile{"tile_i", square, {16, 16, 1}},
                      Tile{"tile_k", cross, {16, 16, 1}}, Tile{"tile_l", cross, {32, 8, 1}},
                      Tile{
                          "tile_g", "1(-1,0,0) 1(0,-1,0) 1(0,0,0) 1(0,1,0) 1(1,0,0)", {16, 16, 1}}),
    [](const auto& row) { return row.param.name; });

// Its threads fill it in loops over rows and columns.
TEST(StepTilesAround, ATorus) {
  const Stepped stepped(tile("tile_m"), "", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{16U, 16U}, {17U, 33U}, {40U, 19U}, {64U, 48U}}) {
    const StepHost host = host_for(stepped, nx, ny, {16, 16, 1}, nx);
    EXPECT_EQ(host.fit_error(), "") << nx << 'x' << ny;
    EXPECT_EQ(host.difference(7, &merged), "") << nx << 'x' << ny;
  }
  EXPECT_EQ(merged, 8U);
}

// --- What is no such tile -----------------------------------------------------------------------

// Of tile_a, with other text in the place of some.
std::string without(const std::string& some, const std::string& other,
                    const std::string& name = "tile_a") {
  std::string text = tile(name);
  const auto at = text.find(some);
  EXPECT_NE(at, std::string::npos) << some;
  return text.replace(at, some.size(), other);
}

std::string refusal(const std::string& text) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, "");
  const passes::StepPlan plan =
      passes::StepKernel(kernel, {.time = std::chrono::seconds(30)}).find();
  EXPECT_NE(plan.refused.text, "");
  const auto behind = plan.refused.text.find(": ");
  return behind == std::string::npos ? plan.refused.text : plan.refused.text.substr(behind + 2);
}

constexpr const char* nobody = "nobody may have stored what it reads of the tile";
constexpr const char* others = "places of the tile hold other elements";

TEST(StepTilesRefused, WhereNobodyStored) {
  // No thread has what lies beside the block.
  EXPECT_EQ(refusal(without("setp.ne.s32 \t%p5, %r1, 0", "setp.ne.s32 \t%p5, %r1, 99")), nobody);
  EXPECT_EQ(refusal(without("setp.ne.s32 \t%p7, %r1, 15", "setp.ne.s32 \t%p7, %r1, 99")), nobody);
  EXPECT_EQ(refusal(without("setp.ne.s32 \t%p10, %r3, 0", "setp.ne.s32 \t%p10, %r3, 99")), nobody);
  // The second place of the grid has what is not stored in front of it.
  EXPECT_EQ(refusal(without("setp.lt.s32 \t%p4, %r2, 1", "setp.lt.s32 \t%p4, %r2, 17")), nobody);
  EXPECT_EQ(refusal(without("setp.lt.s32 \t%p16, %r4, 1", "setp.lt.s32 \t%p16, %r4, 0")), nobody);
  EXPECT_EQ(refusal(without("setp.lt.u32 \t%p1, %r5, 3", "setp.lt.u32 \t%p1, %r5, 2", "tile_b")),
            nobody);
  EXPECT_EQ(refusal(without("setp.lt.s32 \t%p4, %r2, 1",
                            "add.s32 \t%r30, %r2, -17;\nsetp.ge.u32 \t%p4, %r30, %r11")),
            nobody);
  // Threads that leave first store nothing.
  EXPECT_EQ(refusal(without("setp.lt.s32 \t%p1, %r2, %r11",
                            "setp.eq.s32 \t%p1, %r1, 7;\n@%p1 bra $L__BB0_11;\n"
                            "setp.lt.s32 \t%p1, %r2, %r11")),
            nobody);
  EXPECT_EQ(
      refusal(without("setp.lt.s32 \t%p1, %r2, %r11", "setp.eq.s32 \t%p0, %r2, 7;\n@%p0 ret;\n"
                                                      "setp.lt.s32 \t%p1, %r2, %r11")),
      nobody);
  // A place between two stores.
  EXPECT_EQ(refusal(without("ld.shared.f32 \t%f6, [%r5+80]", "ld.shared.f32 \t%f6, [%r5+82]")),
            "what it reads of the tile is no element of an array");
}

TEST(StepTilesRefused, WhereAnotherElementIs) {
  EXPECT_EQ(refusal(without("ld.global.f32 \t%f2, [%rd2+-4]", "ld.global.f32 \t%f2, [%rd2+-8]")),
            others);
  EXPECT_EQ(refusal(without("st.shared.f32 \t[%r29], %f2",
                            "add.f32 \t%f2, %f2, %f2;\nst.shared.f32 \t[%r29], %f2")),
            others);
  // Half of it alone.
  EXPECT_EQ(refusal(without("st.shared.f32 \t[%r29], %f2",
                            "ld.global.u16 \t%r0, [%rd2+-4];\nst.shared.u16 \t[%r29], %r0")),
            others);
  // Half of an element is stored again.
  EXPECT_EQ(refusal(without("st.shared.f32 \t[%r29], %f2",
                            "st.shared.f32 \t[%r29], %f2;\nst.shared.u16 \t[%r29+2], 1")),
            others);
  // Of one thread alone, from two bytes in front of it on.
  EXPECT_EQ(refusal(without("st.shared.f32 \t[%r29], %f2",
                            "st.shared.f32 \t[%r29], %f2;\nsetp.eq.s32 \t%p0, %r3, 0;\n"
                            "@%p0 st.shared.u32 \t[%r29+-2], 1")),
            others);
  // It is of the output.
  EXPECT_EQ(refusal(without("ld.param.u64 \t%rd4, [_Z11jacobi_tilePKfPfi_param_0]",
                            "ld.param.u64 \t%rd4, [_Z11jacobi_tilePKfPfi_param_1]")),
            "reads what the step writes");
  // Two elements, and it hangs on the thread which of them a place has.
  EXPECT_EQ(refusal(without("ld.global.f32 \t%f1, [%rd2];",
                            "ld.global.f32 \t%f1, [%rd2];\nsetp.ne.s32 \t%p4, %r1, 7;\n"
                            "@%p4 bra $L_other;\nld.global.f32 \t%f1, [%rd2+8];\n$L_other:")),
            others);
}

// What lies beside the block is read from elsewhere than what the tile holds of it.
TEST(StepTilesRefused, WhereSidesDiffer) {
  constexpr const char* place = "uses %tid.x for more than the place of the thread";
  EXPECT_EQ(refusal(without("ld.global.nc.f32 \t%f21, [%rd2+-4]", "ld.global.nc.f32 \t%f21, [%rd2]",
                            "tile_l")),
            place);
  EXPECT_EQ(
      refusal(without("ld.global.nc.f32 \t%f22, [%rd2+4]",
                      "ld.global.nc.f32 \t%f22, [%rd2+4];\nadd.f32 \t%f22, %f22, %f22", "tile_l")),
      place);
  EXPECT_EQ(refusal(without("ld.global.nc.f32 \t%f21, [%rd2+-4]",
                            "ld.global.nc.f32 \t%f21, [%rd2+-4];\nmov.u32 \t%r5, 7", "tile_l")),
            "what it reads is chosen by more than the place of the thread");
}

// What a register holds there was loaded in front, on the one way that is left for these blocks.
TEST(StepTilesRefused, WhereOneSideWritesWhatTheOtherHasLoaded) {
  std::string text = without("setp.gt.s32 \t%p11, %r1, 0;",
                             "mov.f32 %f9, 0f00000000;\nmov.u32 %r19, %ntid.x;\n"
                             "setp.lt.u32 %p1, %r19, 8;\n@%p1 bra $L_few;\n"
                             "ld.global.nc.f32 %f9, [%rd2+4];\n$L_few:\nsetp.gt.s32 %p11, %r1, 0;",
                             "tile_l");
  for (const auto& [some, behind] :
       {std::pair{std::string("ld.global.nc.f32 \t%f21, [%rd2+-4];"), "mov.f32 %f9, 0f00000000;"},
        {"add.f32 \t%f15, %f21, %f22;", "add.f32 %f15, %f15, %f9;"}}) {
    const auto at = text.find(some);
    ASSERT_NE(at, std::string::npos) << some;
    text.insert(at + some.size(), std::string("\n") + behind);
  }
  EXPECT_EQ(refusal(text), "uses %tid.x for more than the place of the thread");
}

TEST(StepTilesRefused, WhereTheTileIsNotFilledOnce) {
  EXPECT_EQ(
      refusal(without("bar.sync \t0;", "bar.sync \t0;\nst.shared.f32 \t[%r5+76], 0f00000000;")),
      "the tile is stored to behind the barrier, or without one");
  EXPECT_EQ(refusal(without("bra.uni \t$L__BB0_9;",
                            "st.shared.f32 \t[%r5+76], 0f00000000;\nbra.uni \t$L__BB0_11;")),
            "the tile is stored to behind the barrier, or without one");
  EXPECT_EQ(refusal(without("bar.sync \t0;",
                            "bar.sync \t0;\nst.shared.f32 \t[%r5+76], 0f00000000;\nbar.sync \t0;\n"
                            "st.shared.f32 \t[%r5+80], 0f00000000;")),
            "a second barrier, behind which the tile is filled again");
  EXPECT_EQ(refusal(without("bar.sync \t0;", "bar.sync \t0;\nbar.sync \t0, 128;")),
            "not a barrier of the whole block");
  EXPECT_EQ(refusal(without("bar.sync \t0;", "bar.sync \t0, 128;")),
            "not a barrier of the whole block");
  EXPECT_EQ(refusal(without("bar.sync \t0;", "@%p3 bar.sync \t0;")),
            "not a barrier of the whole block");
  EXPECT_EQ(refusal(without("bar.sync \t0;", "")), "shared memory without a barrier");
  EXPECT_EQ(refusal(without("bar.sync \t0;", "ld.shared.f32 \t%f6, [%r5+80];\nbar.sync \t0;")),
            "the tile is read in front of the barrier");
  EXPECT_EQ(refusal(without("ld.shared.f32 \t%f6", "ld.volatile.shared.f32 \t%f6")),
            "volatile or ordered access to the tile");
  EXPECT_EQ(refusal(without("bar.sync \t0;",
                            "bar.sync \t0;\natom.shared.add.f32 \t%f6, [%r5+76], 0f3F800000;")),
            "an effect beside the tile");
}

TEST(StepTilesRefused, WhereABarrierIsInALoop) {
  std::string text =
      without("bar.sync \t0;", "mov.u32 %turn, 0;\nagain:\nbar.sync 0;\nadd.u32 %turn, %turn, 1;\n"
                               "setp.ne.u32 %more, %turn, 2;\n@%more bra again;");
  text.replace(text.find("{\n"), 2, "{\n.reg .b32 %turn;\n.reg .pred %more;\n");
  EXPECT_EQ(refusal(text), "a barrier in a loop");
}

// Threads that go round as often as memory or the launch says.
TEST(StepTilesRefused, WhereALoopIsOfUnknownLength) {
  const char* const not_known = "how often a loop goes round is not known";
  EXPECT_EQ(
      refusal(without("add.s32 \t%r125, %r125, 256;", "add.s32 \t%r125, %r125, %r22;", "tile_e")),
      "where it stores in the tile is not known"); // as often as it is now
  EXPECT_EQ(
      refusal(without("setp.ne.s32 \t%p3, %r124, 0", "setp.ne.s32 \t%p3, %r124, %r22", "tile_e")),
      not_known);
}

// A hundred iterations of 256 threads, each of which is asked for.
TEST(StepTilesRefused, WhereCountingIterationsTakesTooLong) {
  const std::string text =
      without("setp.lt.s32 \t%p9, %r42, 400;", "setp.lt.s32 \t%p9, %r42, 25600;", "tile_i");
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, "");
  EXPECT_EQ(passes::StepKernel(kernel, {.time = std::chrono::milliseconds(5)}).find().refused.text,
            "time budget of the analysis spent");
}

// A shape that the kernel tells, where any would do.
TEST(StepTiles, AreOfTheShapeThatIsTold) {
  const Stepped stepped(without("\n)\n{", "\n)\n.reqntid 16, 4, 1\n{", "tile_c"));
  ASSERT_EQ(stepped.entry.refused.text, "");
  EXPECT_EQ(host_for(stepped, 70, 35, {16, 4, 1}, 1).fit_error(), "");
  EXPECT_EQ(host_for(stepped, 70, 35, {32, 8, 1}, 1).fit_error(),
            "its tile is for blocks of another shape");
}

// What is stored may lie further away than 32 bits say, what the tile is filled with may not.
TEST(StepTiles, DoNotWrap) {
  std::string text = without("mul.wide.s32 \t%rd11, %r28, 4;",
                             "cvt.s64.s32 \t%rd13, %r4;\ncvt.s64.s32 \t%rd14, %r11;\n"
                             "cvt.s64.s32 \t%rd15, %r2;\nmul.lo.s64 \t%rd13, %rd13, %rd14;\n"
                             "add.s64 \t%rd13, %rd13, %rd15;\nshl.b64 \t%rd11, %rd13, 2;");
  const std::string declared = ".reg .b64 \t%rd<13>";
  text.replace(text.find(declared), declared.size(), ".reg .b64 \t%rd<16>");
  const Stepped stepped(text);
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 70, 35, {16, 16, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  host.arguments[2] = 50000;
  host.grid = {3125, 3125, 1};
  EXPECT_EQ(host.fit_error(), "an index wraps");
}

// A branch in front of the barrier decides what is computed behind it.
TEST(StepTiles, KeepWhatIsComputedMeanwhile) {
  std::string text =
      without("bar.sync \t0;", "mov.f32 \t%f0, 0f3E800000;\n"
                               "setp.lt.s32 \t%p0, %r2, 5;\n@%p0 bra $L_near;\n"
                               "mov.f32 \t%f0, 0f3F000000;\n$L_near:\nbar.sync \t0;");
  const std::string factor = "%f12, 0f3E800000";
  text.replace(text.find(factor), factor.size(), "%f12, %f0");
  const Stepped stepped(text, "", {.count = 3, .width = 32, .strips = 4, .rows = 8});
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  EXPECT_EQ(host_for(stepped, 70, 35, {16, 16, 1}, 1).difference(5, &merged), "");
  EXPECT_EQ(merged, 1U);
}

// A kernel that copies by way of a tile does so in blocks of its shape.
TEST(StepTiles, AreCopied) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .pred %p<2>;
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .f32 %f<3>;
.shared .align 4 .b8 tile[256];
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r2, 64, %r3;
setp.ge.s32 %p1, %r4, %r1;
mul.wide.s32 %rd5, %r4, 4;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
mov.u32 %r5, tile;
shl.b32 %r6, %r3, 2;
add.s32 %r7, %r5, %r6;
@%p1 bra end;
ld.global.f32 %f1, [%rd6];
st.shared.f32 [%r7], %f1;
bar.sync 0;
ld.shared.f32 %f2, [%r7];
st.global.f32 [%rd7], %f2;
end: ret;
}
)";
  const Stepped stepped(text);
  ASSERT_TRUE(stepped.plan.copy);
  const auto says = [](const contract::Condition& condition) {
    return condition.otherwise == "its tile is for blocks of another shape";
  };
  EXPECT_EQ(std::ranges::count_if(stepped.plan.copy->conditions, says), 6);
  EXPECT_EQ(std::ranges::count_if(stepped.plan.conditions, says), 6);
}

TEST(StepTilesRefused, WhereMemorySaysWhoStores) {
  EXPECT_EQ(refusal(without("setp.ne.s32 \t%p5, %r1, 0",
                            "ld.global.u32 \t%r30, [%rd2];\nsetp.ne.s32 \t%p5, %r30, 0")),
            "who stores to the tile is not known");
}

TEST(StepTilesRefused, BesideTheTile) {
  EXPECT_EQ(
      refusal(without("st.shared.f32 \t[%r32+1224], %f5", "st.shared.f32 \t[%r32+1236], %f5")),
      "where it stores in the tile is not known");
}

} // namespace
} // namespace ptxasw
