// The driver's smaller parts: finding ptxas, modes, own options, messages, files.
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/log.hpp"
#include "driver/messages.hpp"
#include "driver/mode.hpp"
#include "driver/process.hpp"
#include "driver/settings.hpp"

#include "folder.hpp"
#include "oracle/messages.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ptxasw::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Folder : public test::Folder {
protected:
  std::string program(const std::string& name) const {
    const std::string file = write(name, "#!/bin/sh\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
};

using FindPtxas = Folder;

TEST_F(FindPtxas, LooksInThisOrder) {
  Environment environment({"PTXASW_PTXAS=/own", "_HERE_=/here", "TOP=/top", "PATH=/p1:/p2",
                           "CUDA_HOME=/home", "CUDA_PATH=/path"});
  const auto places = ptxas_candidates({"/self/ptxasw", "/named/ptxas"}, environment);
  EXPECT_THAT(std::vector(places.begin(), places.begin() + 10),
              ElementsAre("/own", "/named/ptxas", "/self/ptxas.real", "/self/ptxas", "/here/ptxas",
                          "/top/bin/ptxas", "/p1/ptxas", "/p2/ptxas", "/home/bin/ptxas",
                          "/path/bin/ptxas"));
  EXPECT_EQ(ptxas_candidates({"/self/ptxasw", "ptxas"}, environment)[1], "/p1/ptxas");
}

TEST_F(FindPtxas, PassesOverItselfAndWhatWasTried) {
  const std::string self = program("a/ptxas"), real = program("b/ptxas");
  std::filesystem::create_hard_link(self, path / "link");
  const std::string search_path = "PATH=" + (path / "a").string() + ":" + (path / "b").string();
  Environment environment({"PTXASW_PTXAS=" + (path / "link").string(), search_path});
  EXPECT_EQ(find_ptxas({self, ""}, environment), real);
  // The child, should it be a copy of us, sees that b was used.
  EXPECT_NE(find_ptxas({self, ""}, environment).value_or(""), real);
}

TEST_F(FindPtxas, TakesProgramsOnly) {
  std::filesystem::create_directories(path / "c/ptxas");
  std::ofstream(path / "plain") << "text";
  Environment environment({"PATH=" + (path / "c").string()});
  EXPECT_EQ(find_in_path("ptxas", environment), "");
  EXPECT_EQ(find_in_path((path / "plain").string(), environment), "");
  EXPECT_EQ(find_in_path(program("d"), environment), (path / "d").string());
}

using Mode = Folder;

Invocation invoke(std::vector<std::string> words, const std::string& search_path = "") {
  static constexpr std::array<std::string_view, 2> commands{"opt", "report"};
  return read_invocation(words, commands, Environment({"PATH=" + search_path}));
}

TEST_F(Mode, SubCommandsOnlyUnderItsOwnName) {
  using M = Invocation::Mode;
  EXPECT_EQ(invoke({"/x/ptxasw", "opt", "k.ptx"}).mode, M::sub_command);
  EXPECT_EQ(invoke({"/x/ptxasw", "opt", "k.ptx"}).arguments, std::vector<std::string>{"k.ptx"});
  EXPECT_EQ(invoke({"ptxas", "opt"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"ptxasw", "-v", "opt"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"ptxasw", "k.ptx", "opt"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"ptxasw"}).mode, M::help);
  EXPECT_EQ(invoke({"ptxasw", "--help"}).mode, M::help);
  EXPECT_EQ(invoke({"ptxasw", "--version"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"ptxasw", "--help", "k.ptx"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"x86_64-pc-linux-gnu-ptxas", "--help"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"ptxas"}).mode, M::drop_in);
  EXPECT_EQ(invoke({"/proc/self/fd/7", "k.ptx"}).mode, M::drop_in);
  EXPECT_EQ(invoke({}).mode, M::drop_in);
}

TEST_F(Mode, APtxFileOfThatNameIsAnInput) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path);
  std::ofstream("opt") << ".version 9.0";
  std::ofstream("report") << "something else";
  EXPECT_EQ(invoke({"ptxasw", "opt"}).mode, Invocation::Mode::drop_in);
  EXPECT_EQ(invoke({"ptxasw", "report"}).mode, Invocation::Mode::sub_command);
  std::filesystem::current_path(before);
}

TEST_F(Mode, PrefixNamesThePtxasToUse) {
  const std::string real = program("bin/ptxas"), cross = program("bin/nvptx64-nvidia-cuda-ptxas");
  EXPECT_EQ(invoke({"any", real, "-v"}).named_ptxas, real);
  EXPECT_EQ(invoke({"any", cross, "-v"}).named_ptxas, cross);
  const auto bare = invoke({"any", "ptxas", "-v"}, (path / "bin").string());
  EXPECT_EQ(bare.named_ptxas, "ptxas");
  EXPECT_THAT(bare.arguments, ElementsAre("-v"));
  EXPECT_EQ(invoke({"any", "ptxas", "-v"}).named_ptxas, "") << "no such program: an input";
  EXPECT_EQ(invoke({"any", "-v", real}).named_ptxas, "");
}

TEST(Settings, LaterOnesWinAndMistakesAreIgnored) {
  const std::vector<std::string> own{"shuffle=none", "bogus=1"};
  const Settings settings = read_settings(" --ptxasw-shuffle=all  paranoid --block=32x4", own);
  EXPECT_EQ(settings.options.shuffle, ShuffleMode::none);
  EXPECT_TRUE(settings.options.paranoid);
  EXPECT_THAT(settings.complaints,
              ElementsAre("--ptxasw-bogus=1: unknown option 'bogus'; ignored"));
  EXPECT_EQ(settings.text(), " --shuffle=all --paranoid --block=32x4 --shuffle=none");
}

