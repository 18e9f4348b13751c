// Makes the launches of a run that were put off: groups of them by entries that do several steps,
// the rest one by one (contract/steps.hpp says why at least one has to be the last).
//
// All of it calls the driver, so it is done by whoever has the turn (turn.hpp).
#pragma once

#include "launch/choose/check.hpp"
#include "launch/driver/scratch.hpp"
#include "launch/steps/run.hpp"

#include <functional>

namespace ptxasw::launch {

class RunMaker {
public:
  // Makes a launch as it came, or by a variant.
  using Single = std::function<CUresult(const Kernel&, Shape&, const Request&, const Launch&)>;
  // Checks on copies of memory what `merged` does against what `singly` does (--check).
  using Check = std::function<void(const Kernel&, Shape&, const Request& first,
                                   const decltype(Candidate::run)& singly,
                                   const decltype(Candidate::run)& merged)>;
  // Without a check, launches are made as soon as they can be.
  RunMaker(Single single, Check check) : single_(std::move(single)), check_(std::move(check)) {}

  // What becomes of the launches behind those that were taken.
  // `time`: some as they come, which are timed, then groups again.
  enum class Next : std::uint8_t { wait, as_they_come, time, no_entry };
  // As many groups as there are, the last launches held back. Where a run's length is expected they
  // wait only as long as another group is to come.
  Next make_groups(Run& run);
  // All that waits.
  void make_all(Run& run);
  // As many steps as an entry can do, and `most` at most, of which the program has launched the
  // first one. False: none can.
  bool make_ahead(Run& run, unsigned most);
  // One launch more, as it comes.
  void make_next(Run& run) const {
    run.waiting = 1;
    make_single(run);
  }

private:
  bool fit(Run& run);
  bool find_scratch(Run& run);
  static std::string why_not_back(Run& run, const contract::Steps& steps,
                                  const contract::FittedSteps& fitted);
  static bool fill_scratch(Run& run);
  static void leave_alone(Run& run);
  void make_checked(Run& run) const;
  void make_rest(Run& run) const;
  void make_again(Run& run) const;
  void make_group(Run& run, const RunEntry& entry) const;
  void make_single(Run& run) const;
  void make_copies(const Run& run, std::size_t count) const;

  const Single single_;
  const Check check_;
  ScratchBuffers scratch_;
};

} // namespace ptxasw::launch
