// What steps take on the device: as launches of their own, by whatever variant these are made, and
// by each entry that does several. An entry that is no faster is not used again.
//
// Times are read from events, a few of each kind for a shape of launches, and now and then one
// more: what a step takes may hang on the data. Where it has become slower all are timed anew.
// Nothing ever waits for them. All of it is done by the thread whose turn it is.
#pragma once

#include "launch/driver/driver.hpp"

#include <deque>
#include <limits>
#include <map>
#include <optional>

namespace ptxasw::launch {

class StepTimes {
public:
  static constexpr unsigned singly = ~0U; // else the number of an entry in the contract
  static constexpr unsigned enough = 3;   // times of each kind
  // Launches of their own that are timed together.
  static constexpr unsigned single_steps = 8;

  // Microseconds of a step, as far as events have told; 0: not known.
  [[nodiscard]] double step_of(unsigned kind);
  // An entry was timed more often than launches of their own, which are to have a turn: what both
  // take hangs on what the device did before.
  [[nodiscard]] bool is_turn_of_singles() const;
  [[nodiscard]] bool was_asked(unsigned kind) const { return times_.contains(kind); }
  // Would another time of this kind tell something?
  [[nodiscard]] bool wants(unsigned kind) const;
  // Of steps that an entry does now: are they to be timed?
  [[nodiscard]] bool wants_now(unsigned entry);
  // Around steps of one kind that are launched to the stream.
  void begin(CUstream stream);
  void end(CUstream stream, unsigned kind, unsigned steps);
  void cancel();
  [[nodiscard]] bool is_running() const { return begun_ != nullptr; }
  // What a step takes, in parts of one as launches of their own; nothing unless so many times of
  // it, and so many of these, were read.
  [[nodiscard]] std::optional<double> share_of(unsigned kind, unsigned times, unsigned singles);
  // False: so many times have told that launches of their own are as fast.
  [[nodiscard]] bool pays(unsigned kind);

private:
  struct Pending {
    CUevent begin = nullptr, end = nullptr;
    unsigned kind = 0, steps = 0;
  };
  struct Times {
    unsigned asked = 0, known = 0;
    double least = std::numeric_limits<double>::infinity(); // microseconds of a step
  };
  void collect();
  void begin_anew();

  CUevent begun_ = nullptr;
  unsigned cancelled_ = 0, made_ = 0, begun_anew_ = 0;
  std::deque<Pending> pending_;
  std::map<unsigned, Times> times_; // by kind
};

} // namespace ptxasw::launch
