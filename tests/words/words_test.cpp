// Parts and numbers of small texts.
#include "words/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace ptxasw;
using testing::ElementsAre;

TEST(Words, TakesOneAfterTheOther) {
  std::string_view rest = "a,,b";
  EXPECT_EQ(words::take(rest, ","), "a");
  EXPECT_EQ(words::take(rest, ","), "");
  EXPECT_EQ(words::take(rest, ",;"), "b");
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(words::take(rest, ","), "");
  rest = "one \ntwo";
  EXPECT_EQ(words::take(rest, " \n"), "one");
  EXPECT_EQ(rest, "\ntwo");
}

TEST(Words, SplitsIntoOneMorePartThanSeparators) {
  EXPECT_THAT(words::split("", ','), ElementsAre(""));
  EXPECT_THAT(words::split("a", ','), ElementsAre("a"));
  EXPECT_THAT(words::split("a,b,", ','), ElementsAre("a", "b", ""));
}

TEST(Words, ReadsWholeNumbersThatFit) {
  EXPECT_EQ(words::number<unsigned>("12"), 12U);
  EXPECT_EQ(words::number<std::int64_t>("-3"), -3);
  EXPECT_EQ(words::number<double>("1.5"), 1.5);
  EXPECT_EQ(words::number<std::uint64_t>("ff", 16), 255U);
  for (const std::string_view wrong : {"", " 1", "1 ", "1x", "-1", "+1", "4294967296"})
    EXPECT_EQ(words::number<unsigned>(wrong), std::nullopt) << wrong;
}

} // namespace
