// A function body with its names resolved: the form that every analysis, the emulator and the
// interpreter work on. Registers are dense numbers, labels are instruction indices, modifiers are
// decoded, destinations and sources are flat lists.
#pragma once

#include "ptx/module.hpp"

#include <span>
#include <string>
#include <vector>

namespace ptxasw::ptx {

using RegId = std::uint32_t;
using InstId = std::uint32_t;
inline constexpr std::uint32_t none = ~0U;

struct Register {
  std::string name; // as it is written in the instructions: "%rd12"
  Type type = Type::none;
};

// A module variable, parameter, local array, function or kernel whose address an operand names.
struct Symbol {
  enum class Kind : std::uint8_t { variable, parameter, return_parameter, function, unknown };
  std::string_view name;
  Kind kind = Kind::unknown;
  Space space = Space::generic;
  Type type = Type::none;
  std::uint64_t size = 0;      // bytes; 0 if unknown
  std::uint32_t alignment = 0; // bytes
  std::uint32_t index = none;  // parameter number, or index into Module::functions
  std::uint64_t offset = 0;    // of a kernel parameter in the parameter space
};

struct Arg {
  enum class Kind : std::uint8_t { sink, reg, imm, special, symbol };
  Kind kind = Kind::sink;
  bool negated = false; // !p
  Special special = Special::other;
  std::uint32_t id = none; // RegId, or index into Body::symbols
  std::uint64_t value = 0; // imm: bits as written (f32 literals: f32 bits); symbol: byte offset
  // imm only: the literal's own form, for contexts where it matters.
  enum class Literal : std::uint8_t { integer, f32, f64 } literal = Literal::integer;
  // Sub-word or component selector of a register operand (%r1.b0, %r1.h1, %v.x); empty if none.
  // An instruction with one is `opaque`, if it is not a video instruction.
  std::string_view selector;
};

// One memory operand: base + offset. The base is a register, symbol or immediate.
struct Address {
  Arg base;
  std::int64_t offset = 0;
};

struct Inst {
  Op op = Op::unknown;
  bool opaque = false;         // unknown opcode, modifier or operand form: no semantics
  std::uint32_t statement = 0; // into Module::statements
  std::uint32_t line = 0;      // source line in force by .loc, 0 if none
  std::uint32_t file = 0;      // .file number of that line
  Modifiers mods;
  RegId guard = none; // predicate register
  bool guard_negated = false;
  // Slices of Body::args / Body::addresses. Destinations are registers or sinks, flattened: vector
  // elements in order, both halves of d|p; .cc instructions also write the carry register, addc and
  // the like also read it (Body::carry). Sources exclude addresses and the guard.
  Slice dst, src, addr;
  Slice returned; // of a call: the .param variables (in Body::args) that its results go to
  // Control flow: targets as instruction indices (bra: 1; brx.idx: its table).
  Slice targets;               // into Body::targets
  std::uint32_t callee = none; // direct call: index into Module::functions; none: indirect
};

struct Body {
  const Module* module = nullptr;
  const Function* function = nullptr;
  std::vector<Inst> insts;
  std::vector<Arg> args;
  std::vector<Address> addresses;
  std::vector<InstId> targets; // == insts.size() for a label at the very end of the body
  std::vector<Register> registers;
  std::vector<Symbol> symbols;
  RegId carry = none; // virtual register for CC.CF; `none` if the body never uses it
  std::vector<Diagnostic> diagnostics; // undeclared names, wrong operand forms: body is unusable
  bool usable = true;                  // false: leave this function alone; diagnostics say why

  [[nodiscard]] std::span<const Arg> dst(const Inst& i) const {
    return std::span(args).subspan(i.dst.first, i.dst.count);
  }
  [[nodiscard]] std::span<const Arg> src(const Inst& i) const {
    return std::span(args).subspan(i.src.first, i.src.count);
  }
  [[nodiscard]] std::span<const Arg> returned(const Inst& i) const {
    return std::span(args).subspan(i.returned.first, i.returned.count);
  }
  [[nodiscard]] std::span<const Address> addr(const Inst& i) const {
    return std::span(addresses).subspan(i.addr.first, i.addr.count);
  }
  [[nodiscard]] std::span<const InstId> targets_of(const Inst& i) const {
    return std::span(targets).subspan(i.targets.first, i.targets.count);
  }
};

// The name of a register, special register or symbol where it stands in the text, and what it means
// there: the same that Inst's operands say, with the place.
struct Mention {
  Range where; // the name without a selector of parts
  Arg arg;     // kind `sink`: nothing of that name is declared
};

// What becomes of registers declared as vectors (.reg .v4 .f32 v), and of data written as a sum
// (st.u32 [a], %r1+4). `opaque`: instructions with them are, which is right for whoever rewrites
// text. `elements`: v is followed by registers of its elements, which stand in the flat lists, and
// the number is in Arg::value of a store's source; for whoever only runs the code.
enum class VectorRegisters : std::uint8_t { opaque, elements };

// The module must outlive the body. `mentions`, if given, gets those of the whole body by place.
Body resolve(const Module& module, const Function& function,
             std::vector<Mention>* mentions = nullptr,
             VectorRegisters vectors = VectorRegisters::opaque);

// What an instruction may do besides writing its destination registers.
struct Effects {
  bool reads_memory = false;
  bool writes_memory = false;
  Space space = Space::generic; // of the access; generic: any of global, shared, local
  unsigned bytes = 0;           // total width of the access; 0 if unknown
  bool ordered = false;    // volatile, relaxed, acquire, release, mmio, fence: other threads may
                           // legally watch this access or the order around it
  bool waits = false;      // barrier, mbarrier wait, griddepcontrol, nanosleep-free waiting
  bool convergent = false; // result or legality depends on the set of active lanes
  bool terminates = false; // ret, exit, trap
  bool branches = false;
  bool calls = false;
  bool unknown = false; // may do anything at all
};
Effects effects(const Body& body, const Inst& inst);

// Of the instruction in the PTX text, from 1.
std::uint32_t line_of(const Body& body, const Inst& inst);

bool reads_special(const Body& body, Special special);

// Of a load behind `.pragma "used_bytes_mask ..."`: bytes outside of the mask may be left out.
bool loads_some_bytes_only(const Body& body, const Inst& inst);

} // namespace ptxasw::ptx
