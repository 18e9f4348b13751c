// The ptxas command line: what is an option, what its value, what an input.
#include "driver/command_line.hpp"

#include "folder.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <sstream>

namespace ptxasw::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

Words words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

CommandLine parse(const std::string& text) {
  return parse_command_line(words(text));
}

struct Row {
  const char* arguments;
  Words inputs;
  const char* output;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.arguments;
}
class Understood : public testing::TestWithParam<Row> {};

TEST_P(Understood, InputsAndOutput) {
  const CommandLine line = parse(GetParam().arguments);
  EXPECT_EQ(line.doubt, "");
  EXPECT_EQ(line.inputs(), GetParam().inputs);
  EXPECT_EQ(line.output(), GetParam().output);
  EXPECT_EQ(line.untouched, words(GetParam().arguments));
}

INSTANTIATE_TEST_SUITE_P(
    Callers, Understood,
    testing::Values(
        Row{"-arch=sm_75 -m64 k.ptx -o k.cubin", {"k.ptx"}, "k.cubin"},
        Row{"-arch=compute_90 -m64 k.ptx", {"k.ptx"}, "elf.o"},
        Row{"-m64 -O2 --gpu-name sm_80 --output-file k.o k.s -c", {"k.s"}, "k.o"},
        Row{"-c -o /dev/null k.o --gpu-name sm_80 -O0", {"k.o"}, "/dev/null"},
        Row{"/tmp/a -o /tmp/b -arch=sm_90a --warn-on-spills", {"/tmp/a"}, "/tmp/b"},
        Row{"-arch sm_80 k -o k.cubin --opt-level 2", {"k"}, "k.cubin"},
        Row{"--fdevice-time-trace T-8 --use-trace-pid 9 --ftrace-phase-after=LibNVVM -arch=sm_90 "
            "-m64 k.ptx -o k.cubin",
            {"k.ptx"},
            "k.cubin"},
        Row{"-split-compile=2 -arch=sm_90 -m64 -split-compile=2 k.ptx -o k", {"k.ptx"}, "k"},
        Row{"a,b=c.ptx", {"a,b=c.ptx"}, "elf.o"},
        Row{"a.ptx -o -v b.ptx", {"a.ptx", "b.ptx"}, "-v"}, Row{"- -o -", {"-"}, "-"},
        Row{"-o=x k.ptx -o y", {"k.ptx"}, "y"}, Row{"-O 3 k.ptx", {"3", "k.ptx"}, "elf.o"},
        Row{"-m 64 k.ptx", {"k.ptx"}, "elf.o"}, Row{"-dlcm cg k.ptx", {"k.ptx"}, "elf.o"},
        Row{"@file k.ptx", {"@file", "k.ptx"}, "elf.o"},
        Row{"-query-controls f k.ptx", {"k.ptx"}, "elf.o"}));

TEST(CommandLine, ReadsLevelsAndArchitecture) {
  EXPECT_EQ(parse("k.ptx").opt_level(), std::nullopt);
  for (const char* text : {"-O", "-O0", "-O=0", "--opt-level 0", "--opt-level=0", "-O3 -O0"})
    EXPECT_EQ(parse(text).opt_level(), 0U) << text;
  EXPECT_EQ(parse("-O0 -O2").opt_level(), 2U);
  EXPECT_EQ(parse("k.ptx").architecture(), "sm_75");
  for (const char* text :
       {"-arch=sm_90a", "-arch sm_90a", "--gpu-name sm_90a", "--gpu-name=sm_90a"})
    EXPECT_EQ(parse(text).architecture(), "sm_90a") << text;
}

TEST(CommandLine, KnowsWhatOrdersPlainAccesses) {
  for (const char* text : {"-dlcm=cv k.ptx", "--force-load-cache cv k.ptx", "-dscm wt k.ptx",
                           "--force-store-cache=wt k.ptx", "-dlcm=cv -dlcm=ca k.ptx"})
    EXPECT_NE(parse(text).ordering(), nullptr) << text;
  for (const char* text : {"-dlcm=cg k.ptx", "-dscm=cs k.ptx", "-o cv wt", "k.ptx"})
    EXPECT_EQ(parse(text).ordering(), nullptr) << text;
}

TEST(CommandLine, DoubtsWhatPtxasWouldRefuse) {
  for (const char* text : {"--bogus k.ptx", "-vv", "-v=1", "--", "---v", "-output-file x", "--o x",
                           "-ok.cubin", "-O=x", "-Ox", "-m6x", "-o", "--abi x", "--output x"})
    EXPECT_NE(parse(text).doubt, "") << text;
}

TEST(CommandLine, TakesOutItsOwnOptionsButNotValues) {
  const CommandLine line = parse("--ptxasw-shuffle=all -v k.ptx --ptxasw-paranoid -o --ptxasw-x");
  EXPECT_THAT(line.own_options(), ElementsAre("shuffle=all", "paranoid"));
  EXPECT_THAT(line.untouched, ElementsAre("-v", "k.ptx", "-o", "--ptxasw-x"));
  EXPECT_THAT(parse("--bogus --ptxasw-paranoid k").untouched, ElementsAre("--bogus", "k"));
}

