// The page of a report: self-contained, its data whole, nothing of the input as markup. What its
// script draws is tests/report/browser.py's.
#include "report/escape.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace ptxasw;
using namespace ptxasw::report;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

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
std::string rewritten(std::string text = original()) {
  const std::string line = "\tmov.u32 \t%r52, 0;\n";
  return text.replace(text.find(line), line.size(), "\tshfl one;\n\tcorner two;\n");
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}

json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const auto at = page.find(begin) + begin.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

// Both texts out of the hunks of a page, and the lines that are not in it.
struct Texts {
  std::string before, after;
  std::size_t left_out = 0;
};
Texts texts_of(const json& data) {
  Texts texts;
  for (const json& hunk : data["text"]) {
    for (const json& line : hunk["before"])
      texts.before += line.get<std::string>() + '\n';
    for (const json& line : hunk.contains("after") ? hunk["after"] : hunk["before"])
      texts.after += line.get<std::string>() + '\n';
    texts.left_out += hunk.value("left_out", std::size_t{0});
  }
  return texts;
}

} // namespace

TEST(Html, IsOneSelfContainedPage) {
  std::string html = to_html(test::sample(), original(), rewritten());
  EXPECT_THAT(html, testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  const std::string names = "http://www.w3.org/2000/svg"; // a name, never asked for
  EXPECT_EQ(count(html, names), 1U);
  html.erase(html.find(names), names.size());
  for (const auto* outside : {"http:", "https:", "//www", "<link", "src=", "url(", "@import",
                              "fetch(", "XMLHttp", "@CSS@", "@DATA@", "@SCRIPT@"})
    EXPECT_THAT(html, Not(HasSubstr(outside))) << outside;
}

TEST(Html, HasBothTextsAndTheReport) {
  const json data = data_of(to_html(test::sample(), original(), rewritten()));
  EXPECT_EQ(data["report"], json::parse(to_json(test::sample())));
  const Texts texts = texts_of(data);
  EXPECT_EQ(texts.before, original());
  EXPECT_EQ(texts.after, rewritten());
  EXPECT_EQ(texts.left_out, 0U);
  bool seen = false;
  for (const json& hunk : data["text"])
    if (hunk.contains("after")) {
      EXPECT_EQ(hunk["before_line"], 52);
      EXPECT_EQ(hunk["after"].size(), 2U);
      seen = true;
    }
  EXPECT_TRUE(seen);
}

TEST(Html, FarFromAChangeLongTextsAreLeftOut) {
  const std::string text = numbered_lines(5000);
  const Texts texts = texts_of(data_of(to_html(test::sample(), text, rewritten(text))));
  EXPECT_EQ(texts.left_out + count(texts.before, "\n"), 5000U);
  EXPECT_GT(texts.left_out, 4000U);
  EXPECT_THAT(texts.before, HasSubstr("%r5000,"));
}

TEST(Html, OfALongChangeTheBeginningIsShown) {
  const std::string text = numbered_lines(10) + "end\n", longer = numbered_lines(20000);
  const Texts texts = texts_of(data_of(to_html(test::sample(), text, longer + "end\n")));
  EXPECT_GT(texts.left_out, 10000U);
  EXPECT_EQ(texts.left_out + count(texts.after, "\n"), 20001U);
}

TEST(Html, OfAccessesThatWereKeptTheFirstAreShown) {
  Report report = test::sample();
  for (std::uint32_t n = 0; n < 1000; ++n)
    report.kernels[1].accesses.push_back(test::load(1000 + n, 1, "p"));
  report.kernels[1].accesses.push_back(test::shuffled(test::load(5000, 1, "p"), 1, 4999));
  const json kernel = data_of(to_html(report, "", ""))["report"]["kernels"][1];
  EXPECT_EQ(kernel["accesses"].size(), 201U);
  EXPECT_EQ(kernel["accesses"].back()["line"], 5000);
}

TEST(Html, NothingOfTheInputIsMarkup) {
  const std::string evil = "</script><script>alert(1)</script><!-- \xff \"'&";
  Report report = test::sample();
  report.file = evil;
  report.kernels[0].name = evil;
  report.kernels[0].accesses[0].address = evil;
  report.messages[0].text = evil;
  const std::string html = to_html(report, evil, evil + "\n" + evil);
  EXPECT_EQ(count(html, "</script"), count(to_html(test::sample(), "", ""), "</script"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<!-- ")));
  EXPECT_EQ(data_of(html)["report"]["kernels"][0]["accesses"][0]["address"],
            "</script><script>alert(1)</script><!-- \xef\xbf\xbd \"'&");
}

TEST(Html, AMarkInTheDataIsData) {
  Report report = test::sample();
  report.file = "@SCRIPT@ @CSS@ @DATA@";
  EXPECT_EQ(data_of(to_html(report, "", ""))["report"]["file"], report.file);
}

TEST(Html, OfALaunchersRun) {
  const auto page = page_of_launches(R"({"launches": [{"kernel": "_Z3boxIfEvPT_"}]})");
  ASSERT_TRUE(page);
  const json row = data_of(*page)["launches"][0];
  EXPECT_EQ(row["kernel"], "_Z3boxIfEvPT_");
  EXPECT_EQ(row["demangled"], "void box<float>(float*)");
  EXPECT_THAT(*page, Not(HasSubstr("box<float>")));
  for (const char* other : {"", "{", "[]", "{}", R"({"launches": 1})"})
    EXPECT_FALSE(page_of_launches(other)) << other;
}

TEST(Escaped, Table) {
  EXPECT_EQ(escaped("a<b>&\"'\t\x01\x7f"), "a&lt;b&gt;&amp;&quot;&#39;\t??");
}
