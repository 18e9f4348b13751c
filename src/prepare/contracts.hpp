// What machine code says of the versions of its kernels.
#pragma once

#include "contract/contract.hpp"
#include "image/headers.hpp"
#include "sass/cubin.hpp"

#include <map>
#include <string>
#include <string_view>

namespace ptxasw::prepare {

using Contracts = std::map<std::string, contract::Contract>; // by kernel

[[nodiscard]] Contracts contracts_of(const sass::Cubin& cubin);
// Of the machine code that an image has for a chip ("sm_90"); none where it has none.
[[nodiscard]] Contracts contracts_in(image::Bytes image, std::string_view chip);

} // namespace ptxasw::prepare
