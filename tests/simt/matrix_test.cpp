// Matrix instructions against a product written out, with the places of elements as the PTX ISA
// gives them for each shape.
#include "simt/kernels.hpp"
#include "simt/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

struct Place {
  unsigned row = 0, column = 0;
};
// Of element i of a lane, whose number / 4 is g and % 4 is t.
using Layout = Place (*)(unsigned g, unsigned t, unsigned i);

struct Product {
  const char* name; // what stands behind mma.sync.aligned.
  unsigned m, n, k;
  unsigned bits;     // of an element of A and B
  unsigned mantissa; // 0: an integer
  Layout a, b;
  bool half_sums = false, unsigned_a = false, unsigned_b = false;
};
void PrintTo(const Product& product, std::ostream* out) {
  *out << product.name;
}

// PTX ISA 9.7.15.5, "Matrix Fragments for mma.m16n8k8" and its neighbours.
Place a_16_k8(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
Place b_16_k8(unsigned g, unsigned t, unsigned i) {
  return {t * 2 + i, g};
}
Place a_16_k16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b_16_k16(unsigned g, unsigned t, unsigned i) {
  return {t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
}
Place a_32_k4(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? g : g + 8, t};
}
Place b_32_k4(unsigned g, unsigned t, unsigned) {
  return {t, g};
}
Place a_32_k8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
Place b_32_k8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? t : t + 4, g};
}
Place a_8_k16(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
}
Place b_8_k16(unsigned g, unsigned t, unsigned i) {
  return {t * 4 + i, g};
}
Place a_8_k32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place b_8_k32(unsigned g, unsigned t, unsigned i) {
  return {t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
}
Place a_8_m8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 4 + i};
}
Place of_sum(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

const Product products[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, 16, 10, a_16_k8, b_16_k8},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, 16, 10, a_16_k8, b_16_k8, true},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, 16, 7, a_16_k8, b_16_k8},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 16, 10, a_16_k16, b_16_k16},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, 16, 10, a_16_k16, b_16_k16, true},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 16, 7, a_16_k16, b_16_k16},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, 32, 23, a_32_k4, b_32_k4},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 32, 23, a_32_k8, b_32_k8},
    {"m8n8k16.row.col.s32.s8.s8.s32", 8, 8, 16, 8, 0, a_8_m8, b_8_k16},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 16, 8, 0, a_8_k16, b_8_k16},
    {"m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 16, 8, 0, a_8_k16, b_8_k16, false, true},
    {"m16n8k32.row.col.s32.s8.u8.s32", 16, 8, 32, 8, 0, a_8_k32, b_8_k32, false, false, true},
    {"m16n8k32.row.col.satfinite.s32.u8.u8.s32", 16, 8, 32, 8, 0, a_8_k32, b_8_k32, false, true,
     true},
};

// A whole number in a format of so many bits of fraction.
std::uint32_t encoded(int value, unsigned bits, unsigned mantissa) {
  if (mantissa == 0) return static_cast<std::uint32_t>(value) & 0xffU;
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (bits == 32) return single;
  if (mantissa == 7) return single >> 16;
  if (value == 0) return 0;
  return (single >> 16 & 0x8000U) | (((single >> 23 & 0xffU) - 112) << 10) |
         (single >> 13 & 0x3ffU);
}

// `registers` words of each lane are loaded from `out`, then `code` runs on %v0, %v1, ...; %d0, ...
// are stored there.
std::string warp_text(unsigned registers, unsigned results, const std::string& code,
                      std::string_view before = "") {
  std::string body = ".reg .b32 %v<32>, %d<16>;\nmad.lo.u32 %r5, %r1, 128, 0;\n"
                     "cvt.u64.u32 %rd3, %r5;\nadd.s64 %rd3, %rd1, %rd3;\n";
  for (unsigned i = 0; i < registers; ++i)
    body += fmt::format("ld.global.u32 %v{}, [%rd3+{}];\n", i, 4 * i);
  body += code;
  for (unsigned i = 0; i < results; ++i)
    body += fmt::format("st.global.u32 [%rd3+{}], %d{};\n", 4 * i, i);
  return kernel_text(body + "ret;", before);
}

