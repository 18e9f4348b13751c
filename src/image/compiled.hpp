// A PTX text that a program hands to its driver, which compiles it: is the driver's compiler the
// one that is here?
//
// No driver says which machine code it made of a text that it loaded. Its linker does (cuLinkCreate
// to cuLinkComplete): it compiles for linking (ptxas -c) and links (nvlink). `ptxasw prepare` does
// the same with the tools that are here. Where all functions, constants and variables come out byte
// for byte, the compilers are the same for this text, and what they make of it otherwise (ptxas
// without -c), too. Needs no library.
//
// The answer is kept, by the text, the chip and the files of the driver: the linker is asked once.
#pragma once

#include "image/prepared.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::image {

// Of all that a launch of the cubin's functions depends on, in hexadecimal; empty: it has none.
[[nodiscard]] std::string fingerprint(std::string_view cubin);

// `linked`: what was expected (Prepared::linked); `compiler` names the driver's. Nothing: nobody
// asked so far.
[[nodiscard]] std::optional<bool> find_agreement(const std::string& folder, const ImageKey& key,
                                                 std::string_view linked,
                                                 std::string_view compiler);
// False: it could not be kept. It is small; whoever writes an image makes room.
bool keep_agreement(const std::string& folder, const ImageKey& key, std::string_view linked,
                    std::string_view compiler, bool agrees);

} // namespace ptxasw::image
