// The body of an entry of a fat binary, decompressed. With liblz4 and libzstd, which are linked
// statically where they are; without them what they compress is left alone.
#pragma once

#include "image/headers.hpp"

#include <tl/expected.hpp>

#include <string>

namespace ptxasw::image {

inline constexpr std::uint64_t largest_body = std::uint64_t{1} << 30;

// PTX without the zero that ends it, an ELF file as it is. Never more than largest_body.
[[nodiscard]] tl::expected<std::string, Reason> body_of(const Entry& entry);

} // namespace ptxasw::image
