// Headers are copied out of the image, since it need not be aligned; every offset is compared with
// what is left.
#include "image/headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <elf.h>

namespace ptxasw::image {
namespace {

constexpr std::uint32_t fat_magic = 0xBA55ED50, wrapper_magic = 0x466243b1;
constexpr std::uint64_t largest = std::uint64_t{1} << 36;
constexpr std::size_t most_entries = 4096;

struct FatHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0, header_size = 0;
  std::uint64_t size = 0; // of what follows
};
static_assert(sizeof(FatHeader) == 16);

struct Wrapper {
  std::uint32_t magic = 0, version = 0;
  const void* data = nullptr;
  const void* more = nullptr;
};

struct EntryHeader {
  std::uint16_t kind = 0, version = 0;
  std::uint32_t header_size = 0;
  std::uint64_t size = 0; // of what follows the header
  std::uint32_t compressed = 0, options_at = 0;
  std::uint16_t minor = 0, major = 0;
  std::uint32_t chip = 0, name_at = 0, name_size = 0;
  std::uint64_t flags = 0, zero = 0, decompressed = 0;
};
static_assert(sizeof(EntryHeader) == 64);

enum Flag : std::uint64_t {
  is_debug = 0x2,
  is_lz4 = 0x2000,
  is_zstd = 0x8000,
  is_other_compression = 0x1000 | 0x4000,
  is_chip_only = 0x100000,
  is_family = 0x200000,
};

template <class T> std::optional<T> at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T> T first(const void* image) {
  T value;
  std::memcpy(&value, image, sizeof value);
  return value;
}

Bytes bytes_from(const void* image, std::uint64_t size) {
  return {static_cast<const std::byte*>(image), size};
}

// Of an ELF file: where its tables and sections end.
std::optional<std::uint64_t> elf_size(const void* image) {
  const auto header = first<Elf64_Ehdr>(image);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) ||
      (header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
      header.e_shoff > largest || header.e_phoff > largest)
    return std::nullopt;
  std::uint64_t size = std::max<std::uint64_t>(
      {sizeof header, header.e_shoff + std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
       header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)});
  const auto* bytes = static_cast<const std::byte*>(image);
  for (unsigned n = 0; n < header.e_shnum; ++n) {
    const auto section =
        first<Elf64_Shdr>(bytes + header.e_shoff + std::size_t{n} * sizeof(Elf64_Shdr));
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (section.sh_offset > largest || section.sh_size > largest) return std::nullopt;
    size = std::max(size, section.sh_offset + section.sh_size);
  }
  return size;
}

Kind kind_of(std::uint16_t kind) {
  switch (kind) {
  case 1: return Kind::text;
  case 2: return Kind::code;
  case 8: return Kind::link_time;
  default: return Kind::other;
  }
}

Compression compression_of(const EntryHeader& header) {
  const bool lz4 = (header.flags & is_lz4) != 0, zstd = (header.flags & is_zstd) != 0;
  if ((header.flags & is_other_compression) != 0 || (lz4 && zstd)) return Compression::unknown;
  return lz4 ? Compression::lz4 : zstd ? Compression::zstd : Compression::none;
}

std::string_view without_zeros(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// Nothing: some offset leads elsewhere.
std::optional<Entry> entry_of(const EntryHeader& header, Bytes whole, Bytes body) {
  Entry entry{.kind = kind_of(header.kind),
              .chip = {header.chip},
              .compression = compression_of(header),
              .debug = (header.flags & is_debug) != 0,
              .stored = body,
              .compressed = header.compressed,
              .size = body.size()};
  if ((header.flags & is_chip_only) != 0) entry.chip.suffix = Suffix::chip_only;
  if ((header.flags & is_family) != 0) entry.chip.suffix = Suffix::family;
  if (entry.compression != Compression::none) {
    entry.size = header.decompressed;
    if (header.compressed > body.size()) return std::nullopt;
  } else {
    entry.compressed = 0;
  }
  if (header.name_size != 0) {
    if (header.name_at > whole.size() || whole.size() - header.name_at < header.name_size)
      return std::nullopt;
    entry.name = without_zeros(words_of(whole.subspan(header.name_at, header.name_size)));
  }
  if (header.options_at != 0 && entry.kind == Kind::text) {
    const auto where = at<std::uint32_t>(whole, header.options_at);
    const auto size = at<std::uint32_t>(whole, std::uint64_t{header.options_at} + 4);
    if (!where || !size || *where > whole.size() || whole.size() - *where < *size)
      return std::nullopt;
    entry.options = without_zeros(words_of(whole.subspan(*where, *size)));
    entry.relocatable = entry.options.find("--compile-only") != entry.options.npos;
  }
  return entry;
}

unsigned major_of(unsigned number) {
  return number / 10;
}

// Machine code that a chip runs: its own, that of an earlier one of the same major version, that
// of its family.
bool runs(const Chip& code, const Chip& chip) {
  if (major_of(code.number) != major_of(chip.number) || code.number > chip.number) return false;
  return code.suffix != Suffix::chip_only || code.number == chip.number;
}

// PTX that can be compiled for a chip.
bool compiles(const Chip& text, const Chip& chip) {
  return text.suffix == Suffix::none ? text.number <= chip.number : runs(text, chip);
}

bool has_options(const Entry& text) {
  return text.options.find_first_not_of(' ') != text.options.npos;
}

// What the driver compiles where there is no machine code: the PTX for the latest chip.
Choice choose_text(const Probe& probe, const Chip& chip) {
  Choice choice{.reason = Reason::no_code, .code = {}, .text = {}};
  for (const Entry& entry : probe.entries) {
    if (entry.kind != Kind::text || !compiles(entry.chip, chip)) continue;
    if (choice.text && choice.text->chip.number > entry.chip.number) continue;
    const bool is_another = choice.text && choice.text->chip.number == entry.chip.number;
    choice.reason = is_another           ? Reason::several
                    : entry.relocatable  ? Reason::relocatable
                    : entry.debug        ? Reason::debug_code
                    : has_options(entry) ? Reason::jit_options
                                         : Reason::none;
    choice.text = entry;
  }
  return choice;
}

} // namespace

