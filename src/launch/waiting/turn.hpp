// Whose turn it is to put launches off and to make them: one turn for all ways to do so, since a
// tool may call for all of them while one makes its launches.
//
// Launches that were put off are made by calls of the driver, and while one goes on nobody else may
// begin a call that comes behind it: threads take turns. But a tool may have a function of its own
// called by the driver within such a call, and that may call the driver again. It is the same
// thread, so the turn is its own, what it asks for comes where the call stands, and it goes
// through. With a lock it would wait for itself.
#pragma once

#include <atomic>
#include <mutex>

namespace ptxasw::launch {

class Turn {
public:
  // This thread has it.
  [[nodiscard]] bool is_mine() const { return owner_.load(std::memory_order_relaxed) == thread(); }
  // False: this thread has it already.
  [[nodiscard]] bool take() {
    if (is_mine()) return false;
    mutex_.lock();
    owner_.store(thread(), std::memory_order_relaxed);
    return true;
  }
  void give() {
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }

  // For as long as it lives. False: the thread had it before, and there is nothing to do.
  class Holder {
  public:
    explicit Holder(Turn& turn) : turn_(turn), is_new_(turn.take()) {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
      if (is_new_) turn_.give();
    }
    explicit operator bool() const { return is_new_; }

  private:
    Turn& turn_;
    const bool is_new_;
  };

private:
  static const void* thread() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local char here = 0;
    return &here;
  }
  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
};

} // namespace ptxasw::launch
