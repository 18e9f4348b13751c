// What the threads of a launch ask of memory, and what a cache makes of it when they come in a
// given order. Whoever has a launch fills the stream (cachesim/record.hpp runs it on the CPU); the
// order is any permutation of the threads (cachesim/order.hpp).
//
// Threads come in groups of neighbours in that order. Within a group every thread makes its n-th
// access before any makes its next one; 32 of them are one request, which touches each line once. A
// group of 1 is the model of the closed forms: one thread after another. 32 is a warp that runs
// alone, larger groups are as many threads as a multiprocessor keeps in step.
#pragma once

#include "cachesim/cache.hpp"

#include <functional>
#include <span>

namespace ptxasw::cachesim {

struct Touch {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool store = false;
  friend bool operator==(const Touch&, const Touch&) = default;
};

// By thread, in the order in which that thread makes them.
using Stream = std::vector<std::vector<Touch>>;

struct CacheRun {
  CacheShape cache;
  std::optional<CacheShape> second; // asked for what the first one lacks
  unsigned group = 1;
  bool stores = false; // they bring lines in, too; else they pass by
};

struct CacheCounts {
  std::uint64_t accesses = 0;                         // of threads
  std::uint64_t touches = 0;                          // of lines, by requests
  std::uint64_t hits = 0, fetches = 0, evictions = 0; // of the first cache
  std::uint64_t second_hits = 0, second_fetches = 0;
  std::uint64_t distinct = 0; // lines that the launch touches at all: no order fetches fewer
  friend bool operator==(const CacheCounts&, const CacheCounts&) = default;
};

// What happened to the first cache; for drawings.
struct CacheEvent {
  std::uint64_t step = 0; // number of the group; groups without accesses do not count
  std::uint64_t address = 0;
  std::uint32_t bytes = 0; // of the access, within the line
  std::uint64_t line = 0;
  bool hit = false;
  std::optional<std::uint64_t> evicted;
};
using CacheObserver = std::function<void(const CacheEvent&)>;

CacheCounts simulate(const Stream& stream, std::span<const std::uint32_t> order,
                     const CacheRun& run, const CacheObserver& observer = {});

} // namespace ptxasw::cachesim
