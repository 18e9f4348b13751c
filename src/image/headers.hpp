// What the pointer is that a program hands to its CUDA driver, how long it is, and what the headers
// of a fat binary say of its entries. No body is read: some microseconds, however large the image.
// Needs nothing but the C++ library. The format: IMAGE.md.
//
//   if (const auto bytes = measured(pointer)) {
//     const Choice choice = choose(probe(*bytes), {90});
//     if (choice.reason == Reason::none) ...   // it has the machine code and the PTX of it
//   }
#pragma once

#include "image/reason.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::image {

using Bytes = std::span<const std::byte>;
// Bytes as text.
inline std::string_view words_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; // NOLINT: chars may
}

enum class Form : std::uint8_t {
  unknown,
  fat_binary, // begins with 0xBA55ED50
  wrapper,    // what nvcc's host code registers: 0x466243b1, a version, a pointer to a fat binary
  cubin,      // an ELF file
  text,       // PTX, ended by a zero
};
// Reads four bytes.
[[nodiscard]] Form form_of(const void* image);

// The image that a pointer without a length leads to, through a wrapper, too: of a fat binary as
// its header says, of a cubin up to the end of its last section, of a text up to its zero. It
// trusts these lengths as the driver does that is handed the same pointer. Nothing: it is none of
// these, or has lengths that no image has.
[[nodiscard]] std::optional<Bytes> measured(const void* image);

enum class Kind : std::uint8_t { text = 1, code = 2, link_time = 8, other = 0 };
enum class Compression : std::uint8_t { none, lz4, zstd, unknown };
// Of sm_90, sm_90a (this chip alone), sm_100f (its family).
enum class Suffix : std::uint8_t { none, chip_only, family };

struct Chip {
  unsigned number = 0; // 90
  Suffix suffix = Suffix::none;
  friend bool operator==(const Chip&, const Chip&) = default;
};
[[nodiscard]] std::string name_of(const Chip& chip);              // "sm_90a"
[[nodiscard]] std::optional<Chip> chip_of(std::string_view name); // "sm_90", "compute_100f"

// Views into the image.
struct Entry {
  Kind kind = Kind::other;
  Chip chip; // of text: what it was compiled for
  Compression compression = Compression::none;
  bool debug = false;             // -G
  bool relocatable = false;       // --compile-only
  Bytes stored;                   // its body as it lies there, with what pads it to eight bytes
  std::uint64_t compressed = 0;   // bytes of these that count; 0: all
  std::uint64_t size = 0;         // of the body once decompressed
  std::string_view name, options; // of the source file; for ptxas
};

struct Probe {
  Reason reason = Reason::none; // nothing can be said
  std::vector<Entry> entries;
};
// `image`: a whole fat binary. A cubin or a text has no entries, and a reason.
[[nodiscard]] Probe probe(Bytes image);

// What the driver takes for a chip, as far as it can be told: machine code for the chip before any
// that it has to make of PTX (unless CUDA_FORCE_PTX_JIT is set: then ask nobody here).
// Reason::none: `code`, and in `text` the PTX that it was made of, if the two belong together,
// which only assembling it shows. Or `text` alone, which the driver compiles.
struct Choice {
  Reason reason = Reason::none;
  std::optional<Entry> code, text;
};
[[nodiscard]] Choice choose(const Probe& probe, const Chip& chip);

} // namespace ptxasw::image
