// Entries of the store as the launcher reads them, and the process that makes them.
#include "image/prepared.hpp"

#include "image/background.hpp"
#include "recorded.hpp"
#include "store/folder_of_its_own.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace ptxasw::image {
namespace {

constexpr std::uint64_t limit = std::uint64_t{1} << 30;

Prepared example() {
  return {.words = {},
          .cubin = std::string("\177ELF\0 and more", 14),
          .kernels = {{.name = "blur", .versions = 3, .words = {}, .is_alone = true},
                      {.name = "scale", .reason = Reason::machine_code, .words = "one word"}},
          .chip = "sm_90",
          .made_by = "0.1.0",
          .assembler = "13.0.88",
          .when = 1000};
}

class PreparedTest : public testing::Test {
protected:
  [[nodiscard]] std::string entry() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path))
      if (file.is_regular_file() && file.path().filename() != "counters") return file.path();
    return {};
  }
  store::FolderOfItsOwn folder;
  ImageKey key = key_of(bytes_of("image"), "sm_90");
};

TEST(Serialized, ComesBack) {
  EXPECT_EQ(parsed(serialized(example())), example());
  const Prepared nothing{.reason = Reason::no_text, .words = "words", .when = 5};
  EXPECT_EQ(parsed(serialized(nothing)), nothing);
}

TEST(Serialized, EveryLengthIsChecked) {
  const std::string whole = serialized(example());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parsed(whole.substr(0, size))) << size;
  EXPECT_FALSE(parsed(whole + "x"));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      (void)parsed(changed);
    }
}

TEST(Serialized, AVerdictHasACubinOrAReason) {
  Prepared neither = example();
  neither.cubin.clear();
  EXPECT_FALSE(parsed(serialized(neither)));
  Prepared both = example();
  both.reason = Reason::no_versions;
  EXPECT_FALSE(parsed(serialized(both)));
}

TEST_F(PreparedTest, IsFoundByImageAndChip) {
  EXPECT_FALSE(find(folder.path, key));
  ASSERT_TRUE(keep(folder.path, limit, key, example()));
  EXPECT_EQ(find(folder.path, key), example());
  EXPECT_FALSE(find(folder.path, key_of(bytes_of("image"), "sm_80")));
  EXPECT_FALSE(find(folder.path, key_of(bytes_of("imagf"), "sm_90")));
}

TEST_F(PreparedTest, CutAndChangedEntriesAreMissesAndGo) {
  for (const bool cut : {true, false}) {
    ASSERT_TRUE(keep(folder.path, limit, key, example()));
    const std::string file = entry();
    if (cut) {
      std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    } else {
      std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
      change.seekp(-2, std::ios::end).put('x');
    }
    EXPECT_FALSE(find(folder.path, key));
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST_F(PreparedTest, WhatOthersMayWriteIsNotTaken) {
  ASSERT_TRUE(keep(folder.path, limit, key, example()));
  ::chmod(entry().c_str(), 0666);
  EXPECT_FALSE(find(folder.path, key));
}

TEST_F(PreparedTest, WithoutAFolderThereIsNone) {
  EXPECT_FALSE(find("", key));
  EXPECT_FALSE(keep("", limit, key, example()));
  EXPECT_FALSE(keep("/proc/none", limit, key, example()));
}

TEST(Again, WhatAnotherPtxasMayChange) {
  Prepared prepared{.reason = Reason::no_ptxas, .when = 1000};
  EXPECT_FALSE(is_to_be_tried_again(prepared, 1001));
  EXPECT_TRUE(is_to_be_tried_again(prepared, 1000 + 24 * 60 * 60 + 1));
  prepared.reason = Reason::no_text;
  EXPECT_FALSE(is_to_be_tried_again(prepared, 1000 + 24 * 60 * 60 + 1));
}

TEST(CommandLine, NamesChipAndFiles) {
  EXPECT_THAT(command_line("/bin/ptxasw", "sm_90", std::vector<std::string>{"a", "b"}, true),
              testing::ElementsAre("/bin/ptxasw", "prepare", "--chip=sm_90", "--background",
                                   "--image=a", "--image=b"));
}

volatile std::sig_atomic_t children = 0;

TEST(Start, HandsTheImagesOverAndIsNoChild) {
  const store::FolderOfItsOwn folder;
  const std::string program = folder.path + "/program", out = folder.path + "/out";
  std::ofstream(program) << "#!/bin/sh\nfor word; do case $word in --image=*) cat ${word#*=};; "
                            "esac; done > " +
                                out +
                                ".tmp\n"
                                "echo \"$LD_PRELOAD\" >> " +
                                out + ".tmp\nmv " + out + ".tmp " + out + "\n";
  ::chmod(program.c_str(), 0700);
  ::setenv("LD_PRELOAD", "/no/such.so", 1);
  std::signal(SIGCHLD, [](int) { children = children + 1; });
  const std::string one = "one ", two = "two";
  EXPECT_TRUE(
      start(program, "sm_90", std::vector<Bytes>{bytes_of(one), bytes_of(two)}, environment()));
  ::unsetenv("LD_PRELOAD");
  for (int n = 0; n < 500 && !std::filesystem::exists(out); ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ifstream in(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "one two\n");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(children, 0);
  std::signal(SIGCHLD, SIG_DFL);
}

TEST(Start, SaysThatThereIsNoProgram) {
  EXPECT_FALSE(start("/no/such/program", "sm_90", std::vector<Bytes>{bytes_of("x")}, {}));
  EXPECT_FALSE(start("/bin/true", "sm_90", std::vector<Bytes>{}, {}));
}

} // namespace
} // namespace ptxasw::image
