// The HTML page: self-contained, well formed, every link with its target, nothing of the input
// unescaped; and the drawing of loads as lanes.
#include "report/drawing.hpp"
#include "report/report.hpp"
#include "report/samples.hpp"
#include "report/steps_drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace ptxasw;
using namespace ptxasw::report;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

namespace {

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i)
    text += "\tmov.u32 \t%r" + std::to_string(i) + ", 0;\n";
  return text;
}

// The sample's PTX, with line 52 replaced by two others.
std::string original() {
  return numbered_lines(120);
}
std::string rewritten() {
  const std::string line = "\tmov.u32 \t%r52, 0;\n";
  std::string text = original();
  return text.replace(text.find(line), line.size(), "\tshfl one;\n\tcorner two;\n");
}
std::string page() {
  return to_html(test::sample(), original(), rewritten());
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}

// What stands between `before` and the next double quote, wherever `before` occurs.
std::vector<std::string> quoted(const std::string& text, const std::string& before) {
  std::vector<std::string> found;
  for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const auto begin = at + before.size();
    found.push_back(text.substr(begin, text.find('"', begin) - begin));
  }
  return found;
}

std::set<std::string> quoted_set(const std::string& text, const std::string& before) {
  const auto found = quoted(text, before);
  return {found.begin(), found.end()};
}

