// The names of one function: registers, symbols, labels and tables, by nested scope.
#pragma once

#include "ptx/body.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::ptx {

class Scopes {
public:
  using Id = std::uint32_t;

  // Scope 0 holds the parameters.
  Scopes(Body& body, VectorRegisters vectors)
      : body_(body), elements_(vectors == VectorRegisters::elements), scopes_(1) {}

  Id add(Id parent);
  [[nodiscard]] Id parent(Id scope) const { return scopes_[scope].parent; }

  void declare(Id scope, const Variable& variable);
  void declare_parameters(const Function& function);
  bool declare_label(Id scope, std::string_view name, InstId at); // false: there already
  bool declare_prototype(Id scope, std::string_view name, std::uint32_t index);

  // What a name means to an instruction in `scope`: a register, a symbol of the function or the
  // module, a special register; kind `sink` if it means nothing. Registers of a range (%r<100>)
  // are numbered when they are first used.
  Arg find(Id scope, std::string_view name);
  [[nodiscard]] InstId label(Id scope, std::string_view name) const;            // or `none`
  [[nodiscard]] std::uint32_t prototype(Id scope, std::string_view name) const; // or `none`
  // Of a register declared as a vector (.reg .v4 .f32 v), otherwise 1. If vectors are made of
  // elements, these are the registers behind it.
  [[nodiscard]] std::uint32_t length(RegId reg) const { return length_[reg]; }
  RegId add_register(std::string_view name, Type type, std::uint32_t length = 1);

private:
  struct NameRange {
    std::uint32_t count = 0;
    Type type = Type::none;
    std::uint32_t length = 1;
  };
  using Map = std::unordered_map<std::string_view, std::uint32_t>;
  struct Scope {
    Id parent = 0;
    Map registers, symbols, labels, prototypes;
    std::unordered_map<std::string_view, NameRange> ranges; // by prefix
  };

  RegId find_register(Scope& scope, std::string_view name);
  Arg find_global(std::string_view name);
  std::uint32_t add_symbol(const Variable& variable, Symbol::Kind kind);

  Body& body_;
  bool elements_ = false;
  std::vector<Scope> scopes_;
  std::vector<std::uint32_t> length_; // per register
  Map globals_;                       // symbols of module scope used so far
};

} // namespace ptxasw::ptx
