// Running the real ptxas: in our place, or beside us with its output kept.
#pragma once

#include "driver/environment.hpp"

#include <tl/expected.hpp>

#include <string>
#include <vector>

struct rusage;

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

// What the commands of a list may take, in whole seconds of processor time.
class Limits {
public:
  static constexpr unsigned none = ~0U;

  Limits() = default;
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;
  virtual ~Limits() = default;
  // Of the n-th; 0: it is not started. May change whenever one has ended.
  [[nodiscard]] virtual unsigned of(std::size_t n) const = 0;
  virtual void has_ended(std::size_t n, const Ended& how, double seconds) = 0;
};

// Starts all of them, at most `at_once` at a time, and waits. What is sent to us goes to all that
// run, and no more are started; a command that was not run has code 255. One that comes to its
// limit is ended by SIGXCPU, or counts as ended by it if it never ran.
std::vector<Ended> run_all(std::vector<Command> commands, Environment environment, unsigned at_once,
                           Limits& limits);

// Of processors, by user and system together.
double seconds_of(const rusage& usage);
// RUSAGE_SELF or RUSAGE_CHILDREN.
double processor_ms(int whose);

// A write beyond the limit of a file's size (ulimit -f) fails from here on, and does not end us:
// our own files may be larger than what ptxas writes. Programs that are run or become of us get
// the signal as ever.
void outlive_file_size_limit();

// Ends as the child did: dies by the same signal, or returns its exit code for main.
int end_like(const Ended& child);

} // namespace ptxasw::driver
