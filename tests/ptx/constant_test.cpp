// Values of literals and constant expressions, as they reach an operand.
#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

namespace {

using namespace ptxasw::ptx;

Module with_operand(const std::string& text) {
  return parse("mov.u64 %r, " + text + ";");
}

struct Result {
  OperandKind kind;
  std::uint64_t value;
  friend bool operator==(const Result&, const Result&) = default;
};

Result value(const std::string& text) {
  const Module module = with_operand(text);
  EXPECT_TRUE(module.diagnostics.empty()) << text;
  const Operand& operand = module.operands_of(module.instructions.at(0))[1];
  EXPECT_EQ(operand.text, text);
  return {operand.kind, operand.value};
}

Result integer(std::int64_t v) {
  return {OperandKind::integer, static_cast<std::uint64_t>(v)};
}
Result real(double v) {
  return {OperandKind::float64, std::bit_cast<std::uint64_t>(v)};
}

TEST(Constant, Integers) {
  EXPECT_EQ(value("42"), integer(42));
  EXPECT_EQ(value("-5"), integer(-5));
  EXPECT_EQ(value("0x7fffffffffffffffU"), integer(0x7fffffffffffffff));
  EXPECT_EQ(value("0XfF"), integer(255));
  EXPECT_EQ(value("017"), integer(15));
  EXPECT_EQ(value("0b101"), integer(5));
  EXPECT_EQ(value("0"), integer(0));
  EXPECT_EQ(value("18446744073709551615"), integer(-1));
  EXPECT_EQ(value("-9223372036854775808"), integer(INT64_MIN));
}

TEST(Constant, FloatingPoint) {
  EXPECT_EQ(value("0f3F800000"), (Result{OperandKind::float32, 0x3F800000}));
  EXPECT_EQ(value("0dBFF0000000000000"), real(-1.0));
  EXPECT_EQ(value("1.5"), real(1.5));
  EXPECT_EQ(value("1."), real(1.0));
  EXPECT_EQ(value(".25"), real(0.25));
  EXPECT_EQ(value("1e-3"), real(1e-3));
  EXPECT_EQ(value("-2.5E+2"), real(-250.0));
  EXPECT_EQ(value("-0f3F800000"), real(-1.0));
  EXPECT_EQ(value("1.0 + 2.0 * 3.0"), real(7.0));
  EXPECT_EQ(value("1e999").kind, OperandKind::expression);
}

TEST(Constant, OperatorsByPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), integer(7));
  EXPECT_EQ(value("(1 + 2) * 3"), integer(9));
  EXPECT_EQ(value("10 - 4 - 3"), integer(3));
  EXPECT_EQ(value("7 / 2 % 2"), integer(1));
  EXPECT_EQ(value("-7 / 2"), integer(-3));
  EXPECT_EQ(value("1 << 2 + 1"), integer(8));
  EXPECT_EQ(value("-8 >> 1"), integer(-4));
  EXPECT_EQ(value("1 | 6 & 3 ^ 8"), integer(11));
  EXPECT_EQ(value("2 < 3 == 1"), integer(1));
  EXPECT_EQ(value("2 >= 3 != 0"), integer(0));
  EXPECT_EQ(value("0 || 2 && 0"), integer(0));
  EXPECT_EQ(value("!0 + ~0"), integer(0));
  EXPECT_EQ(value("1 ? 2 : 0 ? 3 : 4"), integer(2));
  EXPECT_EQ(value("0 ? 2 : 0 ? 3 : 4"), integer(4));
}

TEST(Constant, UnsignedOperands) {
  EXPECT_EQ(value("(.u64)-1 / 2"), integer(INT64_MAX));
  EXPECT_EQ(value("-1 < 1U"), integer(0));
  EXPECT_EQ(value("-1 < 1"), integer(1));
  EXPECT_EQ(value("0xFFFFFFFFFFFFFFFF >> 60"), integer(15));
  EXPECT_EQ(value("(.s64)0xFFFFFFFFFFFFFFFF >> 60"), integer(-1));
  EXPECT_EQ(value("(-9223372036854775807 - 1) / -1"), integer(INT64_MIN));
}

// As ptxas of CUDA 13.0 puts them into a variable.
TEST(Constant, ComplementsAndRemaindersAreUnsigned) {
  EXPECT_EQ(value("~5"), integer(-6));
  EXPECT_EQ(value("~5 >> 1"), integer(INT64_MAX - 2));
  EXPECT_EQ(value("~5 / 2"), integer(INT64_MAX - 2));
  EXPECT_EQ(value("(.s64)~5 < 0"), integer(1));
  EXPECT_EQ(value("-7 % 3"), integer(0));
  EXPECT_EQ(value("7 % -4"), integer(7));
  EXPECT_EQ(value("0 % 5 - 1 < 0"), integer(0));
  EXPECT_EQ(value("(-8 | 1) >> 1"), integer(-4));
}

TEST(Constant, WithoutAValue) {
  for (const char* text : {"1 / 0", "1 % 0", "1 << 64", "a * 2", "a - b", "generic(a)", "0xFF(a)",
                           "a[3]", "-a", "1 + 1.5", "a ? 1 : 2", "!1.5"}) {
    const Module module = with_operand(text);
    const Operand& operand = module.operands_of(module.instructions.at(0))[1];
    EXPECT_EQ(operand.kind, OperandKind::expression) << text;
    EXPECT_EQ(operand.children.count, 0U) << text;
  }
}

TEST(Constant, SymbolPlusOffset) {
  for (const auto& [text, offset] :
       {std::pair{"a + 4", 4}, {"4 + a", 4}, {"a - 2 * 3", -6}, {"(a)", 0}}) {
    const Module module = with_operand(text);
    const Operand& operand = module.operands_of(module.instructions.at(0))[1];
    EXPECT_EQ(operand.kind, OperandKind::expression);
    ASSERT_EQ(operand.children.count, 1U) << text;
    EXPECT_EQ(module.children(operand)[0].text, "a");
    EXPECT_EQ(operand.value, static_cast<std::uint64_t>(offset)) << text;
  }
}

} // namespace
