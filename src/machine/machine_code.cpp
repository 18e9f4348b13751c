// Reads section headers and names; every offset is checked against the file's size.
#include "machine/machine_code.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>

namespace ptxasw::machine {
namespace {

template <class T> std::optional<T> read(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

} // namespace

std::map<std::string, std::string> machine_code(std::string_view cubin) {
  std::map<std::string, std::string> code;
  const auto header = read<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return code;
  }
  const auto section = [&](unsigned n) {
    return read<Elf64_Shdr>(cubin, header->e_shoff + std::uint64_t{n} * sizeof(Elf64_Shdr));
  };
  const auto name_table = section(header->e_shstrndx);
  if (!name_table) return code;
  const std::string_view names = slice(cubin, name_table->sh_offset, name_table->sh_size);
  constexpr std::string_view prefix = ".text.";
  for (unsigned n = 0; n < header->e_shnum; ++n) {
    const auto s = section(n);
    if (!s || s->sh_name >= names.size()) continue;
    const std::string_view rest = names.substr(s->sh_name);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name.starts_with(prefix)) {
      code.emplace(name.substr(prefix.size()), slice(cubin, s->sh_offset, s->sh_size));
    }
  }
  return code;
}

} // namespace ptxasw::machine
