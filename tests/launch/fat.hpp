// Images for the fake driver: fat binaries whose machine code has a tag (fake/images.cpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ptxasw::launch::test {

inline std::string machine_code(const std::string& tag) {
  std::string code("\177ELF");
  code.resize(24);
  code += "fake:" + tag;
  code.resize((code.size() / 64 + 1) * 64);
  return code;
}

struct FatEntry {
  std::uint16_t kind = 0; // 1: PTX, 2: machine code
  unsigned chip = 90;
  std::string body;
};

inline std::string fat_binary(const std::vector<FatEntry>& entries) {
  const auto put = [](std::string& at, std::size_t offset, auto value) {
    std::memcpy(at.data() + offset, &value, sizeof value);
  };
  std::string bodies;
  for (const FatEntry& entry : entries) {
    std::string header(64, '\0'), body = entry.body;
    body.resize((body.size() + 7) / 8 * 8);
    put(header, 0, entry.kind);
    put(header, 2, std::uint16_t{0x101});
    put(header, 4, std::uint32_t{64});
    put(header, 8, std::uint64_t{body.size()});
    put(header, 28, std::uint32_t{entry.chip});
    bodies += header + body;
  }
  std::string image(16, '\0');
  put(image, 0, std::uint32_t{0xba55ed50});
  put(image, 4, std::uint16_t{1});
  put(image, 6, std::uint16_t{16});
  put(image, 8, std::uint64_t{bodies.size()});
  return image + bodies;
}

// Machine code with its PTX.
inline std::string usual_image(const std::string& tag) {
  return fat_binary(
      {{1, 90, ".version 9.0\n.target sm_90\n// " + tag}, {2, 90, machine_code(tag)}});
}

// As nvcc's host code has it.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* more = nullptr;
};

} // namespace ptxasw::launch::test
