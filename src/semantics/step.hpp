// What each instruction does to values: written once over a Domain.
//
// A Step computes the destinations of one `pure` instruction from its sources. Values come in and
// go out at the width of their register (Operation says which); the Step adapts them to the
// instruction's type, as the PTX ISA's operand-size rules say (sections 6.1, 9.4).
//
// Sources are what the operands denote: the caller has applied Arg::negated (!p) and added an
// address's byte offset. Immediates are their 64 bits as written; the Step narrows them, and turns
// a decimal literal into the instruction's floating-point format.
//
// find_step<D>(op) is looked up once per instruction when a kernel is compiled or emulated; there
// is no dispatch on strings or tables afterwards.
#pragma once

#include "ptx/body.hpp"
#include "semantics/domain.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptxasw::sem {

// What a video instruction reads and writes, and how (video.hpp).
struct Video {
  struct Part {
    std::uint8_t width = 32, low = 0;
  };
  ptx::Op op = ptx::Op::unknown; // the scalar one: vadd for vadd4
  std::uint8_t lanes = 1;
  std::array<Part, 4> a, b, d; // by lane; a and b are picked from the 64 bits b:a
  std::uint8_t written = 0;    // lanes whose result counts
  bool d_signed = false, a_signed = false, b_signed = false;
  bool merges = false;      // what is not written comes from operand c
  bool accumulates = false; // .add: the results are added to operand c
  bool wraps = false;       // a shift's amount is taken modulo 32
  bool plus_one = false;    // vmad.po
};

// Widths of the operands of one instruction: registers have their declared width (predicates 1, the
// carry flag 1), immediates and symbols 64, special registers their own, sinks the width that the
// instruction produces.
struct Operation {
  const ptx::Inst* inst = nullptr;
  std::vector<std::uint8_t> src_width, dst_width;
  std::uint32_t f32_literals = 0; // bit i: source i is a literal written as f32 bits
  std::uint32_t f64_literals = 0; // likewise f64
  Function function;              // what a floating-point instruction applies
  std::uint8_t table = 0;         // lop3's look-up table
  Video video;
};
Operation operation(const ptx::Body& body, const ptx::Inst& inst);

// Has the instruction as many operands as its rule reads and writes?
bool well_formed(const ptx::Inst& inst);

template <class D>
using Step = void (*)(D&, const Operation&, std::span<const typename D::Value> src,
                      std::span<typename D::Value> dst);

// nullptr: no semantics (approximate, matrix, texture, unknown modifier, not `pure`): the
// caller treats the destinations as unknown values.
template <class D> Step<D> find_step(const ptx::Body& body, const ptx::Inst& inst);

// A loaded value of the instruction's type as its register receives it (ld of a narrow type into a
// wide register extends by the type's sign), and the bits that a store writes.
template <class D>
typename D::Value extend_loaded(D& d, ptx::Type type, typename D::Value raw,
                                unsigned register_width);
template <class D>
typename D::Value truncate_stored(D& d, ptx::Type type, typename D::Value value,
                                  unsigned register_width);

} // namespace ptxasw::sem
