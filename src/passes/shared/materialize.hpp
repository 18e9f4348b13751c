// Code that computes a term from what is known before the first instruction of a kernel.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/names.hpp"
#include "passes/shared/text.hpp"

#include <string>

namespace ptxasw::passes {

// The register that holds the value of a term with passes::known_on_entry.
std::string materialize(const emulator::Kernel& kernel, sym::Term t, Registers& registers,
                        Text& text);

// Reads a leaf of such a term, a kernel parameter or a special register.
void read_leaf(const emulator::Kernel& kernel, sym::Term leaf, const std::string& into, Text& text);

} // namespace ptxasw::passes
