// What runs of a program told of its kernels: a file for the next build.
//
// `ptxasw launch --profile=FILE` writes one when a program ends, `ptxasw profile merge` makes one
// of several, and a build takes it (--profile=FILE) to choose what was measured to be fastest for
// the launches that a kernel really gets. It is JSON of one version, of one chip. It is data: a
// build chooses by it among what is proven, so a wrong one costs time and never a result.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::profile {

inline constexpr unsigned version = 2;
inline constexpr std::size_t largest_file = std::size_t{64} << 20;

// Of launches by one version, in microseconds.
struct Time {
  std::uint64_t samples = 0;
  double least = 0, mean = 0;
  friend bool operator==(const Time&, const Time&) = default;
};

// Launches that differ in nothing but their arguments.
struct Shape {
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned shared = 0;                               // dynamic shared memory, bytes
  std::uint64_t launches = 0;                        // how often
  std::string chosen;                                // the version that ran most
  std::map<std::string, Time, std::less<>> versions; // by name, as a launch contract has them
  [[nodiscard]] std::uint64_t threads() const;
  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Kernel {
  std::string name;
  std::uint64_t text = 0;     // hash_of_text; 0: not known, and then nothing was measured
  std::uint64_t launches = 0; // of a kernel that had no versions
  // Cooperative ones, beside all others: as many blocks may have to fit on the chip as before.
  std::uint64_t cooperative = 0;
  std::vector<Shape> shapes;
  [[nodiscard]] std::uint64_t all_launches() const;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct Chip {
  std::string name;         // "NVIDIA H200"
  std::string architecture; // "sm_90"
  friend bool operator==(const Chip&, const Chip&) = default;
};

struct Profile {
  Chip chip;
  unsigned runs = 1;
  std::vector<Kernel> kernels;
  friend bool operator==(const Profile&, const Profile&) = default;
};

// How many times as fast the shape is by this version, as by its baseline. 0: one of them was not
// timed.
[[nodiscard]] double gain_of(const Shape& shape, std::string_view name);
// Of one launch by the baseline, in microseconds; 0: it was not timed.
[[nodiscard]] double time_as_it_is(const Shape& shape);
// The version that all others are measured against; "original", if a build with versions has not
// made the kernel's own entry another one.
[[nodiscard]] std::string_view baseline_of(const Shape& shape);

[[nodiscard]] std::string to_json(const Profile& profile);
// Or why this is no profile that we can read, in a few words.
[[nodiscard]] tl::expected<Profile, std::string> from_json(std::string_view text);
[[nodiscard]] tl::expected<Profile, std::string> read_file(const std::string& path);

// Of several runs: how often adds up, times are of all of them. The error says which two are of
// different chips.
[[nodiscard]] tl::expected<Profile, std::string> merged(std::span<const Profile> runs);

} // namespace ptxasw::profile
