// Messages: where they point, what they say, and that reading goes on behind them.
#include "lossless.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace {

using namespace ptxasw::ptx;
using testing::ElementsAre;

std::vector<std::string> messages(const std::string& text) {
  const Module module = parse(text, "a.ptx");
  ptxasw::test::expect_lossless(module, text);
  std::vector<std::string> result;
  for (const Diagnostic& d : module.diagnostics) {
    const std::string rendered = render(d, *module.text, module.lines, module.file);
    result.push_back(rendered.substr(0, rendered.find('\n')));
  }
  return result;
}

struct DiagnosticCase {
  std::string text, message;
  friend void PrintTo(const DiagnosticCase& c, std::ostream* out) {
    *out << testing::PrintToString(c.text);
  }
};

class Diagnostics : public testing::TestWithParam<DiagnosticCase> {};

TEST_P(Diagnostics, PointAtTheProblem) {
  EXPECT_THAT(messages(GetParam().text), ElementsAre(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    One, Diagnostics,
    testing::Values(
        DiagnosticCase{"add.s32 %r1, %r2 %r3;",
                       "a.ptx:1:18: error: expected ',' or ';', found '%r3'"},
        DiagnosticCase{"ret;\n  mov.u32 %r1,;\nret;",
                       "a.ptx:2:15: error: expected an operand, found ';'"},
        DiagnosticCase{"ld.u32 %r1, [%rd1+4;", "a.ptx:1:20: error: expected ',' or ']', found ';'"},
        DiagnosticCase{"mov.b64 {%r1, %r2, %rd1;",
                       "a.ptx:1:24: error: expected ',' or '}', found ';'"},
        DiagnosticCase{"ret\n",
                       "a.ptx:2:1: error: expected an operand or ';', found the end of the text"},
        DiagnosticCase{".bogus 5;", "a.ptx:1:1: error: unknown directive '.bogus'"},
        DiagnosticCase{".reg .b32 5;", "a.ptx:1:11: error: expected a name, found '5'"},
        DiagnosticCase{"\xc3\xa9;", "a.ptx:1:1: error: expected a statement, found byte 0xc3"},
        DiagnosticCase{"/* open\nret;", "a.ptx:1:1: error: comment without its end"},
        DiagnosticCase{"}", "a.ptx:1:1: error: '}' without a '{' before it"},
        DiagnosticCase{".entry k {\nret;\n",
                       "a.ptx:3:1: error: expected '}' to close the body of 'k'"}));

TEST(Render, ShowsTheLineAndACaret) {
  const Module module = parse("ret;\n\tadd.s32 a b;\r\n", "dir/a.ptx");
  ASSERT_EQ(module.diagnostics.size(), 1U);
  EXPECT_EQ(render(module.diagnostics[0], *module.text, module.lines, module.file),
            "dir/a.ptx:2:12: error: expected ',' or ';', found 'b'\n"
            "  \tadd.s32 a b;\n"
            "  \t          ^\n");
}

TEST(Render, CutsLongLines) {
  const std::string text = std::string(1000, ' ') + "\x01";
  const Diagnostic diagnostic{Severity::warning, {1000, 1001}, "here"};
  EXPECT_EQ(render(diagnostic, text, LineTable(text), "a"), "a:1:1001: warning: here\n  " +
                                                                std::string(80, ' ') + "?\n  " +
                                                                std::string(80, ' ') + "^\n");
}

TEST(LineTable, FindsPositions) {
  const std::string text = "a\n\nbc\r\n";
  const LineTable lines(text);
  const auto at = [&](std::uint32_t offset) {
    return std::pair(lines.position(offset).line, lines.position(offset).column);
  };
  EXPECT_EQ(at(0), std::pair(1U, 1U));
  EXPECT_EQ(at(1), std::pair(1U, 2U));
  EXPECT_EQ(at(2), std::pair(2U, 1U));
  EXPECT_EQ(at(4), std::pair(3U, 2U));
  EXPECT_EQ(at(7), std::pair(4U, 1U));
  EXPECT_EQ(lines.line(text, 3), "bc");
  EXPECT_EQ(lines.line(text, 4), "");
  EXPECT_EQ(lines.line(text, 5), "");
}

// The statements of a text, the opaque ones marked.
std::vector<std::string> statements(const std::string& text) {
  const Module module = parse(text);
  ptxasw::test::expect_lossless(module, text);
  std::vector<std::string> result;
  for (const Statement& s : module.statements) {
    const std::string_view mark = s.kind == StatementKind::opaque ? "?" : "";
    result.push_back(fmt::format("{}{}", mark, module.slice(s.range)));
  }
  return result;
}

TEST(Recovery, GoesOnBehindTheStatement) {
  EXPECT_THAT(statements("add a b; ret;"), ElementsAre("?add a b;", "ret;"));
  EXPECT_THAT(statements("{ add a b }"), ElementsAre("{", "?add a b", "}"));
  EXPECT_THAT(statements("{ mov {a b}, c; }"), ElementsAre("{", "?mov {a b}, c;", "}"));
  EXPECT_THAT(statements("add a, b\nmul c, d;"), ElementsAre("?add a, b", "mul c, d;"));
  EXPECT_THAT(statements("add a b // c;\nL: ret;"), ElementsAre("?add a b // c;", "L:", "ret;"));
  EXPECT_THAT(statements("\"a;b\" x; ret;"), ElementsAre("?\"a;b\" x;", "ret;"));
  EXPECT_THAT(statements("/* ret; ret;"), ElementsAre("?/* ret; ret;"));
}

TEST(Recovery, ABrokenHeaderLeavesItsBodyBehind) {
  EXPECT_THAT(
      statements(".entry k(.param u64 a) { ret; } .entry l { ret; }"),
      ElementsAre("?.entry k(.param u64 a)", "{", "ret;", "}", ".entry l", "{", "ret;", "}"));
}

TEST(Recovery, ABrokenSectionEndsAtItsBrace) {
  EXPECT_THAT(statements(".section .x { .b8 1 ! }\nret;"),
              ElementsAre("?.section .x { .b8 1 ! }", "ret;"));
}

TEST(Recovery, AMissingBraceCostsOneFunction) {
  const Module module = parse(".entry a { ret;\n.entry b { ret; }\n");
  ASSERT_EQ(module.functions.size(), 2U);
  EXPECT_TRUE(module.functions[0].has_opaque);
  EXPECT_EQ(module.functions[0].body.count, 2U);
  EXPECT_FALSE(module.functions[1].has_opaque);
  EXPECT_EQ(module.functions[1].body.count, 3U);
  EXPECT_EQ(module.diagnostics.size(), 1U);
}

TEST(Recovery, OnlyTheFunctionWithTheOpaqueStatementIsMarked) {
  const Module module = parse(".entry a { ret; }\n.entry b { add x y; }\n.entry c { ret; }");
  ASSERT_EQ(module.functions.size(), 3U);
  EXPECT_FALSE(module.functions[0].has_opaque);
  EXPECT_TRUE(module.functions[1].has_opaque);
  EXPECT_FALSE(module.functions[2].has_opaque);
  EXPECT_EQ(coverage(module).opaque_statements, 1U);
  EXPECT_EQ(coverage(module).opaque_bytes, 8U);
}

} // namespace
