// Shuffled kernels on the interpreter: shapes of blocks, indices at their wrap, guards, widths and
// scopes, each compared with the original under every schedule.
#include "passes/shuffle/shuffled.hpp"

#include "semantics/windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using simt::Dim3;
using ::testing::HasSubstr;
using ::testing::Not;

using test::kernel;
using test::Shuffled;

void expect_same(const std::string& body, unsigned covered, Dim3 block, std::uint32_t n = 5,
                 std::uint32_t m = 0) {
  const Shuffled shuffled(kernel(body));
  EXPECT_EQ(shuffled.covered, covered);
  EXPECT_EQ(shuffled.difference(block, n, m), "") << shuffled.text;
}

// --- Warps, lanes and rows ----------------------------------------------------------------------

constexpr const char* neighbours = R"(
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd4+4];
    ld.global.u32 %r12, [%rd4+-4];
    ld.global.u32 %r13, [%rd4+20];
    ld.global.u32 %r14, [%rd4+-20];
    ld.global.u32 %r15, [%rd4+124];
    ld.global.u32 %r16, [%rd4+-124];
    st.global.v4.u32 [%rd50], {%r10, %r11, %r12, %r13};
    st.global.v2.u32 [%rd50+16], {%r14, %r15};
    st.global.u32 [%rd50+24], %r16;)";

class ShuffleShapes : public ::testing::TestWithParam<Dim3> {};

TEST_P(ShuffleShapes, EveryLaneGetsItsOwn) {
  expect_same(neighbours, 6, GetParam());
}

TEST_P(ShuffleShapes, GuardsThatVaryByLane) {
  for (const char* guard : {"@%p1", "@!%p1"}) {
    expect_same(fmt::format(R"(
    and.b32 %r5, %r3, %r1;
    setp.eq.u32 %p1, %r5, 0;
    mov.u32 %r11, 71;
    mov.u32 %r12, 72;
    mov.u32 %r13, 73;
    ld.global.u32 %r10, [%rd4];
    {0} ld.global.u32 %r11, [%rd4+4];
    {0} ld.global.u32 %r12, [%rd4+-8];
    {0} ld.global.u32 %r13, [%rd4];
    st.global.v4.u32 [%rd50], {{%r10, %r11, %r12, %r13}};)",
                            guard),
                3, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(, ShuffleShapes,
                         ::testing::Values(Dim3{1}, Dim3{31}, Dim3{32}, Dim3{33}, Dim3{64},
                                           Dim3{96}, Dim3{16, 4}, Dim3{48, 2}, Dim3{31, 3}),
                         [](const auto& instance) {
                           return fmt::format("x{}y{}", instance.param.x, instance.param.y);
                         });

TEST_P(ShuffleShapes, GenericAddressesOfGlobalMemory) {
  std::string generic = neighbours;
  for (std::size_t at = 0; (at = generic.find("ld.global", at)) != std::string::npos;)
    generic.replace(at, 9, "ld");
  expect_same(generic, 6, GetParam());
}

// The same number, another place in every lane: what lane + 1 holds there is of no use. The number
// is the interpreter's; a variable's own address counts as every lane's own anyway.
TEST_P(ShuffleShapes, GenericAddressesOfLocalMemory) {
  const std::string body = fmt::format(R"(
    .local .align 4 .b8 own[512];
    mov.u64 %rd20, {};
    add.s64 %rd20, %rd20, %rd3;
    mul.lo.u32 %r5, %r50, 100;
    add.u32 %r6, %r5, 1;
    mov.u64 %rd21, own;
    add.s64 %rd21, %rd21, %rd3;
    st.local.u32 [%rd21], %r5;
    st.local.u32 [%rd21+4], %r6;
    ld.u32 %r10, [%rd20];
    ld.u32 %r11, [%rd20+4];
    ld.u32 %r12, [%rd20];
    st.global.v2.u32 [%rd50], {{%r10, %r11}};
    st.global.u32 [%rd50+8], %r12;)",
                                       sem::window_base(ptx::Space::local));
  expect_same(body, 2, GetParam());
}

TEST(ShuffleRun, AGuardedGenericLoadAsksToo) {
  expect_same(R"(
    setp.lt.u32 %p1, %r3, %r1;
    mov.u32 %r11, 71;
    ld.u32 %r10, [%rd4];
    @%p1 ld.u32 %r11, [%rd4+4];
    st.global.v2.u32 [%rd50], {%r10, %r11};)",
              1, {64});
}

