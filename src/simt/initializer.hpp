// Reads the initial value of a module variable from its text: nested lists of numbers and
// addresses.
#pragma once

#include "ptx/isa.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

// The address that a name stands for, in its own space or, if `generic`, as a generic one.
using AddressOf = std::function<std::optional<std::uint64_t>(std::string_view name, bool generic)>;

// Writes the elements of `text` ("{1, {2, 3}, generic(a)+4, 0xFF00(b)}") to the front of `bytes`,
// each as wide as `element`. False: something in it cannot be read.
bool read_initializer(std::string_view text, ptx::Type element, const AddressOf& address_of,
                      std::vector<std::uint8_t>& bytes);

// The text behind the '=' of `name` in a declaration, up to the ',' or ';' that ends it; empty if
// it has none.
std::string_view initializer_text(std::string_view declaration, std::string_view name);

} // namespace ptxasw::simt
