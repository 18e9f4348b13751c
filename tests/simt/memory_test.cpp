// State spaces, widths, initial values, and the checks on every access.
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

std::uint32_t first_word(std::string_view body, std::string_view before = "", Shape shape = {}) {
  shape.report_undefined = true;
  const Ran ran = run_body(body, shape, before);
  EXPECT_EQ(ran.result.message, "");
  return ran.words[0];
}

TEST(Memory, NarrowLoadsExtendBySign) {
  EXPECT_EQ(first_word("mov.u32 %r5, 0x80fe; st.global.u32 [%rd1+8], %r5;"
                       "ld.global.s8 %r6, [%rd1+8]; st.global.u32 [%rd1], %r6; ret;",
                       "", {.block = {1, 1, 1}}),
            0xfffffffeU);
  EXPECT_EQ(first_word("mov.u32 %r5, 0x80fe; st.global.u32 [%rd1+8], %r5;"
                       "ld.global.u16 %r6, [%rd1+8]; st.global.u32 [%rd1], %r6; ret;",
                       "", {.block = {1, 1, 1}}),
            0x80feU);
}

TEST(Memory, VectorsAndWideValues) {
  const Ran ran = run_body("ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1+16];"
                           "st.global.v2.u32 [%rd1], {%r8, %r5};"
                           "ld.global.b128 %q1, [%rd1+32]; st.global.b128 [%rd1+16], %q1; ret;",
                           {.block = {1, 1, 1}});
  EXPECT_EQ(ran.result.message, "");
  EXPECT_EQ(std::vector(ran.words.begin(), ran.words.begin() + 8),
            (std::vector<std::uint32_t>{7, 4, 2, 3, 8, 9, 10, 11}));
}

TEST(Memory, SharedIsPerBlockAndDynamicLiesBehindStatic) {
  const Ran ran =
      run_body(R"(
mov.u32 %r5, dynamic; mov.u32 %r6, fixed;
sub.u32 %r7, %r5, %r6;
shl.b32 %r8, %r1, 2; add.u32 %r8, %r8, %r5;
st.shared.u32 [%r8], %r1;
bar.sync 0;
ld.shared.u32 %r9, [%r8]; add.u32 %r9, %r9, %r7;
st.global.u32 [%rd2], %r9;
ret;)",
               {.dynamic_shared = 128},
               ".shared .align 4 .b8 fixed[100];\n.extern .shared .align 16 .b8 dynamic[];");
  EXPECT_EQ(ran.result.message, "");
  EXPECT_EQ(ran.words[5], 133U);
}

TEST(Memory, GenericAddressesReachEverySpace) {
  EXPECT_EQ(first_word(R"(
.local .align 4 .b8 mine[8];
mov.u64 %rd3, mine; cvta.local.u64 %rd3, %rd3; st.u32 [%rd3+4], 11;
mov.u64 %rd4, there; cvta.shared.u64 %rd4, %rd4; st.u32 [%rd4], 22;
mov.u64 %rd5, fixed; cvta.const.u64 %rd5, %rd5; ld.u32 %r5, [%rd5+4];
ld.local.u32 %r6, [mine+4]; ld.shared.u32 %r7, [there];
isspacep.shared %p1, %rd4; selp.u32 %r8, 1000, 0, %p1;
add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8;
st.u32 [%rd1], %r5; ret;)",
                       ".shared .align 4 .b8 there[4];\n.const .align 4 .u32 fixed[2] = {1, 400};",
                       {.block = {1, 1, 1}}),
            1433U);
}

TEST(Memory, InitialValues) {
  EXPECT_EQ(first_word(R"(
mov.u64 %rd3, table; ld.global.u64 %rd4, [%rd3]; ld.u32 %r5, [%rd4];
ld.global.f32 %f1, [reals+4]; cvt.rni.u32.f32 %r6, %f1; add.u32 %r5, %r5, %r6;
ld.global.u8 %r7, [bytes+2]; add.u32 %r5, %r5, %r7;
st.global.u32 [%rd1], %r5; ret;)",
                       ".global .align 4 .u32 target[3] = {1, 2, 0x1000};\n"
                       ".global .align 8 .u64 table[1] = {generic(target)+8};\n"
                       ".global .f32 reals[2] = {0f3F800000, 16.0};\n"
                       ".global .b8 bytes[4] = {1, -2, 3};",
                       {.block = {1, 1, 1}}),
            0x1000U + 16U + 3U);
}