TEST(ShuffleRun, LoadsThatAGuardKeepsFromMemory) {
  // The guard is what keeps the last threads inside the array.
  const Shuffled shuffled(kernel(R"(
    setp.lt.u32 %p1, %r3, %r1;
    mov.u32 %r11, 71;
    mul.wide.u32 %rd5, %r3, 4;
    ld.global.u32 %r10, [%rd4];
    @%p1 ld.global.u32 %r11, [%rd4+4];
    st.global.v2.u32 [%rd50], {%r10, %r11};)"));
  EXPECT_EQ(shuffled.covered, 1U);
  // Word 7167 is the last one: thread 63 reads it, word 7168 is nobody's.
  const std::string last =
      fmt::format("in+{}", 4 * (simt::trap_detail::first_word + simt::trap_detail::words - 64));
  EXPECT_EQ(shuffled.difference({64}, 63, 0, last), "");
}

TEST(ShuffleRun, EachBlockHasItsOwnMask) {
  expect_same(R"(
    and.b32 %r5, %r3, 4;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra A;
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd4+4];
    bra JOIN;
A:
    ld.global.u32 %r10, [%rd4+-8];
    ld.global.u32 %r11, [%rd4+-4];
JOIN:
    ld.global.u32 %r12, [%rd4];
    ld.global.u32 %r13, [%rd4+4];
    st.global.v4.u32 [%rd50], {%r10, %r11, %r12, %r13};)",
              3, {64});
}

TEST(ShuffleRun, LanesMayNotReturnFromACall) {
  std::string text = kernel(R"(
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd4+4];
    st.global.v2.u32 [%rd50], {%r10, %r11};
    { .param .b32 x; st.param.b32 [x], %r3; call leave, (x); }
    ld.global.u32 %r12, [%rd4];
    ld.global.u32 %r13, [%rd4+4];
    st.global.v2.u32 [%rd50+8], {%r12, %r13};)");
  text.insert(text.find(".visible"), R"(.func leave(.param .b32 x)
{
.reg .pred %p<2>;
.reg .b32 %r<3>;
ld.param.u32 %r1, [x];
and.b32 %r2, %r1, 3;
setp.eq.u32 %p1, %r2, 1;
@%p1 exit;
ret;
}
)");
  const Shuffled shuffled(text, Emit::normal, 1);
  EXPECT_EQ(shuffled.covered, 2U);
  EXPECT_EQ(shuffled.difference({64}, 5, 0), "") << shuffled.text;
}

// --- Indices at their wrap ----------------------------------------------------------------------

struct Wrap {
  const char* name;
  bool is_signed;
  std::vector<int> offsets; // of the loads, in elements
};

class ShuffleWraps : public ::testing::TestWithParam<Wrap> {};

constexpr std::uint64_t gib16 = std::uint64_t{1} << 34;
constexpr const char* far_memory = "in is placed 16 GiB up";

// The array lies so that the elements on both sides of the wrap exist, with different values.
std::string base_for(bool is_signed) {
  return is_signed ? fmt::format("in+{}", gib16 / 2) : "in";
}
std::uint32_t first_wrapped(bool is_signed) {
  return is_signed ? 0x80000000U : 0U;
}

TEST_P(ShuffleWraps, ConstantsOutsideTheWidening) {
  const auto& [name, is_signed, offsets] = GetParam();
  std::string loads, stores;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    loads += fmt::format("\nld.global.u32 %r{}, [%rd6+{}];", 10 + i, 4 * offsets[i]);
    stores += fmt::format("\nst.global.u32 [%rd50+{}], %r{};", 4 * i, 10 + i);
  }
  const Shuffled shuffled(kernel(fmt::format(R"(
    add.s32 %r4, %r2, %r3;
    mul.wide.{} %rd5, %r4, 4;
    add.s64 %rd6, %rd1, %rd5;)",
                                             is_signed ? "s32" : "u32") +
                                 loads + stores));
  EXPECT_EQ(shuffled.covered, offsets.size() - 1);
  for (std::uint32_t before = 0; before <= 36; ++before) {
    const std::uint32_t m = first_wrapped(is_signed) - before;
    EXPECT_EQ(shuffled.difference({32}, 0, m, base_for(is_signed), far_memory), "")
        << before << "\n"
        << shuffled.text;
  }
}

