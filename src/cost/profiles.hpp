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
inline constexpr std::string_view as_load = "a load of one line and the predicates, as sm_90";
inline constexpr std::string_view as_hopper = "as sm_90";

// bench/gpu/profile.cu on an H200 (bench/results/h200/profile.json). The corner case is what a
// guarded shuffle costs over the shuffle itself, its predicates included.
inline constexpr std::string_view h200 = "H200: bench/gpu/profile.cu";

inline constexpr std::array<Profile, 7> all_profiles{{
    {.architecture = "sm_75",
     .name = "Turing",
     .shuffle = estimated(1.0, guide),
     .load = estimated(2.0, l1_64),
     .line = estimated(2.0, l1_64),
     .corner = estimated(2.8, as_load),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 68,
     .threads_per_sm = 1024,
     .shared_per_sm = 64U << 10},
    {.architecture = "sm_80",
     .name = "Ampere",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.8, as_hopper),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 108,
     .shared_per_sm = 164U << 10},
    {.architecture = "sm_86",
     .name = "Ampere",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.8, as_hopper),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 84,
     .threads_per_sm = 1536,
     .shared_per_sm = 100U << 10},
    {.architecture = "sm_89",
     .name = "Ada",
     .shuffle = estimated(1.0, guide),
     .load = estimated(1.0, l1_128),
     .line = estimated(1.0, one_tag),
     .corner = estimated(1.8, as_hopper),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 128,
     .threads_per_sm = 1536,
     .shared_per_sm = 100U << 10},
    {.architecture = "sm_90",
     .name = "Hopper",
     .shuffle = measured(1.0, h200),
     .load = measured(1.02, h200),
     .line = measured(1.0, h200),
     .corner = measured(1.81, h200),
     .guard = measured(0.0, h200),
     .margin = 1.5,
     // bench/rule bench/results/h200/{ways,forms,forms-flat,forms-tiles}.json.gz: where one wave
     // was left, what is taken ran at 0.99 and more.
     .coarsen = {.margin = 1.08, .least_waves = 1, .provenance = Provenance::measured}},
    {.architecture = "sm_100",
     .name = "Blackwell",
     .shuffle = estimated(1.0, as_hopper),
     .load = estimated(1.0, as_hopper),
     .line = estimated(1.0, as_hopper),
     .corner = estimated(1.8, as_hopper),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 148},
    {.architecture = "sm_120",
     .name = "Blackwell",
     .shuffle = estimated(1.0, as_hopper),
     .load = estimated(1.0, as_hopper),
     .line = estimated(1.0, as_hopper),
     .corner = estimated(1.8, as_hopper),
     .guard = estimated(0.0, as_hopper),
     .margin = 2.0,
     .processors = 170,
     .threads_per_sm = 1536,
     .shared_per_sm = 100U << 10},
}};

} // namespace ptxasw::cost