TEST(CommandLine, ReplacesInputsOnly) {
  const CommandLine line = parse("-arch=sm_90 a.ptx --output-file out - -ias PTX");
  EXPECT_EQ(line.with({.inputs = {"/x", std::nullopt}, .verbose = true}),
            words("-arch=sm_90 /x --output-file out - -ias PTX -v"));
  EXPECT_EQ(line.with({.inputs = {std::nullopt, "/y"}, .output = "/dev/null"}),
            words("-arch=sm_90 a.ptx /y -ias PTX -o /dev/null"));
  EXPECT_EQ(parse("-v k").with({.inputs = {}, .verbose = true}), words("-v k"));
  EXPECT_EQ(parse("--fdevice-time-trace t --use-trace-pid=3 k")
                .with({.inputs = {}, .output = "/dev/null"}),
            words("k -o /dev/null"));
}

TEST(CommandLine, KnowsEveryNameOnce) {
  std::set<std::string_view> long_names, short_names;
  for (const PtxasOption& option : ptxas_options()) {
    if (!option.long_name.empty()) {
      EXPECT_TRUE(long_names.insert(option.long_name).second) << option.long_name;
    }
    if (!option.short_name.empty()) {
      EXPECT_TRUE(short_names.insert(option.short_name).second) << option.short_name;
    }
  }
  EXPECT_GE(long_names.size(), 100U);
}

using OptionsFile = test::Folder;

TEST_F(OptionsFile, ExpandsInPlaceButKeepsTheArgument) {
  const std::string inner = write("inner", "-o inner.cubin b.ptx");
  const std::string outer = write("outer", "-arch=sm_90 -optf=" + inner + " -O3");
  const Words given{"-O1", "-optf", outer, "a.ptx"};
  const CommandLine line = parse_command_line(given);
  EXPECT_EQ(line.untouched, given);
  EXPECT_THAT(line.inputs(), ElementsAre("b.ptx", "a.ptx"));
  EXPECT_EQ(line.output(), "inner.cubin");
  EXPECT_EQ(line.opt_level(), 3U);
  EXPECT_EQ(line.with({.inputs = {std::nullopt, "/y"}}), (Words{"-O1", "-optf", outer, "/y"}));
  EXPECT_EQ(line.with({.inputs = {"/x"}}), words("-O1 -arch=sm_90 -o inner.cubin /x -O3 a.ptx"));
}

TEST_F(OptionsFile, MayHoldOurOptions) {
  const CommandLine line =
      parse_command_line(Words{"-optf", write("own", "--ptxasw-shuffle=all -v"), "k.ptx"});
  EXPECT_THAT(line.own_options(), ElementsAre("shuffle=all"));
  EXPECT_EQ(line.untouched, words("-v k.ptx"));
}

TEST_F(OptionsFile, ListsAndLoops) {
  const std::string a = write("a", "a.ptx");
  EXPECT_THAT(parse_command_line(Words{"-optf=" + a + "," + a}).inputs(),
              ElementsAre("a.ptx", "a.ptx"));
  const std::string self = (path / "self").string();
  write("self", "-optf " + self);
  EXPECT_THAT(parse_command_line(Words{"-optf", self}).doubt, HasSubstr("too deep"));
  EXPECT_THAT(parse_command_line(Words{"-optf", (path / "missing").string()}).doubt,
              HasSubstr("No such file"));
}

TEST(SplitOptionsFile, QuotesAsPtxasDoes) {
  const auto split = [](const char* text) { return split_options_file(text).value(); };
  EXPECT_THAT(split(" -v\t-c\r\nk.ptx\v-w\f"), ElementsAre("-v", "-c", "k.ptx", "-w"));
  EXPECT_THAT(split("-o \"a b\" c\" \"d \"\""), ElementsAre("-o", "a b", "c d", ""));
  EXPECT_THAT(split("a\\ b c\\\\d e\\x 'f #g"), ElementsAre("a b", "c\\d", "ex", "'f", "#g"));
  EXPECT_THAT(split(""), IsEmpty());
  for (const char* text : {"\"a", "a\\", "a\\\"b"})
    EXPECT_EQ(split_options_file(text), std::nullopt);
}

RC_GTEST_PROP(CommandLine, NeverLosesAnArgument, ()) {
  const auto piece = rc::gen::element<std::string>(
      "-o", "k.ptx", "-", "-v", "--gpu-name", "-arch=sm_90", "--bogus", "-O3", "-m", "64", "", "-O",
      "--ptxasw-shuffle=all", "--version", "-ias", "=", "--", "-e", "a,b");
  const Words given = *rc::gen::container<Words>(piece);
  const CommandLine line = parse_command_line(given);
  Words expected;
  for (const Item& item : line.items)
    if (line.doubt.empty()) expected.insert(expected.end(), item.words.begin(), item.words.end());
  if (line.doubt.empty()) RC_ASSERT(expected == given);
  RC_ASSERT(line.untouched.size() <= given.size());
}

} // namespace
} // namespace ptxasw::driver