TEST_P(ShuffleWraps, MultiplesOfARegister) {
  const auto& [name, is_signed, offsets] = GetParam();
  const char* type = is_signed ? "s32" : "u32";
  std::string loads, stores;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    loads += fmt::format("\nmul.wide.{} %rd7, %r1, {};\n{}.s64 %rd8, %rd6, %rd7;"
                         "\nld.global.u32 %r{}, [%rd8];",
                         type, 4 * std::abs(offsets[i]), offsets[i] < 0 ? "sub" : "add", 10 + i);
    stores += fmt::format("\nst.global.u32 [%rd50+{}], %r{};", 4 * i, 10 + i);
  }
  const Shuffled shuffled(kernel(fmt::format(R"(
    mad.lo.s32 %r4, %r3, %r1, %r2;
    mul.wide.{} %rd5, %r4, 4;
    add.s64 %rd6, %rd1, %rd5;)",
                                             type) +
                                 loads + stores));
  EXPECT_EQ(shuffled.covered, offsets.size() - 1);
  unsigned launches = 0;
  for (const int n : {1, 2, -1, -2}) {
    if (!is_signed && n < 0) continue; // below
    for (int first = -60; first <= 60; ++first) {
      // Only elements that exist: within 64 of the wrap.
      const int last = first + 31 * n, margin = 2 * std::abs(n);
      if (std::min(first, last) - margin < -64 || std::max(first, last) + margin > 63) continue;
      const std::uint32_t m = first_wrapped(is_signed) + static_cast<std::uint32_t>(first);
      const auto step = static_cast<std::uint32_t>(n);
      EXPECT_EQ(shuffled.difference({32}, step, m, base_for(is_signed), far_memory), "")
          << n << " " << first << "\n"
          << shuffled.text;
      ++launches;
    }
  }
  EXPECT_GT(launches, 100U);
}

const Wrap wraps[] = {
    {"SignedUp", true, {0, 1}},       {"SignedDown", true, {0, -1}},
    {"SignedBoth", true, {0, 2, -1}}, {"UnsignedUp", false, {0, 1}},
    {"UnsignedDown", false, {0, -1}}, {"UnsignedBoth", false, {0, 1, -2}},
};
INSTANTIATE_TEST_SUITE_P(, ShuffleWraps, ::testing::ValuesIn(wraps),
                         [](const auto& instance) { return std::string(instance.param.name); });
void PrintTo(const Wrap& wrap, std::ostream* out) {
  *out << wrap.name;
}

TEST(ShuffleRun, ALargeUnsignedStepIsNotANegativeOne) {
  const Shuffled shuffled(kernel(R"(
    mad.lo.s32 %r4, %r3, %r1, %r2;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd1, %rd5;
    mul.wide.u32 %rd7, %r1, 4;
    add.s64 %rd8, %rd6, %rd7;
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd8];
    st.global.v2.u32 [%rd50], {%r10, %r11};)"));
  EXPECT_EQ(shuffled.covered, 1U);
  for (std::uint32_t m = 0; m <= 40; ++m)
    EXPECT_EQ(shuffled.difference({32}, 0U - 1, m, "in", far_memory), "") << m;
}

TEST(ShuffleRun, TwoIndicesInOneRegister) {
  // Each load's check must read %r4 where it still holds that load's index.
  const Shuffled shuffled(kernel(R"(
    add.s32 %r4, %r2, %r3;
    mul.wide.s32 %rd5, %r4, 4;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd6+4];
    add.s32 %r4, %r4, %r1;
    mul.wide.s32 %rd7, %r4, 4;
    add.s64 %rd8, %rd1, %rd7;
    ld.global.u32 %r12, [%rd8];
    ld.global.u32 %r13, [%rd8+4];
    st.global.v4.u32 [%rd50], {%r10, %r11, %r12, %r13};)"));
  EXPECT_EQ(shuffled.covered, 2U);
  EXPECT_EQ(shuffled.difference({32}, 10, 0x80000000U - 25, base_for(true), far_memory), "")
      << shuffled.text;
}

