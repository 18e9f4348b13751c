// What ptxas is free to do with the floating-point operations of a body.
//
// These freedoms change the bits of a result, and depend on the code around an operation, so that a
// rewrite that leaves the operation alone may still change them (measured on an H200):
//  - a product may become part of a fused multiply-add (PTX ISA, add/sub/mul on floating point).
//    ptxas finds the product through moves, signs, conversions to the same type, bit casts, packed
//    pairs, minima, selections and local memory, and knows products that are no `mul`: div.approx
//    and div.full end in one;
//  - an approximate function of a constant is folded to the correctly rounded value, which is not
//    the hardware's. Whether an argument is a constant depends on what is unrolled; not so that of
//    a literal, which is the same constant in every copy.
//  - rcp(rcp(x)) and x / rcp(y) of flushing approximations lose both reciprocals, and rcp(ex2(x))
//    becomes ex2(-x) (ptxas 13.0), wherever the inner function reaches the outer one by moves. In
//    a loop that hangs on how far it is unrolled;
//  - a product of a product by 2, 4, 8, 1/2, 1/4 or 1/8 becomes one operation that is rounded once,
//    if nothing else reads the first one: (a * b) * 0.5 is finite where a * b is not, and has
//    another last bit where a * b is denormal. f32 only, and not of a first product that is .rn
//    (ptxas 13.0).
// And one is a defect: of two loaded halves between which selp.b16 chooses, ptxas 13.0 may load the
// one over the other although that is read later, when it packs half-precision operations of the
// kernel in pairs. Which ones it packs hangs on the code around.
// The answers here err on the side of freedom: what is not known to be fixed is free.
#pragma once

#include "ptx/body.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

class ContractionLatitude {
public:
  explicit ContractionLatitude(const ptx::Body& body);

  // A sum that ptxas may fuse with a product behind one of its operands: an add or sub without
  // rounding, or of packed f32x2 even with one (ptxas 13.0 fuses those with -fmad=false, too).
  [[nodiscard]] bool is_fusable(const ptx::Inst& inst) const;
  // An approximate function whose argument may be a constant somewhere, or a reciprocal of one that
  // undoes it.
  [[nodiscard]] bool is_foldable(const ptx::Inst& inst) const;
  // A product in single precision that ptxas may make one with a product that it reads.
  [[nodiscard]] bool is_scalable(const ptx::Inst& inst) const;
  // Whichever of its arguments may be one is a constant, or an inverse, wherever it is copied to:
  // all copies are folded, or none is, and the machine code of their lines says which.
  [[nodiscard]] bool folds_alike(const ptx::Inst& inst) const;
  // One of its operands may be what an approximate function gave, handed on by whatever does not
  // round it anew.
  [[nodiscard]] bool reads_approximation(const ptx::Inst& inst) const;

private:
  // What a register may hold, by register. The last one stands for memory of the thread alone,
  // which ptxas sees through: local variables and parameters of calls.
  using Held = std::vector<bool>;

  [[nodiscard]] bool may_be_constant(const ptx::Arg& arg) const;
  [[nodiscard]] bool always_constant(const ptx::Arg& arg, unsigned depth) const;
  [[nodiscard]] bool may_be_undone(const ptx::Inst& inst) const;
  [[nodiscard]] bool always_inverse(const ptx::Arg& arg, unsigned depth) const;
  [[nodiscard]] bool any(const Held& held, const ptx::Inst& inst) const; // of its operands
  [[nodiscard]] bool all_constant(const ptx::Inst& inst) const;
  [[nodiscard]] bool any_constant(const ptx::Inst& inst) const; // literals of no effect left out
  [[nodiscard]] bool gives_product(const ptx::Inst& inst) const;
  [[nodiscard]] bool gives_constant(const ptx::Inst& inst) const;
  [[nodiscard]] bool gives_inverse(const ptx::Inst& inst) const;
  [[nodiscard]] bool gives_approximation(const ptx::Inst& inst) const;
  [[nodiscard]] bool hands_on(const Held& held, const ptx::Inst& inst) const;
  [[nodiscard]] std::optional<bool> without_arithmetic(const Held& held,
                                                       const ptx::Inst& inst) const;
  [[nodiscard]] bool any_operand(const ptx::Inst& inst, bool (*which)(const ptx::Arg&)) const;
  [[nodiscard]] bool reads_private(const ptx::Inst& inst) const;
  [[nodiscard]] bool writes_private(const ptx::Inst& inst) const;
  void solve();

  const ptx::Body& body_;
  bool has_local_ = false;
  Held product_, constant_, inverse_, approximation_;
  // The only instruction that writes a register; none if there are several.
  std::vector<ptx::InstId> writer_;
  std::size_t memory_;
};

// add, sub or mul of floating-point numbers whose rounding is left to ptxas.
bool is_unrounded(const ptx::Inst& inst);

// An operation that ptxas implements by the hardware's approximation.
bool is_approximate(const ptx::Inst& inst);

// The fusable sums, foldable functions and scalable products of a body and of the functions that it
// calls, which ptxas may put in the place of the call.
struct Latitude {
  unsigned fusable = 0, foldable = 0, scalable = 0;
  unsigned halves = 0; // selections between halves, where there is arithmetic on halves, too
  // Of the last two, those of the body itself that machine code tells of: functions that fold
  // alike, and products, whose scale it shows.
  unsigned alike = 0;
  friend bool operator==(const Latitude&, const Latitude&) = default;
};
Latitude count_latitude(const ptx::Body& body);

// Every operation on floating-point numbers has one result, whatever surrounds it: no function, no
// sum or product that could become part of another operation, no halves (which ptxas packs), and
// nothing that is called or not understood.
bool leaves_no_choice(const ptx::Body& body);

} // namespace ptxasw::passes
