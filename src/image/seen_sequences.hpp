// What programs of this user were seen to launch over and over, several kernels in turn: the file
// sequences.json beside the store, which the launcher writes and `ptxasw prepare` reads.
#pragma once

#include "contract/sequences.hpp"
#include "image/prepared.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::image {

inline constexpr std::size_t most_seen = 128; // of all programs

// Empty where there is no such file, or one that cannot be read.
[[nodiscard]] std::vector<contract::SeenSequence> seen_in(const std::string& folder);
// Adds those that are new; the oldest go. False: it cannot be written.
bool add_seen(const std::string& folder, const std::vector<contract::SeenSequence>& more);

// Those of which the image has all kernels, as a number: an entry of the store that was prepared
// with others can be prepared better. 0: none.
[[nodiscard]] std::uint64_t hash_of(const std::vector<contract::SeenSequence>& seen,
                                    const std::vector<PreparedKernel>& kernels);

} // namespace ptxasw::image
