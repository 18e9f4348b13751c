// A kernel in another text, in which steps are looked for in its place. It is never launched.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptxasw::passes {

struct OtherKernel {
  Why refused; // the kernel is then not valid
  std::shared_ptr<const ptx::Module> module;
  emulator::Kernel kernel;
};

// The text of the function with these edits, without the module's other functions: there may be
// many.
std::string edited_text(const ptx::Body& body, std::vector<ptx::Edit> edits);

// The branch as a jump, or left out.
ptx::Edit decided(const ptx::Body& body, ptx::InstId branch, bool is_taken);

// Branches of which it is known which way they go, as jumps, or left out. Nobody comes to what is
// then not led to.
std::vector<ptx::Edit> decided_branches(const emulator::Kernel& kernel);

// `text`: of a module with an entry of the name that `of` has.
OtherKernel emulate_text(std::string text, const ptx::Body& of, const emulator::Budget& budget,
                         const std::array<std::uint32_t, 3>& shape, emulator::Follow follow);

// Of one that was emulated for blocks of the shape: it has its sizes, if it does not read them,
// too.
void know_shape(emulator::Kernel& kernel, const std::array<std::uint32_t, 3>& shape);

} // namespace ptxasw::passes
