// Launches that are time steps, put off until several of them can be made as one.
//
// contract/steps.hpp says what an entry for T steps does and how a run of launches follows. Here a
// run is collected: its launches return at once, and are made as soon as enough of them are there,
// with at least one single launch held back, or when anybody could tell. MERGING.md goes through
// who that may be, and why nobody can.
//
// A launch is put off only where the next one can be expected to follow it. Where runs of the shape
// have one length (Period), that is known: what is put off becomes a group, and what is left over
// is made as it comes, if that is forecast to gain (forecast.hpp); if not, launches are not even
// looked at, but for some in hundreds. Else as many launches of its shape as Shape::trigger_count
// have to follow the one before, in a row and with no other call in between. Those are some, none
// behind a run that was merged and long enough to pay, and twice as many behind each that was not.
// So a run that pays brings at most one launch that is put off in vain, and without such runs these
// get rare.
//
// One run waits at a time, of one thread and stream. Whatever else a program asks of its driver
// comes behind it (trampolines.hpp, hooks.cpp). Runs are begun, made and ended by the thread whose
// turn it is; there is no lock beside that.
#pragma once

#include "launch/steps/load_steps.hpp"
#include "launch/steps/make_run.hpp"
#include "launch/steps/run.hpp"
#include "launch/waiting/turn.hpp"
#include "launch/waiting/watcher.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace ptxasw::launch {

class Merger {
public:
  Merger(Turn& turn, RunMaker::Single single, RunMaker::Check check,
         std::chrono::microseconds longest_wait, std::chrono::microseconds tries_behind);

  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;
  ~Merger();

  // Nobody looks whether the next launches of the shape, so many, follow one another.
  [[nodiscard]] std::uint64_t left_alone(const Shape& shape) const;
  // True: the launch will be made. False: what waited is made, and this launch is the caller's.
  // Not for one that is left alone.
  bool take(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  // The same of a copy, which may belong to the launch in front of it.
  bool take_copy(const CopyCall& copy);
  // Makes what waits. From any thread.
  void flush();
  // The program is about to wait for all that runs in a context.
  void before_wait(CUcontext context);
  // From now on nothing is put off: the program ends, or not all of its calls can be seen.
  void stop(const std::string& why);

  // Around fork(), by the thread whose turn it is: no launch of the parent is made by the child.
  void before_fork() { make_all(); }
  void behind_fork_in_child() { stopped_ = true; }
  // Of a kernel, by a thread of ours. Asked by the thread whose turn it is.
  void load_entries(const Kernel& kernel);
  // Ahead of their first use.
  void start_threads();
  // Handles may stand for other kernels, and modules go.
  void forget_handles();
  // Waits for what is prepared ahead of its use.
  void settle() { loader_.settle(); }

private:
  // Those that follow are called by the thread whose turn it is.
  void add();
  void make_groups();
  void make_all();
  void end_run();
  bool look_at(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  [[nodiscard]] bool is_time();
  [[nodiscard]] bool are_entries_there(const Kernel& kernel);
  [[nodiscard]] static bool is_expected_to_pay(Run& run, unsigned first);
  [[nodiscard]] bool is_time_to_go_ahead();
  bool start(const Launch& launch);
  bool go_ahead();
  void as_they_come();
  void take_ahead();
  void go_on_as_they_come(bool is_timed = false);
  static void learn(Run& run);
  static void learn_of_ahead(Run& run);
  static void leave_quiet(Run& run, unsigned before);
  void begin_period(Run& run) const;
  void time_singles();
  void end_previous();
  void made_as_it_came();
  std::string why_not(const Run& run) const;

  bool look();

  Turn& turn_;
  RunMaker maker_;
  std::unique_ptr<Run> run_;      // its launches are put off
  std::unique_ptr<Run> previous_; // its launches were made as they came; null while there is a run
  bool is_previous_last_ = false; // nothing was asked of the driver behind the last of these
  std::chrono::steady_clock::time_point last_taken_;

  std::atomic<bool> stopped_{false};
  const std::chrono::microseconds longest_wait_; // for the next launch
  const std::chrono::microseconds tries_behind_; // the first short run

  StepLoader loader_;
  Watcher watcher_{[this] { return look(); }}; // the last one: it ends first
};

} // namespace ptxasw::launch
