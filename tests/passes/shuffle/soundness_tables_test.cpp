// The conditions at the top of a header name the functions that check them: these must be there.
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace ptxasw {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text with its comments blanked out.
std::string code_of(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

struct Row {
  std::string line;
  std::vector<std::string> names;
};

// "//   same width and kind of value             same_shape, Cover::needs_copy"
std::vector<Row> rows_of(const std::string& header) {
  const std::regex row(R"(//.*\S {3,}([A-Za-z_]+(::[A-Za-z_]+)?(, [A-Za-z_]+(::[A-Za-z_]+)?)*))");
  const std::regex name("[A-Za-z_]+");
  std::vector<Row> rows;
  std::istringstream lines(header.substr(0, header.find("#pragma once")));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string names = found[1];
    Row& made = rows.emplace_back(Row{line, {}});
    for (std::sregex_iterator at(names.begin(), names.end(), name), end; at != end; ++at)
      made.names.push_back(at->str());
  }
  return rows;
}

TEST(SoundnessTables, NameWhatIsThere) {
  const fs::path folder = fs::path(PTXASW_SOURCE_DIR) / "src/passes";
  std::string code;
  for (const auto& file : fs::recursive_directory_iterator(folder))
    if (file.is_regular_file()) code += code_of(read(file.path()));
  std::size_t checked = 0;
  for (const std::string table : {"shuffle/lane", "coarsen/find/block", "loop_carry/find",
                                  "warp_reduce/find", "time_tile/step/step"}) {
    const std::vector<Row> rows = rows_of(read(folder / (table + ".hpp")));
    EXPECT_GE(rows.size(), 3U) << table;
    for (const Row& row : rows)
      for (const std::string& name : row.names) {
        EXPECT_TRUE(std::regex_search(code, std::regex("\\b" + name + "\\b")))
            << table << ".hpp: " << row.line;
        ++checked;
      }
  }
  EXPECT_GE(checked, 25U);
}

} // namespace
} // namespace ptxasw