Form form_of(const void* image) {
  if (image == nullptr) return Form::unknown;
  const auto magic = first<std::uint32_t>(image);
  if (magic == fat_magic) return Form::fat_binary;
  if (magic == wrapper_magic) return Form::wrapper;
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) return Form::cubin;
  const char begin = *static_cast<const char*>(image);
  return std::string_view(" \t\r\n./").find(begin) != std::string_view::npos ? Form::text
                                                                             : Form::unknown;
}

std::optional<Bytes> measured(const void* image) {
  switch (form_of(image)) {
  case Form::wrapper: {
    const void* data = first<Wrapper>(image).data;
    return form_of(data) == Form::fat_binary ? measured(data) : std::nullopt;
  }
  case Form::fat_binary: {
    const auto header = first<FatHeader>(image);
    if (header.header_size < sizeof header || header.size > largest) return std::nullopt;
    return bytes_from(image, header.header_size + header.size);
  }
  case Form::cubin:
    if (const auto size = elf_size(image)) return bytes_from(image, *size);
    return std::nullopt;
  case Form::text: return bytes_from(image, std::strlen(static_cast<const char*>(image)));
  case Form::unknown: break;
  }
  return std::nullopt;
}

std::string name_of(const Chip& chip) {
  constexpr std::array<std::string_view, 3> suffixes{"", "a", "f"};
  return "sm_" + std::to_string(chip.number) +
         std::string(suffixes.at(static_cast<std::size_t>(chip.suffix)));
}

std::optional<Chip> chip_of(std::string_view name) {
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    Chip chip;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), chip.number);
    const std::string_view suffix = rest.substr(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc{} || (suffix != "" && suffix != "a" && suffix != "f"))
      return std::nullopt;
    if (!suffix.empty()) chip.suffix = suffix == "a" ? Suffix::chip_only : Suffix::family;
    return chip;
  }
  return std::nullopt;
}

Probe probe(Bytes image) {
  const auto header = at<FatHeader>(image, 0);
  if (!header || header->magic != fat_magic)
    return {.reason = image.size() > 4 && form_of(image.data()) == Form::cubin
                          ? Reason::cubin_alone
                          : Reason::unknown_form,
            .entries = {}};
  constexpr auto broken = [] { return Probe{.reason = Reason::damaged, .entries = {}}; };
  if (header->version != 1 || header->header_size < sizeof *header ||
      header->header_size > image.size() || image.size() - header->header_size < header->size)
    return broken();
  Probe found;
  Bytes rest = image.subspan(header->header_size, header->size);
  while (!rest.empty()) {
    const auto entry = at<EntryHeader>(rest, 0);
    if (!entry || entry->header_size < sizeof *entry || entry->header_size > rest.size() ||
        rest.size() - entry->header_size < entry->size || found.entries.size() == most_entries)
      return broken();
    auto known = entry_of(*entry, rest.first(entry->header_size),
                          rest.subspan(entry->header_size, entry->size));
    if (!known) return broken();
    found.entries.push_back(*known);
    rest = rest.subspan(entry->header_size + entry->size);
  }
  if (found.entries.empty()) found.reason = Reason::empty;
  return found;
}

Choice choose(const Probe& probe, const Chip& chip) {
  Choice choice{.reason = probe.reason, .code = {}, .text = {}};
  if (choice.reason != Reason::none) return choice;
  bool is_link_time = false;
  const auto refuse = [&](Reason reason) {
    choice.reason = reason;
    return choice;
  };
  for (const Entry& entry : probe.entries) {
    is_link_time = is_link_time || entry.kind == Kind::link_time;
    if (entry.kind != Kind::code || !runs(entry.chip, chip)) continue;
    if (!choice.code || choice.code->chip.number < entry.chip.number) {
      choice.code = entry;
      choice.reason = Reason::none;
    } else if (choice.code->chip.number == entry.chip.number) {
      choice.reason = Reason::several;
    }
  }
  if (!choice.code && is_link_time) return refuse(Reason::link_time);
  if (!choice.code) return choose_text(probe, chip);
  if (choice.reason != Reason::none) return choice;
  for (const Entry& entry : probe.entries) {
    if (entry.kind != Kind::text || entry.chip != choice.code->chip) continue;
    if (choice.text) return refuse(Reason::several);
    choice.text = entry;
  }
  if (is_link_time) return refuse(Reason::link_time);
  if (!choice.text) return refuse(Reason::no_text);
  if (choice.text->relocatable) return refuse(Reason::relocatable);
  if (choice.code->debug || choice.text->debug) return refuse(Reason::debug_code);
  return choice;
}

} // namespace ptxasw::image
