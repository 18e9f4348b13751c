// Code that computes a term from what is known before the first instruction of a kernel.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/build.hpp"

namespace ptxasw::passes {

// The register that holds the value of a term with known_on_entry.
ptx::Reg materialize(const emulator::Kernel& kernel, sym::Term t, ptx::Code& code);

// Of a leaf of such a term, a kernel parameter or a special register.
ptx::Reg read_leaf(const emulator::Kernel& kernel, sym::Term leaf, ptx::Code& code);

} // namespace ptxasw::passes