TEST(Memory, KernelParametersByAddress) {
  EXPECT_EQ(first_word("mov.b64 %rd3, n; ld.param.u32 %r5, [%rd3]; st.global.u32 [%rd1], %r5; ret;",
                       "", {.block = {1, 1, 1}, .n = 321}),
            321U);
}

TEST(Memory, ANamedVariableIsReachedInItsSpace) {
  const Ran ran = run_body(R"(
.local .align 4 .b8 l[64];
st.u32 [s+8], %r1;
st.u32 [l+4], 77;
ld.u32 %r5, [s+8];
ld.shared.u32 %r6, [s+8];
ld.local.u32 %r7, [l+4];
atom.add.u32 %r8, [s+8], 5;
ld.shared.u32 %r9, [s+8];
st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r9};
ret;)",
                           {.block = {1}}, ".shared .align 4 .b8 s[64];");
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_EQ(ran.words[0], 0U);
  EXPECT_EQ(ran.words[1], 0U);
  EXPECT_EQ(ran.words[2], 77U);
  EXPECT_EQ(ran.words[3], 5U);
}

TEST(Memory, NarrowAddressesAreUnsupported) {
  std::string text = kernel_text("ret;");
  text.replace(text.find("_size 64"), 8, "_size 32");
  EXPECT_NE(run_text(text).result.message.find("unsupported: addresses of 32 bits"),
            std::string::npos);
}

TEST(Memory, AsynchronousCopyFillsWithZeros) {
  EXPECT_EQ(first_word(R"(
mov.u32 %r5, there;
cp.async.ca.shared.global [%r5], [%rd1+16], 8, 4;
cp.async.commit_group; cp.async.wait_group 0;
ld.shared.u32 %r6, [there]; ld.shared.u32 %r7, [there+4];
mad.lo.u32 %r6, %r7, 100, %r6;
st.global.u32 [%rd1], %r6; ret;)",
                       ".shared .align 16 .b8 there[16];", {.block = {1, 1, 1}}),
            4U);
}

TEST(Memory, AsynchronousCopyLandsWhenItIsWaitedFor) {
  // Two groups: the older one is waited for first; what no group has takes wait_all.
  const Ran ran =
      run_body(R"(
mov.u32 %r5, there;
cp.async.ca.shared.global [%r5], [%rd1+20], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%r5+4], [%rd1+24], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%r5+8], [%rd1+28], 4;
st.global.u32 [%rd1+20], 99;
cp.async.wait_group 1;
ld.shared.u32 %r6, [there];
cp.async.wait_group 0;
ld.shared.u32 %r7, [there+4];
cp.async.wait_all;
ld.shared.u32 %r8, [there+8];
st.global.v4.u32 [%rd1], {%r6, %r7, %r8, 0};
ret;)",
               {.block = {1}, .report_undefined = true}, ".shared .align 16 .b8 there[16];");
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_EQ(ran.words[0], 5U);
  EXPECT_EQ(ran.words[1], 6U);
  EXPECT_EQ(ran.words[2], 7U);
}

TEST(Memory, AsynchronousCopyIsUndefinedBeforeThat) {
  for (const char* wait : {"", "cp.async.wait_group 0;", "cp.async.commit_group;",
                           "cp.async.commit_group; cp.async.wait_group 1;"}) {
    const Ran ran =
        run_body(fmt::format(R"(
mov.u32 %r5, there;
st.shared.u32 [%r5], 1;
cp.async.ca.shared.global [%r5], [%rd1+16], 4;
{}
ld.shared.u32 %r6, [there];
st.global.u32 [%rd1], %r6; ret;)",
                             wait),
                 {.block = {1}, .report_undefined = true}, ".shared .align 16 .b8 there[16];");
    EXPECT_EQ(ran.result.status, Result::Status::undefined) << wait;
  }
}

TEST(Memory, AsynchronousCopyTakesAPolicyAndMayBeToldToTakeNothing) {
  const Ran ran = run_body(R"(
mov.u32 %r5, there;
createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;
setp.eq.u32 %p1, 0, 0;
setp.ne.u32 %p2, 0, 0;
cp.async.ca.shared.global.L2::cache_hint [%r5], [%rd1+16], 4, %rd5;
cp.async.ca.shared.global [%r5+4], [%rd1+16], 4, %p1;
cp.async.ca.shared.global [%r5+8], [%rd1+16], 4, %p2;
cp.async.wait_all;
ld.shared.u32 %r6, [there];
ld.shared.u32 %r7, [there+4];
ld.shared.u32 %r8, [there+8];
st.global.v4.u32 [%rd1], {%r6, %r7, %r8, 0}; ret;)",
                           {.block = {1}}, ".shared .align 16 .b8 there[16];");
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_EQ(ran.words[0], 4U);
  EXPECT_EQ(ran.words[1], 0U);
  EXPECT_EQ(ran.words[2], 4U);
}

