// From an image as a compiler made it to one with versions of its kernels, or to why there is none.
//
//   1. The entries that the driver would choose for the chip: machine code and its PTX
//      (image/headers.hpp).
//   2. The PTX, assembled again with the options of the machine code's note, has to give the
//      machine code: every function of the embedded cubin has to be there as it was
//      (sass/same_function.hpp). So the PTX is the original of what the driver runs, down to what
//      ptxas chose to fuse.
//   3. Versions and contracts are put beside its kernels, which stay as they are
//      (ptxasw/versions.hpp).
//   4. The new cubin has to hold every function of the embedded one as it was. What the program
//      launches is its own machine code until a launcher takes a version instead.
// Of a PTX text by itself there is no machine code. What ptxas makes of it is in its place in 4,
// and instead of 2 the launcher compares what the driver's linker makes of it with what is made
// here (driver_compiler.hpp, image/compiled.hpp). Of a cubin that the driver's linker made of one
// PTX text (image/linked.hpp) the launcher has both: its text is compiled and linked here in 2
// to 4. Where 2 or 4 does not hold for one function, nothing is replaced: a module is loaded as a
// whole.
#pragma once

#include "image/prepared.hpp"
#include "prepare/repeat.hpp"
#include "ptxasw/options.hpp"

#include <optional>
#include <string>

namespace ptxasw::prepare {

struct Conditions {
  std::string chip = "sm_90";
  std::optional<Tool> tool; // none: no ptxas is here
  std::string made_by;      // version and commit
  Options options;          // for versions; which, is said there
};

// What `ptxasw prepare` asks for: variants, and entries for several time steps.
[[nodiscard]] Options usual_options();

// Thrown: a signal that was to end us came while ptxas ran. There is no verdict.
struct Interrupted {
  int signal = 0;
};

// May take seconds for each kernel, and run many processes of ptxas. Throws Interrupted.
[[nodiscard]] image::Prepared prepare(image::Bytes image, const Conditions& conditions);

// By the headers, and what the machine code says of itself: without ptxas. Reason::none: `prepare`
// has something to do.
[[nodiscard]] image::Prepared look_at(image::Bytes image, const Conditions& conditions);

} // namespace ptxasw::prepare
