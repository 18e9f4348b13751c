// The ELF header and the section headers, read with bounds; nothing is copied.
#include "sass/cubin.hpp"

#include "sass/bytes.hpp"

#include <algorithm>
#include <array>
#include <elf.h>

namespace ptxasw::sass {
namespace {

constexpr std::array known{75U, 80U, 86U, 87U, 88U, 89U, 90U, 100U, 103U, 110U, 120U, 121U};

// In bits 8 to 15 of the flags since CUDA 13, in bits 0 to 7 before.
unsigned architecture_of(const Elf64_Ehdr& header) {
  for (const unsigned sm : {header.e_flags >> 8 & 0xff, header.e_flags & 0xff})
    if (std::ranges::count(known, sm) != 0) return sm;
  return 0;
}

} // namespace

Cubin::Cubin(std::string_view bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return;
  }
  architecture_ = architecture_of(*header);
  const auto section = [&](unsigned n) {
    return read<Elf64_Shdr>(bytes, header->e_shoff + std::uint64_t{n} * sizeof(Elf64_Shdr));
  };
  const auto name_table = section(header->e_shstrndx);
  if (!name_table) return;
  const std::string_view names = slice(bytes, name_table->sh_offset, name_table->sh_size);
  for (unsigned n = 0; n < header->e_shnum; ++n) {
    const auto s = section(n);
    if (!s) return;
    const bool stored = s->sh_type != SHT_NOBITS;
    sections_.push_back({string_at(names, s->sh_name),
                         stored ? slice(bytes, s->sh_offset, s->sh_size) : std::string_view{},
                         s->sh_link});
  }
}

const Section* Cubin::find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

std::string_view Cubin::function_of(std::uint64_t number) const {
  const Section* symbols = find(".symtab");
  if (symbols == nullptr || symbols->link >= sections_.size()) return {};
  const auto symbol = read<Elf64_Sym>(symbols->bytes, number * sizeof(Elf64_Sym));
  if (!symbol) return {};
  if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
    return string_at(sections_[symbols->link].bytes, symbol->st_name);
  if (symbol->st_shndx >= sections_.size()) return {};
  const std::string_view name = sections_[symbol->st_shndx].name;
  return name.starts_with(text_prefix) ? name.substr(text_prefix.size()) : std::string_view{};
}

} // namespace ptxasw::sass
