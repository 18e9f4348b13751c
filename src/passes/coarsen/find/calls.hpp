// Calls in the copies of a coarsened kernel: of functions of the module that call no others, wait
// for nobody and see nothing of the block.
//
// A callee is one if each of its instructions would be allowed where threads have nothing to do
// with each other (why_threads_synchronize), it loads nothing past the first cache, leaves by `ret`
// alone and does not read which block it is in. It may have local memory: each call has a frame of
// its own. What it loads and stores through pointers are plain accesses of the calling thread,
// which what is known of loads does not survive (a call is a clobber).
//
// Each copy makes its own call, from the brace in front of its parameters to the one behind them: a
// Region of its own, with the braces and the .param variables written again for each copy.
#pragma once

#include "emulator/emulate.hpp"

#include <cstdint>
#include <optional>

namespace ptxasw::passes {

// A stretch of the text, [first, end), in which each copy goes its own way: copy after copy runs it
// from end to end. A segment of its own.
struct Region {
  ptx::InstId first = 0, end = 0;
  // The braces around it that belong to it, among the statements of the body.
  std::uint32_t opens = ptx::none, closes = ptx::none;
};

// Empty, or a reason for people.
Why why_not_called(const ptx::Body& body, const ptx::Inst& call);

// The block { } around the call, if nothing but the call and its parameters is in it.
std::optional<Region> call_sequence(const ptx::Body& body, ptx::InstId call);

} // namespace ptxasw::passes
