// How many time steps in a row a program makes until it does something else: a residual, output, a
// source. Where two runs in a row had one length, the next one is expected to have it, too, and
// what has to be put off for that is known beforehand.
//
// Whether runs of a few steps gain by being merged hangs on what the program does in between. So
// some go as they come and some merged, in turn, until the clock and the device's times have told
// which is faster. Where those that were merged are clearly slower at first that is the end of it.
// That costs some of these runs as much again, so it is begun where the program has gone on for
// long enough behind the first one for that to be little. What was found out of a length is kept: a
// last run that is shorter, or another loop in between, changes nothing.
#pragma once

#include "target/numbers.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::launch {

// What the device takes for a run, microseconds; 0: not known.
struct RunTimes {
  double singly = 0, merged = 0;
};

class Period {
public:
  using Clock = std::chrono::steady_clock;

  // Launches that the run that begins is expected to have; 0: nobody knows.
  [[nodiscard]] unsigned expected() const { return seen_ < needed_ ? 0 : length_; }
  // Shall it be merged?
  [[nodiscard]] bool merges() const;
  // Runs of the expected length were found to gain nothing, for as long as the program lasts.
  [[nodiscard]] bool is_left_alone() const {
    return expected() != 0 && verdict().is_decided && !verdict().goes_merged;
  }
  void leave_alone() {
    verdict().is_decided = true;
    verdict().goes_merged = false;
  }
  // What was found out, for the program's next time: "5-,7+,=12", runs of five steps gain nothing,
  // of seven they do, and twelve are expected. Empty: nothing.
  [[nodiscard]] std::string findings() const;
  void recall(std::string_view findings);
  // A run begins. `now` and `times` are called only where they matter. Nothing is tried within
  // `young` behind the first run that could be.
  template <class Now, class Times>
  void begin(const Now& now, const Times& times, std::chrono::microseconds young) {
    if (!is_tried()) return;
    const Clock::time_point at = now();
    if (!first_) first_ = at;
    is_young_ = at - *first_ < young;
    if (!is_young_) time(at, times());
  }
  // Runs of the expected length are still left as they come, untried and untimed.
  [[nodiscard]] bool is_young() const { return is_tried() && is_young_; }
  // It had so many launches. `wasted`: some were put off and not merged.
  void end(unsigned length, bool was_merged, bool wasted);
  // The next run is not seen from its begin on.
  void pass_over() {
    is_partial_ = true;
    is_timed_ = false;
  }

private:
  struct Verdict {
    bool is_decided = false, goes_merged = false;
    // microseconds of a period: as it came, merged
    std::array<std::vector<double>, 2> times;
  };
  // Of longer runs all are decided as one.
  static constexpr unsigned longest = 32;
  Verdict& verdict() { return verdicts_[length_ < longest ? length_ : longest]; }
  [[nodiscard]] const Verdict& verdict() const {
    return verdicts_[length_ < longest ? length_ : longest];
  }
  [[nodiscard]] bool is_tried() const;
  void time(Clock::time_point now, const RunTimes& on_device);

  unsigned length_ = 0, seen_ = 0; // of so many runs in a row
  unsigned needed_ = 2;            // twice as many behind one that was put off in vain
  unsigned passes_ = 0;
  bool is_partial_ = false;
  bool is_timed_ = false, was_merged_ = false; // the run before
  bool is_young_ = true;
  std::optional<Clock::time_point> first_;
  Clock::time_point begun_;
  std::array<Verdict, longest + 1> verdicts_; // by length
};

} // namespace ptxasw::launch
