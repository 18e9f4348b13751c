// What a run measured, written for the next build of the program: src/profile/profile.hpp.
#pragma once

#include "launch/kernels/shapes.hpp"
#include "profile/profile.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::launch {

// Of the chip that ran most of the launches; `others`: kernels that other chips ran, which are left
// out.
[[nodiscard]] profile::Profile profile_of(const std::vector<std::shared_ptr<Shapes>>& kernels,
                                          unsigned& others);

// At once or not at all; where nothing was launched, nothing is written. %p in the name becomes the
// number of the process.
void write_profile(const std::vector<std::shared_ptr<Shapes>>& kernels, std::string file);

} // namespace ptxasw::launch
