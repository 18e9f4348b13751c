// Matrix instructions of a warp: ldmatrix, and mma.sync of the common shapes. Which of them are
// known, and where an element of a matrix lies.
//
// The fragments of PTX ISA 9.7.15 are all one pattern. A register has 32 / e elements of e bits;
// register r of A has, in lane 4 * g + t, those of row g (of the first or second eight by turns)
// and of columns that begin at t * 32 / e, four times as many further on for each two (or, of m8,
// each one) registers. B is the same with rows and columns exchanged, C and D have two elements of
// 32 bits, or of 16 in one register.
//
// Sums of integers are exact, and wrap or (.satfinite) stay at the ends of 32 bits. Of
// floating-point numbers hardware keeps neither all bits of a sum nor the order of a book; here
// products are exact, their sum with C is taken in double precision from k = 0 on and rounded once.
// Results::approximate says so: bits may differ from a GPU's (where all sums are whole numbers of
// 24 bits they do not).
#pragma once

#include "ptx/body.hpp"

namespace ptxasw::simt {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
MatrixShape dimensions(ptx::Shape shape);

// Is this one that Engine::matrix can do, with all its operands in registers?
bool matrix_known(const ptx::Body& body, const ptx::Inst& inst);

} // namespace ptxasw::simt
