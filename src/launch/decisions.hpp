// What --policy=measure found out, kept for the next run.
//
// A file of lines in $XDG_CACHE_HOME/ptxasw (or ~/.cache/ptxasw): hash of the kernel's code, chip,
// shape, variant. Lines are appended in one write each, and the last one counts, so programs may
// share it. A line that cannot be read is passed over; a file that has grown too large starts anew.
#pragma once

#include "launch/kernels.hpp"
#include "launch/shapes.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ptxasw::launch {

class Decisions {
public:
  explicit Decisions(std::string file); // empty: nothing is kept
  // The one of $XDG_CACHE_HOME, its folder made where it is missing.
  static std::string usual_file();

  // Name of a variant.
  [[nodiscard]] std::optional<std::string> find(const Kernel& kernel, const Shape& shape);
  void keep(const Kernel& kernel, const Shape& shape, const std::string& variant);

private:
  static std::string key_of(const Kernel& kernel, const Shape& shape);

  std::string file_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_;
};

} // namespace ptxasw::launch
