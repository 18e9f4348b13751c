// If work of ours crashes, does not come to an end or needs more memory than it may have, the
// process becomes the real ptxas on the arguments as they came or, where that has run, ends as it
// did: a fault of ours must not fail a build.
#pragma once

#include "driver/process.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ptxasw::driver {

struct Fallback {
  Command command;
  Environment environment;
  std::chrono::seconds deadline;
  std::size_t memory = 0;         // bytes of address space for us; 0: as many as there are
  bool rewind_input = false;      // standard input is a file of ours, read from its start again
  std::string log_path, log_line; // appended then; may be empty
  std::optional<int> exit_code;   // there is nothing left to do but to end with it
};

// While one of these lives, SIGSEGV and its like, abort() and the deadline end in the fallback, and
// operator new throws when the memory is used up. The handler may only do what is safe in a signal,
// so everything is prepared here. At most one may live at a time.
class CrashNet {
public:
  explicit CrashNet(Fallback fallback);
  ~CrashNet();
  CrashNet(const CrashNet&) = delete;
  CrashNet& operator=(const CrashNet&) = delete;

  // While another program works for us: it is not held to our memory, and the clock goes on or, for
  // what the caller wants however long it takes, stands still.
  enum class Clock : std::uint8_t { runs, stands };
  class Outside {
  public:
    Outside(CrashNet* net, Clock clock);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

  private:
    CrashNet* net_;
    unsigned seconds_left_ = 0; // of a clock that stands; 0: it runs
  };

private:
  static void limit_memory(std::size_t bytes);
  static void lift_memory_limit();
};

} // namespace ptxasw::driver
