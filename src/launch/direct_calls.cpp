// Finds the symbols of a loaded libcuda and what stands at them.
#include "launch/direct_calls.hpp"

#include "launch/hooks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mutex>
#include <string_view>

namespace ptxasw::launch {
namespace {

// What a loaded file says of its symbols. glibc puts addresses where the file has offsets, but not
// in what the kernel loaded.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  std::size_t count = 0; // of those that may be undefined
};

Symbols symbols_of(const dl_phdr_info& info) {
  Symbols symbols;
  const ElfW(Dyn)* dynamic = nullptr;
  for (std::size_t n = 0; n < info.dlpi_phnum; ++n)
    if (info.dlpi_phdr[n].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[n].p_vaddr);
  const auto address = [&](ElfW(Addr) at) {
    return at < info.dlpi_addr ? at + info.dlpi_addr : at;
  };
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Addr) at = address(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_SYMTAB)
      symbols.table = reinterpret_cast<const ElfW(Sym)*>(at);
    else if (dynamic->d_tag == DT_STRTAB)
      symbols.names = reinterpret_cast<const char*>(at);
    else if (dynamic->d_tag == DT_GNU_HASH) // those before the first hashed one
      symbols.count =
          std::max<std::size_t>(symbols.count, reinterpret_cast<const std::uint32_t*>(at)[1]);
    else if (dynamic->d_tag == DT_HASH)
      symbols.count = reinterpret_cast<const std::uint32_t*>(at)[1];
  }
  return symbols;
}

bool is_of_driver(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

int look(dl_phdr_info* info, std::size_t, void* result) {
  if (info->dlpi_name != nullptr && is_of_driver(info->dlpi_name)) return 0;
  const Symbols symbols = symbols_of(*info);
  if (symbols.table == nullptr || symbols.names == nullptr) return 0;
  for (std::size_t n = 1; n < symbols.count; ++n) {
    const char* const name = symbols.names + symbols.table[n].st_name;
    if (symbols.table[n].st_shndx != SHN_UNDEF || std::strncmp(name, "cu", 2) != 0 ||
        name[2] < 'A' || name[2] > 'Z' || is_exported(name))
      continue;
    const char* file =
        info->dlpi_name == nullptr || *info->dlpi_name == '\0' ? "the program" : info->dlpi_name;
    *static_cast<std::string*>(result) = std::string(file) + " calls " + name + " directly";
    return 1;
  }
  return 0;
}

int count_loads(dl_phdr_info* info, std::size_t, void* result) {
  *static_cast<unsigned long long*>(result) = info->dlpi_adds;
  return 1;
}

} // namespace

std::string unseen_caller() {
  static std::mutex mutex;
  static unsigned long long looked_at = 0;
  static std::string found;
  unsigned long long loads = 0;
  ::dl_iterate_phdr(count_loads, &loads);
  const std::lock_guard lock(mutex);
  if (loads != looked_at && found.empty()) {
    ::dl_iterate_phdr(look, &found);
    looked_at = loads;
  }
  return found;
}

} // namespace ptxasw::launch
