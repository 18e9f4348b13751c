// The Steps of the SIMT interpreter.
#include "semantics/concrete.hpp"
#include "semantics/steps.hpp"

namespace ptxasw::sem {

template Step<ConcreteDomain> find_step<ConcreteDomain>(const ptx::Body&, const ptx::Inst&);
template Bits extend_loaded<ConcreteDomain>(ConcreteDomain&, ptx::Type, Bits, unsigned);
template Bits truncate_stored<ConcreteDomain>(ConcreteDomain&, ptx::Type, Bits, unsigned);

} // namespace ptxasw::sem
