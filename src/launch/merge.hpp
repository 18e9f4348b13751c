// Launches that are time steps, put off until several of them can be made as one (--steps).
//
// contract/steps.hpp says what an entry for T steps does and how a run of launches follows. Here a
// run is collected: its launches return at once, and are made as soon as enough of them are there,
// with at least one single launch held back, or when anybody could tell. MERGING.md goes through
// who that may be, and why nobody can.
//
// One run waits at a time, of one thread and stream. Whatever else a program asks of its driver
// comes behind it (trampolines.hpp, hooks.cpp).
#pragma once

#include "contract/steps.hpp"
#include "launch/kernels.hpp"
#include "launch/request.hpp"
#include "launch/shapes.hpp"

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
  struct Entry {
    CUfunction function = nullptr;
    unsigned count = 0; // T
    contract::FittedSteps fitted;
  };
  // The launches of a run: all that they do not share are the parameters, of which there are two.
  struct Run {
    std::shared_ptr<const Kernel> kernel;
    Shape* shape = nullptr;
    std::thread::id thread;
    std::unique_ptr<const Launch> launch;
    Request request; // the first one, without parameters
    std::array<std::vector<unsigned char>, 2> bytes;
    std::array<std::vector<void*>, 2> pointers;
    const contract::Steps* swaps = nullptr;
    std::vector<Entry> entries; // most steps first
    unsigned waiting = 0;       // launches taken and not made
    unsigned next = 0;          // parameters of the first of these
    unsigned taken = 0, groups = 0;
    unsigned since_single = 0; // steps made since all memory was as it should be
  };

  bool start(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  std::string why_not(const Kernel& kernel, const Shape& shape, const Request& request) const;
  bool fit_entries(Run& run) const;
  [[nodiscard]] bool continues(const Run& run, const Kernel& kernel, const Request& request,
                               const Launch& launch) const;
  void make_groups();
  void make_all();
  void make_group(Run& run, const Entry& entry) const;
  void make_single(Run& run) const;
  void make_rest(Run& run) const;
  void finish();
  void watch();

  const Single single_;
  const Check check_;
  const std::chrono::microseconds longest_wait_; // for the next launch
  std::mutex mutex_;
  std::unique_ptr<Run> run_;
  std::chrono::steady_clock::time_point last_taken_;
  bool stopped_ = false;
  std::thread watcher_; // once there was a run
  bool asleep_ = false; // it waits to be called
  bool ending_ = false;
  std::condition_variable wake_;
};

} // namespace ptxasw::launch
