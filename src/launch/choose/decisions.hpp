// What --policy=measure found out, kept for the next run.
//
// A file in $XDG_CACHE_HOME/ptxasw (or ~/.cache/ptxasw), of lines that are JSON each:
//   {"code": hash of the kernel's code, "chip": ..., "grid": ..., "block": ..., "shared": ...,
//    "variant": the name of one}
// or, instead of the variant, "steps": what was found of runs of them (period.hpp), or that no
// entry is faster; or, of launches that come together,
//   {"launches": hash of their kernels and blocks (kept_graph.hpp), "chip": ..., "passes": "merged"
//   or "slow"}, or "graph": the same
// Lines are appended in one write each, and the last one counts, so programs may
// share it. A line that cannot be read is passed over; a file that has grown too large starts anew.
#pragma once

#include "launch/kernels/kernels.hpp"
#include "launch/kernels/launch_memory.hpp"
#include "launch/kernels/shapes.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

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
  // Of launches that come together: whether passes among them are faster when they are merged, or
  // all of them as a graph.
  enum class Together : std::uint8_t { passes, graph };
  [[nodiscard]] LaunchMemory of_launches(Together how);

private:
  // A line without its last member.
  static std::string key_of(const Kernel& kernel, const Shape& shape);
  [[nodiscard]] std::optional<std::string> find(const std::string& key, const char* member);
  void keep(const std::string& key, const char* member, const std::string& value);

  std::string file_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> known_; // by key and member
};

} // namespace ptxasw::launch
