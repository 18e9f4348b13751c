// Steps with loops that count from the place of a thread, with numbers of 64 bits that are divided,
// and with loops of which each thread has one place where there are enough of them.
#include "passes/time_tile/any_host.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string counted_forms() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/counted.ptx");
}

struct CountedForm {
  const char* kernel;
  std::string reads;
  bool is_inside = false; // places at the rim are not stored
};

constexpr passes::StepShape counted_shape{
    .count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4};

class StepsThatCount : public ::testing::TestWithParam<CountedForm> {};

TEST_P(StepsThatCount, LeaveTheSame) {
  const CountedForm& row = GetParam();
  unsigned merged = 0;
  for (const passes::StepShape& shape : {counted_shape, {5, 64, 4, 8, 2}}) {
    const Stepped stepped(counted_forms(), row.kernel, shape);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 4)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("counted_{}", row.kernel));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx);
      if (!host.fit_error().empty()) {
        EXPECT_LT(nx, 7U) << host.fit_error();
        continue;
      }
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << nx << 'x' << ny;
    }
  }
  EXPECT_GE(merged, 6U);
}

constexpr const char* all_around = "0(-1,-1,0) 0(-1,0,0) 0(-1,1,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) "
                                   "0(1,-1,0) 0(1,0,0) 0(1,1,0)";
constexpr const char* beside_each_other = "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)";

INSTANTIATE_TEST_SUITE_P(
    T, StepsThatCount,
    ::testing::Values(CountedForm{"around", all_around}, CountedForm{"around_in_line", all_around},
                      CountedForm{"long_torus", "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)"},
                      CountedForm{"long_rows", "0(0,0,0) 0(1,0,0)"},
                      CountedForm{"strided_line", "0(-1,0,0) 0(0,0,0) 0(1,0,0)", true},
                      CountedForm{"strided_inside", beside_each_other, true},
                      CountedForm{"strided_torus", beside_each_other}),
    [](const auto& row) { return std::string(row.param.kernel); });

// A number of the thread is stored as it is, and loads are there for nothing.
TEST(StepsThatCount, MayStoreThePlaceItself) {
  std::string text = counted_forms();
  const std::string some = "st.global.u8 \t[%rd10], %r31;";
  const auto at = text.find(some);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, some.size(), "st.global.u8 \t[%rd10], %r1;");
  const Stepped stepped(text, "around_in_line", counted_shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  test::expect_that_ptxas_takes(*stepped.both->text, "counted_place");
  unsigned merged = 0;
  const StepHost host = host_for(stepped, 33, 17, {32, 4, 1}, 33);
  EXPECT_EQ(host.fit_error(), "");
  EXPECT_EQ(host.difference(counted_shape.count + 3, &merged), "");
  EXPECT_GE(merged, 1U);
}

// With fewer threads than places some take several.
TEST(StepsThatCount, NeedAThreadForEachPlace) {
  const std::string otherwise = "a thread has several places";
  for (const char* kernel : {"strided_line", "strided_inside", "strided_torus"}) {
    const Stepped stepped(counted_forms(), kernel, counted_shape);
    ASSERT_EQ(stepped.entry.refused.text, "") << kernel;
    StepHost host = host_for(stepped, 200, 200, {32, 4, 1}, 1);
    EXPECT_EQ(host.fit_error(), "") << kernel;
    host.grid.x /= 2;
    const std::string error = host.fit_error();
    EXPECT_TRUE(error == otherwise || error == "some rows have no threads") << error;
    if (kernel != std::string("strided_inside")) continue;
    host.grid = {7, 49};
    EXPECT_EQ(host.fit_error(), otherwise);
    host.grid = {7, 50};
    EXPECT_EQ(host.fit_error(), "");
  }
}

std::string refused_with(const char* kernel_name, const std::string& some,
                         const std::string& other) {
  std::string text = counted_forms();
  const auto at = text.find(some, text.find(fmt::format(".entry {}(", kernel_name)));
  EXPECT_NE(at, std::string::npos) << some;
  const auto module = test::parsed(text.replace(at, some.size(), other));
  emulator::Kernel kernel = test::emulate(*module, kernel_name);
  return passes::StepKernel(kernel, {.time = std::chrono::seconds(30)}).find().refused.text;
}

// The number of 32 bits that is divided is not the low half of the one of 64.
TEST(StepsThatCountRefused, WhereTwoDivisionsAreNotAlike) {
  const std::string division = "div.u32 \t", remainder = "rem.u32 \t";
  EXPECT_NE(refused_with("long_torus", division, "add.s32 %r1, %r1, 0;\nsub.u32 \t"), "");
  EXPECT_NE(refused_with("long_torus", remainder, "sub.u32 \t"), "");
  EXPECT_EQ(refused_with("long_torus", remainder, remainder), "");
}

// Of the quotient of 64 bits less is left than 32 bits.
TEST(StepsThatCountRefused, WhereAQuotientIsCut) {
  const std::string text = counted_forms();
  const auto at = text.find("div.u64", text.find(".entry long_rows("));
  ASSERT_NE(at, std::string::npos);
  const std::string line = text.substr(at, text.find('\n', at) - at),
                    quotient = line.substr(line.find('%'), line.find(',') - line.find('%'));
  const auto cut_to = [&](const char* type) {
    return refused_with("long_rows", line,
                        fmt::format("{0}\n cvt.u64.{2} {1}, {1};", line, quotient, type));
  };
  EXPECT_NE(cut_to("u8"), "");
  EXPECT_NE(cut_to("u16"), "");
  EXPECT_EQ(cut_to("u32"), "");
}

// Another number of places than threads has no quotient that is known, and a stride of half as many
// threads has two places each.
TEST(StepsThatCountRefused, WhereTheStrideIsAnother) {
  EXPECT_NE(refused_with("strided_line", "%nctaid.x;", "%nctaid.y;"), "");
}

// Each number hangs on the one before: who uses them is not looked for in all of the kernel.
TEST(StepsThatCountRefused, SoonWhereThereAreManyNumbers) {
  constexpr unsigned numbers = 2000;
  std::string text = fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 step)
{{
.reg .pred %p<3>;
.reg .b32 %r<9>;
.reg .b32 %a<{}>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [step];
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %ntid.x;
mov.u32 %r5, %tid.x;
mad.lo.u32 %r6, %r3, %r4, %r5;
next:
mul.lo.u32 %a0, %r6, 3;
)",
                                 numbers + 1);
  for (unsigned n = 0; n < numbers; ++n)
    text +=
        fmt::format("{} %a{}, %a{}, {};\n", n % 2 == 0 ? "xor.b32" : "add.u32", n + 1, n, n | 5U);
  text += fmt::format(R"(setp.gt.u32 %p1, %a{}, %r1;
mul.wide.u32 %rd2, %r6, 4;
add.s64 %rd3, %rd1, %rd2;
@%p1 st.global.u32 [%rd3], %r6;
add.u32 %r6, %r6, %r2;
setp.lt.u32 %p2, %r6, %r1;
@%p2 bra next;
ret;
}}
)",
                      numbers);
  const auto module = test::parsed(text);
  emulator::Kernel kernel = test::emulate(*module, "k");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(passes::StepKernel(kernel).find().refused.text, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

} // namespace
} // namespace ptxasw
