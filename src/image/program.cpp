// ELF files are read by their section headers, with the reader of cubins.
#include "image/program.hpp"

#include "image/mapped_file.hpp"
#include "sass/bytes.hpp"
#include "sass/cubin.hpp"

#include <algorithm>
#include <array>
#include <elf.h>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace ptxasw::image {
namespace {

namespace fs = std::filesystem;
using sass::Cubin;
using sass::Section;

constexpr std::size_t alignment = 8;

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The whole of a fat binary that begins here; nothing: none does.
std::optional<Bytes> fat_binary_at(Bytes rest) {
  if (rest.size() < 16 || form_of(rest.data()) != Form::fat_binary) return std::nullopt;
  const auto whole = measured(rest.data());
  if (!whole || whole->size() > rest.size()) return std::nullopt;
  return whole;
}

void add_all(Bytes section, const std::byte* file, bool is_relocatable,
             std::vector<Embedded>& found) {
  while (section.size() >= alignment) {
    const auto image = fat_binary_at(section);
    if (image)
      found.push_back({*image, static_cast<std::uint64_t>(image->data() - file), is_relocatable});
    const std::size_t size = image ? image->size() : alignment;
    section =
        section.subspan(std::min(section.size(), (size + alignment - 1) / alignment * alignment));
  }
}

struct Needs {
  std::vector<std::string> names, rpath, runpath;
};

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(":;"), list.size());
    if (end != 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return parts;
}

std::string expanded(std::string folder, const std::string& origin) {
  const std::array<std::pair<std::string_view, std::string>, 4> words{
      {{"$ORIGIN", origin}, {"${ORIGIN}", origin}, {"$LIB", "lib64"}, {"${LIB}", "lib64"}}};
  for (const auto& [word, by] : words)
    if (const std::size_t at = folder.find(word); at != folder.npos)
      folder.replace(at, word.size(), by);
  return folder;
}

Needs needs_of(std::string_view file, const std::string& path) {
  Needs needs;
  const Cubin elf(file);
  const Section* dynamic = elf.find(".dynamic");
  if (dynamic == nullptr || dynamic->link >= elf.sections().size()) return needs;
  const std::string_view names = elf.sections()[dynamic->link].bytes;
  const std::string origin = fs::path(path).parent_path();
  const auto folders = [&](std::string_view list) {
    std::vector<std::string> all = parts_of(list);
    for (std::string& folder : all)
      folder = expanded(folder, origin);
    return all;
  };
  for (std::uint64_t at = 0; const auto row = sass::read<Elf64_Dyn>(dynamic->bytes, at);
       at += sizeof *row) {
    const std::string_view text = sass::string_at(names, row->d_un.d_val);
    if (row->d_tag == DT_NULL) break;
    if (row->d_tag == DT_NEEDED) needs.names.emplace_back(text);
    if (row->d_tag == DT_RPATH) needs.rpath = folders(text);
    if (row->d_tag == DT_RUNPATH) needs.runpath = folders(text);
  }
  if (!needs.runpath.empty()) needs.rpath.clear();
  return needs;
}

// The files that ld.so.cache names for libraries of 64-bit programs on x86.
std::map<std::string, std::string> read_cache(const std::string& path) {
  constexpr std::string_view magic = "glibc-ld.so.cache1.1";
  constexpr std::size_t header_size = 48, row_size = 24;
  constexpr std::uint32_t for_64_bit = 0x0303;
  std::map<std::string, std::string> cache;
  const auto file = MappedFile::open(path);
  if (!file) return cache;
  const std::size_t at = file->text().find(magic); // behind the table of old programs, if any
  if (at == std::string_view::npos) return cache;
  const std::string_view text = file->text().substr(at);
  const std::uint32_t rows = sass::read<std::uint32_t>(text, magic.size()).value_or(0);
  for (std::uint32_t n = 0; n < rows; ++n) {
    const std::uint64_t row = header_size + std::uint64_t{n} * row_size;
    const auto flags = sass::read<std::uint32_t>(text, row);
    const auto name = sass::read<std::uint32_t>(text, row + 4);
    const auto value = sass::read<std::uint32_t>(text, row + 8);
    const auto capabilities = sass::read<std::uint64_t>(text, row + 16);
    if (!flags || !capabilities) break;
    if (*flags == for_64_bit && *capabilities == 0)
      cache.emplace(sass::string_at(text, *name), sass::string_at(text, *value));
  }
  return cache;
}

