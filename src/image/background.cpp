// Images go through files in memory, which the process has as /proc/self/fd/N.
//
// The program must not notice: no handler of fork runs, no page is copied, no SIGCHLD comes, and no
// wait for any child finds one. So the process is made by clone with the program's memory (as vfork
// does it: the thread stands still until exec), and by a child in between, which has no exit
// signal. Both run with all signals blocked and make nothing but system calls.
#include "image/background.hpp"

#include "store/descriptor.hpp"
#include "store/files.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: POSIX

namespace ptxasw::image {
namespace {

constexpr std::array<std::string_view, 2> dropped{"LD_PRELOAD=", "PTXASW_LAUNCH="};
constexpr std::size_t stack_size = std::size_t{64} << 10;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words)
    all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

struct Launch {
  char* const* arguments;
  char* const* variables;
  std::span<const int> images;
  int nothing;      // /dev/null
  char* stack;      // of the grandchild, its end
  sigset_t signals; // as they were blocked
  volatile bool failed = false;
};

// Who reads from a pipe of the program's waits until nobody has it.
void keep_no_others() {
  constexpr int first = 3, most = 1024;
  if (::close_range(first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int file = first; file < most; ++file) // of a kernel before 5.11
    ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

int grandchild(void* with) {
  auto& launch = *static_cast<Launch*>(with);
  for (int standard = 0; standard <= 2; ++standard)
    ::dup2(launch.nothing, standard);
  keep_no_others();
  for (const int image : launch.images)
    ::fcntl(image, F_SETFD, 0);
  ::sigprocmask(SIG_SETMASK, &launch.signals, nullptr);
  ::execve(launch.arguments[0], launch.arguments, launch.variables);
  launch.failed = true;
  ::_exit(127);
}

int between(void* with) {
  auto& launch = *static_cast<Launch*>(with);
  ::setsid();
  if (::clone(grandchild, launch.stack, CLONE_VM | CLONE_VFORK | SIGCHLD, with) < 0)
    launch.failed = true;
  ::_exit(0);
}

bool run(Launch& launch) {
  std::vector<char> stacks(2 * stack_size);
  launch.stack = stacks.data() + stacks.size();
  sigset_t all;
  sigfillset(&all);
  if (::pthread_sigmask(SIG_BLOCK, &all, &launch.signals) != 0) return false;
  const int child = ::clone(between, stacks.data() + stack_size, CLONE_VM | CLONE_VFORK, &launch);
  if (child > 0)
    while (::waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  ::pthread_sigmask(SIG_SETMASK, &launch.signals, nullptr);
  return child > 0 && !launch.failed;
}

} // namespace

std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view row(*at);
    bool is_kept = true;
    for (const std::string_view name : dropped)
      is_kept = is_kept && !row.starts_with(name);
    if (is_kept) kept.emplace_back(row);
  }
  return kept;
}

std::vector<std::string> command_line(const std::string& program, std::string_view chip,
                                      std::span<const std::string> files, bool in_background) {
  std::vector<std::string> words{program, "prepare", "--chip=" + std::string(chip)};
  if (in_background) words.emplace_back("--background");
  for (const std::string& file : files)
    words.push_back("--image=" + file);
  return words;
}

bool start(const std::string& program, std::string_view chip, std::span<const Bytes> images,
           std::vector<std::string> variables) {
  std::vector<store::Descriptor> kept;
  std::vector<int> numbers;
  std::vector<std::string> files;
  for (const Bytes image : images) {
    store::Descriptor file(::memfd_create("image", MFD_CLOEXEC));
    if (!file || !store::write_whole(file.get(), words_of(image))) return false;
    files.push_back("/proc/self/fd/" + std::to_string(file.get()));
    numbers.push_back(file.get());
    kept.push_back(std::move(file));
  }
  const store::Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing || files.empty()) return false;
  std::vector<std::string> words = command_line(program, chip, files, true);
  const std::vector<char*> arguments = pointers(words), rows = pointers(variables);
  Launch launch{.arguments = arguments.data(),
                .variables = rows.data(),
                .images = numbers,
                .nothing = nothing.get(),
                .stack = nullptr,
                .signals = {}};
  return run(launch);
}

} // namespace ptxasw::image
