// Threads of ours in a program of others.
#pragma once

#include <csignal>
#include <pthread.h>
#include <thread>
#include <utility>

namespace ptxasw::launch {

// Signals are the program's: none comes to it. Throws as std::thread does.
template <class Work> std::thread own_thread(Work work) {
  class Blocked {
  public:
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
  } blocked;
  return std::thread(std::move(work));
}

} // namespace ptxasw::launch
