// A thread of ours that asks the driver for the entries of step kernels ahead of their first use.
//
// A driver loads an entry when it is first asked for, which takes as long as tens of launches. So
// that is no business of the thread that launches: it says which kernel will be needed, and goes on
// with single launches until the entries are there (Kernel::are_steps_ready). When the program ends
// it is waited for, ahead of the driver's own end.
#pragma once

#include "launch/kernels/kernels.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ptxasw::launch {

class StepLoader {
public:
  StepLoader() = default;
  StepLoader(const StepLoader&) = delete;
  StepLoader& operator=(const StepLoader&) = delete;
  ~StepLoader();
  // Begins the thread, if there is none.
  void start();
  void ask(std::shared_ptr<const Kernel> kernel);
  // A module may go: nothing that was asked is done any more. Waits for what is being done. Not by
  // a thread that is within a call of the driver.
  void forget();
  // Returns when all that was asked is done.
  void settle();

private:
  void work();
  static void end_of_program();

  std::thread thread_;
  std::mutex mutex_; // of what stands behind it; the driver is not called under it
  std::condition_variable called_, done_;
  std::vector<std::shared_ptr<const Kernel>> asked_;
  bool is_busy_ = false, is_ending_ = false;
};

} // namespace ptxasw::launch
