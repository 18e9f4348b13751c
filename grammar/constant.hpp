// Constant expressions (PTX ISA 9.0, section 4.5): the operators of C by precedence.
#pragma once

#include "lexical.hpp"

namespace ptxasw::grammar {

struct expression;
struct unary;

struct integer_literal : integer {};
struct real_literal : real {};
struct symbol_name : name {};
// generic(symbol), a[3], 0xFF00(symbol)
struct applied : parenthesized<nested<expression>> {};
struct subscript : phrase<p::one<'['>, nested<expression>, p::one<']'>> {};
struct symbol : p::seq<symbol_name, p::opt<gap, p::sor<applied, subscript>>> {};
struct number : p::sor<real_literal, p::seq<integer_literal, p::opt<gap, applied>>> {};

struct signed_cast : word<".s64"> {};
struct unsigned_cast : word<".u64"> {};
struct signed_value : phrase<signed_cast, p::one<')'>, nested<unary>> {};
struct unsigned_value : phrase<unsigned_cast, p::one<')'>, nested<unary>> {};
struct grouped : phrase<nested<expression>, p::one<')'>> {};
struct parentheses : phrase<p::one<'('>, p::sor<signed_value, unsigned_value, grouped>> {};

struct operation : phrase<p::one<'+', '-', '!', '~'>, nested<unary>> {};
struct unary : p::sor<operation, parentheses, number, symbol> {};

// One level of binary operators: operand, then any number of (operator, operand).
template <typename Tail, typename Operand> struct level : p::seq<Operand, p::star<gap, Tail>> {};

// 10 %4 is the number 10 and the name %4.
struct modulo : p::seq<p::one<'%'>, p::not_at<name_char>> {};
struct product_tail : phrase<p::sor<p::one<'*', '/'>, modulo>, unary> {};
struct product : level<product_tail, unary> {};
struct sum_tail : phrase<p::one<'+', '-'>, product> {};
struct sum : level<sum_tail, product> {};
struct shift_tail : phrase<p::sor<p::two<'<'>, p::two<'>'>>, sum> {};
struct shift : level<shift_tail, sum> {};
struct relation_tail : phrase<p::seq<p::one<'<', '>'>, p::opt<p::one<'='>>>, shift> {};
struct relation : level<relation_tail, shift> {};
struct equality_tail : phrase<p::sor<p::two<'='>, p::string<'!', '='>>, relation> {};
struct equality : level<equality_tail, relation> {};
struct bit_and_tail : phrase<p::seq<p::one<'&'>, p::not_at<p::one<'&'>>>, equality> {};
struct bit_and : level<bit_and_tail, equality> {};
struct bit_xor_tail : phrase<p::one<'^'>, bit_and> {};
struct bit_xor : level<bit_xor_tail, bit_and> {};
struct bit_or_tail : phrase<p::seq<p::one<'|'>, p::not_at<p::one<'|'>>>, bit_xor> {};
struct bit_or : level<bit_or_tail, bit_xor> {};
struct logical_and_tail : phrase<p::two<'&'>, bit_or> {};
struct logical_and : level<logical_and_tail, bit_or> {};
struct logical_or_tail : phrase<p::two<'|'>, logical_and> {};
struct logical_or : level<logical_or_tail, logical_and> {};

struct choice : phrase<p::one<'?'>, nested<expression>, p::one<':'>, nested<expression>> {};
struct expression : p::seq<logical_or, p::opt<gap, choice>> {};

} // namespace ptxasw::grammar
