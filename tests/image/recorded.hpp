// The fat binaries of tests/image/data.
#pragma once

#include "image/headers.hpp"

#include "source_dir.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace ptxasw::image {

inline std::string recorded(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/image/data/" + name + ".fatbin", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace ptxasw::image
