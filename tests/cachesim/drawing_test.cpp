// The spatial-temporal diagram: one small picture in full, and what cannot be drawn.
#include "cachesim/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ptxasw;
using cachesim::CachePanel;
using cachesim::CacheShape;
using cachesim::Stream;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr CacheShape two_lines{.lines = 2, .line_bytes = 16};

CachePanel panel(const Stream& stream, const std::string& title) {
  CachePanel result(title, two_lines);
  std::vector<std::uint32_t> order(stream.size());
  for (std::uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  result.finish(simulate(stream, order, {.cache = two_lines}, result.observer()));
  return result;
}

// Lines 0, 1, 0 and 2, which drives out line 1; the last thread reads nothing.
const Stream stream{{{64, 4}}, {{80, 4}, {84, 4}}, {{72, 4}}, {{96, 4}}, {}};

} // namespace

TEST(CacheDrawing, ShowsWhatComesHitsAndStays) {
  std::vector<CachePanel> panels{panel(stream, "naive <1>")};
  const std::string svg = cachesim::cache_svg(panels, {{"arg0", 64, 48}, {"arg1", 1024, 64}});
  EXPECT_THAT(svg, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr(">naive &lt;1&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr(">2 hits, 3 fetches</text>"));
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 4 12\"")); // 4 threads with accesses, 3 lines of 4
  // From the top: line 2 at 0, line 1 at 4, line 0 at 8.
  EXPECT_THAT(svg,
              HasSubstr("<path class=\"stay\" stroke-width=\"4\" d=\"M0 10h4M1 6h2M3 2h1\"/>"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"hit\" d=\"M1.5 6v1M2.5 9v1\"/>"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"fetch\" d=\"M0.5 8v4M1.5 4v4M3.5 0v4\"/>"));
  EXPECT_THAT(svg, HasSubstr(">arg0</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">arg1</text>"))); // nobody touches it
}

TEST(CacheDrawing, PutsOrdersSideBySide) {
  std::vector<CachePanel> panels{panel(stream, "one"), panel(stream, "two")};
  const std::string svg = cachesim::cache_svg(panels, {{"a", 64, 16}, {"b", 80, 64}}, 32);
  EXPECT_THAT(svg, HasSubstr(">one</text>"));
  EXPECT_THAT(svg, HasSubstr(">two</text>"));
  EXPECT_THAT(svg, HasSubstr("time, in groups of 32 threads"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"band\"")); // between a and b
}

TEST(CacheDrawing, LeavesOutWhatIsTooMuchOrNothing) {
  std::vector<CachePanel> none;
  EXPECT_EQ(cachesim::cache_svg(none, {{"a", 0, 64}}), "");
  std::vector<CachePanel> idle{panel({{}, {}}, "idle")};
  EXPECT_EQ(cachesim::cache_svg(idle, {{"a", 0, 64}}), "");
  std::vector<CachePanel> wide{panel({{{0, 4}}, {{1U << 20, 4}}}, "wide")};
  EXPECT_EQ(cachesim::cache_svg(wide, {{"a", 0, 1U << 21}}), "");
}
