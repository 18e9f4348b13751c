// Where the variables of a module lie: addresses in the global, shared and constant spaces.
#pragma once

#include "simt/code.hpp"

#include <map>
#include <optional>
#include <string_view>

namespace ptxasw::simt {

class Layout {
public:
  explicit Layout(Program& program);
  // Address of a variable in its own space; nullopt: it is not in one of these spaces.
  [[nodiscard]] std::optional<std::uint64_t> address(const ptx::Symbol& symbol) const;

private:
  struct Found {
    const ptx::Variable* variable = nullptr;
    std::string_view declaration;
    std::uint64_t address = 0;
  };

  void add(const ptx::Variable& variable, std::string_view declaration);
  std::uint64_t place(const ptx::Variable& variable);
  void initialize(const Found& found);
  [[nodiscard]] std::optional<std::uint64_t> address_by_name(std::string_view name,
                                                             bool generic) const;

  Program& program_;
  // By the place of the declared name in the text: names may repeat in several scopes.
  std::map<const char*, Found> variables_;
  std::uint64_t next_global_ = std::uint64_t{1} << 35;
};

std::uint64_t size_of(const ptx::Variable& variable);
std::uint64_t alignment_of(const ptx::Variable& variable);
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace ptxasw::simt
