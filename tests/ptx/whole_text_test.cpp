// A text is looked through once for each question, however many of its kernels ask.
#include "ptx/whole_text.hpp"

#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptxasw::ptx {
namespace {

const std::string heading = ".version 8.0\n.target sm_90\n.address_size 64\n";

TEST(WholeText, IsLookedThroughOnceForEachWord) {
  const Module module = parse(heading + "// a word\n");
  for (int kernel = 0; kernel < 3; ++kernel) {
    EXPECT_TRUE(stands_anywhere(module, "a word"));
    EXPECT_FALSE(stands_anywhere(module, "another"));
  }
  EXPECT_EQ(module.whole->searches(), 2U);
}

TEST(WholeText, OfAnotherTextNothingIsKnown) {
  const Module first = parse(heading + "// here\n");
  const Module second = parse(heading);
  EXPECT_TRUE(stands_anywhere(first, "here"));
  EXPECT_FALSE(stands_anywhere(second, "here"));
  EXPECT_TRUE(stands_anywhere(first, "here"));
}

// Not even where it stands in the place of one that is gone.
TEST(WholeText, OfAGoneTextNothingIsKnown) {
  for (int n = 0; n < 8; ++n)
    EXPECT_EQ(stands_anywhere(parse(heading + (n % 2 == 0 ? "// here\n" : "// gone\n")), "here"),
              n % 2 == 0);
}

TEST(WholeText, AQuestionIsNotAWord) {
  const Module module = parse(heading);
  EXPECT_TRUE(module.whole->once("x", [] { return true; }));
  EXPECT_FALSE(stands_anywhere(module, "x"));
  EXPECT_TRUE(module.whole->once("x", [] { return false; })) << "answered before";
}

} // namespace
} // namespace ptxasw::ptx
