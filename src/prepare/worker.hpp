// An image prepared once, by a process of its own, into the store.
#pragma once

#include "prepare/prepare.hpp"
#include "prepare/turn.hpp"

#include <cstdint>
#include <string>

namespace ptxasw::prepare {

struct Place {
  std::string folder;
  std::uint64_t limit = std::uint64_t{1} << 30; // bytes in it
};

struct Outcome {
  enum class How : std::uint8_t {
    found,    // in the store
    prepared, // and kept
    not_kept, // the store has no room, or may not be written
    busy,     // another process prepares it
    failed,   // the process crashed, or was ended
    stopped,  // by a signal to all of us: end as well
  };
  How how = How::found;
  image::Prepared prepared; // of the first three
  int signal = 0;           // that ended it
};

// In a process of its own, so that what is wrong with one image harms no other. An entry of
// another version of this program is made anew, and one that another ptxas may do better with.
[[nodiscard]] Outcome prepare_once(image::Bytes image, const Conditions& conditions,
                                   const Place& place, Turn::Others others);

} // namespace ptxasw::prepare
