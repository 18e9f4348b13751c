// Cubins put together by hand: one function, k, its instructions, and the line of each.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

namespace ptxasw::sass::test {

struct Part {
  std::string name, bytes;
  unsigned type = SHT_PROGBITS, link = 0;
};

template <class T> std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string elf(std::vector<Part> parts, unsigned architecture) {
  std::string names(1, '\0'), bytes(sizeof(Elf64_Ehdr), '\0');
  parts.insert(parts.begin(), Part{"", ""});
  parts.push_back({".shstrtab", ""});
  std::vector<Elf64_Shdr> headers;
  for (Part& part : parts) {
    Elf64_Shdr h{};
    h.sh_name = static_cast<Elf64_Word>(names.size());
    names += part.name + '\0';
    if (part.name == ".shstrtab") part.bytes = names;
    h.sh_type = part.type;
    h.sh_link = part.link;
    h.sh_offset = bytes.size();
    h.sh_size = part.bytes.size();
    bytes += part.bytes;
    headers.push_back(h);
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_flags = architecture << 8;
  header.e_shoff = bytes.size();
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const Elf64_Shdr& h : headers)
    bytes += raw(h);
  return bytes;
}

using Words = std::vector<std::array<std::uint64_t, 2>>;

inline std::string code_of(const Words& words) {
  std::string bytes;
  for (const auto& word : words)
    bytes += raw(word);
  return bytes;
}

// Lines of instructions, one after another, in DWARF 2.
inline std::string line_program(const std::vector<unsigned>& lines) {
  std::string program("\0\x09\x02", 3);
  program += raw(std::uint64_t{0});
  unsigned at = 1;
  for (const unsigned line : lines) {
    program += static_cast<char>(3); // advance_line
    program += static_cast<char>((line - at) & 0x7f);
    program += static_cast<char>(1); // copy
    program += static_cast<char>(2); // advance_pc
    program += static_cast<char>(16);
    at = line;
  }
  program += std::string("\0\x01\x01", 3);
  std::string header("\x01\x01\xfb\x0e\x0a\0\x01\x01\x01\x01\0\0\0\x01\0\0",
                     16); // 9 lengths, 2 tables
  std::string unit =
      raw(std::uint16_t{2}) + raw(static_cast<std::uint32_t>(header.size())) + header + program;
  return raw(static_cast<std::uint32_t>(unit.size())) + unit;
}
inline constexpr std::uint64_t address_in_program = 4 + 2 + 4 + 16 + 3;

inline std::string cubin(const Words& words, const std::vector<unsigned>& lines, unsigned sm = 90) {
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  Elf64_Rel relocation{address_in_program, ELF64_R_INFO(1, 2)};
  return elf({{".strtab", std::string("\0k\0", 3)},
              {".symtab", raw(Elf64_Sym{}) + raw(symbol), SHT_SYMTAB, 1},
              {".text.k", code_of(words)},
              {".nv_debug_line_sass", line_program(lines)},
              {".rel.nv_debug_line_sass", raw(relocation)}},
             sm);
}

// R(d) = R(a) op R(b) + R(c), and so on.
inline std::array<std::uint64_t, 2> three(unsigned opcode, std::uint64_t d, std::uint64_t a,
                                          std::uint64_t b, std::uint64_t c = 0) {
  return {0x7000 | opcode | d << 16 | a << 24 | b << 32, c};
}
inline constexpr unsigned fadd = 0x221, fmul = 0x220, ffma = 0x223, ldg = 0x981, mov = 0x202,
                          mufu = 0x308;
inline constexpr std::array<std::uint64_t, 2> stop{0x794d, 0},
    loop{0xfffffffc00fc7947, 0x000fc0000383ffff};

} // namespace ptxasw::sass::test
