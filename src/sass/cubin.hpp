// The parts of a cubin: an ELF file with one .text section for each function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::sass {

struct Section {
  std::string_view name, bytes; // none where the file holds none: `size` says how many there are
  std::uint32_t link = 0, info = 0; // another section, by number; of a function, its registers
  std::uint32_t type = 0;
  std::uint64_t flags = 0, size = 0;
};

struct Symbol {
  std::string_view name;
  std::uint8_t type = 0, binding = 0, other = 0; // as in ELF
  std::uint16_t section = 0;
  std::uint64_t value = 0, size = 0;
};

// What is to be put into a section where it is loaded, by the number of a symbol.
struct Relocation {
  std::uint64_t offset = 0, symbol = 0;
  std::uint32_t type = 0;
  std::int64_t addend = 0;
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
  [[nodiscard]] std::vector<Symbol> symbols() const;

private:
  std::vector<Section> sections_;
  unsigned architecture_ = 0;
};

inline constexpr std::string_view text_prefix = ".text.";

// Of a section that is a table of them, for the section `table.info`; none of another one.
[[nodiscard]] std::vector<Relocation> relocations(const Section& table);

// What the assembler says of itself in a cubin (section .note.nv.tkinfo, of CUDA 12.8 and later).
struct ToolNote {
  std::string_view tool;    // "ptxas"
  std::string_view release; // "Cuda compilation tools, release 13.0, V13.0.88"
  std::string_view options; // "-maxrregcount 40 -lineinfo  -arch sm_90 -m 64 "
};
[[nodiscard]] std::optional<ToolNote> tool_note(const Cubin& cubin);

} // namespace ptxasw::sass
