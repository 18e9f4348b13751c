// What two accesses have in common: the shape of what they move, whether the first took effect, and
// whether their bytes can meet.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/axis_polynomial.hpp"

#include <cstdint>

namespace ptxasw::passes {

[[nodiscard]] inline std::int64_t size_of(const emulator::Event& e) {
  return std::int64_t{e.element_bytes} * std::int64_t{e.elements};
}

// The load's values fill registers of 16 to 64 bits. Narrow ones are extended into wider registers;
// then both sides must extend alike, which same_shape demands.
bool whole_registers(const ptx::Body& body, const emulator::Event& load);

// Why accesses to a space are left alone.
Reason reason_of(ptx::Space space);

// Two loads bring the same bytes in the same form.
bool same_shape(const ptx::Body& body, const emulator::Event& s, const emulator::Event& d);

// S may have read what was there before a store that D sees: what .nc returns for memory that the
// kernel has written is undefined, and a plain load is not.
[[nodiscard]] inline bool may_be_older(const emulator::Event& s, const emulator::Event& d) {
  return s.read_only && !d.read_only;
}

// S took effect wherever `block`, which it dominates, is reached.
bool took_effect(const emulator::Kernel& kernel, const emulator::Event& s, analysis::BlockId block);

// Neither this lane's store nor that of another lane of the warp touches the loaded bytes. Other
// lanes' stores would be a race, which PTX leaves undefined; code from before Volta relied on
// lockstep there, and costs nothing to respect. `along_x`: relaxed along %tid.x.
//
// A load by a generic address may read what a store by a shared or local one has written, which is
// another number there: unless what is asked for counts only where that address is global.
enum class GenericLoads : std::uint8_t { any, global_ones };
bool disjoint(sym::Context& c, AxisPolynomial& along_x, const emulator::Event& store,
              const emulator::Event& load, GenericLoads generic);

} // namespace ptxasw::passes
