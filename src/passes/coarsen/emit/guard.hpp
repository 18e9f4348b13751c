// Launches that are too small to be merged run the original body.
//
// A launch that leaves an SM too few warps when C blocks become one loses by it, and the compiler
// does not know the launch. So the kernel asks: are there enough threads in the grid? That hangs on
// %nctaid and %ntid alone, which are constants of the launch, so all threads of all blocks get the
// same answer.
//
// The product takes longer than small launches can bear (110 ns of four microseconds on an H200),
// so that only those are asked for it who have enough blocks along an axis: a single constant,
// which is there sooner.
#pragma once

#include "ptx/body.hpp"
#include "ptx/build.hpp"

#include <cstdint>

namespace ptxasw::passes {

// Whether a launch has fewer than `least` threads. Axes that the kernel does not read are taken to
// be 1 wide: at worst more launches count as small.
class LaunchSize {
public:
  LaunchSize(const ptx::Body& body, std::uint64_t least) : body_(body), least_(least) {}

  // A predicate that holds in launches with blocks enough along an axis for the whole question to
  // be asked.
  [[nodiscard]] ptx::Reg has_enough_along(unsigned axis, ptx::Code& code) const;
  // One that holds in launches of fewer threads, counted in whole warps of each block; empty if
  // none are that small.
  [[nodiscard]] ptx::Reg is_small(ptx::Code& code) const;

private:
  [[nodiscard]] std::uint32_t enough_along(unsigned axis) const;
  [[nodiscard]] bool reads(ptx::Special size, ptx::Special index, unsigned axis) const;
  [[nodiscard]] bool states_threads() const { return body_.function->reqntid[0] != 0; }
  [[nodiscard]] std::uint64_t stated_threads() const;
  [[nodiscard]] ptx::Reg product(ptx::Special size, ptx::Special index, ptx::Code& code) const;

  const ptx::Body& body_;
  std::uint64_t least_;
};

} // namespace ptxasw::passes
