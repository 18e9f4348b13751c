// Kernels in which nothing is left to fuse for ptxas: its own choice is written down and verified.
//
// Two runs of the assembler for all kernels of a text, both with line info (which does not change
// machine code): the original, from which the choices are read, and the pinned text. A kernel is
// pinned if its machine code is the original's, byte for byte; or, where ptxas only scheduled or
// ordered it otherwise, if both compute the same set of operations on the same values
// (sass/operations.hpp), each fused in the same way.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/reason.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::passes {

struct Pinning {
  struct Kernel {
    unsigned sites = 0, fused = 0; // sums that may be fused, and those that are
    bool identical = false;        // byte for byte
    Why refused;                   // why it is not pinned; empty if it is
    std::string choices;           // of its sums in order, a letter each: to be pinned again
  };
  // With those kernels pinned that could be; lines keep their numbers. None: there is none.
  std::optional<ptx::Module> module;
  unsigned reads =
      0; // of the pinned text as a whole: 0, or 1 where reading what was changed did not do
  std::map<std::string, Kernel, std::less<>> kernels;
};

// `beside`: other kernels that will be asked about in the pinned text, so that one run does.
Pinning pin_contractions(const ptx::Module& module, const std::vector<std::string>& kernels,
                         Assembler& assembler, const std::vector<std::string>& beside = {});

// Given choices, verified: refused are those with which the machine code is another one.
Pinning verify_pins(const ptx::Module& module,
                    const std::map<std::string, Pinning::Kernel, std::less<>>& pins,
                    Assembler& assembler);

// The same text with the choices of an earlier Pinning; nothing where they do not fit. Nobody has
// verified it.
std::optional<Pinning>
pin_as_remembered(const ptx::Module& module,
                  const std::map<std::string, Pinning::Kernel, std::less<>>& pins);

} // namespace ptxasw::passes
