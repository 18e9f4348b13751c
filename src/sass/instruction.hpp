// What a machine instruction computes, as far as floating point is concerned, and how it is
// scheduled: sm_75 to sm_121.
//
// An instruction has 128 bits: the opcode in bits 0 to 8, in 9 to 11 which of its operands is no
// register, its guard in 12 to 15, registers in 16 (result), 24 (A), 32 (B) and 64 (C), a constant
// or an immediate from bit 32 on. Signs of operands: A at bit 72, what stands at 32 at bit 63, what
// stands at 64 at bit 75. Found out by assembling every operation for every architecture.
//
// Arithmetic hides: an addition of halves is an HFMA2 by one, an FFMA with the addend -0 is a
// product, one of zero times zero, or a sum with zero, is a move. These are undone here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxasw::sass {

enum class Operation : std::uint8_t {
  other,    // rounds nothing: integers, memory, comparisons, selections, conversions, control
  add,      // a + b
  mul,      // a * b
  fma,      // a * b + c
  function, // MUFU: an approximation of the hardware
  move,     // b, perhaps negated or without its sign
  constant, // a word of a constant bank, a
  call,     // of a function in the same section, which ends at the next return behind its begin
  unknown,  // cannot be told
};

enum class Format : std::uint8_t { none, f32, f64, half, f32x2 }; // half: f16x2 and bf16x2

struct Operand {
  enum class In : std::uint8_t { none, reg, zero, immediate, constant, uniform } in = In::none;
  unsigned reg = 0;
  std::uint64_t value = 0; // immediate: its 32 bits (f64: the upper half); constant: bank, offset
  bool negated = false, absolute = false;
};

struct Result {
  unsigned reg = 0, count = 0; // general registers, none if the count is 0
  bool uniform = false;        // of the uniform registers
};

struct Branch {
  bool leaves = false;       // not to the next instruction
  bool ends = false;         // the function, perhaps
  bool jumps = false;        // to `target`
  bool anywhere = false;     // to a place that is not known
  std::int64_t distance = 0; // in instructions, from the next one; also of a call
};

// What tells the scheduler, bits 105 to 125, but for whether another warp may go first (bit 109):
// cycles to wait before the next instruction, the barriers that are raised when a result has come
// or a source has been read (7: none), those to wait for, and the operands that are kept for the
// next instruction.
struct Schedule {
  unsigned stall = 0;
  unsigned write_barrier = 7, read_barrier = 7;
  unsigned wait = 0, reuse = 0; // bits
};

// The words without what may be numbered otherwise: registers, predicates, barriers, and where a
// branch leads.
using Shape = std::array<std::uint64_t, 2>;

struct Instruction {
  Operation operation = Operation::other;
  Format format = Format::none;
  Operand a, b, c;
  unsigned modifiers = 0; // rounding, saturation, flushing, scaling, function: to compare only
  Result result;
  bool guarded = false; // may leave its result as it was
  unsigned guard = 7;   // the predicate, and 8 if it has to be false
  Branch branch;
  unsigned opcode = 0; // bits 0 to 11
  Schedule schedule;
  Shape shape{};
};

// One that rounds. Like moves, it writes no predicate.
inline bool is_arithmetic(const Instruction& i) {
  return i.operation == Operation::add || i.operation == Operation::mul ||
         i.operation == Operation::fma || i.operation == Operation::function;
}

// `architecture`: 90 for sm_90. 0: every instruction is unknown.
Instruction decode(std::uint64_t low, std::uint64_t high, unsigned architecture);
// The code of a function.
std::vector<Instruction> decode(std::string_view code, unsigned architecture);

} // namespace ptxasw::sass
