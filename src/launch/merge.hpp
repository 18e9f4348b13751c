// Launches that are time steps, put off until several of them can be made as one (--steps).
//
// contract/steps.hpp says what an entry for T steps does and how a run of launches follows. Here a
// run is collected: its launches return at once, and are made as soon as enough of them are there,
// with at least one single launch held back, or when anybody could tell. MERGING.md goes through
// who that may be, and why nobody can.
//
// A launch is put off only where the next one can be expected to follow it: as many launches of its
// shape as Shape::needed followed the one before, in a row and with no other call in between. Those
// are a few, none behind a run that was merged and long enough to pay, and twice as many behind
// each that was not. So a run that pays brings at most one launch that is put off in vain, and
// without such runs these get rare.
//
// One run waits at a time, of one thread and stream. Whatever else a program asks of its driver
// comes behind it (trampolines.hpp, hooks.cpp).
#pragma once

#include "launch/fourth.hpp"
#include "launch/run.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ptxasw::launch {

class Merger {
public:
  // Makes a launch as it came, or by a variant.
  using Single = std::function<CUresult(const Kernel&, Shape&, const Request&, const Launch&)>;
  // Makes what `merged` does, and checks it against what `singly` does (--check).
  using Check = std::function<void(const Kernel&, Shape&, const Request& first,
                                   const std::function<CUresult()>& singly,
                                   const std::function<CUresult()>& merged)>;
  // No check: launches are made as soon as they can be.
  Merger(Single single, Check check, std::chrono::microseconds longest_wait);

  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;
  ~Merger();

  // True: the launch will be made. False: what waited is made, and this launch is the caller's.
  bool take(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  // Makes what waits. From any thread.
  void flush();
  // From now on nothing is put off: the program ends, or not all of its calls can be seen.
  void stop(const std::string& why);

  // Around fork(): no launch of the parent is made by the child.
  void before_fork();
  void behind_fork(bool in_child);

private:
  bool look(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  bool start(const Launch& launch);
  std::string why_not(const Run& run) const;
  void made_as_it_came();
  static void leave_alone(const Run& run, const std::string& why);
  bool fit(Run& run);
  bool find_fourth(Run& run);
  void make_groups();
  void make_all();
  static bool launch_entry(const Run& run, const RunEntry& entry, bool is_behind_entry,
                           contract::StepArrays* arrays);
  void make_group(Run& run, const RunEntry& entry) const;
  void make_single(Run& run) const;
  void make_rest(Run& run) const;
  void finish();
  void watch();

  const Single single_;
  const Check check_;
  const std::chrono::microseconds longest_wait_; // for the next launch
  std::mutex mutex_;
  std::unique_ptr<Run> run_;    // its launches are put off
  std::unique_ptr<Run> former_; // its launches were made as they came; null while there is a run
  bool is_former_last_ = false; // nothing was asked of the driver behind the last of these
  FourthArrays fourth_;
  std::chrono::steady_clock::time_point last_taken_;
  bool stopped_ = false;
  std::thread watcher_; // once there was a run
  bool asleep_ = false; // it waits to be called
  bool ending_ = false;
  std::condition_variable wake_;
};

} // namespace ptxasw::launch