// What is assembled here may be the original after all, and would do a part of the work.
TEST(Settings, NoGridIsDividedInThePlaceOfPtxas) {
  const Settings settings = read_settings("--coarsen=y:4 --coarsen-grid=host", {});
  EXPECT_EQ(settings.options.coarsen_grid, CoarsenGrid::kernel);
  EXPECT_THAT(settings.complaints, ElementsAre(HasSubstr("ptxasw opt")));
}

TEST(Messages, MapLinesBackAcrossEdits) {
  EXPECT_THAT(map_lines("a\nb\nc\n", "a\nb\nc\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(map_lines("a\nb\nc\n", "a\nX\nY\nb\nc\n"), ElementsAre(1, 2, 2, 2, 3));
  EXPECT_THAT(map_lines("a\nb\nc\nd\n", "a\nX\nY\nc\nd\n"), ElementsAre(1, 2, 2, 3, 4));
  EXPECT_THAT(map_lines("a\nb\nc\nd\n", "a\nd\n"), ElementsAre(1, 4));
  EXPECT_THAT(map_lines("a\n", "a\nb\nc\n"), ElementsAre(1, 1, 1));
  EXPECT_THAT(map_lines("", "x\n"), ElementsAre(1));
  EXPECT_THAT(map_lines("a\n", ""), IsEmpty());
}

TEST(Messages, NameTheOriginal) {
  const StandIn file{"/proc/self/fd/5", "dir/k.ptx", "a\nb\n", "a\nX\nb\n"};
  EXPECT_EQ(in_terms_of_original("ptxas /proc/self/fd/5, line 3; warning : w\n"
                                 "ptxas /proc/self/fd/5, line 99; error   : e\n"
                                 "fatal   : '/proc/self/fd/5'\n",
                                 file),
            "ptxas dir/k.ptx, line 2; warning : w\nptxas dir/k.ptx, line 99; error   : e\n"
            "fatal   : 'dir/k.ptx'\n");
}

TEST(Messages, StatisticsAreTakenOutOfMessages) {
  EXPECT_EQ(without_statistics(test::ptxas_messages),
            "ptxas warning : Registers are spilled to local memory in function '_Z2k3Pdi'\n");
}

TEST(Messages, LimitsOfEntriesAreTakenOutOfMessages) {
  EXPECT_EQ(
      without_entry_limits("ptxas info    : Overriding global maxrregcount 32 with entry-specific "
                           "value 80 computed using thread count\n"
                           "ptxas warning : Registers are spilled\n"
                           "ptxas info    : Overriding global maxrregcount 32 with another\n"),
      "ptxas warning : Registers are spilled\n"
      "ptxas info    : Overriding global maxrregcount 32 with another\n");
}

TEST_F(Folder, OnlyRegularFilesAreRead) {
  const auto file = path / "text";
  std::ofstream(file) << "12345";
  EXPECT_EQ(read_regular_file(file, 5), "12345");
  EXPECT_EQ(read_regular_file(file, 4).error(), "larger than 4 bytes");
  EXPECT_EQ(read_regular_file(path, 100).error(), "not a regular file");
  EXPECT_EQ(read_regular_file("/dev/null", 100).error(), "not a regular file");
  EXPECT_EQ(read_regular_file(path / "none", 100).error(), "No such file or directory");
}

TEST(MemoryFile, CanBeOpenedTwiceByPath) {
  const auto file = MemoryFile::create("text", true);
  ASSERT_TRUE(file);
  EXPECT_EQ(read_regular_file(file->path(), 100), "text");
  EXPECT_EQ(read_regular_file(file->path(), 100), "text");
}

TEST(Process, ReportsExitCodeAndSignal) {
  const Environment environment = Environment::current();
  const auto shell = [&](const std::string& script) {
    return run({"/bin/sh", {"-c", script}}, environment).value();
  };
  EXPECT_EQ(shell("exit 5").code, 5);
  EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_TRUE(shell("exit 0").ok());
}

class MissingProgram : public Folder {};
TEST_F(MissingProgram, IsNamed) {
  const Environment environment = Environment::current();
  const std::string missing = (path / "missing").string();
  EXPECT_THAT(run({missing, {}}, environment).error(), HasSubstr(missing));
  EXPECT_THAT(replace_process({missing, {}}, environment), HasSubstr(missing));
}

TEST(Log, WritesOneLineOfJson) {
  LogRecord record;
  record.arguments = {"a\nb", "\xff"};
  record.action = "rewritten";
  record.inputs.push_back({"k.ptx", 3, 0x1234, true, {}});
  record.inputs[0].report.kernels.emplace_back().name = "k";
  record.ended.code = 3;
  const std::string line = to_json_line(record);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["inputs"][0]["hash"], "0000000000001234");
  EXPECT_EQ(json["inputs"][0]["kernels"][0]["name"], "k");
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["arguments"][0], "a\nb");
}

TEST(Log, FindsTheVersion) {
  EXPECT_EQ(version_number("Cuda compilation tools, release 13.0, V13.0.88\nBuild"), "13.0.88");
  EXPECT_EQ(version_number("no such thing, V1"), "");
}

} // namespace
} // namespace ptxasw::driver
