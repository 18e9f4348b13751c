// The module that comes out of the parser: statements, instructions, declarations, functions.
#include "lossless.hpp"
#include "ptx/parse.hpp"

#include <gmock/gmock.h>

namespace {

using namespace ptxasw::ptx;
using testing::ElementsAre;

// One operand in short: kind letter and text, compounds with their children.
std::string show(const Module& module, const Operand& operand) {
  std::string children;
  for (const Operand& child : module.children(operand))
    children += show(module, child) + " ";
  switch (operand.kind) {
  case OperandKind::name: return std::string(operand.text);
  case OperandKind::sink: return "_";
  case OperandKind::integer: return std::to_string(static_cast<std::int64_t>(operand.value));
  case OperandKind::float32: return "f32";
  case OperandKind::float64: return "f64";
  case OperandKind::address:
    return "[" + children + std::to_string(static_cast<std::int64_t>(operand.value)) + "]";
  case OperandKind::vector: return "{ " + children + "}";
  case OperandKind::pair: return "pair( " + children + ")";
  case OperandKind::negated: return "not( " + children + ")";
  case OperandKind::list: return "( " + children + ")";
  case OperandKind::expression: return "expression";
  }
  return "?";
}

std::vector<std::string> operands(const std::string& text) {
  const Module module = parse(text);
  ptxasw::test::expect_understood(module);
  std::vector<std::string> result;
  for (const Operand& operand : module.operands_of(module.instructions.at(0)))
    result.push_back(show(module, operand));
  return result;
}

TEST(Parse, Operands) {
  EXPECT_THAT(operands("ret;"), ElementsAre());
  EXPECT_THAT(operands("mad a, b, %tid.x, -3;"), ElementsAre("a", "b", "%tid.x", "-3"));
  EXPECT_THAT(operands("setp p|_, a, !q;"), ElementsAre("pair( p _ )", "a", "not( q )"));
  EXPECT_THAT(operands("ld {a, _, 1}, [b + -8], c;"), ElementsAre("{ a _ 1 }", "[b -8]", "c"));
  EXPECT_THAT(operands("st [1024], [a], [s+4*2];"), ElementsAre("[1024 0]", "[a 0]", "[s 8]"));
  EXPECT_THAT(operands("tex {a}|p, [t, s, {x, y}];"),
              ElementsAre("pair( { a } p )", "[t s { x y } 0]"));
  EXPECT_THAT(operands("call (r), f, (a, 0d0000000000000000, {x}), t;"),
              ElementsAre("( r )", "f", "( a f64 { x } )", "t"));
  EXPECT_THAT(operands("call f, ();"), ElementsAre("f", "( )"));
  EXPECT_THAT(operands("mov a, b[3];"), ElementsAre("a", "expression"));
}

TEST(Parse, Instruction) {
  const Module module = parse("@!%p1 ld.global .v2.f32 {a,b}, [c];");
  const Instruction& i = module.instructions.at(0);
  EXPECT_EQ(i.op, Op::ld);
  EXPECT_EQ(module.slice(i.mnemonic), "ld.global .v2.f32");
  EXPECT_THAT(module.modifiers_of(i), ElementsAre(".global", ".v2", ".f32"));
  EXPECT_EQ(i.guard.predicate, "%p1");
  EXPECT_TRUE(i.guard.negated);
}

TEST(Parse, OperandRangesCoverTheirText) {
  const Module module = parse("add a , p | q , { x } , ! r , [ b + 4 ] , 1 + 2 ;");
  std::vector<std::string_view> texts;
  for (const Operand& o : module.operands_of(module.instructions.at(0))) {
    EXPECT_EQ(module.slice(o.range), o.text);
    texts.push_back(o.text);
  }
  EXPECT_THAT(texts, ElementsAre("a", "p | q", "{ x }", "! r", "[ b + 4 ]", "1 + 2"));
}

TEST(Parse, Variables) {
  const Module module = parse(".reg .b32 %r<40>, x;\n.visible .shared .align 16 .v4 .f32 s[2][3];\n"
                              ".extern .shared .b8 d[]; .global .u64 p = x; .weak .const .s16 c;");
  ASSERT_EQ(module.variables.size(), 6U);
  const auto& v = module.variables;
  EXPECT_EQ(v[0].name, "%r");
  EXPECT_EQ(v[0].range, 40U);
  EXPECT_EQ(v[1].name, "x");
  EXPECT_EQ(v[1].range, 0U);
  EXPECT_EQ(v[1].type, Type::b32);
  EXPECT_EQ(v[2].space, Space::shared);
  EXPECT_EQ(v[2].alignment, 16U);
  EXPECT_EQ(v[2].vector, 4U);
  EXPECT_EQ(v[2].elements, 6U);
  EXPECT_TRUE(v[2].is_array && v[2].visible);
  EXPECT_EQ(v[3].elements, 0U);
  EXPECT_TRUE(v[3].is_array && v[3].external && !v[3].visible);
  EXPECT_TRUE(v[4].has_initializer && !v[4].is_array);
  EXPECT_TRUE(v[5].weak);
  EXPECT_EQ(v[5].space, Space::const_);
  EXPECT_EQ(module.statements[0].count, 2U);
  EXPECT_FALSE(module.globals.at("p").is_function);
}

TEST(Parse, Functions) {
  const Module module =
      parse(".extern .func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[12]);\n"
            ".visible .entry k(.param .u64 .ptr .global .align 8 p)\n"
            ".maxntid 128, 2\n.reqntid 64 .minnctapersm 3 .maxnreg 40 .maxclusterrank 2\n{ ret; }\n"
            ".func f { ret; }");
  ASSERT_EQ(module.functions.size(), 3U);
  const Function& f = module.functions[0];
  EXPECT_EQ(f.name, "f");
  EXPECT_TRUE(f.is_declaration && f.external && !f.is_entry);
  ASSERT_EQ(f.returns.size(), 1U);
  EXPECT_EQ(f.returns[0].name, "r");
  ASSERT_EQ(f.parameters.size(), 2U);
  EXPECT_EQ(f.parameters[1].elements, 12U);
  EXPECT_EQ(f.parameters[1].space, Space::param);
  const Function& k = module.functions[1];
  EXPECT_TRUE(k.is_entry && k.visible && !k.is_declaration && k.uses_clusters);
  EXPECT_THAT(k.maxntid, ElementsAre(128, 2, 1));
  EXPECT_THAT(k.reqntid, ElementsAre(64, 1, 1));
  EXPECT_EQ(k.minnctapersm, 3U);
  EXPECT_EQ(k.maxnreg, 40U);
  EXPECT_EQ(k.parameters.at(0).alignment, 8U);
  EXPECT_EQ(k.parameters.at(0).type, Type::u64);
  EXPECT_EQ(module.body_of(k).size(), 3U);
  EXPECT_EQ(module.body_of(k).front().kind, StatementKind::scope_open);
  EXPECT_EQ(module.body_of(k).back().kind, StatementKind::scope_close);
  EXPECT_EQ(module.statements[k.statement].kind, StatementKind::function);
  EXPECT_TRUE(module.slice(module.statements[k.statement].range).ends_with(".maxclusterrank 2"));
  EXPECT_EQ(module.globals.at("f").index, 2U); // the definition, not the declaration
}

TEST(Parse, Directives) {
  const Module module = parse(".version 8.7\n.target sm_90a, debug\n.address_size 64\n"
                              ".file 2 \"b.cu\"\n.loc 2 10 3\n# 1 \"x\"\n");
  EXPECT_EQ(module.version_major, 8U);
  EXPECT_EQ(module.version_minor, 7U);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.address_size, 64U);
  EXPECT_THAT(module.files, ElementsAre("", "", "b.cu"));
  ASSERT_EQ(module.locations.size(), 1U);
  EXPECT_EQ(module.locations[0].line, 10U);
  EXPECT_EQ(module.statements.back().kind, StatementKind::line_marker);
}

