// Finds out which loaded files call the driver by its symbols.
#include "launch/waiting/direct_calls.hpp"

#include "launch/driver/hook_table.hpp"
#include "launch/waiting/trampolines.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <mutex>
#include <span>
#include <string_view>

namespace ptxasw::launch {
namespace {

// The relocations of a loaded file: what it calls elsewhere has one, by the number of its symbol.
// How many symbols there are no file has to say: DT_GNU_HASH counts from the first hashed one, and
// GNU ld writes 1 there where none is. glibc puts addresses where the file has offsets, but not in
// what the kernel loaded.
struct Imports {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::array<std::span<const ElfW(Rela)>, 2> relocations; // of data, of calls
  bool is_known = true;
};

Imports imports_of(const dl_phdr_info& info) {
  Imports found;
  const ElfW(Dyn)* entry = nullptr;
  for (std::size_t n = 0; n < info.dlpi_phnum; ++n)
    if (info.dlpi_phdr[n].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[n].p_vaddr);
  std::array<ElfW(Addr), 2> begins{};
  std::array<std::size_t, 2> bytes{};
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    const ElfW(Addr) at = value < info.dlpi_addr ? value + info.dlpi_addr : value;
    switch (entry->d_tag) {
    case DT_SYMTAB: found.symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
    case DT_STRTAB: found.names = reinterpret_cast<const char*>(at); break;
    case DT_RELA: begins[0] = at; break;
    case DT_RELASZ: bytes[0] = entry->d_un.d_val; break;
    case DT_JMPREL: begins[1] = at; break;
    case DT_PLTRELSZ: bytes[1] = entry->d_un.d_val; break;
    case DT_REL: found.is_known = false; break; // none of this architecture's
    case DT_PLTREL: found.is_known = found.is_known && entry->d_un.d_val == DT_RELA; break;
    default: break;
    }
  }
  for (std::size_t n = 0; n < begins.size(); ++n)
    if (begins[n] != 0)
      found.relocations[n] = {reinterpret_cast<const ElfW(Rela)*>(begins[n]),
                              bytes[n] / sizeof(ElfW(Rela))};
  return found;
}

bool is_of_driver(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

// A function of the driver that we do not export, under the name by which the file refers to it.
bool is_unseen(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z' &&
         !is_exported(name) && !tells_only(name.data());
}

int look(dl_phdr_info* info, std::size_t, void* result) {
  if (info->dlpi_name != nullptr && is_of_driver(info->dlpi_name)) return 0;
  const Imports imports = imports_of(*info);
  const std::string file =
      info->dlpi_name == nullptr || *info->dlpi_name == '\0' ? "the program" : info->dlpi_name;
  auto& why = *static_cast<std::string*>(result);
  if (!imports.is_known) {
    why = "what " + file + " calls directly cannot be told";
    return 1;
  }
  if (imports.symbols == nullptr || imports.names == nullptr) return 0;
  for (const auto relocations : imports.relocations)
    for (const ElfW(Rela) & relocation : relocations) {
      const ElfW(Sym)& symbol = imports.symbols[ELF64_R_SYM(relocation.r_info)];
      const char* const name = imports.names + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || !is_unseen(name)) continue;
      why = file + " calls " + name + " directly";
      return 1;
    }
  return 0;
}

int count_loads(dl_phdr_info* info, std::size_t, void* result) {
  *static_cast<unsigned long long*>(result) = info->dlpi_adds;
  return 1;
}

// What `look` finds in the files that are loaded. Looked for again where there are others.
class Finding {
public:
  std::string of(int (*look)(dl_phdr_info*, std::size_t, void*)) {
    unsigned long long loads = 0;
    ::dl_iterate_phdr(count_loads, &loads);
    const std::lock_guard lock(mutex_);
    if (loads != looked_at_ && found_.empty()) {
      ::dl_iterate_phdr(look, &found_);
      looked_at_ = loads;
    }
    return found_;
  }

private:
  std::mutex mutex_;
  unsigned long long looked_at_ = 0;
  std::string found_;
};

std::atomic<bool>& is_memory_shared() {
  static std::atomic<bool> shared{false};
  return shared;
}

// Libraries by which network cards and others reach memory of the device.
int look_for_reader(dl_phdr_info* info, std::size_t, void* result) {
  constexpr std::array libraries{
      std::string_view("libibverbs"),      std::string_view("libmpi"),
      std::string_view("libpmpi"),         std::string_view("libuct"),
      std::string_view("libucp"),          std::string_view("libfabric"),
      std::string_view("libefa"),          std::string_view("libpsm"),
      std::string_view("libnvshmem"),      std::string_view("libgdrapi"),
      std::string_view("libcufile"),       std::string_view("libvulkan"),
      std::string_view("libnvoptix"),      std::string_view("libnvcuvid"),
      std::string_view("libnvidia-encode")};
  const std::string_view file = info->dlpi_name == nullptr ? "" : info->dlpi_name,
                         name = file.substr(file.rfind('/') + 1);
  if (std::ranges::none_of(libraries,
                           [&](std::string_view begin) { return name.starts_with(begin); }))
    return 0;
  *static_cast<std::string*>(result) = std::string(name) + " may reach memory of the device";
  return 1;
}

} // namespace

std::string unseen_caller() {
  static Finding finding;
  return finding.of(look);
}

std::string unseen_reader() {
  static Finding finding;
  return is_memory_shared().load(std::memory_order_acquire) ? "memory is shared with others"
                                                            : finding.of(look_for_reader);
}

void note_shared_memory() {
  is_memory_shared().store(true, std::memory_order_release);
}

} // namespace ptxasw::launch
