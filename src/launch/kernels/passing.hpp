// Launches that go through as they came, for good or so many times: as each thread remembers them.
//
// What a launcher costs a launch of three microseconds is lines of the caches, of data and of code,
// that the driver has displaced since the one before. So a launch that is remembered here goes on
// before anything else is looked at: not its kernel, its shape or its context. Contexts do not
// count, since the launch that the program asked for is right in each.
#pragma once

#include "launch/driver/request.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ptxasw::launch {

// All that a launch is but its arguments and its stream, two numbers in each word; `hook`: which of
// the driver's functions was called.
struct LaunchKey {
  CUfunction function = nullptr;
  std::uint64_t grid_xy = 0, grid_z_block_x = 0, block_yz = 0, shared_hook = 0;
};

constexpr LaunchKey launch_key(unsigned hook, CUfunction function, unsigned gx, unsigned gy,
                               unsigned gz, unsigned bx, unsigned by, unsigned bz,
                               unsigned shared) {
  const auto both = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
  return {function, both(gx, gy), both(gz, bx), both(by, bz), both(shared, hook)};
}

// One line of the cache.
struct alignas(64) PassingLaunch {
  std::uint64_t epoch = 0;
  void* real = nullptr; // the driver's function
  LaunchKey key;
  std::uint32_t left = 0, told = 0; // so many times more, of so many that nobody asked for (passed)
};

// Another one whenever handles may stand for other kernels than before.
inline std::atomic<std::uint64_t>& passing_epoch() {
  static constinit std::atomic<std::uint64_t> epoch{1};
  return epoch;
}

inline std::uint64_t slot_number(const LaunchKey& key) {
  return reinterpret_cast<std::uintptr_t>(key.function) / 16 + key.grid_xy * 31 +
         (key.grid_z_block_x >> 37);
}

// Of this thread. A preloaded library has room for them from the start, and they need no code to
// be made.
inline PassingLaunch& passing_slot(const LaunchKey& key) {
  constexpr std::size_t slots = 16;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::array<PassingLaunch, slots>
      launches{};
  return launches[slot_number(key) % slots];
}

inline constexpr std::uint64_t for_good = ~std::uint64_t{0};

inline std::uint64_t words_differ(const PassingLaunch& known, const LaunchKey& key) {
  // By words, which stay in registers.
  return (known.epoch ^ passing_epoch().load(std::memory_order_acquire)) |
         (reinterpret_cast<std::uintptr_t>(known.key.function) ^
          reinterpret_cast<std::uintptr_t>(key.function)) |
         (known.key.grid_xy ^ key.grid_xy) | (known.key.grid_z_block_x ^ key.grid_z_block_x) |
         (known.key.block_yz ^ key.block_yz) | (known.key.shared_hook ^ key.shared_hook);
}

// Null: it has to be looked at.
inline void* passing(const LaunchKey& key) {
  PassingLaunch& known = passing_slot(key);
  if (words_differ(known, key) != 0 || known.left == 0) return nullptr;
  --known.left;
  return known.real;
}

inline LaunchKey launch_key(unsigned hook, const Request& r) {
  return launch_key(hook, r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1],
                    r.block[2], r.shared);
}

inline PassingLaunch passing_launch(std::uint64_t epoch, void* real, const LaunchKey& key,
                                    std::uint64_t times) {
  const auto left = static_cast<std::uint32_t>(std::min<std::uint64_t>(times, ~std::uint32_t{0}));
  return {epoch, real, key, left, left};
}

// `epoch`: of the time before it was looked at.
inline void remember_passing(std::uint64_t epoch, unsigned hook, void* real, const Request& r,
                             std::uint64_t times) {
  const LaunchKey key = launch_key(hook, r);
  passing_slot(key) = passing_launch(epoch, real, key, times);
}

// How many launches like this one have passed since that was asked last; fewer where another launch
// had the same slot meanwhile.
inline std::uint64_t take_passed(PassingLaunch& known, const LaunchKey& key) {
  return words_differ(known, key) != 0 ? 0 : std::exchange(known.told, known.left) - known.left;
}
inline std::uint64_t take_passed(unsigned hook, const Request& r) {
  const LaunchKey key = launch_key(hook, r);
  return take_passed(passing_slot(key), key);
}

} // namespace ptxasw::launch
