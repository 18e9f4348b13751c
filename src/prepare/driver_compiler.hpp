// What a driver makes of a PTX text, made again with the tools that are here.
//
// A driver compiles a text either as it stands (ptxas) or for linking (ptxas -c), and its linker
// does the latter. Which of the two a load does is not documented. So a text has a stand-in only if
// it is all the same: each kernel has the same machine code either way, or does the same
// floating-point operations on the same values (sass/operations.hpp). All else is what the PTX ISA
// says.
#pragma once

#include "image/reason.hpp"
#include "prepare/repeat.hpp"

#include <tl/expected.hpp>

#include <string>

namespace ptxasw::prepare {

// "sm_90a" of a text for sm_90a on an sm_90, which compiles for no other chip; else `chip`.
[[nodiscard]] std::string chip_for(const std::string& text, const std::string& chip);

// The cubin that the linker makes of one text. Throws Interrupted.
[[nodiscard]] tl::expected<std::string, image::Reason>
linked(const Tool& tool, const std::string& chip, const AssemblyRequest& request);

// Why results may be rounded otherwise where the text is compiled for linking; empty: they are not.
// Throws Interrupted.
[[nodiscard]] std::string why_rounded_otherwise(const Tool& tool, const std::string& chip,
                                                const std::string& text);

} // namespace ptxasw::prepare
