// Passes through a sequence of several kernels as one launch: what a contract says about an entry
// that does them, and whether some launches are such passes.
//
// The program launches kernels a, b, c, a, b, c, ... to one stream, each time with the same grid,
// block and parameters. The entry does T such passes for all arrays that the stages store to. It
// reads the arrays in one place and writes them to another, since its other blocks still read: from
// the program's arrays to memory of whoever launches it, and by a second launch back again. Behind
// such a pair all memory is as the launches of both would have left it: each element that some
// stage stores to is written, no other one is. So nothing has to be launched singly behind it.
//
// Memory of one's own needs no contents at first: elements that no stage stores to are read from
// the program's arrays.
//
// That holds where fit() says so. What it cannot know is for whoever merges launches: that nobody
// looks at the arrays, or writes to them, in between, and that parameters are the same each time.
#pragma once

#include "contract/contract.hpp"
#include "contract/steps.hpp"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::contract {

// An array that stages store to.
struct FittedArray {
  std::uint64_t pointer = 0; // as the program has it
  TouchedRange range;        // all that the sequence touches of it
};

// How an entry is launched. Its parameters are those of all stages, one after the other, then two
// more: u32 for the threads of each stage's launch along x, y, z, and the number of passes; and for
// each array an ArrayPlace.
struct FittedSequence {
  std::array<unsigned, 3> grid{}, block{};
  std::vector<std::uint32_t> threads; // the last one: passes, which may be set to fewer
  std::vector<FittedArray> arrays;    // as Sequence::arrays
  std::vector<TouchedRange> read;     // other memory that is touched
};

// Addresses that stand for the pointer to an array: what lies in it at an element's offset.
struct ArrayPlace {
  std::uint64_t read = 0, write = 0;
};

// Of the launches of one pass, as Sequence::stages. Or why the entry cannot stand for them.
[[nodiscard]] tl::expected<FittedSequence, std::string> fit(const Sequence& sequence,
                                                            std::span<const StepLaunch> stages);

// Bytes of one's own memory that are needed for an array, and the address that stands for its
// pointer where they begin at `begin`, which is aligned to 16 bytes.
[[nodiscard]] std::uint64_t own_bytes(const FittedArray& array);
[[nodiscard]] std::uint64_t own_address(const FittedArray& array, std::uint64_t begin);

// --- What a program was seen to launch -----------------------------------------------------------

// Kernels that were launched one after the other, over and over, and which of their parameters had
// the same value: lists of parts, each of `bytes` bytes (4 or 8, whole parameters). A first stage
// is any of them: sequences that differ in that are one, and the kernel with the least name is
// first.
struct SeenSequence {
  struct Class {
    unsigned bytes = 0;
    std::vector<Sequence::Part> parts; // ascending; two or more
    friend bool operator==(const Class&, const Class&) = default;
  };
  std::vector<std::string> kernels; // 2 to most_stages, no two of one name
  std::vector<Class> classes;       // in the order of their first parts
  friend bool operator==(const SeenSequence&, const SeenSequence&) = default;
};

[[nodiscard]] std::string encode(const std::vector<SeenSequence>& seen);
// Or why the text is none that `encode` made.
[[nodiscard]] tl::expected<std::vector<SeenSequence>, std::string>
decode_seen(std::string_view text);

} // namespace ptxasw::contract
