// A code over bytes that only who knows a secret can make: HMAC with SHA-256, of libnettle. A
// program that was built without it can neither make nor check one.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ptxasw::store {

using Seal = std::array<std::uint8_t, 32>;
inline constexpr Seal no_seal{};

[[nodiscard]] bool can_seal();
[[nodiscard]] Seal seal_of(std::initializer_list<std::string_view> parts, std::string_view secret);
// In a time that does not tell where they differ.
[[nodiscard]] bool is_same(const Seal& one, const Seal& other);

} // namespace ptxasw::store
