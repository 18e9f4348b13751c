// What was answered once is not asked again, and nothing else is answered so.
#include "oracle/memoized.hpp"

#include "oracle/fake.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::oracle {
namespace {

std::optional<Assembled> echo(const AssemblyRequest& request) {
  if (request.text == "wrong") return std::nullopt;
  return Assembled{"code of " + request.text, ""};
}

TEST(MemoizedAssembler, AsksForLessOfTheSameTextAreAnsweredAtOnce) {
  oracle::FakeAssembler fake(echo);
  MemoizedAssembler asked(fake);
  ASSERT_TRUE(asked.assemble({.text = "a", .entries = {"k", "l"}, .line_info = true}));
  EXPECT_EQ(asked.assemble({.text = "a", .entries = {"k"}})->cubin, "code of a");
  EXPECT_EQ(asked.assemble({.text = "a", .entries = {"l", "k"}, .line_info = true})->cubin,
            "code of a");
  EXPECT_EQ(fake.asked.size(), 1U);
  EXPECT_EQ(asked.calls(), 1U);
}

TEST(MemoizedAssembler, AsksForMoreAreNew) {
  oracle::FakeAssembler fake(echo);
  MemoizedAssembler asked(fake);
  asked.assemble({.text = "a", .entries = {"k"}});
  asked.assemble({.text = "a", .entries = {"k"}, .line_info = true});
  asked.assemble({.text = "a", .entries = {"l"}});
  asked.assemble({.text = "a"});
  asked.assemble({.text = "b", .entries = {"k"}});
  EXPECT_EQ(fake.asked.size(), 5U);
}

TEST(MemoizedAssembler, AnswersBelongToTheirRequests) {
  oracle::FakeAssembler fake(echo);
  MemoizedAssembler asked(fake);
  asked.assemble({.text = "b"});
  const std::vector<AssemblyRequest> requests{
      {.text = "a"}, {.text = "wrong"}, {.text = "b"}, {.text = "a"}};
  const auto answers = asked.assemble(requests);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0]->cubin, "code of a");
  EXPECT_FALSE(answers[1]);
  EXPECT_EQ(answers[2]->cubin, "code of b");
  EXPECT_EQ(answers[3]->cubin, "code of a");
  EXPECT_EQ(fake.asked.size(), 3U);
  EXPECT_FALSE(asked.answered_all());
}

// Whoever cannot write the output learns nothing of the text.
TEST(MemoizedAssembler, ATextThatIsNotKeptIsLeftOpen) {
  oracle::FakeAssembler fake(echo);
  MemoizedAssembler asked(fake);
  EXPECT_TRUE(asked.keep("a"));
  EXPECT_TRUE(asked.answered_all());
  EXPECT_FALSE(asked.keep("wrong"));
  EXPECT_FALSE(asked.answered_all());
}

} // namespace
} // namespace ptxasw::oracle
