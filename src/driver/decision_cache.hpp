// What was decided for a text by an earlier call: a second build asks ptxas nothing.
//
// An entry of the store (store/store.hpp) is found by what the decision hangs on: the text, the
// options, the program ptxas and ours. Every error is a miss.
#pragma once

#include "driver/environment.hpp"
#include "ptxasw/assembler.hpp"
#include "store/store.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::driver {

class DecisionCache {
public:
  // `place`: a directory, "off", or empty for ${XDG_CACHE_HOME:-~/.cache}/ptxasw.
  DecisionCache(std::string_view place, const Environment& environment,
                const store::Store::Warn& warn);

  // `conditions`: everything beside the text that the decision hangs on.
  [[nodiscard]] std::optional<Recalled> recall(std::string_view conditions, std::string_view text);
  void remember(std::string_view conditions, std::string_view text, std::string_view answer);

  // What tells this program file from others: on this machine device, inode, size and time; where a
  // store is shared, its content.
  [[nodiscard]] std::string identity(const std::string& path);

private:
  DecisionCache(const store::Settings& settings, const store::Store::Warn& warn);
  bool shared_;
  store::Store store_;
};

} // namespace ptxasw::driver
