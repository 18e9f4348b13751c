// A small random number generator with the same numbers on every machine (SplitMix64).
#pragma once

#include <cstdint>

namespace ptxasw::simt {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // True once in `n`.
  bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
  std::uint64_t state_;
};

} // namespace ptxasw::simt
