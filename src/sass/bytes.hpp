// Reading numbers from untrusted bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace ptxasw::sass {

template <class T> std::optional<T> read(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Empty where it does not lie within `bytes`.
inline std::string_view slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

// Up to the zero that ends it.
inline std::string_view string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

} // namespace ptxasw::sass
