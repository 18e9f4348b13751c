// Running the real ptxas: in our place, or beside us with its output kept.
#pragma once

#include "driver/environment.hpp"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace ptxasw::driver {

struct Command {
  std::string program;
  std::vector<std::string> arguments;      // without the program's own name
  int input = -1, output = -1, error = -1; // descriptors to use instead of ours

  // As execve wants it, pointing into this. ptxas takes the name it shows in messages from the
  // first.
  std::vector<char*> argument_vector();
};

struct Ended {
  int code = 0;
  int signal = 0;      // that ended the child
  int interrupted = 0; // that we were sent while waiting; the child got it too
  [[nodiscard]] bool ok() const { return code == 0 && signal == 0 && interrupted == 0; }
};

// Becomes the program. Returns only when that failed, with the reason.
std::string replace_process(Command command, Environment environment);

// Starts the program and waits. Signals that would end us are passed on to it meanwhile.
tl::expected<Ended, std::string> run(Command command, Environment environment);

// Starts all of them, at most `at_once` at a time, and waits. What is sent to us goes to all that
// run, and no more are started; a command that was not run has code 255. Once the first has ended
// well, each other one that takes `patience` times its processor time, and some seconds, is ended
// by SIGXCPU.
std::vector<Ended> run_all(std::vector<Command> commands, Environment environment, unsigned at_once,
                           unsigned patience);

// Ends as the child did: dies by the same signal, or returns its exit code for main.
int end_like(const Ended& child);

} // namespace ptxasw::driver
