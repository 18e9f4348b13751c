// Which loads that another lane has are taken from there.
#pragma once

#include "passes/shuffle/lane.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"

#include <string_view>

namespace ptxasw::passes {

bool covers_any(const LanePlan& plan);

// Whether it could pay to take the load from `delta` lanes away (0: this one), were it there.
bool shuffle_could_pay(const emulator::Kernel& kernel, const Load& load, int delta,
                       ShuffleMode mode, std::string_view architecture);

// Leaves in the plan what is worth it, with --shuffle=auto and columns; the others keep their
// reason. With none the report shows what could be.
void choose_shuffles(emulator::Kernel& kernel, LanePlan& plan, ShuffleMode mode,
                     std::string_view architecture);

// The load, which has a cover, stays as it is.
void drop_shuffle(const emulator::Kernel& kernel, Load& load, const Why& why);

} // namespace ptxasw::passes
