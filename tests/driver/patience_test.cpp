// A ptxas that is slow with a text of ours is ended: what it costs stays in proportion to what the
// original costs by itself.
#include "driver/folder.hpp"
#include "driver/ptxas.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>

namespace ptxasw::driver {
namespace {

using Clock = std::chrono::steady_clock;

// Takes -o CUBIN SOURCE; the source says what it does: nothing much, or all the time there is.
constexpr const char* stub = "#!/bin/sh\n"
                             "case $(cat \"$2\") in\n"
                             "  *forever*) while :; do :; done ;;\n"
                             "  *refused*) echo 'ptxas x, line 7; error   : No'; exit 1 ;;\n"
                             "esac\n"
                             "cat \"$2\" > \"$1\"\n";

const AssemblyRequest original{.text = "first", .purpose = AssemblyRequest::Purpose::original};

AssemblyRequest trial(std::string text) {
  return {.text = std::move(text), .purpose = AssemblyRequest::Purpose::trial};
}

class Patient : public test::Folder {
protected:
  std::vector<std::optional<Assembled>> ask(std::span<const AssemblyRequest> requests) {
    const std::string ptxas = write("ptxas", stub);
    std::filesystem::permissions(ptxas, std::filesystem::perms::owner_all);
    return assemble_all(
        ptxas, Environment::current(), requests,
        [](const AssemblyRequest&, const std::string& source, const std::string& cubin) {
          return std::vector{cubin, source};
        },
        patience, interrupted, refusal);
  }
  Patience patience;
  int interrupted = 0;
  std::string refusal;
};

TEST_F(Patient, EndsWhatTakesManyTimesTheFirst) {
  const std::array<AssemblyRequest, 4> requests{
      {original, {.text = "forever"}, {.text = "third"}, {.text = "forever"}}};
  const auto answers = ask(requests);
  ASSERT_EQ(answers.size(), 4U);
  ASSERT_TRUE(answers[0] && answers[2]);
  EXPECT_EQ(answers[0]->cubin, "first");
  EXPECT_EQ(answers[2]->cubin, "third");
  EXPECT_FALSE(answers[1] || answers[3]);
  EXPECT_EQ(refusal, "it took too long");
  EXPECT_EQ(interrupted, 0);
}

TEST_F(Patient, OthersAreNotWaitedForBecauseOneWasSlow) {
  const std::array<AssemblyRequest, 3> requests{
      {original, {.text = "forever"}, {.text = "refused"}}};
  const auto before = Clock::now();
  const auto answers = ask(requests);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1] || answers[2]);
  // Two seconds of processor time, and twenty times next to nothing; the rest is a busy machine.
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(120));
}

// Each has a limit, and all of them have one: a search that finds only slow texts comes to an end.
TEST_F(Patient, TrialsHaveSoMuchAllTogether) {
  const std::array requests{original,         trial("forever"), trial("forever"),
                            trial("forever"), trial("forever"), trial("fast")};
  const auto before = Clock::now();
  const auto answers = ask(requests);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1] || answers[2] || answers[3] || answers[4]);
  EXPECT_EQ(refusal, "it took too long");
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(120));
  // In a later call, too, as long as it is a trial.
  EXPECT_FALSE(ask(std::array{trial("fast")})[0]);
  EXPECT_TRUE(ask(std::array{AssemblyRequest{.text = "fast"}})[0]);
}

TEST(Patience, IsInProportionToTheOriginal) {
  const AssemblyRequest text{.text = "x"};
  Patience patience;
  EXPECT_EQ(patience.with(text), Limits::none);
  EXPECT_EQ(patience.with(trial("x")), Limits::none);
  patience.took(original, 100, false); // what it does not take says nothing
  EXPECT_EQ(patience.with(text), Limits::none);
  patience.took(original, 2, true);
  patience.took(original, 1, true); // asked for a second time
  EXPECT_EQ(patience.with(text), 26U);
  EXPECT_EQ(patience.with(trial("x")), 17U);
  patience.took(text, 40, true); // no trial
  patience.took(trial("x"), 13, true);
  EXPECT_EQ(patience.with(trial("x")), 17U);
  AssemblyRequest other = original;
  other.entries = {"k"};
  patience.took(other, 1, true);
  EXPECT_EQ(patience.with(text), 38U);
  EXPECT_EQ(patience.with(original), Limits::none);
  // Each byte has its time.
  EXPECT_EQ(patience.with({.text = std::string(25, 'x')}), 182U) << "five times the first's bytes";
  EXPECT_EQ(patience.with(trial(std::string(25, 'x'))), 121U);
  patience.took(trial(std::string(25, 'x')), 191, false);
  EXPECT_EQ(patience.with(trial("x")), 9U) << "3 s, and 10 times 3 s for each of seven";
  patience.took(trial("x"), 60, false);
  EXPECT_EQ(patience.with(trial("x")), 0U);
  EXPECT_EQ(patience.with(text), 38U);
}

} // namespace
} // namespace ptxasw::driver