std::string list(const char* name, unsigned from, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "{" : ", ", name, from + i);
  return text + "}";
}

struct Warp32 {
  Result result;
  std::array<std::array<std::uint32_t, 32>, 32> words; // by lane
};
Warp32 run_warp(const std::string& text, const Warp32& with, Schedule schedule = {}) {
  Warp32 out = with;
  auto module = std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx"));
  const auto program = compile(module, "k");
  if (!program) throw std::runtime_error(program.error());
  std::vector<std::uint8_t> data(sizeof with.words);
  std::memcpy(data.data(), with.words.data(), data.size());
  Memory memory;
  const std::uint64_t at = memory.allocate("out", data);
  Launch launch{.grid = {1}, .block = {32}, .arguments = {value(at), value(std::uint64_t{0})}};
  launch.schedule = schedule;
  launch.report_undefined = true;
  out.result = run(**program, launch, memory);
  std::memcpy(out.words.data(), memory.find("out")->data.data(), data.size());
  return out;
}

class MatrixProduct : public testing::TestWithParam<Product> {};

TEST_P(MatrixProduct, IsThatOfTheElements) {
  const Product& p = GetParam();
  const unsigned each = 32 / p.bits, a_count = p.m * p.k / 32, b_count = p.n * p.k / 32,
                 c_count = p.m * p.n / 32;
  const unsigned a_words = a_count / each, b_words = b_count / each,
                 c_words = p.half_sums ? c_count / 2 : c_count;
  Random random(p.m * 1000 + p.k * 10 + p.bits);
  std::vector<std::vector<int>> a(p.m, std::vector<int>(p.k)), b(p.k, std::vector<int>(p.n)),
      c(p.m, std::vector<int>(p.n));
  const auto fill = [&](auto& matrix, int low, int high) {
    for (auto& row : matrix)
      for (int& element : row)
        element = low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const bool whole = p.mantissa == 0;
  fill(a, whole && !p.unsigned_a ? -128 : whole ? 0 : -8, whole ? p.unsigned_a ? 255 : 127 : 8);
  fill(b, whole && !p.unsigned_b ? -128 : whole ? 0 : -8, whole ? p.unsigned_b ? 255 : 127 : 8);
  fill(c, -99, 99);
  Warp32 in{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto& words = in.words[lane];
    const auto put = [&](unsigned first, unsigned i, unsigned bits, std::uint32_t value) {
      words[first + i * bits / 32] |= value << i * bits % 32;
    };
    for (unsigned i = 0; i < a_count; ++i) {
      const Place at = p.a(lane / 4, lane % 4, i);
      put(0, i, p.bits, encoded(a[at.row][at.column], p.bits, p.mantissa));
    }
    for (unsigned i = 0; i < b_count; ++i) {
      const Place at = p.b(lane / 4, lane % 4, i);
      put(a_words, i, p.bits, encoded(b[at.row][at.column], p.bits, p.mantissa));
    }
    for (unsigned i = 0; i < c_count; ++i) {
      const Place at = of_sum(lane / 4, lane % 4, i);
      const int value = c[at.row][at.column];
      put(a_words + b_words, i, p.half_sums ? 16 : 32,
          whole         ? static_cast<std::uint32_t>(value)
          : p.half_sums ? encoded(value, 16, 10)
                        : encoded(value, 32, 23));
    }
  }
  const std::string text =
      warp_text(a_words + b_words + c_words, c_words,
                fmt::format("mma.sync.aligned.{} {}, {}, {}, {};\n", p.name, list("d", 0, c_words),
                            list("v", 0, a_words), list("v", a_words, b_words),
                            list("v", a_words + b_words, c_words)));
  for (const auto kind : {Schedule::Kind::lockstep, Schedule::Kind::one_lane}) {
    const Warp32 out = run_warp(text, in, {.kind = kind});
    ASSERT_TRUE(out.result.ok()) << out.result.message;
    EXPECT_EQ(out.result.approximate, !whole);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < c_count; ++i) {
        const Place at = of_sum(lane / 4, lane % 4, i);
        int sum = c[at.row][at.column];
        for (unsigned k = 0; k < p.k; ++k)
          sum += a[at.row][k] * b[k][at.column];
        const std::uint32_t expected = whole         ? static_cast<std::uint32_t>(sum)
                                       : p.half_sums ? encoded(sum, 16, 10)
                                                     : encoded(sum, 32, 23);
        const std::uint32_t got =
            p.half_sums ? out.words[lane][i / 2] >> i % 2 * 16 & 0xffffU : out.words[lane][i];
        ASSERT_EQ(got, expected) << "lane " << lane << ", element " << i;
      }
  }
}
INSTANTIATE_TEST_SUITE_P(All, MatrixProduct, testing::ValuesIn(products));

