// Collects what the grammar's actions see of one statement into the module's pools.
//
// Operands of a compound ({a, b}, [a], (a, b)) are pushed on a stack first and moved to the pool
// together when the compound ends, so that children stand next to each other. Nothing is allocated
// per statement; a statement that turns out unreadable is reverted by rollback().
#pragma once

#include "ptx/constant.hpp"
#include "ptx/module.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace ptxasw::ptx {

class Builder {
public:
  explicit Builder(Module& module) : module_(module), text_(*module.text) {}

  void begin();    // a new statement
  void rollback(); // forget the statement begun last
  [[nodiscard]] StatementKind kind() const { return kind_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  // Operands.
  void name(std::string_view text) { push(OperandKind::name, text); }
  void sink(std::string_view text) { push(OperandKind::sink, text); }
  void constant(std::string_view text, const Constant& value);
  void expression(std::string_view text) { constant(text, pop()); }
  void negated(std::string_view text);
  void pair(std::string_view text);
  void remember(std::size_t which, std::string_view text) { remembered_[which] = text; }
  void open() { marks_.push_back(static_cast<std::uint32_t>(stack_.size())); }
  void close(OperandKind kind, std::string_view text);
  void vector_partner(std::string_view text);
  void open_address();
  void offset_base();
  void expression_base(std::string_view text);
  void address(std::string_view text);

  // Constant expressions.
  void push(const Constant& value) { constants_.push_back(value); }
  Constant pop();
  void unary(std::string_view text);
  void binary(std::string_view text);
  void choose();
  void apply(); // generic(a), a[1]
  void cast(bool is_unsigned);

  // Instructions.
  void guard(std::string_view predicate) { instruction_.guard.predicate = predicate; }
  void guard_not() { instruction_.guard.negated = true; }
  void opcode(std::string_view text);
  void modifier(std::string_view text) { module_.modifiers.push_back(text); }
  void mnemonic(std::string_view text);
  void instruction();

  // Declarations.
  void linkage(std::string_view word);
  void space(std::string_view word);
  void type(std::string_view word);
  void alignment() { declaration_.alignment = to_size(pop()); }
  void declarator(std::string_view name);
  void range_count(std::string_view number);
  void dimension_size();
  void dimension();
  void initializer() { module_.variables.back().has_initializer = true; }
  void variable();
  void parameter_space(std::string_view word);
  void parameter_name(std::string_view name);
  void return_parameters();
  void value_parameters();
  void function_kind(std::string_view word);
  void function_name(std::string_view name) { function_.name = name; }
  void tuning_name(std::string_view name);
  void tuning();
  void function();

  // Labels and directives.
  void label_name(std::string_view name) { remembered_[0] = name; }
  void label();
  void prototype(std::string_view directive) { prototype_.directive = directive; }
  void target_count(std::string_view number);
  void prototype_end();
  void version(std::string_view number);
  void target(std::string_view name);
  void address_size(std::string_view number);
  void file_number(std::string_view number);
  void file_name(std::string_view quoted);
  void location_part(std::string_view number);
  void inlined_part(std::string_view number);
  void location();
  void plain(StatementKind kind) { finish(kind, 0, 0); }

private:
  struct PoolSizes {
    std::size_t modifiers = 0, operands = 0, variables = 0, labels = 0, prototypes = 0;
  };

  [[nodiscard]] Range range(std::string_view text) const;
  void push(OperandKind kind, std::string_view text);
  void finish(StatementKind kind, std::size_t index, std::size_t count);
  Slice flush(std::size_t from); // moves the stack above `from` to the pool
  void multiply_elements(std::uint64_t by);
  static std::uint32_t to_size(const Constant& value);

  Module& module_;
  std::string_view text_;
  PoolSizes before_;

  StatementKind kind_ = StatementKind::opaque;
  std::uint32_t index_ = 0, count_ = 0;

  std::vector<Operand> stack_;
  std::vector<std::uint32_t> marks_; // stack sizes at the open compounds
  std::vector<Constant> constants_;
  std::array<std::string_view, 2> remembered_;
  std::uint64_t offset_ = 0; // of the address being read

  Instruction instruction_;
  Variable declaration_;      // what the declarators of one statement share
  Variable* sized_ = nullptr; // whose dimensions are being read
  bool unsized_ = true;       // of the dimension being read
  std::vector<Variable> parameters_;
  Function function_;
  std::string_view tuning_name_;
  Prototype prototype_;
  std::uint64_t file_number_ = 0;
  std::array<std::uint32_t, 3> location_{}, inlined_at_{};
  std::size_t location_parts_ = 0, inlined_parts_ = 0;
};

} // namespace ptxasw::ptx
