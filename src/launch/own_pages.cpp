// Finds the segments of the library in which this function lies.
#include "launch/own_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <link.h>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

bool is_within(std::uintptr_t at, std::uintptr_t begin, const ElfW(Phdr) & segment) {
  return at >= begin && at - begin < segment.p_memsz;
}

int map_if_own(dl_phdr_info* object, std::size_t, void*) {
  const auto own = reinterpret_cast<std::uintptr_t>(&map_own_pages);
  const std::uintptr_t base = object->dlpi_addr;
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  const auto is_own = [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && is_within(own, base + segment.p_vaddr, segment);
  };
  if (std::ranges::none_of(segments, is_own)) return 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = (base + segment.p_vaddr) / page * page;
    const std::uintptr_t end = base + segment.p_vaddr + segment.p_filesz;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
  }
  return 1; // no other object
}

} // namespace

void map_own_pages() {
  dl_iterate_phdr(map_if_own, nullptr);
}

} // namespace ptxasw::launch
