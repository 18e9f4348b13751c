// Kernels in which nothing is left to fuse for ptxas: its own choice is written down and verified.
//
// Two runs of the assembler for all kernels of a text, both with line info (which does not change
// machine code): the original, from which the choices are read, and the pinned text. A kernel is
// pinned if its machine code is the original's, byte for byte; or, where ptxas only scheduled or
// ordered it otherwise, if both compute the same set of operations on the same values
// (machine/operations.hpp), each fused in the same way.
#pragma once

#include "ptxasw/assembler.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::rewrite {

struct Pinning {
  struct Kernel {
    unsigned sites = 0, fused = 0;
    bool identical = false; // byte for byte
    std::string refused;    // why it is not pinned; empty if it is
  };
  std::string text; // with those kernels pinned that could be; lines keep their numbers
  std::map<std::string, Kernel, std::less<>> kernels;
};

Pinning pin_contractions(const std::string& text, const std::string& file,
                         const std::vector<std::string>& kernels, Assembler& assembler);

} // namespace ptxasw::rewrite
