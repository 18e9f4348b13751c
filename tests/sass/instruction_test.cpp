// Encodings as ptxas 13.0 makes them.
#include "sass/instruction.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ptxasw::sass {
namespace {

std::string text(const Operand& o) {
  std::string name;
  switch (o.in) {
  case Operand::In::none: return "-";
  case Operand::In::reg: name = fmt::format("R{}", o.reg); break;
  case Operand::In::zero: name = "RZ"; break;
  case Operand::In::immediate: name = fmt::format("#{:x}", o.value); break;
  case Operand::In::constant: name = fmt::format("c{:x}", o.value); break;
  case Operand::In::uniform: name = fmt::format("UR{}", o.reg); break;
  }
  if (o.absolute) name = "|" + name + "|";
  return o.negated ? "-" + name : name;
}

std::string text(const Instruction& i) {
  constexpr std::array operations{"other", "add",      "mul",  "fma",    "function",
                                  "move",  "constant", "call", "unknown"};
  constexpr std::array formats{"", ".f32", ".f64", ".half", ".f32x2"};
  return fmt::format("{}{}{} {} {} {} -> {}R{}:{}", i.guarded ? "@" : "",
                     operations.at(static_cast<std::size_t>(i.operation)),
                     formats.at(static_cast<std::size_t>(i.format)), text(i.a), text(i.b),
                     text(i.c), i.result.uniform ? "U" : "", i.result.reg, i.result.count);
}

struct Known {
  unsigned architecture;
  std::uint64_t low, high;
  const char* expected;
};

constexpr std::array known{
    // sm_75
    Known{75, 0x8000000f0e147221, 0x008fc40000000000, "add.f32 R14 -R15 - -> R20:1"},
    Known{75, 0x0000000f00157220, 0x044fe40000400000, "mul.f32 R0 R15 - -> R21:1"},
    Known{75, 0x00005a000f1e7a20, 0x000fe40000400000, "mul.f32 R15 c168 - -> R30:1"},
    Known{75, 0x0000000e00167223, 0x0c0fe2000000000f, "fma.f32 R0 R14 R15 -> R22:1"},
    Known{75, 0x00000011001c7308, 0x010fe20000001400, "function - R17 - -> R28:1"},
    Known{75, 0x3fc0000000187823, 0x140fe4000000000e, "fma.f32 R0 #3fc00000 R14 -> R24:1"},
    Known{75, 0x3fc0000000197423, 0x040fe4000000000e, "fma.f32 R0 R14 #3fc00000 -> R25:1"},
    Known{75, 0x8000000e00177223, 0x1c0fe20000000011, "fma.f32 R0 -R14 R17 -> R23:1"},
    Known{75, 0x00005a00000f7623, 0x040fe4000000000e, "fma.f32 R0 R14 c168 -> R15:1"},
    Known{75, 0x00000011000e7221, 0x040fe40000004200, "add.f32 |R0| R17 - -> R14:1"},
    Known{75, 0x0000000004087229, 0x000ea20000000806, "add.f64 R4 -R6 - -> R8:2"},
    Known{75, 0x00000004020c722b, 0x000ee20000000006, "fma.f64 R2 R4 R6 -> R12:2"},
    Known{75, 0x0000001312137231, 0x000fc60000000011, "fma.half R18 R19 R17 -> R19:1"},
    Known{75, 0x0000001100127202, 0x000fc60000000f00, "move - R17 - -> R18:1"},
    // sm_80
    Known{80, 0x000000100c147228, 0x004e080000000000, "mul.f64 R12 R16 - -> R20:2"},
    Known{80, 0x3ff800000c0e782b, 0x0004e2000000000e, "fma.f64 R12 #3ff80000 R14 -> R14:2"},
    // sm_90: parameters come through uniform registers
    Known{90, 0x0000860000067ab9, 0x000fe20000000800, "constant c218 - - -> UR6:1"},
    Known{90, 0x0000000607117c20, 0x008fe20008400000, "mul.f32 R7 UR6 - -> R17:1"},
    Known{90, 0x00000006000d7e23, 0x040fe20008000006, "fma.f32 R0 R6 UR6 -> R13:1"},
    Known{90, 0x0000000504077230, 0x000fc40000000000, "add.half R4 R5 - -> R7:1"},
    // sm_100, sm_120
    Known{100, 0x00007100ff0677ac, 0x000e620008000800, "constant c1c4 - - -> UR6:1"},
    Known{120, 0x0000e200ff1c7b82, 0x000e620000000800, "constant c388 - - -> R28:1"},
    Known{120, 0x8000000417117223, 0x0c1fe20000000000, "fma.f32 R23 -R4 R0 -> R17:1"},
};

TEST(Instruction, KnownEncodings) {
  for (const Known& k : known)
    EXPECT_EQ(text(decode(k.low, k.high, k.architecture)), k.expected)
        << fmt::format("{:x}", k.low);
}

// fma.rn.f32 with different modifiers: an operation is the same only with the same ones.
TEST(Instruction, RoundingAndFlushingAreModifiers) {
  const auto plain = decode(0x0000000e00107221, 0x000fc40000000000, 75).modifiers;
  const auto to_zero = decode(0x3f800000001b7421, 0x000fe4000000c000, 75).modifiers;
  const auto down = decode(0x00000011000e7221, 0x040fe40000004200, 75).modifiers;
  const auto product = decode(0x0000000f00157220, 0x044fe40000400000, 75).modifiers;
  const auto flushed = decode(0xc0400000001a7820, 0x040fe20000412000, 75).modifiers;
  EXPECT_NE(plain, to_zero);
  EXPECT_NE(plain, down);
  EXPECT_NE(to_zero, down);
  EXPECT_NE(product, flushed);
  EXPECT_NE(decode(0x00000011001c7308, 0x010fe20000001400, 75).modifiers, // MUFU.RSQ
            decode(0x00000011001d7308, 0x000a220000000800, 75).modifiers) // MUFU.EX2
      << "another function";
}

constexpr std::uint64_t addend = 0xff; // RZ at bit 64

// An FFMA or HFMA2 that is none: by fields, from a known one.
TEST(Instruction, DisguisesAreUndone) {
  const auto ffma = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return decode(0x7223 | 20U << 16 | a << 24 | b << 32, c, 90);
  };
  EXPECT_EQ(text(ffma(255, 255, 7)), "move - R7 - -> R20:1");
  EXPECT_EQ(text(ffma(1, 2, addend | 1U << 11)), "mul.f32 R1 R2 - -> R20:1") << "a * b - 0";
  EXPECT_EQ(text(ffma(1, 2, addend)), "fma.f32 R1 R2 RZ -> R20:1") << "-0 + 0 is 0";
  const auto by_one = decode(0x3f80000001147823, 3, 90);
  EXPECT_EQ(text(by_one), "add.f32 R1 R3 - -> R20:1");
  const auto by_two = decode(0x4000000001147823, 3, 90);
  EXPECT_EQ(text(by_two), "fma.f32 R1 #40000000 R3 -> R20:1");
  EXPECT_EQ(text(decode(0x3c003c0001147831, 3, 90)), "add.half R1 R3 - -> R20:1");
  EXPECT_EQ(text(decode(0x3c003c0001147831, 3 | 1U << 21, 90)), "fma.half R1 #3c003c00 R3 -> R20:1")
      << "these are no ones of bf16";
  EXPECT_EQ(text(decode(0x3f803f8001147831, 3 | 1U << 21, 90)), "add.half R1 R3 - -> R20:1");
  EXPECT_EQ(text(decode(0x000000ff01147221, 1U << 8, 90)), "move - -R1 - -> R20:1");
  EXPECT_EQ(text(decode(0x0000000001147224 | 255ULL << 24 | 255ULL << 32, 9, 90)),
            "move - R9 - -> R20:1")
      << "IMAD.MOV";
}

