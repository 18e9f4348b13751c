// Names and texts of entries; nothing here asks what a kernel does.
#include "manager/entry_text.hpp"

#include "contract/reshape.hpp"
#include "passes/launch_early/launch_early.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::manager {
namespace {

constexpr unsigned most_parameter_bytes = 4096; // of a kernel, PTX ISA, ".param"

} // namespace

std::string renamed(const ptx::Module& module, const ptx::Function& kernel, const std::string& name,
                    bool& waits) {
  const ptx::Range range = ptx::range_of(module, kernel);
  std::string entry(module.slice(range));
  const passes::launch_early::Plan early = passes::launch_early::find(module, kernel);
  waits = early.refused.empty();
  if (waits) entry.insert(early.at - range.begin, passes::launch_early::emit(early).text);
  const auto at = static_cast<std::size_t>(kernel.name.data() - module.text->data());
  return entry.replace(at - range.begin, kernel.name.size(), name);
}

std::string name_of(const Coarsening& how) {
  std::string name;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (how.factors[axis] > 1)
      name += fmt::format("{}{}:{}", name.empty() ? "" : ",", "xyz"[axis], how.factors[axis]);
  return name;
}

std::string variable_of(const contract::Contract& contract) {
  const std::string data = contract::encode(contract);
  const std::vector<unsigned> numbers(data.begin(), data.end());
  return fmt::format(".global .align 8 .b8 {}[{}] = {{{}}};\n",
                     contract::symbol_of(contract.kernel), numbers.size(), fmt::join(numbers, ","));
}

bool has_own_variables(std::string_view text) {
  constexpr std::string_view space = ".global ";
  for (std::size_t at = text.find(space); at != text.npos; at = text.find(space, at + 1)) {
    if (at == 0) return true;
    const std::string_view before = text.substr(0, text.find_last_not_of(" \t", at - 1) + 1);
    if (!before.ends_with(".visible") && !before.ends_with(".weak") &&
        !before.ends_with(".extern") && !before.ends_with(".common"))
      return true;
  }
  return false;
}

std::string entry_of(std::string_view kernel, std::string_view name) {
  std::string entry = fmt::format("{}__ptxasw_", kernel);
  for (const char c : name)
    if (c != ':' && c != ',') entry += c == '-' ? '_' : c;
  return entry;
}

std::optional<unsigned> bytes_of(const std::vector<contract::ParameterSlot>& places) {
  std::uint64_t end = 0;
  for (const contract::ParameterSlot& place : places)
    end = std::max(end, std::uint64_t{place.offset} + place.size);
  if (end > most_parameter_bytes - sizeof(contract::OriginalShape) - 4) return std::nullopt;
  return static_cast<unsigned>(end);
}

} // namespace ptxasw::manager
