// Every number has an origin, and every origin can be gone back to.
#include "target/chips.hpp"
#include "target/numbers.hpp"

#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

using namespace ptxasw::numbers;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

// The numbers of numbers.def as rows: where each is from.
enum class How : std::uint8_t { fitted, measured, stated, chosen };
struct Origin {
  std::string_view name;
  How how;
  std::string_view command, file, note;
};
struct Row {
  std::string_view group, name, value, origin, meaning; // `value` as it is written there
};

constexpr std::array origins{
#define ORIGIN(name, how, chip, command, file, note) Origin{#name, How::how, command, file, note},
#define NUMBER(group, type, name, value, origin, meaning)
#define NUMBERS(group, count, name, origin, meaning, ...)
#include "target/numbers.def"
};

constexpr std::array rows{
#define ORIGIN(name, how, chip, command, file, note)
#define NUMBER(group, type, name, value, origin, meaning)                                          \
  Row{#group, #name, #value, #origin, meaning},
#define NUMBERS(group, count, name, origin, meaning, ...)                                          \
  Row{#group, #name, #__VA_ARGS__, #origin, meaning},
#include "target/numbers.def"
};

bool is_origin(std::string_view name) {
  return std::ranges::find(origins, name, &Origin::name) != origins.end();
}

const fs::path top = PTXASW_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(top / path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

// The files of bench/results that lie in its archive.
std::set<std::string> packed_files() {
  std::istringstream list(read("bench/results/raw.txt"));
  std::set<std::string> names;
  for (std::string size, name; list >> size >> name;)
    names.insert("bench/results/" + name);
  return names;
}

bool is_gone_back_to(const Origin& origin) {
  return origin.how == How::fitted || origin.how == How::measured;
}

} // namespace

TEST(Numbers, EachHasAnOriginAndAMeaning) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    EXPECT_TRUE(is_origin(row.origin)) << row.group << "::" << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.group << "::" << row.name;
    EXPECT_TRUE(names.insert(std::string(row.group) + "::" + std::string(row.name)).second);
  }
  EXPECT_GT(rows.size(), 80U);
}

TEST(Numbers, EachOriginIsUsed) {
  std::set<std::string_view> used;
  for (const Row& row : rows)
    used.insert(row.origin);
  for (const Chip& chip : chips())
    for (const Cost& cost :
         {chip.shuffle, chip.load, chip.line, chip.corner, chip.guard, chip.fetch}) {
      EXPECT_TRUE(is_origin(cost.source)) << chip.architecture << " " << cost.source;
      used.insert(cost.source);
    }
  for (const Origin& origin : origins)
    EXPECT_TRUE(used.contains(origin.name)) << origin.name;
}

TEST(Numbers, WhatIsMeasuredNamesACommandAndFilesThatExist) {
  const std::set<std::string> packed = packed_files();
  for (const Origin& origin : origins) {
    if (!is_gone_back_to(origin)) {
      EXPECT_TRUE(origin.command.empty() && origin.file.empty()) << origin.name;
      EXPECT_FALSE(origin.note.empty()) << origin.name;
      continue;
    }
    ASSERT_FALSE(origin.command.empty()) << origin.name;
    EXPECT_TRUE(fs::is_regular_file(top / words(origin.command).front())) << origin.command;
    for (const std::string& word : words(origin.command))
      EXPECT_TRUE(!word.starts_with("bench/") || fs::exists(top / word) || packed.contains(word))
          << word;
    ASSERT_FALSE(origin.file.empty()) << origin.name;
    for (const std::string& file : words(origin.file)) {
      EXPECT_TRUE(file.starts_with("bench/results/")) << file;
      EXPECT_TRUE(fs::is_regular_file(top / file) || packed.contains(file)) << file;
    }
  }
}

// The page that bench/fit wrote has what stands in the table.
TEST(Numbers, ModelIsWhatWasFitted) {
  const std::string page = read("bench/results/h200/fit.md");
  const std::size_t begin = page.find("```json") + 7;
  const auto fitted = nlohmann::json::parse(page.substr(begin, page.find("```", begin) - begin));
  unsigned rows_of_it = 0;
  for (const Row& row : rows) {
    if (row.origin != "ways") continue;
    ++rows_of_it;
    ASSERT_TRUE(fitted.contains(row.name)) << row.name;
    EXPECT_DOUBLE_EQ(fitted[row.name].get<double>(), std::stod(std::string(row.value))) << row.name;
  }
  EXPECT_EQ(rows_of_it, fitted.size());
}

TEST(Numbers, PipeIsWhatWasMeasured) {
  const auto profile = nlohmann::json::parse(read("bench/results/h200/profile.json"));
  EXPECT_NEAR(profile["shuffle"].get<double>(), pipe::shuffle, 0.01);
  for (const auto& load : profile["loads"]) {
    if (load["lines"] != 1 || load["bytes"] != 4) continue;
    EXPECT_NEAR(load["cycles"].get<double>(), pipe::load, 0.01);
  }
}

// Searched without search: who adds a threshold beside the code is told where it belongs.
TEST(Numbers, NoneStandsBesideTheCode) {
  const std::regex bare(R"(constexpr double \w+ *(=|\{) *-?[0-9.]+)");
  for (const char* folder : {"launch", "oracle", "passes", "manager", "sass"})
    for (const fs::path& file : fs::recursive_directory_iterator(top / "src" / folder)) {
      if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
      std::istringstream text(read(fs::relative(file, top)));
      for (std::string line; std::getline(text, line);)
        EXPECT_FALSE(std::regex_search(line, bare)) << file << ": " << line;
    }
}

TEST(Chips, SayWhoseNumbersTheyAreJudgedBy) {
  EXPECT_EQ(whose_numbers("sm_90"), "");
  EXPECT_EQ(whose_numbers("sm_90a"), "");
  for (const Chip& chip : chips()) {
    if (chip.architecture == "sm_90") continue;
    EXPECT_THAT(
        whose_numbers(chip.architecture),
        testing::AllOf(HasSubstr("nothing was measured on " + std::string(chip.architecture)),
                       HasSubstr("H200")));
  }
  EXPECT_THAT(whose_numbers("sm_70"), HasSubstr("nothing is known of it"));
  EXPECT_THAT(whose_numbers(""), HasSubstr("this target"));
}

TEST(Chips, MoreIsAskedOfThoseThatNobodyMeasured) {
  const Chip& measured = *find_chip("sm_90");
  EXPECT_TRUE(measured.measured());
  for (const Chip& chip : chips()) {
    if (chip.measured()) continue;
    EXPECT_GT(chip.margin, measured.margin) << chip.architecture;
    EXPECT_GT(chip.coarsen.margin, measured.coarsen.margin) << chip.architecture;
    EXPECT_GT(chip.coarsen.least_waves, measured.coarsen.least_waves) << chip.architecture;
    EXPECT_EQ(chip.coarsen.provenance, Provenance::estimated) << chip.architecture;
  }
}
