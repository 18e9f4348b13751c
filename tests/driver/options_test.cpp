// The optimizer's options: each name and value form, and each mistake.
#include "ptxasw/options.hpp"

#include "contract/sequences.hpp"
#include "driver/settings.hpp"

#include "folder.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace ptxasw {
namespace {

using testing::HasSubstr;

Options with(std::string_view option) {
  Options options;
  EXPECT_EQ(apply_option(options, option), std::nullopt) << option;
  return options;
}

TEST(Options, EveryNameSetsItsMember) {
  EXPECT_EQ(with("shuffle=all").shuffle, ShuffleMode::all);
  EXPECT_EQ(with("shuffle=auto").shuffle, ShuffleMode::automatic);
  EXPECT_EQ(with("shuffle=columns").shuffle, ShuffleMode::columns);
  EXPECT_TRUE(with("coarsen=large").coarsen_auto && with("coarsen=large").coarsen_large);
  EXPECT_TRUE(with("coarsen=auto").coarsen_auto && !with("coarsen=auto").coarsen_large);
  EXPECT_EQ(with("shuffle=none").shuffle, ShuffleMode::none);
  EXPECT_EQ(with("shuffle-max-delta=3").shuffle_max_delta, 3U);
  EXPECT_EQ(with("loop-carry=all").loop_carry, LoopCarryMode::all);
  EXPECT_EQ(with("loop-carry=auto").loop_carry, LoopCarryMode::automatic);
  EXPECT_EQ(with("warp-reduce=auto").warp_reduce, WarpReduceMode::automatic);
  EXPECT_EQ(with("warp-reduce=none").warp_reduce, WarpReduceMode::none);
  EXPECT_TRUE(with("shuffle-shared").shuffle_shared);
  EXPECT_FALSE(with("shuffle-shared=off").shuffle_shared);
  EXPECT_FALSE(with("shuffle-shared").fewer_blocks);
  EXPECT_TRUE(with("fewer-blocks").fewer_blocks);
  EXPECT_EQ(with("emit=check").emit, Emit::check);
  EXPECT_EQ(with("emit=uniform-branch").emit, Emit::normal); // no longer there
  EXPECT_TRUE(with("paranoid").paranoid);
  EXPECT_FALSE(with("z3=off").use_z3);
  EXPECT_EQ(with("kernel-budget=7").kernel_budget, std::chrono::milliseconds(7));
  EXPECT_EQ(with("memory-budget=1").memory_budget, std::size_t{1} << 20);
  EXPECT_EQ(with("size-limit=2").size_limit, std::size_t{2} << 20);
  EXPECT_EQ(with("block=512").block, (std::array<std::uint32_t, 3>{512, 1, 1}));
  EXPECT_EQ(with("block=8x4x2").block, (std::array<std::uint32_t, 3>{8, 4, 2}));
  EXPECT_THAT(with("assume=no-index-wrap").assumptions, testing::ElementsAre("no-index-wrap"));
  EXPECT_EQ(with("dump-queries=d").dump_queries, "d");
  EXPECT_EQ(with("arch=sm_90").architecture, "sm_90");
}

TEST(Options, RemapsAsTheyAreWritten) {
  const auto written = [](std::string_view option) { return text_of(with(option).remaps.at(0)); };
  EXPECT_EQ(written("remap=column"), "column:8");
  EXPECT_EQ(written("remap=column:1048576"), "column:1048576");
  EXPECT_EQ(written("remap=zigzag:3"), "zigzag:3");
  EXPECT_EQ(written("remap=swap"), "swap");
  EXPECT_EQ(written("remap=linear-column"), "linear-column:64");
  EXPECT_EQ(written("remap=linear-zigzag:96"), "linear-zigzag:96");
  EXPECT_EQ(written("remap=thread-swap"), "thread-swap:32");
  EXPECT_EQ(written("remap=thread-swap:8"), "thread-swap:8");
  EXPECT_EQ(written("remap=auto"), "auto");
  EXPECT_TRUE(with("remap=none").remaps.empty());
}

// The last one that names the kernel, else the last that names none.
TEST(Options, RemapsOfOneKernel) {
  Options options;
  for (const char* option : {"remap=swap@a", "remap=column:4", "remap=zigzag:2@b", "remap=none@c"})
    EXPECT_EQ(apply_option(options, option), std::nullopt);
  EXPECT_EQ(text_of(remap_of(options, "a")), "swap");
  EXPECT_EQ(text_of(remap_of(options, "b")), "zigzag:2");
  EXPECT_EQ(text_of(remap_of(options, "c")), "none");
  EXPECT_EQ(text_of(remap_of(options, "d")), "column:4");
  EXPECT_EQ(apply_option(options, "remap=column:2"), std::nullopt);
  EXPECT_EQ(text_of(remap_of(options, "d")), "column:2");
  EXPECT_EQ(text_of(remap_of(options, "a")), "swap");
  EXPECT_TRUE(rewrites(options));
  EXPECT_EQ(apply_option(options, "remap=none"), std::nullopt);
  EXPECT_EQ(text_of(remap_of(options, "a")), "none");
}

TEST(Options, MistakesChangeNothing) {
  for (const char* option : {"",
                             "bogus",
                             "shuffle",
                             "shuffle=some",
                             "shuffle-max-delta=32",
                             "shuffle-max-delta=-1",
                             "shuffle-max-delta=3x",
                             "emit=no-load",
                             "shuffle-shared=maybe",
                             "emit=",
                             "remap",
                             "remap=",
                             "remap=columns",
                             "remap=column:",
                             "remap=column:0",
                             "remap=column:1048577",
                             "remap=column:4x4",
                             "remap=swap:2",
                             "remap=thread-swap:33",
                             "remap=column:4@",
                             "kernel-budget=0",
                             "memory-budget=99999999999999999999",
                             "block=",
                             "block=0",
                             "block=1025",
                             "block=64x32",
                             "block=1x1x1x1",
                             "block=4x",
                             "block=x",
                             "assume=luck",
                             "dump-queries",
                             "arch="}) {
    Options options;
    EXPECT_NE(apply_option(options, option), std::nullopt) << option;
    EXPECT_FALSE(options.block) << option;
    EXPECT_TRUE(options.remaps.empty()) << option;
    EXPECT_EQ(options.shuffle_max_delta, Options{}.shuffle_max_delta) << option;
  }
}

// Whoever still gives an option of before is told what became of it.
TEST(Options, FormerOnesAreTaken) {
  EXPECT_EQ(former_option("shuffle"), nullptr);
  EXPECT_EQ(former_option("effort=thorough"), nullptr);
  ASSERT_NE(former_option("forward"), nullptr);
  EXPECT_EQ(former_option("forward=all")->now, "");
  for (const char* tiles : {"remap=tile", "remap=tile:8x4", "remap=tile:8x4@k", "remap=tile@k"})
    ASSERT_NE(former_option(tiles), nullptr) << tiles;
  EXPECT_EQ(former_option("remap=column:4@tile"), nullptr);
  Options options;
  options.effort = Effort::thorough;
  EXPECT_EQ(apply_option(options, "forward=all"), std::nullopt);
  EXPECT_EQ(apply_option(options, "effort=fast"), std::nullopt);
  EXPECT_EQ(options.effort, Effort::standard);
  for (const OptionHelp& help : option_help())
    EXPECT_EQ(former_option(help.name), nullptr) << help.name;
}

using OptionFiles = test::Folder;

std::string seen(const std::string& one, const std::string& other) {
  return contract::encode(
      std::vector<contract::SeenSequence>{{.kernels = {one, other}, .classes = {}}});
}

TEST_F(OptionFiles, SequencesAreReadFromTheirFile) {
  const std::string file = write("seen.json", seen("a", "b"));
  EXPECT_EQ(with("sequences=" + file).sequences, seen("a", "b"));

  Options options;
  const std::string missing = (path / "none.json").string();
  EXPECT_THAT(apply_option(options, "sequences=" + missing).value_or(""),
              AllOf(HasSubstr(missing), HasSubstr("No such file")));
  for (const char* broken : {"", "{}x", "[1]", R"({"sequences": [{"kernels": ["a"]}]})"})
    EXPECT_THAT(apply_option(options, "sequences=" + write("broken.json", broken)).value_or(""),
                HasSubstr("not those of sequences"))
        << broken;
  EXPECT_THAT(apply_option(options, "sequences=" + path.string()), testing::Ne(std::nullopt));
  EXPECT_EQ(options.sequences, "");
}

// Whoever caches by the version line sees when a file is another.
TEST_F(OptionFiles, TheContentOfSequencesIsASetting) {
  const std::string option = "sequences=" + write("seen.json", seen("a", "b"));
  const std::string before = driver::read_settings("", {{option}}).text();
  write("seen.json", seen("a", "c"));
  EXPECT_THAT(before, HasSubstr(option));
  EXPECT_NE(driver::read_settings("", {{option}}).text(), before);
}

TEST(Options, MessagesSayWhatIsPossible) {
  Options options;
  EXPECT_THAT(*apply_option(options, "shuffle=some"), HasSubstr("none, all, auto"));
  EXPECT_THAT(*apply_option(options, "bogus=1"), HasSubstr("'bogus'"));
}

TEST(Options, HelpNamesEveryOptionAndEveryNameIsKnown) {
  for (const OptionHelp& help : option_help()) {
    Options options;
    const auto error = apply_option(options, std::string(help.name) + "=\x01");
    EXPECT_THAT(error.value_or(""), testing::Not(HasSubstr("unknown option"))) << help.name;
    EXPECT_FALSE(help.help.empty());
  }
}

RC_GTEST_PROP(Options, NoTextCrashes, (const std::string& text)) {
  Options options;
  (void)apply_option(options, text);
  (void)apply_option(options, "block=" + text);
}

} // namespace
} // namespace ptxasw
