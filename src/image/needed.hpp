// What a program needed of the store while it ran, for the next time: so it can be found while the
// program's driver starts (launch/images/ahead.hpp).
//
// A hint and no more: an image is looked up by its key, and a contract counts where the kernel's
// module has the very bytes.
#pragma once

#include "image/prepared.hpp"

#include <optional>
#include <set>
#include <string>

namespace ptxasw::image {

struct Needed {
  std::set<ImageKey> images;       // that were found
  std::set<std::string> contracts; // as they stand in modules
  friend bool operator==(const Needed&, const Needed&) = default;
};
inline constexpr std::size_t most_needed_images = 64, most_needed_contracts = 256;

// This process: its program, and the file that it is told to run, as interpreters are.
[[nodiscard]] store::Key program_of_process();

// Nothing: it did not run before, or needed nothing.
[[nodiscard]] std::optional<Needed> find_needed(const std::string& folder,
                                                const store::Key& program);
// False: it could not be kept. It is small; whoever writes an image makes room.
bool keep_needed(const std::string& folder, const store::Key& program, const Needed& needed);

} // namespace ptxasw::image