TEST(Parse, LabelsAndTables) {
  const Module module =
      parse("t: .branchtargets A, B;\nA: B:\np: .callprototype _ (.param .b32 _);");
  EXPECT_THAT(module.labels, ElementsAre("A", "B"));
  ASSERT_EQ(module.prototypes.size(), 2U);
  EXPECT_EQ(module.prototypes[0].label, "t");
  EXPECT_EQ(module.prototypes[0].directive, ".branchtargets");
  EXPECT_EQ(module.prototypes[0].names.count, 2U);
  EXPECT_EQ(module.operands[module.prototypes[0].names.first + 1].text, "B");
  EXPECT_EQ(module.prototypes[1].directive, ".callprototype");
}

TEST(Parse, CopiesAreIndependentOfTheOriginal) {
  Module copy;
  {
    const Module module = parse(".entry k { ret; }");
    copy = module;
  }
  EXPECT_EQ(copy.functions.at(0).name, "k");
  EXPECT_EQ(print(copy), ".entry k { ret; }");
}

// Its parameters are those of the functions that it calls.
TEST(Parse, PrototypesLeaveTheNextFunctionAlone) {
  for (const std::string next :
       {".visible .entry b(.param .u64 out)", ".func b(.param .u64 out)"}) {
    const Module module =
        parse(".entry a(.param .u64 f) {\n  p : .callprototype _ (.param .b32 _) .noreturn;\n"
              "  q : .callprototype (.param .b32 _) _ ();\n}\n" +
              next + " { ret; }\n");
    ptxasw::test::expect_understood(module);
    const Function& b = module.functions.at(1);
    EXPECT_TRUE(b.returns.empty());
    ASSERT_EQ(b.parameters.size(), 1U);
    EXPECT_EQ(b.parameters[0].name, "out");
  }
}

// ptxas takes declarations without their ';'.
TEST(Parse, DeclarationsMayEndWithoutASemicolon) {
  for (const std::string next :
       {".visible .entry k() { ret; }", ".func k() { ret; }", ".global .u32 x;", ".version 9.0",
        ".extern .func k;", "", "// end"}) {
    const Module module =
        parse(".visible .func (.param .s32 r) f (.param .s32 a) .noreturn\n" + next);
    ptxasw::test::expect_understood(module);
    const Function& f = module.functions.at(0);
    EXPECT_TRUE(f.is_declaration);
    EXPECT_EQ(f.parameters.size(), 1U);
    EXPECT_EQ(f.returns.size(), 1U);
  }
}

TEST(Parse, LocationsKnowTheirCaller) {
  const Module module = parse(".loc 1 2 3\n.loc 2 4 5, function_name $L+7, inlined_at 1 2 3\n");
  ptxasw::test::expect_understood(module);
  EXPECT_THAT(module.locations.at(0).inlined_at, ElementsAre(0, 0, 0));
  EXPECT_EQ(module.locations.at(1).line, 4U);
  EXPECT_THAT(module.locations.at(1).inlined_at, ElementsAre(1, 2, 3));
}

} // namespace
