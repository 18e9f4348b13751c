// What the tables of the report are written with.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace ptxasw::launch {

enum class Format { text, json };

// As printf would, up to 511 characters.
template <class... Values> std::string formatted(const char* format, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
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
