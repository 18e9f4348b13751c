// How many time steps in a row a program makes until it does something else: a residual, output, a
// source. Where two runs in a row had one length, the next one is expected to have it, too, and
// what has to be put off for that is known beforehand.
//
// Whether runs of a few steps gain by being merged hangs on what the program does in between. So
// some go as they come and some merged, in turn, until the clock has told which periods are faster.
#pragma once

#include <array>
#include <chrono>
#include <vector>

namespace ptxasw::launch {

class Period {
public:
  using Clock = std::chrono::steady_clock;

  // Launches that the run that begins is expected to have; 0: nobody knows.
  [[nodiscard]] unsigned expected() const { return seen_ < needed_ ? 0 : length_; }
  // Shall it be merged?
  [[nodiscard]] bool merges() const;
  // A run begins. `now` is called only where the time matters.
  template <class Now> void begin(const Now& now) {
    if (is_tried()) time(now());
  }
  // It had so many launches. `wasted`: some were put off and not merged.
  void end(unsigned length, bool was_merged, bool wasted);

private:
  [[nodiscard]] bool is_tried() const;
  void time(Clock::time_point now);

  unsigned length_ = 0, seen_ = 0; // of so many runs in a row
  unsigned needed_ = 2;            // twice as many behind one that was put off in vain
  bool is_decided_ = false, goes_merged_ = false;
  unsigned passes_ = 0;
  bool is_timed_ = false, was_merged_ = false; // the run before
  Clock::time_point begun_;
  std::array<std::vector<double>, 2> times_; // microseconds of a period: as it came, merged
};

} // namespace ptxasw::launch
