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
                         s->sh_link, s->sh_info, s->sh_type, s->sh_flags, s->sh_size});
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

std::vector<Symbol> Cubin::symbols() const {
  std::vector<Symbol> all;
  const Section* table = find(".symtab");
  if (table == nullptr || table->link >= sections_.size()) return all;
  const std::string_view names = sections_[table->link].bytes;
  for (std::uint64_t at = 0; const auto symbol = read<Elf64_Sym>(table->bytes, at);
       at += sizeof *symbol)
    all.push_back({string_at(names, symbol->st_name),
                   static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol->st_info)),
                   static_cast<std::uint8_t>(ELF64_ST_BIND(symbol->st_info)), symbol->st_other,
                   symbol->st_shndx, symbol->st_value, symbol->st_size});
  return all;
}

std::vector<Relocation> relocations(const Section& table) {
  std::vector<Relocation> all;
  const auto add = [&](std::uint64_t offset, std::uint64_t info, std::int64_t addend) {
    all.push_back(
        {offset, ELF64_R_SYM(info), static_cast<std::uint32_t>(ELF64_R_TYPE(info)), addend});
  };
  if (table.type == SHT_RELA)
    for (std::uint64_t at = 0; const auto r = read<Elf64_Rela>(table.bytes, at); at += sizeof *r)
      add(r->r_offset, r->r_info, r->r_addend);
  if (table.type == SHT_REL)
    for (std::uint64_t at = 0; const auto r = read<Elf64_Rel>(table.bytes, at); at += sizeof *r)
      add(r->r_offset, r->r_info, 0);
  return all;
}

// A note's header (sizes of name and description, a type), the name, and in the description a
// version, a zero, and the offsets of five texts behind it: object, tool, release, build, options.
std::optional<ToolNote> tool_note(const Cubin& cubin) {
  const Section* section = cubin.find(".note.nv.tkinfo");
  if (section == nullptr) return std::nullopt;
  const auto name_size = read<std::uint32_t>(section->bytes, 0),
             size = read<std::uint32_t>(section->bytes, 4);
  if (!name_size || !size || *name_size > section->bytes.size()) return std::nullopt;
  const std::string_view described = slice(section->bytes, 12 + (*name_size + 3) / 4 * 4, *size);
  constexpr std::size_t texts_at = 24, first_offset = 4;
  const auto text = [&](unsigned n) {
    const auto offset = read<std::uint32_t>(described, first_offset + 4 * n);
    const std::string_view texts = slice(described, texts_at, described.size() - texts_at);
    return offset ? string_at(texts, *offset) : std::string_view{};
  };
  if (described.size() <= texts_at || read<std::uint32_t>(described, 0) != 2U) return std::nullopt;
  ToolNote note{.tool = text(1), .release = text(2), .options = text(4)};
  if (note.tool.empty() || note.release.empty() || note.options.empty()) return std::nullopt;
  return note;
}

} // namespace ptxasw::sass
