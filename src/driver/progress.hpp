// One line on a terminal for work that takes longer than two seconds: how far it is, and for how
// long it will go on at the pace so far. It needs nothing but the standard library.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace ptxasw::driver {

class Progress {
public:
  using Sink = std::function<void(std::string_view)>;
  using Clock = std::function<double()>; // seconds, from any origin

  // On standard error if that is a terminal, else nowhere.
  explicit Progress(std::string what);
  Progress(std::string what, Sink sink, Clock clock); // no sink: nowhere
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress(); // takes the line away

  // So much of the work is done; `of` 0: nobody knows how much there is. `now` says what it is
  // busy with. May be called by several threads. Fewer than in the last call: another round of
  // work, with a pace of its own.
  void at(std::uint64_t done, std::uint64_t of, std::string_view now = {});
  // The work ends at this time after its beginning at the latest, in seconds.
  void ends_after(double seconds) { limit_ = seconds; }

private:
  [[nodiscard]] std::string line(std::uint64_t done, std::uint64_t of, std::string_view now,
                                 double time) const;

  std::string what_;
  Sink sink_;
  Clock clock_;
  std::mutex mutex_;
  double begun_ = 0, round_begun_ = 0, drawn_ = 0;
  double limit_ = 0; // 0: none
  std::uint64_t done_ = 0;
  bool visible_ = false;
};

// "8 s", "3 min", "2 h 10 min"; rounded as an estimate deserves.
std::string about(double seconds);

} // namespace ptxasw::driver
