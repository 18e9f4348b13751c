// The grammar on its own: it makes progress, and each rule takes what it should and no more.
#include <gtest/gtest.h>

#include <ptx.hpp>
#include <tao/pegtl/contrib/analyze.hpp>

#include <string>
#include <string_view>

namespace {

namespace g = ptxasw::grammar;

TEST(Grammar, MakesProgress) {
  EXPECT_EQ(tao::pegtl::analyze<g::statement>(), 0U);
  EXPECT_EQ(tao::pegtl::analyze<g::trivia>(), 0U);
}

constexpr int fails = -1;

// What is left of the input after the rule has matched at its beginning.
template <typename Rule> int left(std::string_view input) {
  tao::pegtl::memory_input in(input.data(), input.size(), "test");
  if (!tao::pegtl::parse<Rule>(in)) return fails;
  return static_cast<int>(in.size());
}

struct GrammarCase {
  std::string_view input;
  int left = 0;
};

template <typename Rule> void check(std::initializer_list<GrammarCase> cases) {
  for (const GrammarCase& c : cases)
    EXPECT_EQ(left<Rule>(c.input), c.left) << c.input;
}

TEST(Grammar, Trivia) {
  check<g::trivia>({{""}, {" \t\r\n\f\v"}, {"// a"}, {"// a\n// b\n"}, {"/**/ /* * / */"}});
  check<g::trivia>({{"// a\nx", 1}, {"/*/ x */"}, {"/* open", 7}, {"/ /", 3}, {"# 1 \"f\"", 7}});
}

TEST(Grammar, LineMarker) {
  check<g::line_marker>(
      {{"# 5 \"f\""}, {"#line 5 \"f\""}, {"# 1 \"a b\" 1 3\n", 1}, {"#5\"f\"\r\n", 1}});
  check<g::line_marker>({{"#line 7", fails}, {"#define X", fails}, {"# 5 \"f\" x", fails}});
}

TEST(Grammar, Identifier) {
  check<g::identifier>(
      {{"a"}, {"a_$9"}, {"%r1"}, {"$L__BB0_1"}, {"_x"}, {"__"}, {"a.x", 2}, {"a b", 2}});
  check<g::identifier>(
      {{"_", fails}, {"%", fails}, {"9a", fails}, {".x", fails}, {"\xc3\xa9", fails}});
}

TEST(Grammar, Name) {
  check<g::name>({{"%tid.x"}, {"%r1.b0"}, {"a"}, {"a .x", 3}, {"a.", 1}});
}

TEST(Grammar, Integer) {
  check<g::integer>(
      {{"0"}, {"42"}, {"017"}, {"0x1fU"}, {"0XAB"}, {"0b101"}, {"4000000000U"}, {"1,", 1}});
  check<g::integer>(
      {{"1.5", fails}, {"0x", fails}, {"0f3F800000", fails}, {"1e5", fails}, {"-1", fails}});
}

TEST(Grammar, Real) {
  check<g::real>(
      {{"1.5"}, {"1."}, {".5"}, {"1e5"}, {"1.5E-3"}, {"0f3F800000"}, {"0d3FF0000000000000"}});
  check<g::real>(
      {{"1", fails}, {"0f3F80000", fails}, {"0f3F8000000", fails}, {"1.5x", fails}, {".", fails}});
}

TEST(Grammar, Expression) {
  check<g::expression>(
      {{"1+2*3"}, {"(1 + 2) * -3"}, {"a + 4"}, {"1 ? 2 : 3"}, {"~!-1"}, {"(.u64) 5"}});
  check<g::expression>(
      {{"1 << 2 >> 3"}, {"1<=2&&3||4"}, {"1|2^3&4"}, {"1==2!=3"}, {"generic(a)+4"}});
  check<g::expression>(
      {{"a[3]"}, {"0xFF00(a)"}, {"1.0 + 2.5"}, {"%r1"}, {"1 +", 2}, {"1 /* c */ + 2"}});
  check<g::expression>(
      {{"", fails}, {"(1", fails}, {"*1", fails}, {"(.s32)1", fails}, {"1 ? 2", 4}});
}

TEST(Grammar, NestingIsBounded) {
  const auto nest = [](int depth, const char* open, const char* close) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += open;
    text += "1";
    for (int i = 0; i < depth; ++i)
      text += close;
    return text;
  };
  EXPECT_EQ(left<g::expression>(nest(60, "(", ")")), 0);
  EXPECT_EQ(left<g::expression>(nest(1000, "(", ")")), fails);
  EXPECT_EQ(left<g::expression>(nest(1000, "-", "")), fails);
  EXPECT_EQ(left<g::expression>(nest(100000, "1 ? ", " : 1")), 800000); // only the first 1
  EXPECT_EQ(left<g::initializer>(nest(30, "{", "}")), 0);
  EXPECT_EQ(left<g::initializer>(nest(1000, "{", "}")), fails);
}

TEST(Grammar, Operand) {
  check<g::operand>(
      {{"%r1,", 1}, {"%tid.x;", 1}, {"_ ;", 2}, {"-5;", 1}, {"0x10;", 1}, {"1.5;", 1}});
  check<g::operand>(
      {{"p|q;", 1}, {"%p1 | _;", 1}, {"_|%p1,", 1}, {"!p;", 1}, {"! %p ;", 2}, {"1|2;", 1}});
  check<g::operand>({{"{a, b, _};", 1}, {"{%r0}|%p0,", 1}, {"{1, 0f00000000};", 1}, {"{};", 1}});
  check<g::operand>(
      {{"[a];", 1}, {"[%rd1+16];", 1}, {"[%rd1 + -8];", 1}, {"[1024];", 1}, {"[a+(1+1)*4];", 1}});
  check<g::operand>(
      {{"[t, {x, y}];", 1}, {"[t, s, {x}];", 1}, {"a[3];", 1}, {"%tid .x;", 1}, {"-%r3;", 1}});
  check<g::operand>(
      {{"[a", fails}, {"{a, b", fails}, {"{{a}, b}", fails}, {"[a;", fails}, {"]", fails}});
}