constexpr const char* small = "mma.sync.aligned.m8n8k16.row.col{}.s32.s8.s8.s32 {{%d0, %d1}}, "
                              "{{%v0}}, {{%v1}}, {{%v2, %v3}};\n";

TEST(Matrix, SumsWrapOrStayAtTheEnds) {
  Warp32 in{};
  for (auto& words : in.words)
    words = {0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff, 0x80000000};
  constexpr std::uint32_t sum = 16 * 127 * 127;
  const Warp32 wraps = run_warp(warp_text(4, 2, fmt::format(fmt::runtime(small), "")), in);
  EXPECT_EQ(wraps.words[5][0], 0x7fffffffU + sum);
  const Warp32 stays =
      run_warp(warp_text(4, 2, fmt::format(fmt::runtime(small), ".satfinite")), in);
  EXPECT_EQ(stays.words[5][0], 0x7fffffffU);
  EXPECT_EQ(stays.words[5][1], 0x80000000U + sum);
}

TEST(Matrix, TakesTheWholeWarp) {
  const std::string product = fmt::format(fmt::runtime(small), "");
  const std::string away = "setp.gt.u32 %p1, %r1, 20;\n@%p1 exit;\n" + product;
  EXPECT_THAT(run_warp(warp_text(4, 2, away), {}).result.message,
              HasSubstr("not all lanes of the warp are there"));
  // Lanes that come later are waited for; at another product they do not meet.
  const std::string later = "setp.gt.u32 %p1, %r1, 20;\n@%p1 bra A;\nadd.u32 %r6, %r6, 1;\nA:\n" +
                            std::string("mov.b32 %r6, 0;\n") + product;
  EXPECT_TRUE(run_warp(warp_text(4, 2, later), {}, {.kind = Schedule::Kind::one_lane}).result.ok());
  const std::string apart =
      "setp.gt.u32 %p1, %r1, 20;\n@%p1 bra A;\n" + product + "bra B;\nA:\n" + product + "B:\n";
  EXPECT_EQ(run_warp(warp_text(4, 2, apart), {}).result.status, Result::Status::undefined);
}

TEST(Matrix, UndefinedElementsReachTheirRowsAndColumnsOnly) {
  // Lane 0 has four elements of row 0 of A: row 0 of D is lanes 0 to 3.
  const std::string product = fmt::format(fmt::runtime(small), "");
  const auto with = [&](const char* stores) {
    return warp_text(4, 0,
                     ".reg .b32 %u;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mov.b32 %v0, %u;\n" + product +
                         stores);
  };
  EXPECT_EQ(run_warp(with("st.global.u32 [%rd3], %d0;\n"), {}).result.status,
            Result::Status::undefined);
  const Warp32 others =
      run_warp(with("setp.gt.u32 %p2, %r1, 3;\n@%p2 st.global.u32 [%rd3], %d0;\n"), {});
  EXPECT_TRUE(others.result.ok()) << others.result.message;
}

