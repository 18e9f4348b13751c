// Arguments as text, guesses, races, and the comparison of two kernels.
#include "simt/args.hpp"
#include "simt/guess.hpp"
#include "simt/kernels.hpp"
#include "simt/verify.hpp"

#include <gmock/gmock.h>

#include <tuple>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

std::shared_ptr<const ptx::Module> module_of(const std::string& text) {
  return std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx"));
}

// out[i] = in[i] + in[i+1] for i < n
std::string neighbours(std::string_view second = "ld.global.f32 %f2, [%rd3+4];") {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
mad.lo.s32 %r2, %r3, %r4, %r2;
setp.ge.s32 %p1, %r2, %r1;
@%p1 ret;
mul.wide.s32 %rd4, %r2, 4;
add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;
ld.global.f32 %f1, [%rd3];
{}
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd5], %f3;
ret;
}}
)",
                     second);
}

TEST(Verify, EqualKernels) {
  const auto a = module_of(neighbours());
  const VerifyResult result = verify(a, a, "k");
  EXPECT_TRUE(result.ok()) << text_of(result, "k");
  EXPECT_GT(result.equal, 40U);
  EXPECT_EQ(result.left.global_load_sectors, result.right.global_load_sectors);
}

TEST(Verify, AShuffleWithoutItsCornerCaseDiffers) {
  const auto a = module_of(neighbours());
  const auto b = module_of(neighbours("activemask.b32 %r5; mov.b32 %r6, %f1;"
                                      "shfl.sync.down.b32 %r7, %r6, 1, 31, %r5;"
                                      "mov.b32 %f2, %r7;"));
  const VerifyResult result = verify(a, b, "k");
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->what, HasSubstr("of arg0"));
  EXPECT_THAT(result.failure->left_store, HasSubstr("st.global.f32"));
  EXPECT_THAT(text_of(result, "k"), HasSubstr("--kernel=k --grid="));
}

TEST(Verify, AGuardedShuffleIsEqualAndSavesRequests) {
  const auto a = module_of(neighbours());
  const auto b = module_of(neighbours(R"(
activemask.b32 %r5; mov.b32 %r6, %f1;
shfl.sync.down.b32 %r7, %r6, 1, 31, %r5;
mov.b32 %f2, %r7;
mov.u32 %r8, %laneid;
setp.ne.s32 %p2, %r5, -1;
@!%p2 setp.eq.u32 %p2, %r8, 31;
@%p2 ld.global.f32 %f2, [%rd3+4];)"));
  const VerifyResult result = verify(a, b, "k");
  EXPECT_TRUE(result.ok()) << text_of(result, "k");
  EXPECT_LT(result.right.global_load_sectors, result.left.global_load_sectors);
}

TEST(Verify, RacyOriginalsSayNothing) {
  // Every thread writes its number to the same place.
  const auto a = module_of(kernel_text("st.global.u32 [%rd1], %r1; ret;"));
  const VerifyResult result = verify(a, a, "k", {.blocks = {{64}}});
  EXPECT_EQ(result.equal, 0U);
  EXPECT_THAT(result.left_out_reason, HasSubstr("depends on the schedule"));
}

// One that happens to come out alike.
TEST(Verify, RacesOfTheSecondVersionAlone) {
  const auto all_store = [](std::string_view who) {
    return module_of(fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
{}
@%p1 st.global.u32 [%rd1], 5;
ret;
}}
)",
                                 who));
  };
  const auto first = all_store("setp.eq.u32 %p1, %r1, 0;"),
             all = all_store("setp.ge.u32 %p1, %r1, 0;");
  VerifyOptions options;
  options.grids = {{1}};
  options.blocks = {{64}};
  const VerifyResult result = verify(first, all, "k", options);
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->what, HasSubstr("data race"));
  EXPECT_THAT(result.failure->what, HasSubstr("first version does not have"));
  EXPECT_FALSE(verify(all, all, "k", options).failure);
}

// The first version's sum hangs on the order of its blocks, or of lanes, which two schedules need
// not show.
TEST(Verify, SumsInAnotherOrder) {
  const auto sum = [](std::string_view of, std::string_view backwards) {
    return module_of(fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
.reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
mov.u32 %r1, %{0}id.x; mov.u32 %r2, %n{0}id.x;
{1}
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd2, %rd3;
ld.global.f32 %f1, [%rd3];
red.global.add.f32 [%rd1], %f1;
ret;
}}
)",
                                 of, backwards));
  };
  constexpr std::string_view down = "sub.u32 %r2, %r2, 1; sub.u32 %r1, %r2, %r1;";
  VerifyOptions options;
  options.schedules = 0;
  options.arguments = {"random:f32:1:1", "random:f32:3:2"};
  for (const auto& [of, grid, block] : {std::tuple{"cta", 3U, 1U}, {"t", 1U, 3U}}) {
    options.grids = {{grid}};
    options.blocks = {{block}};
    const VerifyResult result = verify(sum(of, ""), sum(of, down), "k", options);
    EXPECT_FALSE(result.failure) << text_of(result, "k");
    EXPECT_THAT(result.left_out_reason, HasSubstr("depends on the schedule"));
  }
}

TEST(Verify, ErrorsAreSaid) {
  const auto a = module_of(neighbours());
  EXPECT_THAT(verify(a, a, "other").error, HasSubstr("no kernel other"));
  const auto b = module_of(kernel_text("ret;"));
  EXPECT_THAT(verify(a, b, "k").error, HasSubstr("different parameters"));
}

