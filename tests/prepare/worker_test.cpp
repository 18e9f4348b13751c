// Turns, and what is left in the store whatever becomes of the process that prepares.
#include "prepare/worker.hpp"

#include "store/folder_of_its_own.hpp"

#include "source_dir.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace ptxasw::prepare {
namespace {

using image::Reason;
using How = Outcome::How;

std::string recorded(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/image/data/" + name + ".fatbin", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

image::Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class WorkerTest : public testing::Test {
protected:
  // A ptxas that does as the script says.
  void make_tool(const std::string& script) {
    const std::string program = folder.path + "/ptxas";
    std::ofstream(program) << "#!/bin/sh\n" << script << '\n';
    ::chmod(program.c_str(), 0700);
    conditions.tool = Tool{program, "13.0.88"};
  }
  [[nodiscard]] bool is_tidy() const {
    return std::filesystem::is_empty(place.folder + "/preparing");
  }

  store::FolderOfItsOwn folder;
  Place place{folder.path + "/store"};
  Conditions conditions{.made_by = "1", .options = usual_options()};
  std::string text = recorded("zstd");
  image::ImageKey key = image::key_of(bytes_of(text), "sm_90");
};

TEST_F(WorkerTest, OneTakesTheTurn) {
  auto turn = Turn::take(place.folder, key, Turn::Others::leave);
  ASSERT_TRUE(turn);
  EXPECT_FALSE(Turn::take(place.folder, key, Turn::Others::leave));
  EXPECT_TRUE(Turn::take(place.folder, {1, 2}, Turn::Others::leave));
  std::thread waiting([&] {
    auto later = Turn::take(place.folder, key, Turn::Others::wait);
    ASSERT_TRUE(later);
    EXPECT_EQ(later->begun(), 0); // another file: the first one is gone
  });
  turn->begin();
  turn->done();
  turn.reset();
  waiting.join();
}

TEST_F(WorkerTest, WithoutAPtxasItSaysSoAndTriesAgainWithOne) {
  const Outcome first = prepare_once(bytes_of(text), conditions, place, Turn::Others::wait);
  EXPECT_EQ(first.how, How::prepared);
  EXPECT_EQ(first.prepared.reason, Reason::no_ptxas);
  EXPECT_THAT(first.prepared.kernels, testing::SizeIs(2));
  EXPECT_TRUE(is_tidy());
  EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::found);
  make_tool("echo 'ptxas fatal: no' >&2; exit 255");
  const Outcome second = prepare_once(bytes_of(text), conditions, place, Turn::Others::wait);
  EXPECT_EQ(second.how, How::prepared);
  EXPECT_EQ(second.prepared.reason, Reason::not_assembled);
}

TEST_F(WorkerTest, AnotherVersionOfTheProgramPreparesAnew) {
  EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::prepared);
  conditions.made_by = "2";
  EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::prepared);
}

TEST_F(WorkerTest, AProcessThatIsKilledLeavesAMissAndIsGivenUpTheThirdTime) {
  make_tool("kill -9 $PPID");
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::failed);
    EXPECT_FALSE(image::find(place.folder, key));
  }
  const Outcome third = prepare_once(bytes_of(text), conditions, place, Turn::Others::wait);
  EXPECT_EQ(third.how, How::prepared);
  EXPECT_EQ(third.prepared.reason, Reason::gave_up);
  EXPECT_EQ(image::find(place.folder, key), third.prepared);
  EXPECT_TRUE(is_tidy());
}

TEST_F(WorkerTest, OneThatIsInterruptedIsNotHeldAgainstTheImage) {
  make_tool("kill -INT $PPID; sleep 1");
  EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::stopped);
  EXPECT_TRUE(is_tidy());
}

TEST_F(WorkerTest, APtxasThatMakesOtherMachineCodeReplacesNothing) {
  const std::string cubin = folder.path + "/cubin";
  std::ofstream(cubin, std::ios::binary) << "\177ELF no cubin";
  make_tool("while [ $# -gt 0 ]; do [ \"$1\" = -o ] && cp " + cubin + " \"$2\"; shift; done");
  const Outcome outcome = prepare_once(bytes_of(text), conditions, place, Turn::Others::wait);
  EXPECT_EQ(outcome.prepared.reason, Reason::machine_code);
  EXPECT_TRUE(outcome.prepared.cubin.empty());
  conditions.tool->release = "12.0.1";
  conditions.made_by = "2";
  const Outcome older = prepare_once(bytes_of(text), conditions, place, Turn::Others::wait);
  EXPECT_EQ(older.prepared.reason, Reason::other_release);
  EXPECT_THAT(older.prepared.words, testing::HasSubstr("made by 13.0.88, here is 12.0.1"));
}

TEST_F(WorkerTest, AStoreThatCannotBeWrittenLeavesIt) {
  place.folder = "/proc/none";
  EXPECT_EQ(prepare_once(bytes_of(text), conditions, place, Turn::Others::wait).how, How::busy);
}

} // namespace
} // namespace ptxasw::prepare
