// Initial values of module variables, as text.
#include "simt/initializer.hpp"
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

using ptx::Type;
using testing::ElementsAre;

struct Case {
  const char* text;
  Type type;
  std::vector<std::uint8_t> bytes; // empty: cannot be read
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.text;
}

const Case cases[] = {
    {"7", Type::u16, {7, 0}},
    {"{1, -1}", Type::s16, {1, 0, 0xff, 0xff}},
    {"{{1, 2}, {3}}", Type::u8, {1, 2, 3}},
    {"{0x10, 010}", Type::u8, {16, 8}},
    {" { 1 ,\n2 /* two */, 3 // three\n} ", Type::u8, {1, 2, 3}},
    {"{0f3F800000, -1.0}", Type::f32, {0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf}},
    {"1.5e0", Type::f64, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}},
    {"2", Type::f32, {0, 0, 0, 0x40}},
    {"v", Type::u32, {0x34, 0x12, 0, 0}},
    {"v+4", Type::u32, {0x38, 0x12, 0, 0}},
    {"v-4", Type::u32, {0x30, 0x12, 0, 0}},
    {"generic(v)+1", Type::u32, {0x35, 0x12, 1, 0}},
    {"{0xFF(v), 0xFF00(v)}", Type::u8, {0x34, 0x12}},
    {"unknown", Type::u32, {}},
    {"{1, 2", Type::u8, {}},
    {"{1} 2", Type::u8, {}},
    {"", Type::u8, {}},
};

class Initializer : public testing::TestWithParam<Case> {};
TEST_P(Initializer, GivesTheseBytes) {
  const Case& c = GetParam();
  std::vector<std::uint8_t> bytes(c.bytes.empty() ? 8 : c.bytes.size(), 0);
  const AddressOf address_of = [](std::string_view name,
                                  bool generic) -> std::optional<std::uint64_t> {
    if (name != "v") return std::nullopt;
    return generic ? 0x11234 : 0x1234;
  };
  EXPECT_EQ(read_initializer(c.text, c.type, address_of, bytes), !c.bytes.empty());
  if (c.bytes.empty()) return;
  EXPECT_EQ(bytes, c.bytes);
}
INSTANTIATE_TEST_SUITE_P(All, Initializer, testing::ValuesIn(cases));

TEST(InitializerText, OfOneOfSeveralNames) {
  const std::string_view declaration = ".global .u32 ab = 1, b[2] = {2, 3}, c;";
  EXPECT_EQ(initializer_text(declaration, "ab"), " 1");
  EXPECT_EQ(initializer_text(declaration, "b"), " {2, 3}");
  EXPECT_EQ(initializer_text(declaration, "c"), "");
  EXPECT_EQ(initializer_text(declaration, "a"), "");
}

// Every special register that tells where a thread is.
TEST(Special, PlaceOfAThread) {
  const char* names[] = {"tid.x",       "tid.y",       "tid.z",       "ntid.x",     "ntid.y",
                         "ntid.z",      "ctaid.x",     "ctaid.y",     "ctaid.z",    "nctaid.x",
                         "nctaid.y",    "nctaid.z",    "laneid",      "warpid",     "lanemask_eq",
                         "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"};
  // Thread (3, 2, 1) of a block of 5x4x2 in block (1, 2, 0) of a grid of 2x3x1: number 33.
  std::string body = "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; add.u32 %r5, %r5, %r6;"
                     "mov.u32 %r6, %tid.z; mov.u32 %r7, %tid.x; mov.u32 %r8, %tid.y;"
                     "setp.eq.u32 %p1, %r5, 3; setp.eq.and.u32 %p1, %r6, 1, %p1;"
                     "setp.eq.and.u32 %p1, %r7, 3, %p1; setp.eq.and.u32 %p1, %r8, 2, %p1;"
                     "@!%p1 ret;";
  std::uint32_t at = 0;
  for (const char* name : names)
    body += fmt::format("mov.u32 %r9, %{}; st.global.u32 [%rd1+{}], %r9;", name, 4 * at++);
  const Ran ran = run_body(body + "ret;", {.grid = {2, 3, 1}, .block = {5, 4, 2}});
  ASSERT_EQ(ran.result.message, "");
  EXPECT_THAT(
      std::vector(ran.words.begin(), ran.words.begin() + at),
      ElementsAre(3, 2, 1, 5, 4, 2, 1, 2, 0, 2, 3, 1, 1, 1, 2U, 1U, 3U, 0xfffffffcU, 0xfffffffeU));
}

// Blocks that take turns may wait for each other.
TEST(Blocks, ResidentOnesCanWaitForEachOther) {
  const char* body = R"(
mov.u32 %r5, %ctaid.x;
setp.eq.u32 %p1, %r5, 1;
@%p1 bra SET;
WAIT: ld.volatile.global.u32 %r6, [%rd1];
setp.ne.u32 %p2, %r6, 77;
@%p2 bra WAIT;
st.global.u32 [%rd1+4], 5;
ret;
SET: st.volatile.global.u32 [%rd1], 77;
ret;)";
  Shape shape{.grid = {2, 1, 1}, .block = {1, 1, 1}};
  shape.schedule.resident = 2;
  EXPECT_EQ(run_body(body, shape).words[1], 5U);
  shape.schedule.resident = 1;
  EXPECT_EQ(run_body(body, shape).result.status, Result::Status::budget);
}

} // namespace
} // namespace ptxasw::simt
