// A constant hash table over an array of entries with a `name`, filled by the compiler: opcodes and
// modifiers are looked up for every instruction of a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ptxasw::ptx {

// and_ is spelled "and" in PTX.
constexpr std::string_view spelled(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

// `Slots` is a power of two, at least twice the number of entries. Of entries with the same name
// the first is found.
template <std::size_t Entries, std::size_t Slots> class NameTable {
public:
  template <typename Entry>
  constexpr explicit NameTable(const std::array<Entry, Entries>& entries) {
    static_assert((Slots & (Slots - 1)) == 0 && Slots >= 2 * Entries);
    for (std::size_t i = 0; i < Entries; ++i) {
      std::size_t slot = hash(entries[i].name);
      while (slots_[slot] != 0)
        slot = (slot + 1) % Slots;
      slots_[slot] = static_cast<std::uint16_t>(i + 1);
    }
  }

  template <typename Entry>
  [[nodiscard]] constexpr const Entry* find(const std::array<Entry, Entries>& entries,
                                            std::string_view name) const {
    for (std::size_t slot = hash(name); slots_[slot] != 0; slot = (slot + 1) % Slots)
      if (const Entry& entry = entries[slots_[slot] - 1U]; entry.name == name) return &entry;
    return nullptr;
  }

private:
  static constexpr std::size_t hash(std::string_view name) {
    std::uint32_t value = 2166136261U; // FNV-1a
    for (const char c : name)
      value = (value ^ static_cast<unsigned char>(c)) * 16777619U;
    return (value ^ (value >> 15)) % Slots;
  }

  std::array<std::uint16_t, Slots> slots_{};
};

} // namespace ptxasw::ptx
