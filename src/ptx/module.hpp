// The lossless module: a flat list of statements, each a byte range of the text it came from.
//
// Nothing is ever re-formatted. Whatever stands between two statements (blanks, comments) belongs
// to nobody and is kept. A rewrite is a set of Edits on byte ranges (parse.hpp); print() of an
// unedited module gives the input bytes back, and statements() plus trivia cover every byte.
//
// Trees are stored flat: operands, modifiers and statements live in one vector each and refer to
// each other by index, so that a 20 MB module costs a handful of allocations.
#pragma once

#include "ptx/isa.hpp"
#include "ptx/source.hpp"
#include "ptx/whole_text.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::ptx {

// A run of elements of one of the module's pools.
struct Slice {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

enum class OperandKind : std::uint8_t {
  name,       // %r1, foo, %tid.x, %r1.b0: `text` is the whole name with its selectors
  integer,    // `value` holds the 64 bits (two's complement for negative ones)
  float32,    // 0f3F800000, or a decimal literal in an .f32 context: `value` = the literal's bits
  float64,    // 0d..., or a decimal literal such as 1.5 (f64 bits in `value`)
  address,    // [a], [a+8], [a+-8], [a+b] : children = base (and index), `value` = byte offset
  vector,     // {a, b, _}
  pair,       // p|q
  negated,    // !p
  sink,       // _
  list,       // (a, b) of a call, or a bare list of labels
  expression, // a constant expression that names a symbol; `text` as written
};

struct Operand {
  OperandKind kind = OperandKind::name;
  Range range;
  std::string_view text; // into the module's text
  std::uint64_t value = 0;
  Slice children; // into Module::operands
};

struct Guard {
  std::string_view predicate; // empty: unpredicated
  bool negated = false;
};

// One instruction as written. Its meaning is looked up in the instruction table by `op`.
struct Instruction {
  Op op = Op::unknown;
  Range mnemonic;  // opcode with modifiers: ld.global.nc.f32
  Slice modifiers; // into Module::modifiers, each with its leading dot: ".global"
  Slice operands;  // into Module::operands, top-level operands only
  Guard guard;
};

// .reg .b32 %r<40>;   .shared .align 4 .b8 buf[1024] = {..};   .param .u64 name
struct Variable {
  std::string_view name; // without <40> or [1024]
  Space space = Space::generic;
  Type type = Type::none;
  std::uint32_t vector = 1;    // .v2/.v4
  std::uint32_t alignment = 0; // bytes; 0: natural
  std::uint32_t range = 0;     // %r<40>: 40; 0: a single name
  std::uint64_t elements = 1;  // product of the array dimensions; 0: [] without a size
  bool is_array = false;
  bool has_initializer = false;
  bool external = false, visible = false, weak = false, common = false;
};

enum class StatementKind : std::uint8_t {
  instruction, // index: Module::instructions
  variable,    // index: Module::variables, `count` of them (.reg .b32 a, b, c;)
  label,       // index: Module::labels
  scope_open,  // {   of a function body or a nested block
  scope_close, // }
  function,    // header of an .entry or .func up to (not with) its { or ;   index: functions
  location,    // .loc   index: Module::locations
  prototype,   // name: .callprototype / .branchtargets / .calltargets   index: Module::prototypes
  directive,   // any other directive (.version, .target, .file, .pragma, .alias, .section {...})
  line_marker, // # 5 "file"
  opaque,      // could not be read; a diagnostic says why. Its function is left alone.
};

struct Statement {
  StatementKind kind = StatementKind::opaque;
  Range range; // from its first byte to its terminator, without surrounding trivia
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};

struct Location { // .loc file line column [, function_name label+off, inlined_at file line column]
  std::uint32_t file = 0, line = 0, column = 0;
  std::array<std::uint32_t, 3> inlined_at{}; // file, line, column of the call; 0: none
};

struct Prototype { // tables named by a label
  std::string_view label;
  std::string_view directive; // ".branchtargets", ".calltargets", ".callprototype"
  // Branch and call targets: operands of kind name; `value` n > 0 stands for name0 to name(n-1).
  Slice names;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_declaration = false; // no body
  bool external = false, visible = false, weak = false;
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  // Performance-tuning directives; 0 where absent.
  std::array<std::uint32_t, 3> maxntid{}, reqntid{};
  std::uint32_t minnctapersm = 0, maxnreg = 0;
  bool uses_clusters = false;  // .reqnctapercluster, .explicitcluster, .maxclusterrank, ...
  Slice body;                  // into Module::statements, from scope_open to scope_close
  std::uint32_t statement = 0; // of the header
  bool has_opaque = false;     // some statement of the body could not be read
};

// What a name of module scope stands for: an index into Module::functions or Module::variables.
struct Global {
  bool is_function = false;
  std::uint32_t index = 0;
};

struct Module {
  std::shared_ptr<const std::string> text; // all string_views point in here
  std::shared_ptr<WholeText> whole = std::make_shared<WholeText>(); // what was asked of it
  std::string file;                                                 // for messages
  LineTable lines;

  std::uint32_t version_major = 0, version_minor = 0; // .version
  std::string_view target;                            // "sm_90" of .target
  std::uint32_t address_size = 32;

  std::vector<Statement> statements;
  std::vector<Instruction> instructions;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  std::vector<Variable> variables;
  std::vector<std::string_view> labels;
  std::vector<Location> locations;
  std::vector<Prototype> prototypes;
  std::vector<Function> functions;
  std::vector<std::string_view>
      files; // .file table: files[n] is the name of .file n (may be empty)
  std::vector<Diagnostic> diagnostics;
  // Names of module scope; for a function that is declared and defined, its definition.
  std::unordered_map<std::string_view, Global> globals;

  [[nodiscard]] std::string_view slice(Range r) const {
    return std::string_view(*text).substr(r.begin, r.size());
  }
  [[nodiscard]] std::span<const Operand> children(const Operand& o) const {
    return std::span(operands).subspan(o.children.first, o.children.count);
  }
  [[nodiscard]] std::span<const Operand> operands_of(const Instruction& i) const {
    return std::span(operands).subspan(i.operands.first, i.operands.count);
  }
  [[nodiscard]] std::span<const std::string_view> modifiers_of(const Instruction& i) const {
    return std::span(modifiers).subspan(i.modifiers.first, i.modifiers.count);
  }
  [[nodiscard]] std::span<const Statement> body_of(const Function& f) const {
    return std::span(statements).subspan(f.body.first, f.body.count);
  }
};

} // namespace ptxasw::ptx
