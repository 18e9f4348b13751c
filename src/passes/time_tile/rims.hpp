// Kernels whose threads lie along a line, beside stages of two dimensions: they store rows and
// columns of arrays that other stages step.
//
//     if (i < nx) u[i] = 0;                    the row y = 0: thread i is the place (i, 0)
//     if (i < ny) u[i * nx + nx - 1] = 0;      the column x = nx - 1: it is (nx - 1, i)
//
// Each store becomes a kernel of its own, with places along two axes: the threads of the line lie
// along one of them, and of the other one it takes the one coordinate `at`. It does what that
// thread does for that store, nothing else:
//
//     if (%ctaid.y == at) { the kernel with one store; of a column y stands for x in it }
//
// Which axis and which coordinate that is, the elements of other stages tell; nothing rests on it:
// whatever `at` is, one thread of the new kernel does what one of the old does. The new kernels are
// stages like others (sequence.hpp), in the order of the stores; they are never launched, the
// program's launch is one for all of them. That the order of threads among these does not matter is
// asked in sequence_rims.hpp. PROOF.md, "Rims along a line".
#pragma once

#include "passes/time_tile/left_out.hpp"
#include "passes/time_tile/step_pins.hpp"

#include <map>
#include <memory>
#include <vector>

namespace ptxasw::passes {

// A store of such a kernel, as a kernel.
struct Rim {
  std::shared_ptr<const ptx::Module> module;
  emulator::Kernel kernel;
  unsigned along = 0;              // its threads' axis; along the other one there is `at` alone
  IntegerPolynomial at;            // of parameters
  std::vector<ptx::InstId> origin; // by instruction of `kernel`: the one that it is; or ptx::none
  [[nodiscard]] unsigned across() const { return 1 - along; }
};

struct Rims {
  Why refused;
  std::vector<std::shared_ptr<Rim>> all; // in the order of the stores
};

// The kernel knows of its threads where they are along x, and nothing else.
bool is_along_a_line(const ptx::Body& body);

// `elements`: by parameter, of arrays of which stages of two dimensions store elements. `equal`:
// parts of parameters that are others.
Rims find_rims(emulator::Kernel& kernel, const StepPins::Elements& elements,
               const std::map<unsigned, unsigned>& equal, const emulator::Budget& budget = {});

} // namespace ptxasw::passes
