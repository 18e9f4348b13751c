// What the store keeps: some bytes under a key, in a form that shows whether they are whole.
//
// The key is a hash of 128 bits of everything that the bytes follow from: content, options,
// versions of the programs. It is no cryptographic one: who may write texts into a build may make
// two of one key, and would harm that build alone.
//
// An entry as it is kept, in a file or at a server, is a header of 128 bytes and the bytes as they
// are; numbers are little-endian:
//
//      0  magic "ptxasw1\n"
//      8  kind, 16 bytes, zeros behind its name
//     24  version of the kind, u32; then 4 zeros
//     32  key, 16 bytes
//     48  how many bytes, u64
//     56  their checksum, XXH3 of 128 bits; then 24 zeros
//     96  their seal, 32 bytes: zeros, or a code by the user's secret (seal.hpp)
//    128  the bytes
//
// What is cut, changed, of another kind, version or key is no entry.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::store {

struct Key {
  std::uint64_t high = 0, low = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};
// Of all the parts; where one ends and the next begins counts.
[[nodiscard]] Key key_of(std::initializer_list<std::string_view> parts);
[[nodiscard]] std::string hexadecimal(const Key& key); // 32 digits

// What entries are of. Who changes how the bytes are to be read raises the version.
struct Kind {
  std::string_view name; // at most 15 characters
  std::uint32_t version = 1;
  bool shared = true; // a server may have it, too; else it is of use on this machine alone
};

// Where an entry lies: a place of its own, so that other versions do not take it for theirs.
[[nodiscard]] Key place_of(const Kind& kind, const Key& key);

inline constexpr std::size_t header_size = 128;
inline constexpr std::size_t largest_entry = std::size_t{64} << 20;

// `secret`: empty, or what the seal is made with.
[[nodiscard]] std::string pack(const Kind& kind, const Key& key, std::string_view bytes,
                               std::string_view secret);

struct Unpacked {
  std::string bytes;
  bool sealed = false; // by this secret
};
[[nodiscard]] std::optional<Unpacked> unpack(const Kind& kind, const Key& key, std::string entry,
                                             std::string_view secret);

} // namespace ptxasw::store
