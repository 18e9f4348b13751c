// Passes through a sequence of several kernels as one launch: what a contract says about an entry
// that does them, and whether some launches are such passes.
//
// The program launches kernels a, b, c, a, b, c, ... to one stream, each time with the same grid,
// block and parameters, but for some numbers that stored values are computed with
// (Sequence::varying). The entry does T such passes for all arrays that the stages store to. It
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
#include <optional>
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
// more: u32 for the places of each box of each stage along x, y, z, and the number of passes; and
// for each array an ArrayPlace. Where parameters vary, one more: for each pass, for each of them, 8
// bytes that begin with its value.
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

// Of the launches of one pass or more, as Sequence::stages, all alike but for what varies. Or why
// the entry cannot stand for them.
[[nodiscard]] tl::expected<FittedSequence, std::string> fit(const Sequence& sequence,
                                                            std::span<const StepLaunch> launches);
// What fit() says hangs on the value of a parameter that varies.
[[nodiscard]] bool is_asked(const Sequence& sequence, const Sequence::Part& varying);
// So many bytes of a parameter are one value, which stages may have in common, or which may vary.
[[nodiscard]] constexpr bool is_one_value(std::size_t bytes) {
  return bytes == 4 || bytes == 8;
}
// Bytes of values that an entry is given; 0: it has no such parameter.
[[nodiscard]] inline std::size_t bytes_of_values(const Sequence& sequence) {
  return sizeof(std::uint64_t) * sequence.count * sequence.varying.size();
}

// Bytes of one's own memory that are needed for an array, and the address that stands for its
// pointer where they begin at `begin`, which is aligned to 16 bytes.
[[nodiscard]] std::uint64_t own_bytes(const FittedArray& array);
[[nodiscard]] std::uint64_t own_address(const FittedArray& array, std::uint64_t begin);

// --- What a program was seen to launch -----------------------------------------------------------

// Kernels that were launched one after the other, over and over, and which of their parameters had
// the same value: lists of parts, each of `bytes` bytes (4 or 8, whole parameters). Others had
// another value each time. A first stage is any of them: sequences that differ in that are one, and
// a kernel with the least name is first. A kernel that comes several times has other arrays each
// time: a program that exchanges its pointers does so.
//
// Or one kernel alone that was given dynamic shared memory, over and over, with the shape of its
// blocks: how its tile lies follows from that.
struct SeenSequence {
  struct Class {
    unsigned bytes = 0;
    std::vector<Sequence::Part> parts; // ascending; two or more
    friend bool operator==(const Class&, const Class&) = default;
  };
  std::vector<std::string> kernels;    // 2 to most_stages; one may come several times; or one
  std::vector<Class> classes;          // in the order of their first parts
  std::vector<Sequence::Part> varying; // ascending; in no class
  std::optional<std::array<unsigned, 3>> block = std::nullopt; // of one kernel alone
  friend bool operator==(const SeenSequence&, const SeenSequence&) = default;
};

[[nodiscard]] std::string encode(const std::vector<SeenSequence>& seen);
// Or why the text is none that `encode` made.
[[nodiscard]] tl::expected<std::vector<SeenSequence>, std::string>
decode_seen(std::string_view text);

} // namespace ptxasw::contract
