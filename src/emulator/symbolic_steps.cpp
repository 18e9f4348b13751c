// The Steps of the emulator.
#include "emulator/symbolic_domain.hpp"
#include "semantics/steps.hpp"

namespace ptxasw::sem {

using emulator::SymbolicDomain;

template Step<SymbolicDomain> find_step<SymbolicDomain>(const ptx::Body&, const ptx::Inst&);
template sym::Term extend_loaded<SymbolicDomain>(SymbolicDomain&, ptx::Type, sym::Term, unsigned);
template sym::Term truncate_stored<SymbolicDomain>(SymbolicDomain&, ptx::Type, sym::Term, unsigned);

} // namespace ptxasw::sem
