// See process.hpp. Waiting blocks the signals that would end us and takes them one by one, so there
// is no signal handler and no window in which one is lost.
#include "driver/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

std::string failure(const std::string& program, int error) {
  return "could not run " + program + ": " + std::strerror(error);
}

// Blocks the signals of `passed_on` and SIGCHLD for as long as it lives.
class SignalGate {
public:
  SignalGate() {
    sigemptyset(&gate);
    for (const int signal : passed_on)
      sigaddset(&gate, signal);
    sigaddset(&gate, SIGCHLD);
    sigprocmask(SIG_BLOCK, &gate, &before);
    // A parent that ignores SIGCHLD would make our child vanish without a status.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &before_child);
  }
  ~SignalGate() {
    sigaction(SIGCHLD, &before_child, nullptr);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  [[nodiscard]] const sigset_t& mask_before() const { return before; }
  [[nodiscard]] int next() const { return sigwaitinfo(&gate, nullptr); }

private:
  sigset_t gate{}, before{};
  struct sigaction before_child {};
};

Ended wait_for(pid_t child, const SignalGate& gate) {
  Ended ended;
  for (;;) {
    int status = 0;
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child) {
      if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
      if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
      return ended;
    }
    if (done < 0 && errno != EINTR) {
      ended.code = 255;
      return ended;
    }
    const int signal = gate.next();
    if (signal <= 0 || signal == SIGCHLD) continue;
    ended.interrupted = signal;
    kill(child, signal);
  }
}

class SpawnSetup {
public:
  SpawnSetup(const Command& command, const SignalGate& gate) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &gate.mask_before());
    redirect(command.input, STDIN_FILENO);
    redirect(command.output, STDOUT_FILENO);
    redirect(command.error, STDERR_FILENO);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

private:
  void redirect(int from, int to) {
    if (from >= 0) posix_spawn_file_actions_adddup2(&actions, from, to);
  }
};

} // namespace

std::vector<char*> Command::argument_vector() {
  std::vector<char*> list{program.data()};
  for (std::string& argument : arguments)
    list.push_back(argument.data());
  list.push_back(nullptr);
  return list;
}

std::string replace_process(Command command, Environment environment) {
  execve(command.program.c_str(), command.argument_vector().data(), environment.pointers().data());
  return failure(command.program, errno);
}

tl::expected<Ended, std::string> run(Command command, Environment environment) {
  const SignalGate gate;
  const SpawnSetup setup(command, gate);
  pid_t child = 0;
  const int error = posix_spawn(&child, command.program.c_str(), &setup.actions, &setup.attributes,
                                command.argument_vector().data(), environment.pointers().data());
  if (error != 0) return tl::unexpected(failure(command.program, error));
  return wait_for(child, gate);
}

int end_like(const Ended& child) {
  const int signal = child.interrupted != 0 ? child.interrupted : child.signal;
  if (signal == 0) return child.code;
  // The child has left its core dump, if any; ours would only be in the way.
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  return 128 + signal;
}

} // namespace ptxasw::driver
