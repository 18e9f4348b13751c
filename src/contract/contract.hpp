// What a module says about how its kernels may be launched: the launch contract.
//
// For each kernel with variants the module has a constant, __ptxasw_launch_KERNEL, that names the
// entries that do the same work and how their launches follow from the original's. ptxasw
// --variants writes it, the launcher reads it from the loaded module. CONTRACT.md is its schema.
// Nothing here knows PTX, solvers or the driver.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::contract {

inline constexpr unsigned version = 1;
inline constexpr std::string_view symbol_prefix = "__ptxasw_launch_";
inline constexpr std::size_t most_bytes = 64 << 10, most_variants = 32, most_parameters = 1024;
inline constexpr unsigned most_copies = 64;

enum class Kind : std::uint8_t {
  original,  // the kernel as its compiler made it
  rewritten, // launched as the original: shuffles, merged blocks that return, ...
  coarsened, // with a divided grid
  remapped,  // launched as the original, its work in another order
};

// Threads of a launch over those that the chip holds at a time, for which gains are stated.
inline constexpr std::array<double, 9> waves{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};

// Predicted: time of the original over time of this.
struct Gain {
  unsigned threads = 0; // of a block
  std::array<double, waves.size()> by_waves{};
  friend bool operator==(const Gain&, const Gain&) = default;
};

struct Variant {
  std::string entry; // name in the module
  std::string name;  // "original", "x:4", "thread-swap:32": what --policy=NAME asks for
  Kind kind = Kind::original;
  // The grid is so many times smaller along x, y, z, rounded up.
  std::array<unsigned, 3> divide{1, 1, 1};
  // Behind the original's parameters stands one more, the sizes of the original grid: three u32.
  bool takes_grid = false;
  std::vector<Gain> gains; // ascending in threads; empty: nothing is known
  friend bool operator==(const Variant&, const Variant&) = default;
};

struct Contract {
  std::string kernel;     // under whose name the program launches
  std::uint64_t code = 0; // of the PTX of the kernel and all entries: what was measured hangs on it
  // The original's parameters: how many, and where the last one ends in the parameter space.
  unsigned parameters = 0, parameter_bytes = 0;
  std::vector<Variant> variants; // the first one is the entry of the kernel's own name
  friend bool operator==(const Contract&, const Contract&) = default;
};

// Where the sizes of the original grid lie in the parameter space (PTX ISA: natural alignment).
[[nodiscard]] constexpr unsigned grid_offset(const Contract& contract) {
  return (contract.parameter_bytes + 3) / 4 * 4;
}

// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t hash(std::string_view bytes);
[[nodiscard]] std::string symbol_of(std::string_view kernel);
[[nodiscard]] std::string encode(const Contract& contract);
// What `encode` made, or why these bytes are no contract that we can keep: damaged, of another
// version, or with sizes that no module has.
[[nodiscard]] tl::expected<Contract, std::string> decode(std::string_view bytes);

// Interpolated between the launches for which it is stated; 0: nothing is known.
[[nodiscard]] double gain_of(const Variant& variant, unsigned threads, double of_waves);

} // namespace ptxasw::contract
