// The list of strings that a process gets, asked and changed by name.
#include "driver/environment.hpp"

#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

bool names(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

} // namespace

Environment Environment::current() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    entries.emplace_back(*entry);
  return Environment(std::move(entries));
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found =
      std::ranges::find_if(entries, [&](const std::string& e) { return names(e, name); });
  if (found == entries.end() || found->size() == name.size() + 1) return std::nullopt;
  return found->substr(name.size() + 1);
}

void Environment::set(std::string_view name, std::string_view value) {
  std::erase_if(entries, [&](const std::string& e) { return names(e, name); });
  entries.push_back(std::string(name) + "=" + std::string(value));
}

std::vector<char*> Environment::pointers() {
  std::vector<char*> list;
  for (std::string& entry : entries)
    list.push_back(entry.data());
  list.push_back(nullptr);
  return list;
}

void Environment::use_large_pages() {
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) return;
  constexpr std::string_view ours = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  if (!std::getline(setting, modes) || modes.find("[never]") != std::string::npos) return;
  std::string all(ours);
  if (const auto theirs = get("GLIBC_TUNABLES")) (all += ':') += *theirs;
  set("GLIBC_TUNABLES", all);
}

} // namespace ptxasw::driver
