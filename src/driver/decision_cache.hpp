// What was decided for a text by an earlier call: a second build asks ptxas nothing.
//
// An entry of the store (store/store.hpp) is found by what the decision hangs on: the text, the
// options, the program ptxas and ours. What it says is proved again but for what only ptxas can
// tell, so only what is trusted is taken. Every error is a miss.
#pragma once

#include "driver/environment.hpp"
#include "store/store.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::driver {

class DecisionCache {
public:
  // `place`: a directory, "off", or empty for ${XDG_CACHE_HOME:-~/.cache}/ptxasw.
  DecisionCache(std::string_view place, const Environment& environment);

  // `conditions`: everything beside the text that the decision hangs on.
  [[nodiscard]] std::optional<std::string> recall(std::string_view conditions,
                                                  std::string_view text);
  void remember(std::string_view conditions, std::string_view text, std::string_view answer);

private:
  store::Store store_;
};

// A file as far as it can be told apart from others without reading it: device, inode, size, time.
std::string file_mark(const std::string& path);

} // namespace ptxasw::driver
