// One round of the fuzzer: make a kernel, rewrite it with every rewrite forced on, compare the two
// on the interpreter; and make a failing kernel small.
#pragma once

#include "ptxasw/options.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ptxasw::fuzz {

struct Round {
  std::string text;      // the kernel
  std::string rewritten; // empty: unchanged
  unsigned loads = 0, covered = 0;
  unsigned equal = 0, left_out = 0; // launches
  std::string problem;              // empty: fine
};
Options everything_on();
Round check(std::string text, std::uint64_t seed, const Options& options = everything_on());

// Deletes lines as long as `still_fails` holds.
std::string shrink(const std::string& text,
                   const std::function<bool(const std::string&)>& still_fails);

} // namespace ptxasw::fuzz