TEST(ShuffleRun, OneIndexWidenedBothWays) {
  // Where the signed check holds the unsigned one may not, and the other way round.
  const Shuffled shuffled(kernel(R"(
    add.s32 %r4, %r2, %r3;
    mul.wide.s32 %rd5, %r4, 4;
    mul.wide.u32 %rd7, %r4, 4;
    add.s64 %rd6, %rd1, %rd5;
    add.s64 %rd8, %rd1, %rd7;
    ld.global.u32 %r10, [%rd6];
    ld.global.u32 %r11, [%rd6+4];
    ld.global.u32 %r12, [%rd8];
    ld.global.u32 %r13, [%rd8+4];
    st.global.v4.u32 [%rd50], {%r10, %r11, %r12, %r13};)"));
  EXPECT_EQ(shuffled.covered, 2U);
  EXPECT_EQ(shuffled.difference({32}, 0, 0U - 20, "in", far_memory), "") << shuffled.text;
}

// --- Values and names ---------------------------------------------------------------------------

TEST(ShuffleRun, Widths) {
  struct Width {
    const char* type;
    const char* reg;
    int bytes;
  };
  for (const auto& [type, reg, bytes] :
       {Width{"u16", "%rs", 2}, Width{"s16", "%r", 2}, Width{"u8", "%rs", 1}, Width{"s8", "%r", 1},
        Width{"u64", "%rd3", 8}, Width{"f64", "%fd", 8}, Width{"f32", "%f", 4}}) {
    const char* stored = reg[1] == 'f' ? type : reg == std::string("%rs") ? "u16" : "u32";
    if (reg == std::string("%rd3")) stored = "u64";
    expect_same(fmt::format(R"(
    mul.wide.u32 %rd5, %r3, {2};
    add.s64 %rd6, %rd1, %rd5;
    ld.global.{0} {1}1, [%rd6];
    ld.global.{0} {1}2, [%rd6+{2}];
    ld.global.{0} {1}3, [%rd6+-{2}];
    st.global.{3} [%rd50], {1}1;
    st.global.{3} [%rd50+8], {1}2;
    st.global.{3} [%rd50+16], {1}3;)",
                            type, reg, bytes, stored),
                2, {64});
  }
}

TEST(ShuffleRun, NarrowValuesTravelInWideRegisters) {
  const Shuffled shuffled(kernel(R"(
    mul.wide.u32 %rd5, %r3, 2;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.u16 %rs1, [%rd6];
    ld.global.u16 %rs2, [%rd6+2];)"));
  EXPECT_THAT(shuffled.text, HasSubstr("{%rs1, %rs1};"));
  EXPECT_THAT(shuffled.text, Not(HasSubstr("shfl.sync.down.b32 \t%rs"))); // ptxas wants 32 bits
}

TEST(ShuffleRun, VectorsWhoseComponentsChangePlaces) {
  expect_same(R"(
    mul.wide.u32 %rd5, %r3, 8;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.v2.u32 {%r10, %r11}, [%rd6];
    ld.global.v2.u32 {%r11, %r10}, [%rd6+8];
    st.global.v2.u32 [%rd50], {%r10, %r11};)",
              1, {64});
}

TEST(ShuffleRun, TheAddressIsTheDestination) {
  expect_same(R"(
    mul.wide.u32 %rd5, %r3, 8;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.u64 %rd7, [%rd6];
    ld.global.u64 %rd6, [%rd6+8];
    st.global.v2.u64 [%rd50], {%rd6, %rd7};)",
              1, {64});
}

TEST(ShuffleRun, SourcesInAnotherScope) {
  expect_same(R"(
    mov.u32 %r10, 1;
    { .reg .b32 %r10;
    ld.global.u32 %r10, [%rd4];
    st.global.u32 [%rd50+8], %r10;
    }
    ld.global.u32 %r11, [%rd4+4];
    st.global.v2.u32 [%rd50], {%r10, %r11};)",
              0, {64}); // the store may alias
  expect_same(R"(
    mov.u32 %r10, 1;
    { .reg .b32 %r10;
    ld.global.u32 %r10, [%rd4];
    mov.u32 %r12, %r10;
    }
    ld.global.u32 %r11, [%rd4+4];
    st.global.v4.u32 [%rd50], {%r10, %r11, %r12, %r12};)",
              1, {64});
}

