// Starts a process and waits for it. Waiting blocks the signals that would end us and takes them
// one by one, so there is no signal handler and no window in which one is lost.
#include "driver/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

// A signal that was ignored when we started (nohup, a background job) stays ignored, here and in
// the child, which inherits that; and what has a handler, such as our own alarm, is not for the
// child. A blocked signal would be taken by sigwaitinfo although it is ignored.
bool is_passed_on(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_DFL;
}

std::string failure(const std::string& program, int error) {
  return "could not run " + program + ": " + std::strerror(error);
}

// Blocks the signals of `passed_on` and SIGCHLD for as long as it lives.
class SignalGate {
public:
  SignalGate() {
    sigemptyset(&gate);
    for (const int signal : passed_on)
      if (is_passed_on(signal)) sigaddset(&gate, signal);
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

// Of a child that runs.
void hold_to(pid_t child, unsigned seconds) {
  if (seconds == Limits::none) return;
  const rlimit limit{seconds, rlim_t{seconds} + 1};
  prlimit(child, RLIMIT_CPU, &limit, nullptr);
}

// Starts the command; the error is 0 if that worked.
int start(Command& command, const SignalGate& gate, Environment& environment, pid_t& child) {
  const SpawnSetup setup(command, gate);
  return posix_spawn(&child, command.program.c_str(), &setup.actions, &setup.attributes,
                     command.argument_vector().data(), environment.pointers().data());
}

} // namespace

double seconds_of(const rusage& usage) {
  constexpr double micro = 1e-6;
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         micro * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double processor_ms(int whose) {
  rusage usage{};
  return ::getrusage(whose, &usage) == 0 ? 1e3 * seconds_of(usage) : 0;
}

void outlive_file_size_limit() {
  struct sigaction now {};
  if (sigaction(SIGXFSZ, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = [](int) {};
  sigaction(SIGXFSZ, &now, nullptr);
}

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
  pid_t child = 0;
  const int error = start(command, gate, environment, child);
  if (error != 0) return tl::unexpected(failure(command.program, error));
  return wait_for(child, gate);
}

std::vector<Ended> run_all(std::vector<Command> commands, Environment environment, unsigned at_once,
                           Limits& limits) {
  std::vector<Ended> ended(commands.size(), Ended{.code = 255});
  std::map<pid_t, std::size_t> running;
  const SignalGate gate;
  int interrupted = 0;
  for (std::size_t next = 0; next < commands.size() || !running.empty();) {
    if (next < commands.size() && interrupted == 0 && running.size() < std::max(1U, at_once)) {
      pid_t child = 0;
      const unsigned limit = limits.of(next);
      if (limit == 0) {
        ended[next] = {.signal = SIGXCPU};
      } else if (start(commands[next], gate, environment, child) == 0) {
        running.emplace(child, next);
        hold_to(child, limit);
      }
      ++next;
      continue;
    }
    if (interrupted != 0) next = commands.size();
    const std::size_t before = running.size();
    std::erase_if(running, [&](const auto& entry) {
      int status = 0;
      rusage usage{};
      const pid_t done = wait4(entry.first, &status, WNOHANG, &usage);
      if (done == 0 || (done < 0 && errno == EINTR)) return false;
      if (done > 0 && WIFSIGNALED(status)) ended[entry.second] = {.signal = WTERMSIG(status)};
      if (done > 0 && WIFEXITED(status)) ended[entry.second] = {.code = WEXITSTATUS(status)};
      if (done > 0) limits.has_ended(entry.second, ended[entry.second], seconds_of(usage));
      return true;
    });
    if (running.size() != before)
      for (const auto& [child, index] : running)
        hold_to(child, std::max(1U, limits.of(index)));
    if (running.empty() || (next < commands.size() && running.size() < at_once)) continue;
    const int signal = gate.next();
    if (signal <= 0 || signal == SIGCHLD) continue;
    interrupted = signal;
    for (const auto& [child, index] : running)
      kill(child, signal);
  }
  if (interrupted != 0)
    for (Ended& each : ended)
      each.interrupted = interrupted;
  return ended;
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
