// The floating-point part of compute().
#pragma once

#include "semantics/domain.hpp"

namespace ptxasw::sem {

// Of every function from Fn::fadd to Fn::ftestp.
std::uint64_t compute_float(const Function& function, std::span<const Bits> args);

} // namespace ptxasw::sem
