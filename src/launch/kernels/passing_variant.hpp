// Launches that another version of their kernel makes, so many times, as each thread remembers them
// (passing.hpp): what is needed for one lies side by side, and nothing is looked up in its
// contract.
//
// Two questions stay, since an entry is of one context, and a node of a graph is the program's.
#pragma once

#include "launch/driver/request.hpp"

#include <cstdint>
#include <optional>

namespace ptxasw::launch {

// `asked` is what the program launched, `made` what is launched instead, in that context. `epoch`:
// of the time before it was looked at.
void remember_variant(std::uint64_t epoch, unsigned hook, const Request& asked,
                      const VariantLaunch& made, CUcontext context, std::uint64_t times);

// None: it has to be looked at.
std::optional<CUresult> pass_by_variant(unsigned hook, const Request& asked, const Launch& launch);

// As take_passed.
std::uint64_t take_passed_by_variant(unsigned hook, const Request& asked);

} // namespace ptxasw::launch