TEST(Grammar, Instruction) {
  check<g::instruction>({{"ret;"}, {"ret ;"}, {"add.s32 a, b, c;"}, {"@p bra L;"}, {"@!p exit;"}});
  check<g::instruction>({{"ld.global.L2::cache_hint.v2.f32 {a,b}, [p+4], c;"}, {"@ ! p ret;"}});
  check<g::instruction>(
      {{"call f;"}, {"call (r), f, (a, b), proto;"}, {"call.uni f, ();"}, {"ld .u32 a, [b];"}});
  check<g::instruction>({{"tcgen05.wait::ld.sync.aligned;"},
                         {"ld.const[2].u32 a, [b];"},
                         {"add/**/.s32/**/a,/**/b;"},
                         {"add a,\n# 1 \"f\"\nb;"}});
  check<g::instruction>({{"add a b;", fails},
                         {"add a,;", fails},
                         {"ret", fails},
                         {"@p;", fails},
                         {"ad$d a;", fails}});
  check<g::instruction>({{"mov (a, b), c;", fails}, {"add.;", fails}, {"call (a, f;", fails}});
}

TEST(Grammar, Variable) {
  check<g::declaration>({{".reg .b32 a;"}, {".reg .b32 %r<40>, x, y<2>;"}, {".reg .v4 .f32 v;"}});
  check<g::declaration>(
      {{".global .align 4 .b8 a[4] = {1, 2, 3, 4};"}, {".extern .shared .b8 s[];"}});
  check<g::declaration>({{".global .u64 p = generic(a)+4;"},
                         {".const[3] .u32 q;"},
                         {".global .f32 m[2][2] = {{1.5}, {}};"}});
  check<g::declaration>(
      {{".global .attribute(.unified(1, 2)) .u32 u;"}, {".visible .weak .global .f64 d = -1e5;"}});
  check<g::declaration>(
      {{".global .samplerref s = { filter_mode = linear, addr_mode_0 = wrap };"}});
  check<g::declaration>({{".reg .b32 ;", fails},
                         {".reg .b32 a", fails},
                         {".global .u32 a = ;", fails},
                         {".reg .b32 a b;", fails}});
}

TEST(Grammar, Function) {
  check<g::declaration>(
      {{".entry k {", 2}, {".entry k() {", 2}, {".visible .entry k(.param .u64 a)\n{", 2}});
  check<g::declaration>(
      {{".func (.param .b32 r) f (.param .b8 a[4], .reg .f32 b);", 1}, {".extern .func f;", 1}});
  check<g::declaration>({{".entry k .maxntid 1, 2 .minnctapersm 3 {", 2},
                         {".entry k() .pragma \"x\"; .maxnreg 3 {", 2}});
  check<g::declaration>(
      {{".func .noreturn (.param .b32 r) f;", 1}, {".func .attribute(.unified(1,2)) f() {", 2}});
  check<g::declaration>({{".entry k(.param .u64 .ptr .global .align 8 a, .param .f32 b) {", 2}});
  check<g::declaration>({{".entry k( {", fails},
                         {".entry {", fails},
                         {".entry k(.param .u64 a", fails},
                         {".entry k ret;", fails}});
}

TEST(Grammar, Labelled) {
  check<g::labelled>(
      {{"L:"}, {"$L__1 :"}, {"%a: ret;", 5}, {"t: .branchtargets a, b;"}, {"c: .calltargets f;"}});
  check<g::labelled>(
      {{"p: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[4]) .noreturn;"}});
  check<g::labelled>({{"p: .callprototype _;"},
                      {"p: .callprototype _ ();"},
                      {"t: .branchtargets L<5>, M;"},
                      {"L", fails},
                      {"a::b", fails}});
}

TEST(Grammar, Directive) {
  check<g::statement>(
      {{".version 9.0"}, {".target sm_90a, debug"}, {".address_size 64"}, {".alias a, b;"}});
  check<g::statement>({{".file 1 \"a\""},
                       {".file 1 \"a\", 12, 34"},
                       {".file 1 \"a\" \"b\""},
                       {".loc 1 2 3"},
                       {".pragma \"a\", \"b\";"}});
  check<g::statement>({{".loc 1 2 3, function_name L+5, inlined_at 1 2 3"},
                       {".loc 1 2 3, function_name .debug_str+16, inlined_at 1 2 3"},
                       {"@@DWARF .byte 1, 2\n", 1}});
  check<g::statement>(
      {{".section .debug_x { a: .b8 1,2 .b32 .debug_y+4 .b64 b-a .b8 -1 }"}, {".section s { }"}});
  check<g::statement>({{".version 9", fails},
                       {".pragma x;", fails},
                       {".unknown 1;", fails},
                       {".section s { x }", fails}});
}

TEST(Grammar, Statement) {
  check<g::statement>(
      {{"{"}, {"}"}, {";"}, {"# 1 \"f\""}, {"", fails}, {")", fails}, {"\"a\"", fails}});
}

} // namespace
