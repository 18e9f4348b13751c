// Launches that are too small to be merged run the original body.
//
// A launch that leaves an SM too few warps when C blocks become one loses by it, and the compiler
// does not know the launch. So the kernel asks first: are there enough threads in the grid? That
// hangs on %nctaid and %ntid alone, which are constants of the launch, so all threads of all blocks
// get the same answer.
//
// The question costs small launches time. A launch of 1024 threads a block fills an SM with 64
// warps that begin together, and each instruction more is 16 cycles more for all of them; a kernel
// of 26 instructions lost 12 % by a question of 14 (H200). So long kernels are asked for the
// product alone, in two to six instructions of the original body, and for the rest where it is
// enough.
#pragma once

#include "ptx/body.hpp"
#include "rewrite/names.hpp"
#include "rewrite/text.hpp"

#include <cstdint>
#include <string>

namespace ptxasw::rewrite {

// Whether a launch has fewer than `least` threads. Axes that the kernel does not read are taken to
// be 1 wide: at worst more launches count as small.
class LaunchSize {
public:
  LaunchSize(const ptx::Body& body, std::uint64_t least, Registers& registers)
      : body_(body), least_(least), registers_(registers) {}

  // The number of threads, or of blocks where the kernel states their size, and how many are enough
  // (there must be a least). Of a launch of 2^32 threads the number may be too small, and then it
  // runs as before.
  [[nodiscard]] std::string size(Text& text) const;
  [[nodiscard]] std::uint32_t enough() const;
  // One that holds in launches of fewer threads, counted in whole warps of each block; empty if
  // none are that small.
  [[nodiscard]] std::string is_small(Text& text) const;

private:
  [[nodiscard]] bool states_threads() const { return body_.function->reqntid[0] != 0; }
  [[nodiscard]] std::uint64_t stated_threads() const;
  [[nodiscard]] std::string product(Text& text, std::string_view name, ptx::Special size,
                                    ptx::Special index) const;

  const ptx::Body& body_;
  std::uint64_t least_;
  Registers& registers_;
};

} // namespace ptxasw::rewrite
