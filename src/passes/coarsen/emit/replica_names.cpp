// Declared as ranges (.reg .f32 %f_c3_<13>;), which is short and leaves the numbers as they are.
#include "passes/coarsen/emit/replica_names.hpp"

#include "passes/coarsen/find/shared_symbols.hpp"
#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ptxasw::passes {

using ptx::RegId;

namespace {

constexpr std::uint32_t longest_range = 1U << 16; // a lone %r99999 does not get a range

// "%f12" -> {"%f", 12}; nothing for names that do not end in a plain number.
std::pair<std::string_view, std::uint32_t> split(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view number = name.substr(digits);
  const bool plain = !number.empty() && number.size() < 6 && (number[0] != '0' || number == "0");
  std::uint32_t value = ptx::none;
  if (plain) std::from_chars(number.data(), number.data() + number.size(), value);
  if (value >= longest_range) return {name, ptx::none};
  return {name.substr(0, digits), value};
}

} // namespace

CopyNames::CopyNames(const Names& names, const BlockPlan& plan)
    : body_(names.body()), plan_(plan), mark_("_c") {
  for (RegId reg = 0; reg < body_.registers.size(); ++reg)
    renamed_.push_back(reg != body_.carry && !names.unmistakable(reg));
  for (const ptx::Symbol& symbol : body_.symbols)
    hoisted_.push_back(symbol.space == ptx::Space::shared && names.declares(symbol.name));
  while (marks_are_taken())
    mark_ += 'c';
  split_names();
}

bool CopyNames::marks_are_taken() const {
  for (unsigned copy = 0; copy < plan_.count(); ++copy) {
    if (ptx::stands_anywhere(*body_.module, fmt::format("{}{}", mark_, copy))) return true;
  }
  return false;
}

// Names that nested blocks may use again get the register's number of the body; stems that stand
// for several types cannot be ranges.
void CopyNames::split_names() {
  std::unordered_map<std::string_view, ptx::Type> types;
  for (const ptx::Register& reg : body_.registers) {
    const auto [stem, number] = split(reg.name);
    const auto [place, fresh] = types.try_emplace(stem, reg.type);
    if (!fresh && place->second != reg.type) place->second = ptx::Type::other;
  }
  for (RegId reg = 0; reg < body_.registers.size(); ++reg) {
    const std::string& name = body_.registers[reg].name;
    const auto [stem, number] = split(name);
    if (renamed_[reg]) {
      names_.push_back({fmt::format("{}_r{}", name, reg)});
    } else if (types[stem] == ptx::Type::other) {
      names_.push_back({name});
    } else {
      names_.push_back({std::string(stem), number});
    }
  }
}

bool CopyNames::is_own(RegId reg, unsigned copy) const {
  return !renamed_[reg] && (copy == 0 || !plan_.replica_divergence.registers[reg]);
}

std::string CopyNames::written(RegId reg, unsigned copy) const {
  if (is_own(reg, copy)) return body_.registers[reg].name;
  const auto& [stem, number] = names_[reg];
  if (number == ptx::none) return fmt::format("{}{}{}", stem, mark_, copy);
  return fmt::format("{}{}{}_{}", stem, mark_, copy, number);
}

ptx::Reg CopyNames::of(RegId reg, unsigned copy) const {
  if (!plan_.replica_divergence.registers[reg]) copy = 0;
  return {body_.registers[reg].type, marked({reg, copy}, written(reg, copy))};
}

std::string CopyNames::of_symbol(std::uint32_t symbol, unsigned copy) const {
  const std::string name(body_.symbols[symbol].name);
  if (std::ranges::count(plan_.own, symbol) == 0) copy = 0;
  return copy == 0 && !hoisted_[symbol] ? name : fmt::format("{}{}{}", name, mark_, copy);
}

std::string CopyNames::shared_declarations() const {
  std::string text;
  const auto declare = [&](std::uint32_t symbol, unsigned copy) {
    const ptx::Symbol& variable = body_.symbols[symbol];
    text += fmt::format("\n\t.shared .align {} .b8 {}[{}];",
                        std::max<std::uint64_t>(variable.alignment, SharedSymbols::alignment),
                        of_symbol(symbol, copy), variable.size);
  };
  for (std::uint32_t symbol = 0; symbol < body_.symbols.size(); ++symbol)
    if (hoisted_[symbol]) declare(symbol, 0);
  for (unsigned copy = 1; copy < plan_.count(); ++copy)
    for (const std::uint32_t symbol : plan_.own)
      declare(symbol, copy);
  return text;
}

std::string CopyNames::declarations() const {
  std::map<std::pair<ptx::Type, std::string>, std::uint32_t> sizes; // of the ranges
  std::string text;
  const auto declare = [&](ptx::Type type, const auto& what) {
    text += fmt::format("\n\t.reg .{} \t{};", ptx::name(type), what);
  };
  for (RegId reg = 0; reg < body_.registers.size(); ++reg) {
    const auto& [stem, number] = names_[reg];
    const unsigned copies = plan_.replica_divergence.registers[reg] ? plan_.count() : 1;
    if (number != ptx::none && copies > 1) {
      std::uint32_t& size = sizes[{body_.registers[reg].type, stem}];
      size = std::max(size, number + 1);
      continue;
    }
    for (unsigned copy = 0; copy < copies; ++copy) {
      if (!is_own(reg, copy)) declare(body_.registers[reg].type, written(reg, copy));
    }
  }
  for (unsigned copy = 1; copy < plan_.count(); ++copy) {
    for (const auto& [key, size] : sizes)
      declare(key.first, fmt::format("{}{}{}_<{}>", key.second, mark_, copy, size));
  }
  return text;
}

} // namespace ptxasw::passes