TEST(ShuffleRun, IndicesInAnotherScopeCannotBeChecked) {
  constexpr const char* index = R"(
    { .reg .b32 %i;
    mul.lo.s32 %i, %r3, %r1;
    mul.wide.s32 %rd5, %i, 4;
    }
    mul.wide.s32 %rd6, %r1, 4;)";
  constexpr const char* unit = R"(
    mul.lo.s32 %r4, %r3, %r1;
    mul.wide.s32 %rd5, %r4, 4;
    { .reg .b32 %i;
    ld.param.u32 %i, [n];
    mul.wide.s32 %rd6, %i, 4;
    }
    mov.u32 %r1, 0;)";
  for (const std::string inner : {index, unit}) {
    test::Found found(kernel(inner + R"(
    add.s64 %rd7, %rd1, %rd5;
    add.s64 %rd8, %rd7, %rd6;
    ld.global.u32 %r10, [%rd7];
    ld.global.u32 %r11, [%rd8];
    st.global.v2.u32 [%rd50], {%r10, %r11};)"));
    ASSERT_TRUE(found.covered(1)) << inner << found.kept(1);
    passes::shuffle(found.emulated.kernel, found.plan, Emit::normal);
    EXPECT_THAT(found.kept(1), HasSubstr("another scope")) << inner;
  }
}

TEST(ShuffleRun, TheMaskIsReadOnceInAStretch) {
  const std::string text = Shuffled(kernel("ld.global.u32 %r10, [%rd4];\n"
                                           "ld.global.u32 %r11, [%rd4+4];\n"
                                           "ld.global.u32 %r12, [%rd4+8];\n"),
                                    Emit::normal)
                               .text;
  const std::size_t first = text.find("activemask");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("activemask", first + 1), std::string::npos);
}

TEST(ShuffleRun, NamesThatLookLikeOurs) {
  expect_same(R"(
    .reg .b32 %ptxasw_b32_<9>;
    .reg .pred %ptxasw_pred_<9>;
    mov.u32 %ptxasw_b32_0, 11;
    mov.u32 %ptxasw_b32_1, 12;
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd4+4];
    st.global.v4.u32 [%rd50], {%r10, %r11, %ptxasw_b32_0, %ptxasw_b32_1};)",
              1, {64});
}

// --- Calls --------------------------------------------------------------------------------------

// The address comes out of a function, and a load on the other side of the call has the value.
TEST(ShuffleCalls, LoadsOnBothSidesOfAStraightCall) {
  std::string text = kernel(R"(
    ld.global.u32 %r10, [%rd4];
    { .param .b64 a; .param .b32 i; .param .b64 r;
    st.param.b64 [a], %rd1; st.param.b32 [i], %r3;
    call (r), at, (a, i);
    ld.param.b64 %rd5, [r]; }
    ld.global.u32 %r11, [%rd5+4];
    ld.global.u32 %r12, [%rd5+-8];
    st.global.v2.u32 [%rd50], {%r10, %r11};
    st.global.u32 [%rd50+8], %r12;)");
  text.insert(text.find(".visible"), R"(.func (.param .b64 r) at(.param .b64 a, .param .b32 i)
{ .reg .b64 %rd<4>; .reg .b32 %r<2>;
ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [i];
mad.wide.u32 %rd2, %r1, 4, %rd1; st.param.b64 [r], %rd2; ret; }
)");
  const Shuffled shuffled(text, Emit::normal, 1);
  EXPECT_EQ(shuffled.covered, 2U);
  for (const Dim3 block : {Dim3{32}, Dim3{70}, Dim3{16, 4}})
    EXPECT_EQ(shuffled.difference(block, 5, 0), "") << shuffled.text;
}

// --- Predicates ---------------------------------------------------------------------------------

// !%p1 as a source is not %p1: lanes from 8 on load one place, the others the next.
TEST(ShuffleValues, NegatedSources) {
  expect_same(R"(
    setp.lt.u32 %p1, %r3, 8;
    setp.ge.and.u32 %p2, %r3, 4, !%p1;
    selp.u32 %r5, 1, 0, %p2;
    mad.wide.u32 %rd5, %r5, 4, %rd4;
    ld.global.u32 %r10, [%rd4];
    ld.global.u32 %r11, [%rd5];
    st.global.v2.u32 [%rd50], {%r10, %r11};)",
              0, {64});
}

} // namespace
} // namespace ptxasw
