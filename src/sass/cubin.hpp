// The parts of a cubin: an ELF file with one .text section for each function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::sass {

struct Section {
  std::string_view name, bytes;
  std::uint32_t link = 0; // another section, by number
};

// Views into the bytes that it was made of, which must outlive it. Anything that is not a 64-bit
// little-endian ELF file has no sections; every offset is checked against the size.
class Cubin {
public:
  explicit Cubin(std::string_view bytes);

  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }
  [[nodiscard]] const Section* find(std::string_view name) const;
  // 90 for sm_90; 0 for one whose machine code is not known here.
  [[nodiscard]] unsigned architecture() const { return architecture_; }
  // The name of the function that a symbol stands for; empty if there is none.
  [[nodiscard]] std::string_view function_of(std::uint64_t symbol) const;

private:
  std::vector<Section> sections_;
  unsigned architecture_ = 0;
};

inline constexpr std::string_view text_prefix = ".text.";

} // namespace ptxasw::sass
