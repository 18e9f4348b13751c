// When carrying values from trip to trip pays: cycles of the load/store pipe of one trip, before
// and after.
//
// A load that the trip before has done hits L1, so what it costs is the pipe (profile.hpp). What
// takes its place is a register that lives through the loop and a move, which the other pipes do
// beside it. So rotation pays where the pipe is what a loop waits for and much of its work goes;
// compilers unroll small loops, and what their copies share ptxas loads once by itself, so that
// little is left to carry.
#pragma once

#include "cost/profile.hpp"

#include <string>

namespace ptxasw::cost {

struct RotationWork {
  double before = 0, after = 0; // cycles of the pipe for a warp and a trip
  unsigned loads = 0;           // carried
  unsigned registers = 0;       // of 32 bits, that carry them
};

struct RotationVerdict {
  bool pays = false;
  std::string reason; // the numbers behind it, for people
};

RotationVerdict rotation_verdict(const Profile& profile, const RotationWork& work);

} // namespace ptxasw::cost
