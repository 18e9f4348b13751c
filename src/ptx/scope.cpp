// Look-up of names by the scoping rules of PTX: a nested block sees what surrounds it and may
// declare the same names anew; labels can be used before they stand.
#include "ptx/scope.hpp"

namespace ptxasw::ptx {

namespace {

Arg argument(Arg::Kind kind, std::uint32_t id) {
  Arg arg;
  arg.kind = kind;
  arg.id = id;
  return arg;
}

std::uint64_t align_up(std::uint64_t offset, std::uint64_t alignment) {
  return alignment == 0 ? offset : (offset + alignment - 1) / alignment * alignment;
}

// "%r12" is prefix "%r" and number 12. Numbers with leading zeros are names of their own.
struct Numbered {
  std::string_view prefix;
  std::uint32_t number = none;
};
Numbered split(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  const std::string_view number = name.substr(digits);
  constexpr std::size_t longest = 9;
  if (number.empty() || number.size() > longest || (number.size() > 1 && number[0] == '0'))
    return {};
  std::uint32_t value = 0;
  for (const char c : number)
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return {name.substr(0, digits), value};
}

} // namespace

Scopes::Id Scopes::add(Id parent) {
  scopes_.emplace_back().parent = parent;
  return static_cast<Id>(scopes_.size() - 1);
}

RegId Scopes::add_register(std::string_view name, Type type, std::uint32_t length) {
  const auto first = static_cast<RegId>(body_.registers.size());
  body_.registers.push_back({std::string(name), type});
  length_.push_back(length);
  if (elements_ && length != 1)
    for (std::uint32_t i = 0; i < length; ++i)
      add_register(std::string(name) + '.' + "xyzw"[i % 4], type);
  return first;
}

std::uint32_t Scopes::add_symbol(const Variable& variable, Symbol::Kind kind) {
  Symbol symbol;
  symbol.name = variable.name;
  symbol.kind = kind;
  symbol.space = variable.space;
  symbol.type = variable.type;
  const std::uint32_t element = bit_width(variable.type) / 8 * variable.vector;
  if (__builtin_mul_overflow(std::uint64_t{element}, variable.elements, &symbol.size))
    symbol.size = 0;
  symbol.alignment = variable.alignment != 0 ? variable.alignment : element;
  body_.symbols.push_back(symbol);
  return static_cast<std::uint32_t>(body_.symbols.size() - 1);
}

void Scopes::declare(Id id, const Variable& variable) {
  Scope& scope = scopes_[id];
  if (variable.space != Space::reg) {
    if (variable.range != 0) return; // .global .u32 a<5>: nobody writes it; a0 stays undeclared
    scope.symbols[variable.name] = add_symbol(variable, Symbol::Kind::variable);
    return;
  }
  if (variable.range != 0)
    scope.ranges[variable.name] = {variable.range, variable.type, variable.vector};
  else
    scope.registers[variable.name] = add_register(variable.name, variable.type, variable.vector);
}

void Scopes::declare_parameters(const Function& function) {
  std::uint64_t offset = 0;
  const auto declare_all = [&](const std::vector<Variable>& variables, Symbol::Kind kind) {
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      const Variable& variable = variables[i];
      if (variable.space == Space::reg) {
        declare(0, variable);
        continue;
      }
      const std::uint32_t index = add_symbol(variable, kind);
      Symbol& symbol = body_.symbols[index];
      symbol.index = i;
      if (function.is_entry) {
        offset = align_up(offset, symbol.alignment);
        symbol.offset = offset;
        offset += symbol.size;
      }
      scopes_[0].symbols[variable.name] = index;
    }
  };
  declare_all(function.returns, Symbol::Kind::return_parameter);
  declare_all(function.parameters, Symbol::Kind::parameter);
}

bool Scopes::declare_label(Id scope, std::string_view name, InstId at) {
  return scopes_[scope].labels.try_emplace(name, at).second;
}

bool Scopes::declare_prototype(Id scope, std::string_view name, std::uint32_t index) {
  return scopes_[scope].prototypes.try_emplace(name, index).second;
}

RegId Scopes::find_register(Scope& scope, std::string_view name) {
  if (const auto found = scope.registers.find(name); found != scope.registers.end())
    return found->second;
  if (scope.ranges.empty()) return none;
  const Numbered numbered = split(name);
  const auto range = scope.ranges.find(numbered.prefix);
  if (range == scope.ranges.end() || numbered.number >= range->second.count) return none;
  const RegId reg = add_register(name, range->second.type, range->second.length);
  scope.registers.emplace(name, reg);
  return reg;
}

Arg Scopes::find(Id id, std::string_view name) {
  for (Id at = id;; at = scopes_[at].parent) {
    Scope& scope = scopes_[at];
    if (const RegId reg = find_register(scope, name); reg != none)
      return argument(Arg::Kind::reg, reg);
    if (const auto found = scope.symbols.find(name); found != scope.symbols.end())
      return argument(Arg::Kind::symbol, found->second);
    if (at == 0) break;
  }
  if (const SpecialInfo* special = find_special(name)) {
    Arg arg = argument(Arg::Kind::special, none);
    arg.special = special->id;
    return arg;
  }
  return find_global(name);
}

Arg Scopes::find_global(std::string_view name) {
  if (const auto known = globals_.find(name); known != globals_.end())
    return argument(Arg::Kind::symbol, known->second);
  const auto found = body_.module->globals.find(name);
  if (found == body_.module->globals.end()) return {};
  std::uint32_t index = 0;
  if (found->second.is_function) {
    Symbol symbol;
    symbol.name = name;
    symbol.kind = Symbol::Kind::function;
    symbol.index = found->second.index;
    index = static_cast<std::uint32_t>(body_.symbols.size());
    body_.symbols.push_back(symbol);
  } else {
    index = add_symbol(body_.module->variables[found->second.index], Symbol::Kind::variable);
  }
  globals_.emplace(name, index);
  return argument(Arg::Kind::symbol, index);
}

InstId Scopes::label(Id id, std::string_view name) const {
  for (Id at = id;; at = scopes_[at].parent) {
    const auto found = scopes_[at].labels.find(name);
    if (found != scopes_[at].labels.end()) return found->second;
    if (at == 0) return none;
  }
}

std::uint32_t Scopes::prototype(Id id, std::string_view name) const {
  for (Id at = id;; at = scopes_[at].parent) {
    const auto found = scopes_[at].prototypes.find(name);
    if (found != scopes_[at].prototypes.end()) return found->second;
    if (at == 0) return none;
  }
}

} // namespace ptxasw::ptx