TEST(Memory, APolicyIsForHintsAlone) {
  const Ran ran = run_body("createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;\n"
                           "ld.global.L2::cache_hint.u32 %r5, [%rd1+12], %rd5;\n"
                           "st.global.L2::cache_hint.u32 [%rd1], %r5, %rd5; ret;",
                           {.block = {1}, .report_undefined = true});
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_EQ(ran.words[0], 3U);
  EXPECT_EQ(run_body("createpolicy.range.global.L2::evict_last.b64 %rd5, [%rd1], 128, 256;\n"
                     "st.global.u64 [%rd1], %rd5; ret;",
                     {.block = {1}, .report_undefined = true})
                .result.status,
            Result::Status::undefined);
}

TEST(Memory, VectorRegisters) {
  const Ran ran = run_body(R"(
.reg .v4 .b32 %v, %w<2>;
.reg .v2 .b32 %u;
ld.global.v4.b32 %v, [%rd1+16];
mov.v4.b32 %w1, %v;
add.u32 %w1.y, %v.x, %w1.a;
mov.v4.b32 %v, {%v.w, %v.z, %v.y, %v.x};
mov.v2.b32 %u, {%v.r, %w1.g};
mov.b64 %rd5, %u;
st.global.v4.b32 [%rd1], %v;
st.global.v4.b32 [%rd1+16], {%w1.x, %w1.y, %w1.z, %w1.w};
st.global.u64 [%rd1+32], %rd5;
ret;)",
                           {.block = {1}});
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_THAT(std::vector(ran.words.begin(), ran.words.begin() + 10),
              testing::ElementsAre(7, 6, 5, 4, 4, 11, 6, 7, 7, 11));
}

TEST(Memory, AStoreMayAddANumber) {
  const Ran ran = run_body("mov.b32 %r5, -2; mov.u16 %rs1, 65535; mov.u64 %rd5, -1;\n"
                           "st.global.u32 [%rd1], %r5+4;\n"
                           "st.global.u8 [%rd1+4], %rs1+3;\n"
                           "st.global.u64 [%rd1+8], %rd5+2; ret;",
                           {.block = {1}});
  ASSERT_TRUE(ran.result.ok()) << ran.result.message;
  EXPECT_THAT(std::vector(ran.words.begin(), ran.words.begin() + 4),
              testing::ElementsAre(2, 2, 1, 0));
  EXPECT_EQ(run_body("mov.u32 %r5, %r1+4; ret;").result.status, Result::Status::unsupported);
}

struct Bad {
  const char* name;
  const char* body;
  const char* message;
};
void PrintTo(const Bad& c, std::ostream* out) {
  *out << c.name;
}

const Bad bad[] = {
    {"behind the buffer", "ld.global.u32 %r5, [%rd2+256]; ret;", "outside of every allocation"},
    {"before the buffer", "ld.global.u32 %r5, [%rd1+-4]; ret;", "outside of every allocation"},
    {"across the end", "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd1+256]; ret;",
     "outside of every allocation"},
    {"misaligned", "ld.global.u32 %r5, [%rd1+2]; ret;", "is not a multiple of 4"},
    {"misaligned vector", "ld.global.v2.u32 {%r5,%r6}, [%rd1+4]; ret;", "is not a multiple of 8"},
    {"shared out of bounds", "st.shared.u32 [64], %r1; ret;", "outside of the block's shared"},
    {"local out of bounds", ".local .b32 a; ld.local.u32 %r5, [a+32]; ret;",
     "outside of the thread's local"},
    {"store to a constant", "mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3; st.u32 [%rd3], 1; ret;",
     "or is written"},
};

