// What --policy=measure found out, kept for the next run.
//
// A file of lines in $XDG_CACHE_HOME/ptxasw (or ~/.cache/ptxasw): hash of the kernel's code, chip,
// shape, variant; or behind the shape the word steps, and what was found of runs of them
// (period.hpp), or that no entry is faster. Lines are appended in one write each, and the last one
// counts, so programs may share it. A line that cannot be read is passed over; a file that has
// grown too large starts anew.
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
  // Of time steps: to the shape, and from it where that has changed.
  void recall_steps(const Kernel& kernel, Shape& shape);
  void keep_steps(const Shape& shape);

private:
  static std::string key_of(const Kernel& kernel, const Shape& shape);
  void keep(const std::string& key, const std::string& value);

  std::string file_;
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> known_;
};

} // namespace ptxasw::launch
