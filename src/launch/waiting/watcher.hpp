// A thread of ours that looks every 50 microseconds whether launches have waited long enough: a
// host that looks at memory, or at nothing at all, sees progress. It sleeps while there are none.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ptxasw::launch {

class Watcher {
public:
  // `look` says whether launches still wait.
  explicit Watcher(std::function<bool()> look) : look_(std::move(look)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();
  // Begins the thread, if there is none.
  void start();
  // Launches wait from now on.
  void wake();

private:
  void watch();

  const std::function<bool()> look_;
  std::thread thread_;
  std::mutex mutex_; // of what stands behind it; nothing is called under it
  std::condition_variable called_;
  bool is_called_ = false, is_ending_ = false;
};

} // namespace ptxasw::launch
