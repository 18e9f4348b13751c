// What the parser does at each grammar rule: one line per rule, all work is the Builder's.
#pragma once

#include "ptx/builder.hpp"

#include <ptx.hpp>

namespace ptxasw::ptx {

template <typename Rule> struct Action : tao::pegtl::nothing<Rule> {};

// Rules whose matched text matters.
#define PTX_TEXT(rule, statement)                                                                  \
  template <> struct Action<grammar::rule> {                                                       \
    template <typename Input> static void apply(const Input& in, Builder& b) {                     \
      const std::string_view text = in.string_view();                                              \
      statement;                                                                                   \
    }                                                                                              \
  };
// Rules of which it only matters that they matched.
#define PTX_EVENT(rule, statement)                                                                 \
  template <> struct Action<grammar::rule> {                                                       \
    static void apply0(Builder& b) { statement; }                                                  \
  };

PTX_TEXT(name_operand, b.name(text))
PTX_TEXT(spaced_name_operand, b.name(text))
PTX_TEXT(sink_operand, b.sink(text))
PTX_TEXT(integer_operand, b.constant(text, integer_constant(text)))
PTX_TEXT(real_operand, b.constant(text, real_constant(text)))
PTX_TEXT(expression_operand, b.expression(text))
PTX_TEXT(negated_name, b.remember(0, text))
PTX_TEXT(negated_operand, b.negated(text))
PTX_TEXT(pair_first, b.remember(0, text))
PTX_TEXT(pair_second, b.remember(1, text))
PTX_TEXT(pair_operand, b.pair(text))
PTX_EVENT(vector_open, b.open())
PTX_TEXT(vector, b.close(OperandKind::vector, text))
PTX_TEXT(vector_partner, b.vector_partner(text))
PTX_EVENT(address_open, b.open_address())
PTX_TEXT(name_base, b.name(text))
PTX_TEXT(address_name, b.remember(0, text))
PTX_TEXT(address_offset, b.remember(1, text))
PTX_EVENT(offset_base, b.offset_base())
PTX_TEXT(expression_base, b.expression_base(text))
PTX_TEXT(address_operand, b.address(text))
PTX_EVENT(list_open, b.open())
PTX_TEXT(argument_list, b.close(OperandKind::list, text))

PTX_TEXT(integer_literal, b.push(integer_constant(text)))
PTX_TEXT(real_literal, b.push(real_constant(text)))
PTX_TEXT(symbol_name, b.push(Constant{Constant::Kind::address, false, 0, text}))
PTX_EVENT(applied, b.apply())
PTX_EVENT(subscript, b.apply())
PTX_EVENT(signed_value, b.cast(false))
PTX_EVENT(unsigned_value, b.cast(true))
PTX_TEXT(operation, b.unary(text))
PTX_TEXT(product_tail, b.binary(text))
PTX_TEXT(sum_tail, b.binary(text))
PTX_TEXT(shift_tail, b.binary(text))
PTX_TEXT(relation_tail, b.binary(text))
PTX_TEXT(equality_tail, b.binary(text))
PTX_TEXT(bit_and_tail, b.binary(text))
PTX_TEXT(bit_xor_tail, b.binary(text))
PTX_TEXT(bit_or_tail, b.binary(text))
PTX_TEXT(logical_and_tail, b.binary(text))
PTX_TEXT(logical_or_tail, b.binary(text))
PTX_EVENT(choice, b.choose())

PTX_EVENT(guard_not, b.guard_not())
PTX_TEXT(guard_name, b.guard(text))
PTX_TEXT(opcode, b.opcode(text))
PTX_TEXT(modifier, b.modifier(text))
PTX_TEXT(mnemonic, b.mnemonic(text))
PTX_EVENT(instruction, b.instruction())

PTX_TEXT(linkage, b.linkage(text))
PTX_TEXT(variable_space, b.space(text))
PTX_EVENT(alignment, b.alignment())
PTX_TEXT(type_word, b.type(text))
PTX_TEXT(declared_name, b.declarator(text))
PTX_TEXT(range_count, b.range_count(text))
PTX_EVENT(dimension_size, b.dimension_size())
PTX_EVENT(dimension, b.dimension())
PTX_EVENT(initial_value, b.initializer())
PTX_EVENT(variable, b.variable())
PTX_TEXT(parameter_space, b.parameter_space(text))
PTX_TEXT(parameter_name, b.parameter_name(text))
PTX_EVENT(return_parameters, b.return_parameters())
PTX_EVENT(value_parameters, b.value_parameters())
PTX_TEXT(function_kind, b.function_kind(text))
PTX_TEXT(function_name, b.function_name(text))
PTX_TEXT(tuning_name, b.tuning_name(text))
PTX_EVENT(tuning, b.tuning())
PTX_EVENT(function, b.function())

PTX_TEXT(label_name, b.label_name(text))
PTX_EVENT(label, b.label())
PTX_TEXT(target_name, b.name(text))
PTX_TEXT(target_count, b.target_count(text))
PTX_TEXT(targets_word, b.prototype(text))
PTX_TEXT(prototype_word, b.prototype(text))
PTX_EVENT(targets, b.prototype_end())
PTX_EVENT(call_prototype, b.prototype_end())

PTX_TEXT(version_number, b.version(text))
PTX_TEXT(target_word, b.target(text))
PTX_TEXT(address_bits, b.address_size(text))
PTX_TEXT(file_number, b.file_number(text))
PTX_TEXT(file_name, b.file_name(text))
PTX_TEXT(location_part, b.location_part(text))
PTX_TEXT(inlined_part, b.inlined_part(text))
PTX_EVENT(location, b.location())
PTX_EVENT(directive, b.plain(StatementKind::directive))
PTX_EVENT(empty_statement, b.plain(StatementKind::directive))
PTX_EVENT(dwarf_line, b.plain(StatementKind::directive))
PTX_EVENT(line_marker_statement, b.plain(StatementKind::line_marker))
PTX_EVENT(scope_open, b.plain(StatementKind::scope_open))
PTX_EVENT(scope_close, b.plain(StatementKind::scope_close))

#undef PTX_TEXT
#undef PTX_EVENT

} // namespace ptxasw::ptx
