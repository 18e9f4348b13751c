// Signals into a new process. A signal handler has no argument of its own, so this file holds the
// one piece of global state of the driver: what the handler is to run.
#include "driver/crash_net.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

constexpr std::array faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};

struct Prepared {
  Fallback fallback;
  std::vector<char*> argument_vector, environment_vector;
  std::array<char, 1 << 16> stack; // a stack overflow leaves no other; not touched before
  std::array<struct sigaction, faults.size()> before{};
  stack_t stack_before{};
  rlimit memory_before{};
};

std::unique_ptr<Prepared> prepared; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Only async-signal-safe calls from here on.
void become_ptxas(int /*signal*/) {
  alarm(0);
  const Fallback& fallback = prepared->fallback;
  if (fallback.exit_code) _exit(*fallback.exit_code);
  if (!fallback.log_path.empty()) {
    const int log =
        open(fallback.log_path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (log >= 0 && write(log, fallback.log_line.data(), fallback.log_line.size()) < 0) close(log);
  }
  if (fallback.rewind_input) lseek(STDIN_FILENO, 0, SEEK_SET);
  sigset_t all{};
  sigemptyset(&all);
  for (const int fault : faults)
    sigaddset(&all, fault);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);        // masks outlive execve, handlers do not
  setrlimit(RLIMIT_AS, &prepared->memory_before); // and so do limits
  execve(fallback.command.program.c_str(), prepared->argument_vector.data(),
         prepared->environment_vector.data());
  _exit(255);
}

} // namespace

CrashNet::CrashNet(Fallback fallback) {
  prepared = std::make_unique_for_overwrite<Prepared>();
  prepared->fallback = std::move(fallback);
  Fallback& ours = prepared->fallback;
  prepared->argument_vector = ours.command.argument_vector();
  prepared->environment_vector = ours.environment.pointers();

  stack_t stack{};
  stack.ss_sp = prepared->stack.data();
  stack.ss_size = prepared->stack.size();
  sigaltstack(&stack, &prepared->stack_before);
  struct sigaction action {};
  action.sa_handler = become_ptxas;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (std::size_t i = 0; i < faults.size(); ++i)
    sigaction(faults[i], &action, &prepared->before[i]);
  alarm(static_cast<unsigned>(ours.deadline.count()));
  getrlimit(RLIMIT_AS, &prepared->memory_before);
  limit_memory(ours.memory);
}

CrashNet::~CrashNet() {
  alarm(0);
  lift_memory_limit();
  for (std::size_t i = 0; i < faults.size(); ++i)
    sigaction(faults[i], &prepared->before[i], nullptr);
  sigaltstack(&prepared->stack_before, nullptr);
  prepared.reset();
}

void CrashNet::limit_memory([[maybe_unused]] std::size_t bytes) {
#ifndef __SANITIZE_ADDRESS__ // which takes all the addresses there are
  rlimit limit = prepared->memory_before;
  if (bytes == 0 || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes)) return;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_AS, &limit);
#endif
}

void CrashNet::lift_memory_limit() {
  setrlimit(RLIMIT_AS, &prepared->memory_before);
}

CrashNet::Outside::Outside(CrashNet* net, Clock clock) : net_(net) {
  if (net_ == nullptr) return;
  if (clock == Clock::stands) seconds_left_ = alarm(0);
  lift_memory_limit();
}

CrashNet::Outside::~Outside() {
  if (net_ == nullptr) return;
  limit_memory(prepared->fallback.memory);
  if (seconds_left_ != 0) alarm(seconds_left_);
}

} // namespace ptxasw::driver