// The first tag that does not close what is open; empty when the page nests well.
std::string nesting_error(const std::string& text) {
  const std::set<std::string> single{"meta", "br", "path", "rect", "line", "!DOCTYPE"};
  std::vector<std::string> open;
  for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const bool closes = text[at + 1] == '/';
    const auto begin = at + (closes ? 2 : 1);
    const std::string name = text.substr(begin, text.find_first_of(" />", begin) - begin);
    if (single.contains(name)) continue;
    if (!closes) {
      open.push_back(name);
    } else {
      if (open.empty() || open.back() != name) return name;
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

using Offsets = std::vector<std::pair<std::uint32_t, int>>; // PTX line, lanes from the first load

std::vector<Offsets> offsets(const KernelReport& kernel) {
  std::vector<Offsets> result;
  for (const auto& family : families(kernel)) {
    result.emplace_back();
    for (const auto& strip : family)
      result.back().emplace_back(strip.access->ptx_line, strip.offset);
  }
  return result;
}

TEST(Html, WhatGainsMostComesFirst) {
  Report report = test::sample();
  report.kernels.resize(1);
  report.kernels.push_back(report.kernels[0]);
  report.kernels.push_back(report.kernels[0]);
  report.kernels[0].name = "unchanged";
  report.kernels[0].changed = false;
  report.kernels[1].name = "little";
  report.kernels[2].name = "much";
  for (const auto& [n, gain] : {std::pair(1, 1.1), {2, 1.9}})
    report.kernels[n].weighed.ways.push_back({.gain = gain, .chosen = true});
  const std::string page = to_html(report, "", "");
  EXPECT_LT(page.find("<h2>much"), page.find("<h2>little"));
  EXPECT_LT(page.find("<h2>little"), page.find("<h2>unchanged"));
  EXPECT_NE(page.find("<h2>unchanged"), page.npos);
}

} // namespace

TEST(Html, IsOneSelfContainedPage) {
  const std::string html = page();
  EXPECT_THAT(html, testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const auto* outside :
       {"http:", "https:", "//www", "<script", "<link", "src=", "url(", "@import"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(Html, NestsWell) {
  EXPECT_EQ(nesting_error(page()), "");
  EXPECT_EQ(nesting_error(to_html({}, "", "")), "");
  EXPECT_EQ(nesting_error("<p><b></p>"), "p"); // the check itself can fail
}

TEST(Html, EveryLinkHasATarget) {
  const std::string html = page();
  const auto links = quoted_set(html, "href=\"#");
  EXPECT_THAT(links, ElementsAre("L21", "L45", "L52", "L58", "L60", "L63", "L70", "L90"));
  EXPECT_EQ(quoted_set(html, " id=\""), links);
  EXPECT_EQ(count(html, " id=\"L45\""), 1U);
}

TEST(Html, ShowsTheChangeSideBySideAndFoldsTheRest) {
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("<i class=\"del m-covered\">52</i><span class=\"code del\">"
                              "\tmov.u32 \t%r52, 0;</span><i class=\"ins\">52</i>"
                              "<span class=\"code ins\">\tshfl one;</span>"));
  EXPECT_THAT(html, HasSubstr("<i class=\"none\"></i><span class=\"code none\"></span>"
                              "<i class=\"ins\">53</i><span class=\"code ins\">\tcorner two;"));
  EXPECT_THAT(html, HasSubstr("<summary>20 unchanged lines</summary>"));
}

TEST(Html, AnUnchangedTextSaysSo) {
  const std::string html = to_html(test::sample(), original(), original());
  EXPECT_THAT(html, HasSubstr("passed through unchanged"));
  EXPECT_THAT(html, HasSubstr("payload of a NaN"));
  EXPECT_THAT(html, Not(HasSubstr("class=\"code ins\"")));
}

TEST(Html, LongUnchangedPartsAreNotCopiedIntoThePage) {
  const std::string text = numbered_lines(100000);
  const std::string html = to_html(test::sample(), text, text + "ret;\n");
  EXPECT_LT(html.size(), 1000000U);
  EXPECT_THAT(html, HasSubstr("more lines, not in this page"));
  EXPECT_THAT(html, HasSubstr("<span class=\"code ins\">ret;</span>"));
}

TEST(Html, PagesOfLargeKernelsAreBounded) {
  Report report = test::sample();
  for (unsigned line = 100; line < 4000; ++line)
    report.kernels[0].accesses.push_back(test::load(line, 0, "in + 4*%tid.x"));
  const std::string text = numbered_lines(4000);
  const std::string html = to_html(report, text, text);
  EXPECT_LT(html.size(), 8 * text.size());
  EXPECT_THAT(html, HasSubstr("more accesses that were kept are not in this page"));
  std::set<std::string> targets;
  for (std::size_t at = html.find(" id=\"L"); at != html.npos; at = html.find(" id=\"L", at + 1))
    targets.insert(html.substr(at + 5, html.find('"', at + 5) - at - 5));
  for (std::size_t at = html.find("\"#L"); at != html.npos; at = html.find("\"#L", at + 1))
    EXPECT_TRUE(targets.contains(html.substr(at + 2, html.find('"', at + 2) - at - 2)));
}

TEST(Html, EscapesEverythingFromTheInput) {
  const std::string evil = "<script>alert('1')</script>\"&";
  Report report = test::sample();
  report.file = evil;
  report.messages[0].text = evil;
  auto& kernel = report.kernels[0];
  kernel.name = evil;
  kernel.left_alone = {Reason::other, evil};
  auto& access = kernel.accesses[1];
  access.address = access.space = access.qualifiers = access.source_file = access.proof = evil;
  access.facts[1].text = evil;
  kernel.accesses[3].kept = {Reason::other, evil};
  const std::string html = to_html(report, evil, evil + "\n" + evil);
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_EQ(nesting_error(html), "");
}

TEST(Drawing, ACoveredLoadLiesDeltaLanesBesideItsSource) {
  KernelReport kernel;
  kernel.accesses = {test::load(10, 0, ""),
                     test::load(11, 0, ""),
                     test::shuffled(test::load(12, 0, ""), 1, 10),
                     test::shuffled(test::load(13, 0, ""), -2, 11),
                     test::shuffled(test::load(14, 0, ""), 3, 12),
                     test::shuffled(test::load(15, 0, ""), 1, 99)};
  EXPECT_THAT(offsets(kernel), ElementsAre(Offsets{{10, 0}, {12, 1}, {14, 4}},
                                           Offsets{{11, 0}, {13, -2}}, Offsets{{15, 0}}));
}

TEST(Drawing, StoresAreNotDrawn) {
  KernelReport kernel;
  kernel.accesses = {test::load(10, 0, "")};
  kernel.accesses[0].is_store = true;
  EXPECT_TRUE(families(kernel).empty());
  EXPECT_EQ(lanes_svg(kernel), "");
}

TEST(Drawing, LanesWithoutPartnerAreTheCorner) {
  const auto cells = [](int delta, const std::string& style) {
    KernelReport kernel;
    kernel.accesses = {test::load(10, 0, ""), test::shuffled(test::load(12, 0, ""), delta, 10)};
    const auto paths = quoted(lanes_svg(kernel), "class=\"" + style + "\" d=\"");
    return paths.empty() ? 0 : count(paths.front(), "M");
  };
  for (const int delta : {1, -1, 5, -31}) {
    EXPECT_EQ(cells(delta, "corner"), static_cast<std::size_t>(std::abs(delta)));
    EXPECT_EQ(cells(delta, "covered"), 32U - static_cast<std::size_t>(std::abs(delta)));
    EXPECT_EQ(cells(delta, "source"), 32U);
  }
}

TEST(Drawing, AUniformLoadIsOneCell) {
  KernelReport kernel;
  kernel.accesses = {test::load(10, 0, "")};
  kernel.accesses[0].access = AccessClass::uniform;
  kernel.accesses[0].lane_stride = 0;
  EXPECT_EQ(count(lanes_svg(kernel), "M"), 1U);
}

TEST(Drawing, NonsenseDeltasStayOnThePage) {
  KernelReport kernel;
  kernel.accesses = {test::load(10, 0, "")};
  for (const int delta : {2147483647, -2147483647, 40, -40})
    kernel.accesses.push_back(test::shuffled(test::load(12, 0, ""), delta, 10));
  kernel.accesses.push_back(test::shuffled(test::load(13, 0, ""), -2147483647 - 1, 10));
  EXPECT_EQ(nesting_error(lanes_svg(kernel)), "");
}

TEST(Escape, Table) {
  EXPECT_EQ(escaped("a<b>&\"'\t\x01\x7f"), "a&lt;b&gt;&amp;&quot;&#39;\t??");
}

// A bar for each step and its first, narrower by what a step reads, and one for what a place rests
// on.
TEST(Drawing, OfATileOverTime) {
  KernelReport kernel;
  EXPECT_EQ(steps_svg(kernel), "");
  kernel.name = "a<b";
  kernel.step_tile = {
      .count = 3, .width = 76, .before = 3, .behind = 6, .reads_before = 1, .reads_behind = 2};
  const std::string drawing = steps_svg(kernel);
  EXPECT_EQ(nesting_error(drawing), "");
  EXPECT_EQ(quoted(drawing, "class=\"covered\" x=\""),
            (std::vector<std::string>{"90.0", "100.0", "110.0", "120.0"}));
  EXPECT_EQ(count(drawing, "class=\"source\""), 4U);
  EXPECT_EQ(quoted(drawing, "class=\"sector\" x1=\""),
            (std::vector<std::string>{"120.0", "790.0"}));
  EXPECT_THAT(drawing, Not(HasSubstr("a<b")));
  kernel.steps.text = "a time step <from> 0";
  Report report = test::sample();
  report.kernels.push_back(kernel);
  const std::string page = to_html(report, original(), rewritten());
  EXPECT_EQ(nesting_error(page), "");
  EXPECT_THAT(page, HasSubstr(drawing));
  EXPECT_THAT(page, HasSubstr("A time step &lt;from&gt; 0."));
  // More than the tile has: none.
  kernel.step_tile.before = 2;
  EXPECT_EQ(steps_svg(kernel), "");
}
