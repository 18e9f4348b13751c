// The files of the repository that the front-end tests read.
#pragma once

#include "source_dir.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All files with the given extension below a folder of the repository, sorted.
inline std::vector<std::filesystem::path> files_below(std::string_view folder,
                                                      std::string_view extension) {
  std::vector<std::filesystem::path> result;
  const std::filesystem::path root = std::filesystem::path(PTXASW_SOURCE_DIR) / folder;
  if (!std::filesystem::exists(root)) return result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().extension() == extension)
      result.push_back(entry.path());
  std::ranges::sort(result);
  return result;
}

// "legacy_ptx": a name that GoogleTest accepts for a parameterised test.
inline std::string test_name(const std::filesystem::path& path) {
  std::string name = path.lexically_relative(PTXASW_SOURCE_DIR).string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

} // namespace ptxasw::test
