#include "report/escape.hpp"

#include <algorithm>

namespace ptxasw::report {
namespace {

// Bytes of the well-formed UTF-8 sequence of more than one byte that `text` begins with; 0: none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t n = 1; n < length; ++n)
    if ((byte(n) & 0xc0) != 0x80) return 0;
  const unsigned first = byte(0) << 8 | byte(1); // overlong, surrogates, beyond U+10FFFF
  const bool outside = (first >= 0xe000 && first < 0xe0a0) || (first >= 0xeda0 && first < 0xee00) ||
                       (first >= 0xf000 && first < 0xf090) || first >= 0xf490;
  return outside ? 0 : length;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = sequence(text.substr(at));
      result += length == 0 ? "\xef\xbf\xbd" : text.substr(at, length); // else U+FFFD
      at += std::max<std::size_t>(length, 1) - 1;
      continue;
    }
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    case '\'': result += "&#39;"; break;
    case '\t': result += c; break;
    default: result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return result;
}

} // namespace ptxasw::report
