// PTX that the program hands to its driver as text (NVRTC, Numba, CuPy), or in a fat binary without
// machine code for the chip: what the driver's compiler makes of it, as far as the driver tells
// (image/compiled.hpp).
#pragma once

#include "image/headers.hpp"
#include "launch/driver/driver.hpp"

#include <string>

namespace ptxasw::launch {

// None of the options of a load changes what the driver's compiler makes, or lets the program see
// that it compiles: logs, which are empty where nothing is compiled, and time are no such options.
[[nodiscard]] bool compiles_as_usual(const CUjit_option* options, void* const* values,
                                     unsigned count);

// The cubin that the driver's linker makes of a text, or of the PTX in a fat binary, for the device
// of the current context; empty: it makes none.
[[nodiscard]] std::string linked_by_driver(image::Bytes image);

// Which driver the program has: its file, with size and time. Empty: it is not known.
[[nodiscard]] std::string name_of_driver();

} // namespace ptxasw::launch
