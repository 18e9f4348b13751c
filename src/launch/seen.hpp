// Kernels that a program launches one after the other, over and over, with the same parameters each
// time, or with other numbers among them: found out in its first launches, and written down for
// whoever prepares its images next (image/seen_sequences.hpp).
//
// Only so many launches of a process are looked at, and compared with those before them in the same
// stream by the same thread. Later ones cost nothing.
#pragma once

#include "contract/sequences.hpp"
#include "launch/kernels.hpp"
#include "launch/request.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ptxasw::launch {

class SeenLaunches {
public:
  // Some launches are still to be looked at.
  [[nodiscard]] bool is_looking() const { return left_.load(std::memory_order_relaxed) > 0; }
  void look(const Kernel& kernel, const Request& request);
  // What was found so far.
  [[nodiscard]] std::vector<contract::SeenSequence> found();

private:
  struct Seen {
    CUfunction function = nullptr;
    CUmodule module = nullptr;
    std::string name;
    Dims grid{}, block{};
    ParameterLayout layout;
    std::vector<unsigned char> parameters; // empty: they are not known
    [[nodiscard]] bool is_like(const Seen& other) const;
    [[nodiscard]] std::vector<unsigned char> value(unsigned number) const; // of a parameter
  };
  using Lane = std::deque<Seen>; // the last ones

  static std::size_t period_of(const Lane& lane);
  static bool is_another(const Lane::const_iterator& one, std::size_t period, unsigned number);
  void add(const Lane& lane, std::size_t period);

  std::atomic<int> left_{16384};
  std::mutex mutex_;
  std::map<std::pair<std::thread::id, CUstream>, Lane> lanes_;
  std::map<CUfunction, ParameterLayout> layouts_;
  std::vector<contract::SeenSequence> found_;
};

} // namespace ptxasw::launch
