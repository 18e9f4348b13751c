// A file descriptor that closes itself.
#pragma once

#include "store/descriptor.hpp"

namespace ptxasw::driver {

using store::Descriptor;

} // namespace ptxasw::driver
