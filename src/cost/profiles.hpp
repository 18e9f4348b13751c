// The architecture profiles, as data. bench/gpu/profile.cu measures every cost on a GPU and prints
// a row in this form; a number nobody has measured here is marked estimated with its origin.
#pragma once

#include "cost/profile.hpp"

#include <array>

namespace ptxasw::cost {

constexpr Cost measured(double cycles, std::string_view source) {
  return {cycles, Provenance::measured, source};
}
constexpr Cost estimated(double cycles, std::string_view source) {
  return {cycles, Provenance::estimated, source};
}

// CUDA C++ Programming Guide, throughput of native instructions: 32 shuffle results per clock and
// SM on every compute capability from 5.0 on, which is one warp shuffle per clock.
inline constexpr std::string_view guide = "programming guide: 32 shuffle lanes per clock and SM";
// Architecture white papers: bytes per clock and SM between L1 and registers.
inline constexpr std::string_view l1_128 = "white paper: L1 delivers 128 bytes per clock and SM";
inline constexpr std::string_view l1_64 = "white paper: L1 delivers 64 bytes per clock and SM";
inline constexpr std::string_view one_tag = "one L1 line per clock, as L1 delivers one line";
inline constexpr std::string_view as_load = "as a load of one line";
inline constexpr std::string_view as_hopper = "as sm_90";

// sm_90, from kernels timed on an H200: with every covered load of a 5x5 (9x9) box filter taken
// away the kernel ran 1.40 (2.63) times as fast, with shuffles in their place 0.86 (0.70) times;
// so one guarded shuffle costs 1.57 (1.69) of the coalesced loads it replaces. Those loads touch
// one or two lines, 1.5 cycles in this unit, which leaves 2.5 cycles for shuffle, corner and guard.
// The column walk `transposed4` ran 3.5 times as fast with 8 of 9 loads replaced, which needs each
// of its loads (32 lines) to cost at least 5 times a guarded shuffle.
inline constexpr std::string_view h200_boxes = "H200: box filters with and without shuffles";

inline constexpr std::array<Profile, 7> all_profiles{{
    {.architecture = "sm_75",
     .name = "Turing",
     .shuffle = estimated(1.0, guide),
     .load = estimated(2.0, l1_64),
     .line = estimated(2.0, l1_64),
     .corner = estimated(2.0, as_load),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0,
     .threads_per_sm = 1024},
    {.architecture = "sm_80",
     .name = "Ampere",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.0, as_load),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0},
    {.architecture = "sm_86",
     .name = "Ampere",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.0, as_load),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0,
     .threads_per_sm = 1536},
    {.architecture = "sm_89",
     .name = "Ada",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.0, as_load),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0,
     .threads_per_sm = 1536},
    {.architecture = "sm_90",
     .name = "Hopper",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.0, as_load),
     .guard = measured(0.5, h200_boxes),
     .margin = 1.5},
    {.architecture = "sm_100",
     .name = "Blackwell",
     .shuffle = estimated(1.0, as_hopper),
     .load = estimated(1.0, as_hopper),
     .line = estimated(1.0, as_hopper),
     .corner = estimated(1.0, as_hopper),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0},
    {.architecture = "sm_120",
     .name = "Blackwell",
     .shuffle = estimated(1.0, as_hopper),
     .load = estimated(1.0, as_hopper),
     .line = estimated(1.0, as_hopper),
     .corner = estimated(1.0, as_hopper),
     .guard = estimated(0.5, as_hopper),
     .margin = 2.0,
     .threads_per_sm = 1536},
}};

} // namespace ptxasw::cost