// bar.red.or.pred and bar.red.popc.u32.
TEST(Instruction, ResultsOfBarriersAreNoArithmetic) {
  EXPECT_EQ(decode(0x00ff731c, 0x000fe40000024000, 90).operation, Operation::other);
  const Instruction count = decode(0x0014731c, 0x000e2400000e4000, 90);
  EXPECT_EQ(count.operation, Operation::other);
  EXPECT_EQ(text(count), text(decode(0x0000000000147919, 0x000e220000002100, 90))) << "as S2R";
}

TEST(Instruction, OpcodesThatChangedTheirMeaning) {
  EXPECT_EQ(decode(0x0000000504097235, 8, 90).operation, Operation::fma);
  EXPECT_EQ(decode(0x0000000504097235, 8, 120).operation, Operation::other);
  EXPECT_EQ(decode(0x0000000504097249, 8, 100).operation, Operation::fma);
  EXPECT_EQ(decode(0x0000000504097249, 8, 90).operation, Operation::unknown);
}

TEST(Instruction, WhatIsNotKnownIsSaid) {
  EXPECT_EQ(decode(0x723c, 0, 90).operation, Operation::unknown) << "a matrix instruction";
  EXPECT_EQ(decode(0x0000000e00107221, 0x000fc40000000000, 0).operation, Operation::unknown)
      << "an architecture that is not known";
}

TEST(Instruction, Branches) {
  const Branch self = decode(0xfffffff000007947, 0x000fc0000383ffff, 80).branch;
  EXPECT_TRUE(self.leaves && self.jumps);
  EXPECT_EQ(self.distance, -1);
  const Branch since = decode(0xfffffffc00fc7947, 0x000fc0000383ffff, 90).branch;
  EXPECT_TRUE(since.leaves && since.jumps);
  EXPECT_EQ(since.distance, -1);
  EXPECT_FALSE(decode(0xfffffff000000947, 0x000fc0000383ffff, 80).branch.leaves) << "guarded";
  EXPECT_TRUE(decode(0x000000000000794d, 0x000fea0003800000, 80).branch.leaves);
  EXPECT_TRUE(decode(0x7949, 0, 80).branch.anywhere);
}

} // namespace
} // namespace ptxasw::sass
