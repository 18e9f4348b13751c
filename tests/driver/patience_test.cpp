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

class Patience : public test::Folder {
protected:
  std::vector<std::optional<Assembled>> ask(std::span<const AssemblyRequest> requests) {
    const std::string ptxas = write("ptxas", stub);
    std::filesystem::permissions(ptxas, std::filesystem::perms::owner_all);
    return assemble_all(
        ptxas, Environment::current(), requests,
        [](const AssemblyRequest&, const std::string& source, const std::string& cubin) {
          return std::vector{cubin, source};
        },
        interrupted, refusal);
  }
  int interrupted = 0;
  std::string refusal;
};

TEST_F(Patience, EndsWhatTakesManyTimesTheFirst) {
  const std::array<AssemblyRequest, 4> requests{
      {{.text = "first"}, {.text = "forever"}, {.text = "third"}, {.text = "forever"}}};
  const auto answers = ask(requests);
  ASSERT_EQ(answers.size(), 4U);
  ASSERT_TRUE(answers[0] && answers[2]);
  EXPECT_EQ(answers[0]->cubin, "first");
  EXPECT_EQ(answers[2]->cubin, "third");
  EXPECT_FALSE(answers[1] || answers[3]);
  EXPECT_EQ(refusal, "it took too long");
  EXPECT_EQ(interrupted, 0);
}

TEST_F(Patience, OthersAreNotWaitedForBecauseOneWasSlow) {
  const std::array<AssemblyRequest, 3> requests{
      {{.text = "first"}, {.text = "forever"}, {.text = "refused"}}};
  const auto before = Clock::now();
  const auto answers = ask(requests);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1] || answers[2]);
  // Two seconds of processor time, and twenty times next to nothing; the rest is a busy machine.
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(120));
}

} // namespace
} // namespace ptxasw::driver
