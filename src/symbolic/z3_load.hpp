// Z3 as a library that is loaded at the first call, so that the program starts without it: it runs
// where there is no Z3, with the proofs that the normal form gives, and does not pay for loading
// 23 MB (5 ms) where there is nothing to ask. To be included before z3++.h, whose calls it turns
// into calls through the table.
#pragma once

#include "z3_functions.hpp" // generated

namespace ptxasw::sym {

// Every function of Z3's C interface. Throws std::runtime_error where the library is not found or
// lacks one of them; asked again, it looks again.
const Z3Functions& z3_functions(); // NOLINT(readability-redundant-declaration): generated, too

} // namespace ptxasw::sym
