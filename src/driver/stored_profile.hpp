// Profiles in the store that a farm shares: a machine with a GPU measures, others build with it.
//
//   ptxasw profile keep run.json --name=solver-7      PTXASW_FLAGS=--profile=store:solver-7
//
// A name is for ever: what is kept under it stays, so a build that is made again has the same
// profile, wherever it is made.
#pragma once

#include "driver/environment.hpp"
#include "profile/profile.hpp"
#include "ptxasw/options.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::driver {

// Reads the profile that the options name, if it is one of the store. One that anybody may have
// written there (no seal of the user's secret) chooses among what is proven, as any other does; but
// that no launch was cooperative it is not believed. What there is to say if there is none; then
// the options name no profile any more.
[[nodiscard]] std::optional<std::string> read_stored_profile(Options& options,
                                                             const Environment& environment);

// Why it is not kept; nothing: it is, or was already.
[[nodiscard]] std::optional<std::string> keep_profile(std::string_view name,
                                                      const profile::Profile& profile,
                                                      const Environment& environment);

} // namespace ptxasw::driver