TEST(Guess, PointersAndTheirElements) {
  const auto program = compile(module_of(neighbours()), "k");
  ASSERT_TRUE(program);
  const auto uses = parameter_uses(**program);
  EXPECT_TRUE(uses[0].pointer);
  EXPECT_TRUE(uses[1].pointer);
  EXPECT_EQ(uses[1].element, ptx::Type::f32);
  EXPECT_FALSE(uses[2].pointer);
}

struct Text {
  const char* text;
  const char* error; // empty: good
};
void PrintTo(const Text& t, std::ostream* out) {
  *out << t.text;
}

const Text texts[] = {
    {"zeros:16", ""},
    {"undefined:8+4", ""},
    {"iota:u32:4", ""},
    {"iota:f64:4", ""},
    {"random:f32:10:3", ""},
    {"random:u16:10:3:7", ""},
    {"random:u64:10:3:bits", ""},
    {"12", ""},
    {"-1", ""},
    {"0x10", ""},
    {"1.5", ""},
    {"@missing-file", "cannot be read"},
    {"same:0", "no such buffer"},
    {"iota:q32:4", "TYPE:COUNT"},
    {"random:f32:10", "SEED"},
    {"zeros:", "size is missing"},
    {"ones:4", "neither a number nor a buffer"},
    {"1x", "not a number"},
    {"zeros:4+a", "offset"},
};

class ArgumentText : public testing::TestWithParam<Text> {};
TEST_P(ArgumentText, IsReadOrRefused) {
  const auto program = compile(module_of(kernel_text("ret;")), "k");
  Memory memory;
  const std::vector<std::string> all{GetParam().text, "0"};
  const auto made = make_arguments(**program, all, memory);
  if (*GetParam().error == '\0')
    EXPECT_TRUE(made.has_value()) << made.error();
  else
    EXPECT_THAT(made.has_value() ? "" : made.error(), HasSubstr(GetParam().error));
}
INSTANTIATE_TEST_SUITE_P(All, ArgumentText, testing::ValuesIn(texts));

TEST(ArgumentBytes, OfSomeTexts) {
  const auto bytes = [](const std::string& text) {
    const auto program = compile(module_of(kernel_text("ret;")), "k");
    Memory memory;
    const std::vector<std::string> all{text, "0"};
    EXPECT_TRUE(make_arguments(**program, all, memory));
    return memory.find("arg0")->data;
  };
  EXPECT_EQ(bytes("iota:u16:3"), (std::vector<std::uint8_t>{0, 0, 1, 0, 2, 0}));
  EXPECT_EQ(bytes("iota:f16:2"), (std::vector<std::uint8_t>{0, 0, 0, 0x3c}));
  EXPECT_EQ(bytes("iota:f32:2"), (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0x80, 0x3f}));
  for (const std::uint8_t b : bytes("random:u8:64:9:5"))
    EXPECT_LT(b, 5);
  EXPECT_EQ(bytes("random:f32:8:1"), bytes("random:f32:8:1"));
  EXPECT_NE(bytes("random:f32:8:1"), bytes("random:f32:8:2"));
}

TEST(Races, OrderComesFromBarriersAndWarps) {
  const auto message = [](std::string_view body) {
    auto module = module_of(kernel_text(body, ".shared .u32 s[64];"));
    const auto program = compile(module, "k");
    Memory memory;
    const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(256));
    Launch launch{.grid = {1}, .block = {64}};
    launch.arguments = {value(out), value(std::uint64_t{0})};
    launch.report_races = true;
    return run(**program, launch, memory).message;
  };
  EXPECT_EQ(message("st.global.u32 [%rd2], 1; ret;"), "");
  EXPECT_THAT(message("st.global.u32 [%rd1], 1; ret;"), HasSubstr("data race"));
  EXPECT_THAT(message("st.global.u32 [%rd2], 1; xor.b32 %r5, %r1, 1; mul.wide.u32 %rd3, %r5, 4;"
                      "add.s64 %rd3, %rd3, %rd1; ld.global.u32 %r6, [%rd3]; ret;"),
              HasSubstr("data race"));
  EXPECT_EQ(message("st.global.u32 [%rd2], 1; xor.b32 %r5, %r1, 1; mul.wide.u32 %rd3, %r5, 4;"
                    "add.s64 %rd3, %rd3, %rd1; bar.warp.sync -1; ld.global.u32 %r6, [%rd3]; ret;"),
            "");
  EXPECT_EQ(message("st.global.u32 [%rd2], 1; xor.b32 %r5, %r1, 63; mul.wide.u32 %rd3, %r5, 4;"
                    "add.s64 %rd3, %rd3, %rd1; bar.sync 0; ld.global.u32 %r6, [%rd3]; ret;"),
            "");
  EXPECT_EQ(message("red.global.add.u32 [%rd1], 1; ret;"), "");
  EXPECT_EQ(message("st.global.u32 [%rd2], 1; ld.global.u32 %r5, [%rd2]; ret;"), "");
  EXPECT_THAT(message("st.global.u32 [%rd2], 1; ld.global.nc.u32 %r5, [%rd2]; ret;"),
              HasSubstr("data race"));
  EXPECT_THAT(message("ld.global.nc.u32 %r5, [%rd2]; bar.sync 0; st.global.u32 [%rd2], 1; ret;"),
              HasSubstr("data race"));
  EXPECT_EQ(message("ld.global.u32 %r5, [%rd1]; ret;"), "");
}

TEST(Dims, ReadAndWritten) {
  EXPECT_EQ(read_dim("3x4").value(), (Dim3{3, 4, 1}));
  EXPECT_EQ(text_of(Dim3{3, 4, 5}), "3x4x5");
  EXPECT_FALSE(read_dim("3x").has_value());
  EXPECT_FALSE(read_dim("1x2x3x4").has_value());
}

} // namespace
} // namespace ptxasw::simt
