// One pass over the module's variables for the places, a second one for the initial values, which
// may name any of them.
#include "simt/layout.hpp"

#include "semantics/windows.hpp"
#include "simt/initializer.hpp"

#include <algorithm>

namespace ptxasw::simt {

std::uint64_t size_of(const ptx::Variable& variable) {
  return variable.elements * variable.vector * ptx::bit_width(variable.type) / 8;
}

std::uint64_t alignment_of(const ptx::Variable& variable) {
  const std::uint64_t natural = std::uint64_t{variable.vector} * ptx::bit_width(variable.type) / 8;
  return std::max<std::uint64_t>({variable.alignment, natural, 1});
}

Layout::Layout(Program& program) : program_(program) {
  const ptx::Module& module = *program.module;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.kind != ptx::StatementKind::variable) continue;
    for (std::uint32_t i = 0; i < statement.count; ++i)
      add(module.variables[statement.index + i], module.slice(statement.range));
  }
  program.dynamic_shared_offset = round_up(program.static_shared, 128);
  for (auto& [name, found] : variables_) {
    if (found.variable->space == ptx::Space::shared && found.variable->external)
      found.address = program.dynamic_shared_offset;
    if (found.variable->has_initializer) initialize(found);
  }
}

void Layout::add(const ptx::Variable& variable, std::string_view declaration) {
  if (variable.space == ptx::Space::global || variable.space == ptx::Space::shared ||
      variable.space == ptx::Space::const_)
    variables_.emplace(variable.name.data(), Found{&variable, declaration, place(variable)});
}

std::uint64_t Layout::place(const ptx::Variable& variable) {
  const std::uint64_t size = size_of(variable), alignment = alignment_of(variable);
  if (variable.space == ptx::Space::shared) {
    if (variable.external) return 0; // set when the static part is known
    const std::uint64_t at = round_up(program_.static_shared, alignment);
    program_.static_shared = at + size;
    return at;
  }
  if (variable.space == ptx::Space::const_) {
    const std::uint64_t at = round_up(program_.constants.size(), alignment);
    program_.constants.resize(at + size);
    return at;
  }
  const std::uint64_t at = round_up(next_global_, std::max<std::uint64_t>(alignment, 256));
  next_global_ = at + size + 4096;
  program_.globals.push_back({std::string(variable.name), at, std::vector<std::uint8_t>(size, 0)});
  return at;
}

std::optional<std::uint64_t> Layout::address(const ptx::Symbol& symbol) const {
  const auto found = variables_.find(symbol.name.data());
  if (found == variables_.end()) return std::nullopt;
  return found->second.address;
}

std::optional<std::uint64_t> Layout::address_by_name(std::string_view name, bool generic) const {
  const auto global = program_.module->globals.find(name);
  if (global == program_.module->globals.end()) return std::nullopt;
  if (global->second.is_function) return function_address(global->second.index);
  const ptx::Variable& variable = program_.module->variables[global->second.index];
  const auto found = variables_.find(variable.name.data());
  if (found == variables_.end()) return std::nullopt;
  return found->second.address + (generic ? sem::window_base(variable.space) : 0);
}

void Layout::initialize(const Found& found) {
  const ptx::Variable& variable = *found.variable;
  const AddressOf address_of = [this](std::string_view name, bool generic) {
    return address_by_name(name, generic);
  };
  std::vector<std::uint8_t> bytes(size_of(variable), 0);
  if (!read_initializer(initializer_text(found.declaration, variable.name), variable.type,
                        address_of, bytes))
    program_.warnings.push_back("the initial value of " + std::string(variable.name) +
                                " could not be read");
  if (variable.space == ptx::Space::const_) {
    std::ranges::copy(bytes,
                      program_.constants.begin() + static_cast<std::ptrdiff_t>(found.address));
  } else {
    const auto global = std::ranges::find(program_.globals, found.address, &Initial::base);
    if (global != program_.globals.end()) global->data = std::move(bytes);
  }
}

} // namespace ptxasw::simt