class BadAccess : public testing::TestWithParam<Bad> {};
TEST_P(BadAccess, IsReported) {
  const Ran ran = run_body(GetParam().body, {}, ".const .u32 c = 1;");
  EXPECT_EQ(ran.result.status, Result::Status::undefined);
  EXPECT_THAT(ran.result.message, HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(All, BadAccess, testing::ValuesIn(bad));

TEST(Undefined, RegistersAndSharedMemoryHaveNoValueAtFirst) {
  const auto message = [](std::string_view body) {
    Shape shape;
    shape.report_undefined = true;
    return run_body(body, shape, ".shared .u32 s;").result.message;
  };
  EXPECT_THAT(message("st.global.u32 [%rd2], %r9; ret;"), HasSubstr("undefined value"));
  EXPECT_THAT(message("ld.shared.u32 %r5, [s]; st.global.u32 [%rd2], %r5; ret;"),
              HasSubstr("undefined value"));
  EXPECT_THAT(message("setp.eq.u32 %p1, %r9, 0; @%p1 bra E; E: ret;"), HasSubstr("guard"));
  EXPECT_EQ(message("setp.lt.u32 %p1, %r1, 99; selp.u32 %r5, %r1, %r9, %p1;"
                    "st.global.u32 [%rd2], %r5; ret;"),
            "");
}

TEST(Undefined, TravelsThroughMemory) {
  Shape shape;
  shape.report_undefined = true;
  const Ran ran = run_body(".local .b32 a; st.local.u32 [a], %r9; ld.local.u32 %r5, [a];"
                           "st.global.u32 [%rd2], %r5; ret;",
                           shape);
  EXPECT_THAT(ran.result.message, HasSubstr("st.global"));
}

TEST(Counts, SectorsOfAWarpRequest) {
  const auto sectors = [](std::string_view body) {
    return run_body(body, {.words = 4096}).result.counts.global_load_sectors;
  };
  EXPECT_EQ(sectors("ld.global.u32 %r5, [%rd2]; ret;"), 4U);
  EXPECT_EQ(sectors("ld.global.u32 %r5, [%rd2+4]; ret;"), 5U);
  EXPECT_EQ(sectors("ld.global.u32 %r5, [%rd1]; ret;"), 1U);
  EXPECT_EQ(sectors("mul.wide.u32 %rd3, %r1, 128; add.s64 %rd3, %rd3, %rd1;"
                    "ld.global.u32 %r5, [%rd3]; ret;"),
            32U);
  // Out of order: lanes pairwise swapped.
  EXPECT_EQ(sectors("xor.b32 %r6, %r1, 15; mul.wide.u32 %rd3, %r6, 4; add.s64 %rd3, %rd3, %rd1;"
                    "ld.global.u32 %r5, [%rd3]; ret;"),
            4U);
}

TEST(Observer, SeesLaneAddresses) {
  std::vector<std::uint64_t> offsets;
  Shape shape;
  shape.observer = [&](const Access& access) {
    if (access.kind != Access::Kind::load || access.space != ptx::Space::global) return;
    EXPECT_EQ(access.mask, 0x3ffU);
    EXPECT_EQ(access.bytes, 4U);
    offsets.push_back(access.addresses[9] - access.addresses[0]);
  };
  run_body("setp.lt.u32 %p1, %r1, 10; @%p1 ld.global.u32 %r5, [%rd2]; ret;", shape);
  EXPECT_EQ(offsets, std::vector<std::uint64_t>{36});
}

TEST(Memory, ProtectedAllocationsAreNotWritten) {
  const auto program = compile(std::make_shared<const ptx::Module>(ptx::parse(kernel_text(
                                   "ld.global.u32 %r5, [%rd2]; st.global.u32 [%rd2], %r5; ret;"))),
                               "k");
  ASSERT_TRUE(program);
  Memory memory;
  const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(256));
  memory.allocations()[0].writable = false;
  Launch launch{.grid = {1}, .block = {32}};
  launch.arguments = {value(out), value(std::uint64_t{0})};
  EXPECT_THAT(run(**program, launch, memory).message, HasSubstr("must not be written"));
}

TEST(MemorySet, PlacesWithoutOverlap) {
  Memory memory;
  EXPECT_TRUE(memory.place("a", 4096, std::vector<std::uint8_t>(16)));
  EXPECT_FALSE(memory.place("b", 4104, std::vector<std::uint8_t>(16)));
  EXPECT_FALSE(memory.place("b", 4090, std::vector<std::uint8_t>(16)));
  EXPECT_TRUE(memory.place("b", 4112, std::vector<std::uint8_t>(16)));
  EXPECT_NE(memory.find(4127, 1), nullptr);
  EXPECT_EQ(memory.find(4127, 2), nullptr);
  EXPECT_EQ(memory.find(4095, 1), nullptr);
}

TEST(MemorySet, DifferencesLeaveOutUndefinedBytes) {
  Memory left, right;
  left.allocate("a", {1, 2, 3, 4});
  right.allocate("a", {1, 9, 3, 5});
  left.allocations()[0].defined[1] = 0;
  const auto difference = first_difference(left, right);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->offset, 3U);
  EXPECT_EQ(difference->right, 5);
}

} // namespace
} // namespace ptxasw::simt
