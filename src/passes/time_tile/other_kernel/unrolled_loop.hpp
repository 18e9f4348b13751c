// Two loops behind one another that a compiler made of one: in the first one an iteration does
// several, the second one does what is left, or is no loop where that is one at most.
#pragma once

#include "emulator/emulate.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::passes {

struct UnrolledLoop {
  std::uint32_t main = 0;            // of the kernel's loops
  std::optional<std::uint32_t> rest; // none: what is left is done once, or not at all
  unsigned copies = 0;               // what an iteration of the first one does
  sym::Term count;                   // of iterations in all, at least 1, signed
  // `fork` leads to `entry`, in front of the first loop, or around it to `join`. Behind that `test`
  // leads to `left`, what is left, or around it to `out`.
  analysis::BlockId fork = 0, entry = 0, join = 0, test = 0, left = 0, out = 0;
  sym::Term skipped; // the first loop
  std::vector<const emulator::Event*> stores, rest_stores;
};

// Its paths and its stores may be those of such loops: for little work.
bool has_unrolled_form(const emulator::Kernel& kernel);

// None: there are no such loops, or they do something else. Of a kernel whose stored values were
// followed.
std::optional<UnrolledLoop> find_unrolled_loop(const emulator::Kernel& kernel);

// Of what is left, or of each iteration of it: on every way through.
bool is_always_done(const emulator::Kernel& kernel, const UnrolledLoop& loop,
                    analysis::BlockId block);

// What the register holds at the end of the block. Invalid: not known.
sym::Term value_behind(const emulator::Kernel& kernel, analysis::BlockId block, ptx::RegId reg);

} // namespace ptxasw::passes
