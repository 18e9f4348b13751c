// Sleeps and looks.
#include "launch/waiting/watcher.hpp"

#include "launch/own_thread.hpp"

#include <chrono>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto look_every = 50us;
constexpr auto stay_awake = 5ms; // without launches that wait

} // namespace

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  called_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watcher::wake() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_called_ = true;
    }
    called_.notify_one();
    return;
  }
  start();
}

void Watcher::start() {
  if (thread_.joinable()) return;
  thread_ = own_thread([this] { watch(); });
}

void Watcher::watch() {
  auto idle_since = Clock::now();
  for (;;) {
    const bool waits = look_();
    const auto now = Clock::now();
    if (waits) idle_since = now;
    {
      std::unique_lock lock(mutex_);
      if (now - idle_since > stay_awake) {
        called_.wait(lock, [this] { return is_called_ || is_ending_; });
        idle_since = Clock::now();
      }
      is_called_ = false;
      if (is_ending_) return;
    }
    std::this_thread::sleep_for(look_every);
  }
}

} // namespace ptxasw::launch
