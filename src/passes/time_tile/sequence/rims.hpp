// Kernels whose threads lie along a line, or of one thread, beside stages of two dimensions: they
// store rows, columns and corners of arrays that other stages step.
//
//     if (i < nx) u[i] = 0;                    the row y = 0: thread i is the place (i, 0)
//     if (i < ny) u[i * nx + nx - 1] = 0;      the column x = nx - 1: it is (nx - 1, i)
//     if (i < ny - 2) u[(i + 1) * nx] = 0;     the column x = 0: it is (0, i + 1)
//     if (i == 0) u[nx - 1] = 0;               the row y = 0: it is (i + nx - 1, 0)
//
// Each store becomes a kernel of its own, with places along two axes: the threads of the line lie
// along one of them, from some coordinate on, and of the other one it takes one coordinate. It does
// what that thread does for that store, nothing else:
//
//     if (%ctaid.y == at && place >= from) { the kernel with one store; its thread is place - from
//     }
//
// Which axis and which coordinates that is, the elements of other stages tell; nothing rests on it:
// whatever they are, one thread of the new kernel does what one of the old does. The new kernels
// are stages like others (sequence.hpp), in the order of the stores; they are never launched, the
// program's launch is one for all of them. That the order of threads among these does not matter is
// asked in sequence_rims.hpp. PROOF.md, "Rims along a line".
//
// Kernels of two dimensions whose thread (x, y) stores the element of (x + 1, y + 1) are moved
// likewise, with all of their stores, where other stages have their threads elsewhere.
#pragma once

#include "passes/time_tile/other_kernel/left_out.hpp"
#include "passes/time_tile/step/step_pins.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ptxasw::passes {

// A store of such a kernel, as a kernel; or all of one that is moved.
struct Rim {
  std::shared_ptr<const ptx::Module> module;
  emulator::Kernel kernel;
  struct Axis {
    std::optional<unsigned> of; // the launch's axis whose threads lie along this one, from `at` on;
                                // none: the one coordinate `at`
    IntegerPolynomial at;       // of parameters
    [[nodiscard]] bool is_as_launched(unsigned axis) const { return of == axis && at.is_zero(); }
  };
  std::array<Axis, 2> axes;
  bool one_block = false;          // the threads of the launch are those of one block
  std::vector<ptx::InstId> origin; // by instruction of `kernel`: the one that it is; or ptx::none
  [[nodiscard]] bool has(unsigned launched) const {
    return axes[0].of == launched || axes[1].of == launched;
  }
};

struct Rims {
  Why refused;
  std::vector<std::shared_ptr<Rim>> all; // in the order of the stores
};

// The kernel knows of its threads where they are along x, or not even that, and nothing else.
bool is_along_a_line(const ptx::Body& body);

// `elements`: by parameter, of arrays of which stages of two dimensions store elements. `equal`:
// parts of parameters that are others.
Rims find_rims(emulator::Kernel& kernel, const StepPins::Elements& elements,
               const std::map<unsigned, unsigned>& equal, const emulator::Budget& budget = {});

// The kernel with each thread so far away; null: it cannot be moved.
std::shared_ptr<Rim> moved(const emulator::Kernel& kernel,
                           const std::array<IntegerPolynomial, 2>& by,
                           const emulator::Budget& budget = {});

// The kernel with one guard where it has one of several ways (joined_guards.hpp), its threads where
// they are; null: it has none.
std::shared_ptr<Rim> joined(const emulator::Kernel& kernel, const emulator::Budget& budget = {});

} // namespace ptxasw::passes
