// A cubin that the driver's linker made of one PTX text (cuLinkCreate to cuLinkComplete), with that
// text: the machine code that runs, and what it was made of. The launcher sees both and hands them
// to `ptxasw prepare` as one image. Needs nothing but the C++ library.
//
// The cubin alone says which image this is (key_of): whoever loads it later has the same machine
// code, whether or not he saw it being linked.
#pragma once

#include "image/headers.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::image {

// Views.
struct Linked {
  std::string_view options; // of ptxas for the text: "-maxrregcount 32 -lineinfo"
  std::string_view text;    // without the zero that ends it
  std::string_view cubin;
};

[[nodiscard]] std::string packed(const Linked& linked);
// Nothing: not what `packed` made.
[[nodiscard]] std::optional<Linked> unpacked(Bytes image);

// That a cubin of this size was prepared, so that cubins of other sizes need not be read to know
// that they were not. One small file in `folder`, the one of the store, for each size.
[[nodiscard]] bool has_size(const std::string& folder, std::size_t cubin_size);
bool keep_size(const std::string& folder, std::size_t cubin_size);

} // namespace ptxasw::image