TEST(Matrix, WhatIsNotKnownIsUnsupported) {
  for (const char* code :
       {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%d0,%d1,%d2,%d3}, {%v0,%v1}, {%v2}, "
        "{%v3,%v4,%v5,%v6};\n",
        "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%v0, %v5}, {%v1}, {%v2, "
        "%v3};\n",
        "mma.sync.aligned.m8n8k16.col.row.row.s32.s8.s8 {%d0, %d1}, {%v0}, {%v1}, {%v2, %v3};\n",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0,%d1,%d2,%d3}, {%v0,%v1}, "
        "{%v2,%v3}, {%v3,%v4,%v5,%v6}, %v7, 0x0;\n"})
    EXPECT_EQ(run_warp(warp_text(8, 0, code), {}).result.status, Result::Status::unsupported)
        << code;
}

// Word w of shared memory is 2 * w + 1 in its lower half and 2 * w in its upper one.
constexpr const char* fill = R"(
mov.u32 %r6, tile;
shl.b32 %r7, %r1, 4;
add.u32 %r7, %r6, %r7;
mul.lo.u32 %r8, %r1, 524296;
add.u32 %r8, %r8, 1;
st.shared.u32 [%r7], %r8;
add.u32 %r8, %r8, 131074;
st.shared.u32 [%r7+4], %r8;
add.u32 %r8, %r8, 131074;
st.shared.u32 [%r7+8], %r8;
add.u32 %r8, %r8, 131074;
st.shared.u32 [%r7+12], %r8;
bar.warp.sync -1;
)";
constexpr const char* tile = ".shared .align 16 .b8 tile[512];";
std::uint32_t element(unsigned row, unsigned column) { // of 32 rows of 8
  const unsigned word = row * 4 + column / 2;
  return column % 2 == 0 ? 2 * word + 1 : 2 * word;
}

TEST(Matrix, RowsAreLoadedAsLanesSay) {
  // Matrix i has rows 31 - 8 * i downwards: each lane gives the address of one.
  const std::string code = fmt::format("{}{}", fill, R"(
sub.u32 %r9, 31, %r1;
shl.b32 %r9, %r9, 4;
add.u32 %r9, %r6, %r9;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [%r9];
ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%d4, %d5}, [%r9];
cvt.u64.u32 %rd5, %r9;
cvta.shared.u64 %rd5, %rd5;
ldmatrix.sync.aligned.m8n8.x1.b16 {%d6}, [%rd5];
)");
  const Warp32 out = run_warp(warp_text(0, 7, code, tile), {});
  ASSERT_TRUE(out.result.ok()) << out.result.message;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(out.words[lane][i],
                element(31 - 8 * i - g, 2 * t) | element(31 - 8 * i - g, 2 * t + 1) << 16);
    for (unsigned i = 0; i < 2; ++i)
      EXPECT_EQ(out.words[lane][4 + i],
                element(31 - 8 * i - 2 * t, g) | element(31 - 8 * i - 2 * t - 1, g) << 16);
    EXPECT_EQ(out.words[lane][6], element(31 - g, 2 * t) | element(31 - g, 2 * t + 1) << 16);
  }
}

TEST(Matrix, RowsAreAlignedAndInside) {
  for (const auto& [offset, message] : {std::pair{"8", "not a multiple of 16"},
                                        std::pair{"512", "outside of the block's shared"}}) {
    const std::string code =
        std::string(fill) +
        fmt::format("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%d0}}, [%r6+{}];\n", offset);
    EXPECT_THAT(run_warp(warp_text(0, 1, code, tile), {}).result.message, HasSubstr(message));
  }
  EXPECT_EQ(
      run_warp(warp_text(0, 1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [tile];\n", tile),
               {})
          .result.status,
      Result::Status::undefined); // nobody has written it
}

} // namespace
} // namespace ptxasw::simt
