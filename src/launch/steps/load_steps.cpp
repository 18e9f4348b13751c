// Loads entries.
#include "launch/steps/load_steps.hpp"

#include "launch/driver/in_context.hpp"
#include "launch/log.hpp"
#include "launch/own_thread.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace ptxasw::launch {
namespace {

std::atomic<StepLoader*> started{nullptr}; // of the last engine; there is one, but in tests
pid_t of_process = 0;

} // namespace

// A child of fork() has no such thread.
void StepLoader::end_of_program() {
  StepLoader* const loader = started.load();
  if (loader == nullptr || ::getpid() != of_process) return;
  std::unique_lock lock(loader->mutex_);
  loader->asked_.clear();
  loader->is_ending_ = true;
  loader->called_.notify_one();
  loader->done_.wait_for(lock, std::chrono::seconds(2), [&] { return !loader->is_busy_; });
}

StepLoader::~StepLoader() {
  StepLoader* self = this;
  started.compare_exchange_strong(self, nullptr);
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  called_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void StepLoader::start() {
  if (thread_.joinable()) return;
  of_process = ::getpid();
  if (started.exchange(this) == nullptr) {
    // What is registered later is called earlier: the driver was initialized before.
    [[maybe_unused]] static const int registered = std::atexit(end_of_program);
  }
  thread_ = own_thread([this] { work(); });
}

void StepLoader::ask(std::shared_ptr<const Kernel> kernel) {
  start();
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(kernel));
  }
  called_.notify_one();
}

void StepLoader::forget() {
  std::unique_lock lock(mutex_);
  asked_.clear();
  done_.wait(lock, [this] { return !is_busy_; });
}

void StepLoader::settle() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return !is_busy_ && asked_.empty(); });
}

void StepLoader::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    called_.wait(lock, [this] { return is_ending_ || !asked_.empty(); });
    if (is_ending_) return;
    const std::shared_ptr<const Kernel> kernel = std::move(asked_.back());
    asked_.pop_back();
    is_busy_ = true;
    lock.unlock();
    {
      const InContext context(kernel->context);
      const Relaxed relaxed;
      load_steps(*kernel);
    }
    log("%s: its entries for several steps are loaded", kernel->name.c_str());
    lock.lock();
    is_busy_ = false;
    done_.notify_all();
  }
}

} // namespace ptxasw::launch
