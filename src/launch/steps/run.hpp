// Launches of one step kernel of which each follows the one before.
//
// All that such launches do not share are their parameters, of which there are two sets in turn, or
// three where three arrays rotate. So a run remembers one launch, whatever it is long: whether it
// was made as it came and the next one is only looked at, or waits with others to be made as one
// (merge.hpp).
//
// Or a step is a launch and, for each array that it writes, a copy of that back to where it reads
// from, by the driver or by a kernel. Where all is copied that a step reads or writes, both arrays
// hold the same there behind the first such step, so from then on launches with the arrays
// exchanged do the same work without the copies: each element that no step writes is the same in
// both. A run of these ends with one step at least as the program asked for it, in front of which
// what was computed last is copied to where that reads it (make_run.cpp). Where no more is copied
// than what a step writes, an array of our own, which has the elements that are read besides, takes
// the place of the one written.
#pragma once

#include "contract/steps.hpp"
#include "launch/driver/request.hpp"
#include "launch/kernels/kernels.hpp"
#include "launch/kernels/shapes.hpp"
#include "launch/steps/copy_back.hpp"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

namespace ptxasw::launch {

// An entry that does T steps of a run.
struct RunEntry {
  CUfunction function = nullptr;
  unsigned count = 0;    // T
  unsigned launches = 0; // of the program's, that are made with it at a time
  contract::FittedSteps fitted;
  unsigned number = 0; // in the contract
  bool waits = false;  // for what is launched in front of it, before it touches memory
};

struct Run {
  // A new one, of which this is the first launch. What was allocated for the last one stays. False:
  // its parameters come in a form that is not known.
  bool begin(const Kernel& its_kernel, Shape& its_shape, const Request& first, const Launch& form);
  // Is this the launch behind the last one? The second one of a run tells how its arrays move.
  bool continues(const Kernel& its_kernel, const Request& other, const Launch& form);
  // The parameters of a launch of each kind, for the contract's questions.
  [[nodiscard]] contract::StepLaunch step(unsigned kind) const;
  [[nodiscard]] unsigned kinds() const { return motion->rotation ? 3 : 2; }
  // An entry may be used once there are so many launches: the last ones are single.
  unsigned fewest();
  // Some launches of the shape are not put off.
  void back_off(const std::string& why) const;

  std::shared_ptr<const Kernel> kernel;
  Shape* shape = nullptr;
  std::thread::id thread;
  const std::type_info* form = nullptr; // the function of the driver that the program called
  Request request;                      // the first one, without parameters
  std::array<std::vector<unsigned char>, 3> bytes; // by kind
  std::array<std::vector<void*>, 3> pointers;
  const contract::Steps* motion = nullptr; // any entry for which arrays move as they do here
  std::vector<CopyBack> back;              // belong to each launch, in this order
  std::size_t copied = 0;                  // of these, that have come behind the last launch
  unsigned next = 0;     // parameters of the first launch that waits, or of the one to come
  unsigned waiting = 0;  // launches taken and not made
  unsigned followed = 0; // launches made as they came that followed the one before, in a row
  unsigned length = 0;   // launches so far, however they were made

  // The program waited for the device behind the last launch; and behind each one before that.
  bool has_waited = false, is_waited = false;

  // Once launches are put off.
  std::unique_ptr<const Launch> launch;
  bool is_fitted = false;        // it was asked which entries can do it:
  std::vector<RunEntry> entries; // most steps first
  CUdeviceptr scratch = 0;       // of arrays in rotation, and where less is copied back than is
                                 // read: memory of our own,
  CUdeviceptr fourth = 0;        // as entries have it
  bool is_apart = false;         // steps go from the array that is read to ours and back,
  bool is_filled = false;        // which has what no step writes: all of it that lies behind the
  std::uint64_t filled_from = 0, filled_bytes = 0; // begin of either
  unsigned expected = 0; // launches that it will have, as those before had; 0: not known
  bool is_timed = false; // behind a group, some are made as they come to be timed
  unsigned taken = 0, groups = 0;
  // Of steps that were made ahead by one entry: those that the program has launched, and those that
  // it has not. Where it waits for each none is put off.
  unsigned asked = 0, ahead = 0;
  [[nodiscard]] bool is_ahead() const { return asked != 0; }
  unsigned since_single = 0; // steps made since all memory was as it should be

  // Of those that are expected, that were not made.
  [[nodiscard]] unsigned left() const { return expected - (length - waiting); }
  // Does this copy belong to the last launch? Behind the first one of a run it tells that there
  // are.
  bool copies_back(const CopyCall& call);
  // Launches that wait, with what belongs to them.
  [[nodiscard]] unsigned whole() const { return copied < back.size() ? waiting - 1 : waiting; }
  // Launches behind the last group that are made one by one.
  [[nodiscard]] unsigned singles() const { return singles_behind(*motion) + (is_apart ? 1 : 0); }

  [[nodiscard]] bool may_be_waited_for() const {
    return back.empty() && (length == 1 || is_waited);
  }
  // A launch behind the last one is waited for, or is not, as those before.
  [[nodiscard]] bool waits_as_before() const { return length == 1 || has_waited == is_waited; }
  // One more has come.
  void goes_on() {
    if (++length == 2) is_waited = has_waited;
    has_waited = false;
  }

private:
  [[nodiscard]] bool brings_back(const CopyCall& call, const contract::Swap& swap) const;
  void move_as(const contract::Steps& steps);
  unsigned fewest_ = 0; // 0: not asked yet
};

} // namespace ptxasw::launch
