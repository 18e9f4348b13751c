// The JSON schema: every field of the sample, and inputs that JSON cannot hold.
#include "report/report.hpp"
#include "report/samples.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <fstream>
#include <limits>
#include <set>

using namespace ptxasw;
using namespace ptxasw::report;
using nlohmann::json;

namespace {

json parsed(const Report& report) {
  return json::parse(to_json(report));
}

std::string schema() {
  std::ifstream in(PTXASW_SOURCE_DIR "/src/report/SCHEMA.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has_word(const std::string& text, const std::string& word) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (at != 0 && !in_word(text[at - 1]) && !in_word(text[at + word.size()])) return true;
  return false;
}

void collect_names(const json& value, std::set<std::string>& names) {
  if (value.is_object())
    for (const auto& [name, inner] : value.items()) {
      names.insert(name);
      collect_names(inner, names);
    }
  if (value.is_array())
    for (const auto& inner : value)
      collect_names(inner, names);
}

} // namespace

TEST(Json, Document) {
  const json j = parsed(test::sample());
  EXPECT_EQ(j["schema"], "ptxasw-report/1");
  EXPECT_EQ(j["file"], "jacobi.ptx");
  EXPECT_EQ(j["bytes"], (json{{"total", 9001}, {"opaque", 14}}));
  EXPECT_EQ(j["statements"], (json{{"total", 412}, {"opaque", 1}}));
  EXPECT_EQ(j["milliseconds"],
            (json{{"parse", 0.31}, {"analyze", 0.84}, {"print", 0.02}, {"search", 0.0}}));
  EXPECT_THAT(j["promise"].get<std::string>(), testing::HasSubstr("payload of a NaN"));
  EXPECT_EQ(j["messages"][0]["line"], 77);
  EXPECT_EQ(j["kernels"].size(), 2U);
}

TEST(Json, Kernel) {
  json k = parsed(test::sample())["kernels"][0];
  EXPECT_EQ(k["accesses"].size(), 6U);
  k.erase("accesses");
  EXPECT_TRUE(k["coarsen"]["candidates"].empty());
  k.erase("coarsen");
  EXPECT_EQ(k, json::parse(R"json({"name": "_Z6jacobiPfPKfii",
    "demangled": "jacobi(float*, float const*, int, int)", "line": 21, "analyzed": true,
    "changed": true, "verdict": "rewritten by shuffles", "would_help": "",
    "hints": [], "hints_sought": false, "entries": [],
    "reason": "", "reason_code": "", "why_unchanged": [],
    "decisions": {"coarsening": {"status": "not-asked", "code": ""},
                  "remapping": {"status": "not-asked", "code": ""},
                  "rotation": {"status": "not-asked", "code": ""},
                  "rounds": {"status": "not-asked", "code": ""},
                  "shuffles": {"status": "done", "code": ""},
                  "steps": {"status": "not-asked", "code": ""}}, "way": null,
    "predicted_gain": null, "coarsening": "",
    "grid_divided_by": [1, 1, 1], "grid_rest_by_itself": false, "remapping": "", "steps": "", "step_tile": null, "rotation": "", "rounds": "",
    "fusable": 0, "foldable": 0, "pinned": 0,
    "pinned_bytes": false,
    "loads": 5, "covered": 2, "shuffles": 1, "moves": 1,
    "mean_delta": 1.0, "milliseconds": 0.84, "queries": {
    "total" : 12, "z3" : 1}
})json"));
}

TEST(Json, Hints) {
  Report report = test::sample();
  report.kernels[1].hints_sought = true;
  report.kernels[1].hints = {{"--coarsen=large", "if so", 1.5}, {"--remap=auto", "", 0}};
  report.kernels[1].entries = {"histogram__ptxasw_y2"};
  const json k = parsed(report)["kernels"][1];
  EXPECT_EQ(k["would_help"], "--coarsen=large, if so; or --remap=auto");
  EXPECT_EQ(k["hints"], json::parse(R"([
    {"what": "--coarsen=large", "text": "if so", "predicted_gain": 1.5},
    {"what": "--remap=auto", "text": "", "predicted_gain": null}])"));
  EXPECT_EQ(k["hints_sought"], true);
  EXPECT_EQ(k["entries"], json::parse(R"(["histogram__ptxasw_y2"])"));
}

TEST(Json, Access) {
  const json accesses = parsed(test::sample())["kernels"][0]["accesses"];
  EXPECT_EQ(accesses[1], json::parse(R"json({"line": 52,
    "source": {"file": "/home/hpc/jacobi/jacobi.cu", "line": 12}, "kind": "load",
    "space": "global", "qualifiers": ".nc", "bytes": 4,
    "address": "u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y + 1)", "values": [], "lane_stride": 4,
    "sectors": {"least": 4, "most": 5}, "class": "coalesced", "loop_depth": 0,
    "outcome": "shuffled", "reason": "", "reason_code": "", "rewrite": {
    "delta": 1, "from_line": 45,
    "facts": [{"kind": "architectural", "text": "%tid.x < %ntid.x"},
              {"kind": "checked", "text": "%tid.x + 1 + nx*%ctaid.y does not wrap"}],
    "proof": "normal form"}
})json"));
  EXPECT_EQ(accesses[4]["lane_stride"], nullptr);
  EXPECT_EQ(accesses[4]["rewrite"], nullptr);
  EXPECT_EQ(accesses[5]["kind"], "store");
}

TEST(Json, UnknownSourceIsNull) {
  Report report = test::sample();
  report.kernels[0].accesses[0].source_line = 0;
  EXPECT_EQ(parsed(report)["kernels"][0]["accesses"][0]["source"], nullptr);
}

TEST(Json, BytesThatAreNotUtf8AndNumbersThatAreNotFinite) {
  Report report = test::sample();
  report.file = "\xff\xfe.ptx";
  report.kernels[0].milliseconds = std::numeric_limits<double>::quiet_NaN();
  const json j = parsed(report);
  EXPECT_EQ(j["file"], "\xEF\xBF\xBD\xEF\xBF\xBD.ptx");
  EXPECT_EQ(j["kernels"][0]["milliseconds"], nullptr);
}

TEST(Json, AnEmptyReportIsADocument) {
  EXPECT_EQ(parsed({})["kernels"], json::array());
}

TEST(Json, TheSchemaNamesEveryField) {
  std::set<std::string> names;
  collect_names(parsed(test::sample()), names);
  const std::string text = schema();
  EXPECT_GE(names.size(), 40U);
  for (const auto& name : names)
    EXPECT_TRUE(has_word(text, name)) << name;
}
