// The header is one struct, written and read as it lies in memory.
#include "store/entry.hpp"

#include "store/seal.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace ptxasw::store {
namespace {

static_assert(std::endian::native == std::endian::little, "entries are little-endian");

struct Header {
  std::array<char, 8> magic{'p', 't', 'x', 'a', 's', 'w', '1', '\n'};
  std::array<char, 16> kind{};
  std::uint32_t version = 0, zero = 0;
  std::uint64_t key_high = 0, key_low = 0;
  std::uint64_t size = 0;
  std::uint64_t checksum_high = 0, checksum_low = 0;
  std::array<std::uint64_t, 3> zeros{};
  Seal seal = no_seal;
};
static_assert(sizeof(Header) == header_size && offsetof(Header, seal) == 96);

Header header_of(const Kind& kind, const Key& key, std::string_view bytes) {
  const XXH128_hash_t sum = XXH3_128bits(bytes.data(), bytes.size());
  Header header{.version = kind.version,
                .key_high = key.high,
                .key_low = key.low,
                .size = bytes.size(),
                .checksum_high = sum.high64,
                .checksum_low = sum.low64};
  std::copy_n(kind.name.data(), std::min(kind.name.size(), header.kind.size() - 1),
              header.kind.data());
  return header;
}

std::string text_of(const Header& header) {
  std::string text(header_size, '\0');
  std::memcpy(text.data(), &header, header_size);
  return text;
}

Seal sealed(const Header& header, std::string_view bytes, std::string_view secret) {
  if (secret.empty()) return no_seal;
  return seal_of({text_of(header).substr(0, offsetof(Header, seal)), bytes}, secret);
}

} // namespace

Key key_of(std::initializer_list<std::string_view> parts) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const std::string_view part : parts) {
    const std::uint64_t size = part.size();
    XXH3_128bits_update(&state, &size, sizeof size);
    XXH3_128bits_update(&state, part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return {hash.high64, hash.low64};
}

std::string hexadecimal(const Key& key) {
  std::string text(32, '0');
  for (unsigned n = 0; n < 16; ++n) {
    text[15 - n] = "0123456789abcdef"[(key.high >> (4 * n)) & 15];
    text[31 - n] = "0123456789abcdef"[(key.low >> (4 * n)) & 15];
  }
  return text;
}

Key place_of(const Kind& kind, const Key& key) {
  return key_of({kind.name, std::to_string(kind.version), hexadecimal(key)});
}

std::string pack(const Kind& kind, const Key& key, std::string_view bytes,
                 std::string_view secret) {
  Header header = header_of(kind, key, bytes);
  header.seal = sealed(header, bytes, secret);
  return text_of(header).append(bytes);
}

std::optional<Unpacked> unpack(const Kind& kind, const Key& key, std::string entry,
                               std::string_view secret) {
  if (entry.size() < header_size) return std::nullopt;
  Header found, expected;
  std::memcpy(&found, entry.data(), header_size);
  entry.erase(0, header_size);
  expected = header_of(kind, key, entry);
  expected.seal = found.seal;
  if (text_of(found) != text_of(expected)) return std::nullopt;
  const bool is_sealed = !secret.empty() && is_same(found.seal, sealed(found, entry, secret));
  return Unpacked{std::move(entry), is_sealed};
}

} // namespace ptxasw::store
