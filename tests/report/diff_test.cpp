// The line difference: known cases, and on random edits that the hunks rebuild both texts.
#include "report/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

using namespace ptxasw::report;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

// One letter per line.
std::vector<std::string_view> lines(std::string_view letters) {
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i < letters.size(); ++i)
    result.push_back(letters.substr(i, 1));
  return result;
}

std::string shown(const std::string& before, const std::string& after) {
  std::string text;
  for (const Hunk& h : diff(lines(before), lines(after))) {
    const auto old = before.substr(h.before_begin, h.before_end - h.before_begin);
    text += h.same ? "=" + old
                   : "-" + old + "+" + after.substr(h.after_begin, h.after_end - h.after_begin);
    text += ' ';
  }
  return text;
}

} // namespace

TEST(Diff, Cases) {
  struct Case {
    const char *before, *after, *expected;
  };
  for (const auto& c : std::vector<Case>{
           {"", "", ""},
           {"abc", "abc", "=abc "},
           {"", "ab", "-+ab "},
           {"ab", "", "-ab+ "},
           {"abcdef", "abXdef", "=ab -c+X =def "},
           {"abcdef", "abcXYdef", "=abc -+XY =def "},
           {"abcdef", "abef", "=ab -cd+ =ef "},
           {"abcdefgh", "aXcdefYh", "=a -b+X =cdef -g+Y =h "},
           {"abcd", "wxyz", "-abcd+wxyz "},
           // One line that agrees by chance does not end a difference.
           {"ab;cdef", "xy;zdef", "-ab;c+xy;z =def "},
       })
    EXPECT_EQ(shown(c.before, c.after), c.expected) << c.before << " " << c.after;
}

TEST(Diff, HunksRebuildBothTexts) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string before, after;
    for (int i = 0; i < 60; ++i) {
      const char c = static_cast<char>('a' + random() % 12);
      if (random() % 8 != 0) before += c;
      if (random() % 8 != 0) after += c;
    }
    std::size_t i = 0, j = 0;
    for (const Hunk& h : diff(lines(before), lines(after))) {
      ASSERT_EQ(h.before_begin, i);
      ASSERT_EQ(h.after_begin, j);
      i = h.before_end;
      j = h.after_end;
      if (h.same) {
        ASSERT_EQ(before.substr(h.before_begin, i - h.before_begin),
                  after.substr(h.after_begin, j - h.after_begin));
      }
    }
    ASSERT_EQ(i, before.size());
    ASSERT_EQ(j, after.size());
  }
}

TEST(Diff, ALongDifferenceEndsTheSearchNotTheProgram) {
  const std::string before(20000, 'a'), after(20000, 'b');
  EXPECT_THAT(diff(lines(before), lines(after)), ElementsAre(Hunk{false, 0, 20000, 0, 20000}));
}

TEST(SplitLines, LineEnds) {
  EXPECT_THAT(split_lines(""), IsEmpty());
  EXPECT_THAT(split_lines("a"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(split_lines("a\r\n\r\nb"), ElementsAre("a", "", "b"));
}
