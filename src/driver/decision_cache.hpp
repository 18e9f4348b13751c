// What was decided for a text by an earlier call, kept in files: a second build asks ptxas nothing.
//
// An entry is found by what the decision hangs on: the text, the options, the program ptxas and
// ours. What it says is proved again but for what only ptxas can tell, so it is taken only from
// folders that belong to the user and that nobody else can write to. Every error is a miss.
#pragma once

#include "driver/environment.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::driver {

class DecisionCache {
public:
  // `place`: a directory, "off", or empty for ${XDG_CACHE_HOME:-~/.cache}/ptxasw.
  DecisionCache(std::string_view place, const Environment& environment);

  // `question` is everything that the decision hangs on.
  [[nodiscard]] std::optional<std::string> recall(std::string_view question) const;
  void remember(std::string_view question, std::string_view answer) const;

private:
  [[nodiscard]] std::string folder_of(std::string_view name) const;
  std::string root_; // empty: no cache
};

// A file as far as it can be told apart from others without reading it: device, inode, size, time.
std::string file_mark(const std::string& path);

} // namespace ptxasw::driver