bool is_library(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file && form_of(file->bytes().data()) == Form::cubin &&
         file->bytes().size() > sizeof(Elf64_Ehdr) &&
         file->bytes()[EI_CLASS] == std::byte{ELFCLASS64};
}

class Loader {
public:
  explicit Loader(const LibrarySearch& search)
      : search_(search), cache_(read_cache(search.cache)) {}

  std::vector<std::string> run(const std::string& path) {
    waiting_ = {{path, {}}};
    std::vector<std::string> found;
    for (std::size_t n = 0; n < waiting_.size(); ++n) {
      const Waiting at = waiting_[n];
      if (n != 0) found.push_back(at.path);
      look_into(at);
    }
    return found;
  }

private:
  struct Waiting {
    std::string path;
    std::vector<std::string> rpath; // of those that wanted it
  };

  void look_into(const Waiting& at) {
    const auto file = MappedFile::open(at.path);
    if (!file) return;
    Needs needs = needs_of(file->text(), at.path);
    needs.rpath.insert(needs.rpath.end(), at.rpath.begin(), at.rpath.end());
    for (const std::string& name : needs.names) {
      if (!known_.insert(name).second) continue;
      if (std::string path = find(name, needs); !path.empty() && files_.insert(path).second)
        waiting_.push_back({std::move(path), needs.rpath});
    }
  }

  [[nodiscard]] std::string find(const std::string& name, const Needs& needs) const {
    if (name.find('/') != std::string::npos) return is_library(name) ? name : std::string{};
    std::vector<std::string> folders =
        needs.runpath.empty() ? needs.rpath : std::vector<std::string>{};
    const auto add = [&](const std::vector<std::string>& more) {
      folders.insert(folders.end(), more.begin(), more.end());
    };
    add(parts_of(search_.library_path));
    add(needs.runpath);
    for (const std::string& folder : folders)
      if (std::string path = in(folder, name); is_library(path)) return path;
    if (const auto cached = cache_.find(name); cached != cache_.end() && is_library(cached->second))
      return cached->second;
    for (const std::string& folder : search_.usual)
      if (std::string path = in(folder, name); is_library(path)) return path;
    return {};
  }

  static std::string in(std::string_view folder, std::string_view name) {
    return std::string(folder).append("/").append(name);
  }

  const LibrarySearch& search_;
  std::map<std::string, std::string> cache_;
  std::vector<Waiting> waiting_;
  std::set<std::string> known_, files_;
};

} // namespace

std::vector<Embedded> fat_binaries_in(Bytes file) {
  std::vector<Embedded> found;
  if (file.size() < sizeof(Elf64_Ehdr)) return found;
  if (form_of(file.data()) == Form::fat_binary) {
    add_all(file, file.data(), false, found);
    return found;
  }
  const auto header = sass::read<Elf64_Ehdr>(words_of(file), 0);
  constexpr unsigned cuda = 190;
  if (header->e_machine == cuda) return {{.image = file}};
  const Cubin elf(words_of(file));
  for (const Section& section : elf.sections())
    if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin")
      add_all(bytes_of(section.bytes), file.data(), section.name == "__nv_relfatbin", found);
  return found;
}

std::vector<std::string> libraries_of(const std::string& path, const LibrarySearch& search) {
  return Loader(search).run(path);
}

} // namespace ptxasw::image
