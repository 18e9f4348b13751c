// What the tables of the report are written with.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace ptxasw::launch {

// As printf would, up to 511 characters.
template <class... Values> std::string formatted(const char* format, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

// 64x8x1: of a grid or a block.
inline std::string text_of(const std::array<unsigned, 3>& dims) {
  return formatted("%ux%ux%u", dims[0], dims[1], dims[2]);
}

// A string of JSON.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= ' ') result += c;
  }
  return result + '"';
}

} // namespace ptxasw::launch
