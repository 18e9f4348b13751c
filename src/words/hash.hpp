// FNV-1a, 64 bits: what files and launch contracts keep of a text, the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxasw::words {

inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;

// Of `bytes` behind what `before` is the hash of.
constexpr std::uint64_t hash(std::string_view bytes, std::uint64_t before = hash_of_nothing) {
  for (const char byte : bytes)
    before = (before ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return before;
}

} // namespace ptxasw::words
