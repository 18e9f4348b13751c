// The line that tells how far long work is.
#include "driver/progress.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptxasw::driver {
namespace {

struct Screen {
  double time = 100;
  std::string text;
  Progress::Sink sink() {
    return [this](std::string_view more) { text += more; };
  }
  Progress::Clock clock() {
    return [this] { return time; };
  }
};

TEST(Progress, SaysNothingForTwoSeconds) {
  Screen screen;
  {
    Progress progress("work", screen.sink(), screen.clock());
    screen.time += 1.9;
    progress.at(5, 10);
  }
  EXPECT_EQ(screen.text, "");
}

TEST(Progress, TellsWhatIsLeftByThePaceSoFarAndTakesTheLineAway) {
  Screen screen;
  {
    Progress progress("verify", screen.sink(), screen.clock());
    screen.time += 10;
    progress.at(4, 12, "blur");
  }
  EXPECT_EQ(screen.text, "\r\x1b[Kverify blur: 4 of 12, 10 s so far, about 20 s left\r\x1b[K");
}

TEST(Progress, DrawsFiveTimesASecond) {
  Screen screen;
  Progress progress("work", screen.sink(), screen.clock());
  screen.time += 4;
  progress.at(1, 10);
  const std::string once = screen.text;
  screen.time += 0.1;
  progress.at(2, 10);
  EXPECT_EQ(screen.text, once);
  screen.time += 0.2;
  progress.at(3, 10);
  EXPECT_NE(screen.text, once);
}

TEST(Progress, EndsAtItsLimitAtTheLatest) {
  Screen screen;
  Progress progress("verify", screen.sink(), screen.clock());
  progress.ends_after(60);
  screen.time += 50;
  progress.at(1, 100);
  EXPECT_NE(screen.text.find("about 10 s left"), std::string::npos) << screen.text;
}

TEST(Progress, AnotherRoundHasItsOwnPace) {
  Screen screen;
  Progress progress("work", screen.sink(), screen.clock());
  screen.time += 100;
  progress.at(10, 10);
  progress.at(0, 10);
  screen.time += 2;
  progress.at(1, 3);
  EXPECT_NE(screen.text.find("about 4 s left"), std::string::npos) << screen.text;
}

TEST(Progress, NobodyKnowsHowMuchThereIs) {
  Screen screen;
  Progress progress("work", screen.sink(), screen.clock());
  screen.time += 3;
  progress.at(7, 0);
  EXPECT_EQ(screen.text, "\r\x1b[Kwork: 7, 3 s so far");
}

TEST(Progress, RoundsAsAnEstimateDeserves) {
  EXPECT_EQ(about(0.2), "1 s");
  EXPECT_EQ(about(7.4), "7 s");
  EXPECT_EQ(about(41), "40 s");
  EXPECT_EQ(about(185), "3 min");
  EXPECT_EQ(about(7900), "2 h 11 min");
}

} // namespace
} // namespace ptxasw::driver
