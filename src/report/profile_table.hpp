// A profile for people.
#pragma once

#include "profile/profile.hpp"

#include <string>

namespace ptxasw::report {

// A row for each shape of each kernel's launches, by the time that they took; and which version was
// fastest, of all and of those that a build can make.
std::string table_of_profile(const profile::Profile& profile, unsigned width = 120);

} // namespace ptxasw::report
