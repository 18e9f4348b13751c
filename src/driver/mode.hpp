// Which of its roles the program was called in. The rule, so that one cannot be taken for the
// other:
//
// - Called by any name but `ptxasw`, it is a drop-in for ptxas.
// - Called as `ptxasw`, a first argument that is a sub-command's name, and not the name of a file
// here
//   (ptxas would read that file), selects the sub-command. No arguments at all, or -h or --help
//   alone, ask for our help. Everything else is a drop-in: ptxas takes no other first word.
// - A drop-in whose first argument is a ptxas (its last part is `ptxas` or ends in `-ptxas`, and it
// is
//   a program) runs that one: so `nvcc --ptxas-prefix=ptxasw` calls us.
#pragma once

#include "driver/environment.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

struct Invocation {
  enum class Mode : unsigned char { drop_in, sub_command, help };
  Mode mode = Mode::drop_in;
  bool stand_alone = false;           // called by our own name
  std::string command;                // the sub-command
  std::string named_ptxas;            // the ptxas named as the first argument
  std::vector<std::string> arguments; // what is left
};

Invocation read_invocation(std::span<const std::string> words, // argv, the program's name included
                           std::span<const std::string_view> sub_commands,
                           const Environment& environment);

} // namespace ptxasw::driver
