// The syntax of PTX, ISA 1.4 to 9.0, as PEGTL rules: tokens, operands and instructions, then
// declarations, directives and statements. A text is trivia and statements in turn; the caller
// (src/ptx/parse.cpp) loops over them, so that one unreadable statement costs only itself.
//
// The rules are written so that no alternative is retried after a nested one has succeeded, and
// whatever nests goes through `nested`, which bounds the depth: time is linear, the stack is short.
#pragma once

#include "constant.hpp"
#include "lexical.hpp"

namespace ptxasw::grammar {

// ---- Operands -----------------------------------------------------------------------------

// What may follow an operand. The short forms below end here; anything longer (a + 4, 1 | 2) is
// read as a constant expression.
struct operand_end : p::at<gap, p::one<',', ';', ']', '}', ')'>> {};

struct name_operand : p::seq<name, operand_end> {};                 // %r1, foo, %tid.x, %r1.b0
struct spaced_name : p::seq<identifier, p::plus<gap, selector>> {}; // %tid .x
struct spaced_name_operand : p::seq<spaced_name, operand_end> {};
struct sink_operand : p::seq<sink, operand_end> {}; // _
struct integer_operand : p::seq<integer, operand_end> {};
struct real_operand : p::seq<real, operand_end> {};
struct expression_operand : expression {};

struct negated_name : name {};
struct negated_operand : p::seq<p::one<'!'>, gap, negated_name, operand_end> {}; // !p

struct pair_first : p::sor<sink, name> {};
struct pair_second : p::sor<sink, name> {};
struct pair_bar : p::seq<p::one<'|'>, p::not_at<p::one<'|'>>> {};
struct pair_operand // p|q
    : p::seq<phrase<pair_first, pair_bar, pair_second>, operand_end> {};

struct scalar : p::sor<name_operand, integer_operand, sink_operand, real_operand, pair_operand,
                       negated_operand, spaced_name_operand, expression_operand> {};

struct vector_open : p::one<'{'> {};
struct vector_close : p::one<'}'> {};
struct vector : phrase<vector_open, p::opt<comma_list<scalar>>, vector_close> {}; // {a, b, _}
struct vector_partner : p::sor<sink, name> {};
struct vector_operand : p::seq<vector, p::opt<gap, pair_bar, gap, vector_partner>> {}; // {a, b}|p

// [a]  [a + 8]  [a + -8]  [1024]  [map, {x, y}]  [texture, sampler, {u, v}]
struct address_open : p::one<'['> {};
struct address_close : p::one<']'> {};
struct address_end : p::at<gap, p::one<']', ','>> {};
struct address_name : name {};
struct address_offset : p::seq<p::opt<p::one<'-'>, gap>, integer> {};
struct name_base : p::seq<name, address_end> {};
struct offset_base : p::seq<phrase<address_name, p::one<'+'>, address_offset>, address_end> {};
struct expression_base : expression {};
struct address_base : p::sor<name_base, offset_base, expression_base> {};
struct address_coordinate : p::sor<vector, scalar> {};
struct address_operand : phrase<address_open, address_base,
                                p::star<comma, gap, address_coordinate, gap>, address_close> {};

struct operand : p::sor<name_operand, integer_operand, address_operand, vector_operand, scalar> {};
struct operands : comma_list<operand> {};

// ---- Instructions -------------------------------------------------------------------------

// @p  @!p
struct guard_not : p::one<'!'> {};
struct guard_name : name {};
struct guard : phrase<p::one<'@'>, p::opt<guard_not>, guard_name> {};

// ld.global.nc.L2::128B.v4.f32; blanks before a dot are allowed
struct opcode : p::seq<p::alpha, p::star<p::alnum>, p::not_at<name_char>> {};
struct const_bank : p::seq<word<".const">, p::one<'['>, p::plus<p::digit>, p::one<']'>> {};
struct modifier : p::sor<const_bank, dotted> {}; // ld.const[2].f32 was written before PTX 2.2
struct mnemonic : p::seq<opcode, p::star<gap, modifier>> {};

// call (result), function, (arguments), prototype;
struct list_open : p::one<'('> {};
struct list_close : p::one<')'> {};
struct argument_list : phrase<list_open, p::opt<comma_list<operand>>, list_close> {};
struct call_operands : comma_list<p::sor<argument_list, operand>> {};
struct call : p::seq<p::at<word<"call">>, mnemonic, gap, call_operands> {};

struct plain_instruction : p::seq<mnemonic, p::opt<gap, operands>> {};
struct instruction : p::seq<p::opt<guard, gap>, p::sor<call, plain_instruction>, gap, semicolon> {};

// ---- Declarations -------------------------------------------------------------------------

struct linkage : p::sor<word<".extern">, word<".visible">, word<".weak">, word<".common">> {};

// .align 16   .attribute(.managed)   .v4   .f32   .ptr   and, behind .ptr, a state space
struct alignment : p::seq<word<".align">, gap, expression> {};
struct attribute_item : p::seq<dotted, p::opt<gap, parenthesized<comma_list<expression>>>> {};
struct attribute
    : p::seq<word<".attribute">, gap, p::disable<parenthesized<comma_list<attribute_item>>>> {};
struct pointer_space
    : p::seq<
          word<".ptr">,
          p::opt<gap, p::sor<word<".const">, word<".global">, word<".local">, word<".shared">>>> {};
struct type_word : dotted {};
struct qualifier : p::sor<alignment, attribute, pointer_space, type_word> {};

struct variable_space : p::sor<word<".reg">, word<".sreg">, word<".const">, word<".global">,
                               word<".local">, word<".param">, word<".shared">, word<".tex">> {};
// .const[3] (a bank, PTX before 2.2) and .shared::cta
struct space_detail : p::sor<p::seq<p::one<'['>, gap, integer, gap, p::one<']'>>,
                             p::seq<p::two<':'>, p::plus<name_char>>> {};

struct declared_name : identifier {};
struct range_count : integer {};
struct name_range : phrase<p::one<'<'>, range_count, p::one<'>'>> {}; // %r<100>
struct dimension_size : expression {};
struct dimension_close : p::one<']'> {};
struct dimension : phrase<p::one<'['>, p::opt<dimension_size>, dimension_close> {};

struct initializer;
struct braced_initializer
    : phrase<p::one<'{'>, p::opt<comma_list<nested<initializer>>>, p::one<'}'>> {};
struct field_initializer : phrase<identifier, p::one<'='>, expression> {}; // of .samplerref
struct initializer : p::sor<p::seq<integer, p::at<gap, p::one<',', '}', ';'>>>, braced_initializer,
                            field_initializer, expression> {};
struct initial_value : p::disable<initializer> {};

struct declarator : p::seq<declared_name, p::opt<gap, name_range>, p::star<gap, dimension>,
                           p::opt<gap, p::one<'='>, gap, initial_value>> {};
struct declaration_space : p::seq<variable_space, p::opt<space_detail>> {};
struct variable : p::seq<declaration_space, p::star<gap, qualifier>, gap, comma_list<declarator>,
                         gap, semicolon> {};

// ---- Functions ----------------------------------------------------------------------------

struct parameter_space : p::sor<word<".param">, word<".reg">> {};
struct parameter_name : p::sor<sink, identifier> {};
struct variadic : p::string<'.', '.', '.'> {};
struct parameter : p::sor<p::seq<parameter_space, p::star<gap, qualifier>,
                                 p::opt<gap, parameter_name, p::star<gap, dimension>>>,
                          variadic> {};
struct parameters : parenthesized<p::opt<comma_list<parameter>>> {};
struct return_parameters : parameters {};
struct value_parameters : parameters {};

struct pragma : phrase<word<".pragma">, comma_list<string>, semicolon> {};

// .maxntid 256, 1, 1   .minnctapersm 2   .noreturn   .explicitcluster   .abi_preserve 8 ...
// What begins the next statement: ptxas takes a prototype without its ';'.
struct next_declaration : p::sor<linkage, variable_space, word<".entry">, word<".func">,
                                 word<".file">, word<".section">, word<".alias">, word<".version">,
                                 word<".target">, word<".address_size">> {};
struct tuning_name : p::seq<p::not_at<next_declaration>, dotted> {};
struct tuning_value : expression {};
struct tuning
    : p::sor<pragma, attribute, p::seq<tuning_name, p::opt<gap, comma_list<tuning_value>>>> {};

struct function_kind : p::sor<word<".entry">, word<".func">> {};
struct function_name : identifier {};
struct function_end : p::at<gap, p::sor<p::one<'{', ';'>, next_declaration, p::eof>> {};
// In front of the name a value can only be a number.
struct early_tuning
    : p::sor<attribute, p::seq<tuning_name, p::opt<gap, p::disable<comma_list<integer>>>>> {};
struct function
    : p::seq<function_kind, p::star<gap, early_tuning>, p::opt<gap, return_parameters>, gap,
             function_name, p::opt<gap, value_parameters>, p::star<gap, tuning>, function_end> {};

struct declaration : p::seq<p::star<linkage, gap>, p::sor<function, variable>> {};

// ---- Labels and what they name --------------------------------------------------------------

struct target_name : name {};
struct target_count : integer {};
struct target_names // L1 or, short for L0 to L4, L<5>
    : p::seq<target_name, p::opt<gap, p::one<'<'>, gap, target_count, gap, p::one<'>'>>> {};
struct targets_word : p::sor<word<".branchtargets">, word<".calltargets">> {};
struct targets : phrase<targets_word, comma_list<target_names>, semicolon> {};
struct prototype_word : word<".callprototype"> {};
struct call_prototype
    : p::seq<prototype_word, p::opt<gap, p::disable<return_parameters>>, gap,
             p::disable<parameter_name>, p::opt<gap, p::disable<value_parameters>>,
             p::star<gap, p::disable<tuning>>, gap, semicolon> {};
struct label_name : identifier {};
struct label : p::seq<label_name, gap, colon> {};
struct labelled : p::seq<label, p::opt<gap, p::sor<targets, call_prototype>>> {};

// ---- Directives -----------------------------------------------------------------------------

struct version_number : p::seq<p::plus<p::digit>, p::one<'.'>, p::plus<p::digit>> {};
struct version : phrase<word<".version">, version_number> {};
struct target_word : identifier {};
struct target : phrase<word<".target">, comma_list<target_word>> {};
struct address_bits : integer {};
struct address_size : phrase<word<".address_size">, address_bits> {};
struct alias : phrase<word<".alias">, identifier, comma, identifier, semicolon> {};

// .file 1 "a.cu", 1234, 5678   and, from compilers that think of DWARF 5, .file 1 "folder" "a.cu"
struct file_number : integer {};
struct file_name : string {};
struct file : p::seq<word<".file">, gap, file_number, gap, file_name, p::opt<gap, string>,
                     p::opt<gap, comma, gap, integer, gap, comma, gap, integer>> {};

// .loc 1 20 5, function_name $L__info_string0, inlined_at 1 40 7
struct location_part : integer {};
struct inlined_function : p::seq<word<"function_name">, gap, p::sor<name, dotted>,
                                 p::opt<gap, p::one<'+'>, gap, integer>> {};
struct inlined_part : integer {};
struct inlined_at : phrase<word<"inlined_at">, inlined_part, inlined_part, inlined_part> {};
struct location : p::seq<word<".loc">, gap, location_part, gap, location_part, gap, location_part,
                         p::star<gap, comma, gap, p::sor<inlined_function, inlined_at>>> {};

// .section .debug_info { label: .b32 4, .debug_abbrev+8 ... }
struct section_term : p::sor<integer, name, dotted, p::seq<p::one<'-'>, gap, integer>> {};
struct section_value : p::list<section_term, p::one<'+', '-'>, separator> {};
struct section_type : p::sor<word<".b8">, word<".b16">, word<".b32">, word<".b64">> {};
struct section_data : p::seq<section_type, gap, comma_list<section_value>> {};
struct section_label : p::seq<identifier, gap, colon> {};
struct section_item : p::sor<section_data, section_label, semicolon> {};
struct section_name : p::sor<dotted, identifier, string> {};
struct section : p::seq<word<".section">, gap, section_name, gap, p::one<'{'>, gap,
                        p::disable<p::star<section_item, gap>>, p::one<'}'>> {};
// DWARF before PTX 2.0: the rest of the line belongs to the assembler behind.
struct dwarf_line : p::seq<p::two<'@'>, word<"DWARF">, p::star<p::not_one<'\n'>>> {};

struct directive : p::sor<file, pragma, section, version, target, address_size, alias> {};

// ---- Statements -----------------------------------------------------------------------------

struct scope_open : p::one<'{'> {};
struct scope_close : p::one<'}'> {};
struct empty_statement : semicolon {};
struct line_marker_statement : line_marker {};

struct statement : p::sor<labelled, instruction, location, declaration, scope_open, scope_close,
                          directive, empty_statement, line_marker_statement, dwarf_line> {};

} // namespace ptxasw::grammar
