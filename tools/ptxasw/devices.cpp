// Asks the driver in a process of its own, which takes with it what a driver leaves behind.
#include "devices.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

constexpr int major_attribute = 75, minor_attribute = 76; // as in cuda.h

// Compute capabilities, a byte each.
std::string capabilities() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return {};
  const auto initialize = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count_of = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  const auto ask =
      reinterpret_cast<int (*)(int*, int, int)>(::dlsym(driver, "cuDeviceGetAttribute"));
  int count = 0;
  if (initialize == nullptr || count_of == nullptr || ask == nullptr || initialize(0) != 0 ||
      count_of(&count) != 0)
    return {};
  std::string found;
  for (int device = 0; device < count; ++device) {
    int major = 0, minor = 0;
    if (ask(&major, major_attribute, device) != 0 || ask(&minor, minor_attribute, device) != 0)
      return {};
    found.push_back(static_cast<char>(major * 10 + minor));
  }
  return found;
}

} // namespace

std::vector<std::string> chips_here() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string found = capabilities();
    [[maybe_unused]] const auto written = ::write(ends[1], found.data(), found.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<std::string> chips;
  for (unsigned char capability = 0; child > 0 && ::read(ends[0], &capability, 1) == 1;) {
    const std::string chip = "sm_" + std::to_string(capability);
    if (std::ranges::find(chips, chip) == chips.end()) chips.push_back(chip);
  }
  ::close(ends[0]);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return chips;
}

} // namespace ptxasw::tool
