// If the optimizer crashes or does not come to an end, the process becomes the real ptxas on the
// arguments as they came: a fault of ours must not fail a build.
#pragma once

#include "driver/process.hpp"

#include <chrono>
#include <string>

namespace ptxasw::driver {

struct Fallback {
  Command command;
  Environment environment;
  std::chrono::seconds deadline;
  bool rewind_input = false;      // standard input is a file of ours, read from its start again
  std::string log_path, log_line; // appended then; may be empty
};

// While one of these lives, SIGSEGV and its like, abort() and the deadline end in the fallback. The
// handler may only do what is safe in a signal, so everything is prepared here. At most one may
// live at a time.
class CrashNet {
public:
  explicit CrashNet(Fallback fallback);
  ~CrashNet();
  CrashNet(const CrashNet&) = delete;
  CrashNet& operator=(const CrashNet&) = delete;
};

} // namespace ptxasw::driver
