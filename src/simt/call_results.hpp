// Which .param variables receive the results of a call. They are not operands of the resolved body,
// so one more walk through the scopes of the text finds what the call statements name.
#pragma once

#include "ptx/body.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

// By call statement: indices into the body's symbols, `nowhere` (code.hpp) for what is none.
using CallResults = std::map<std::uint32_t, std::vector<std::uint32_t>>;
CallResults call_results(const ptx::Body& body);

// The symbol that is declared at this place of the text, or `nowhere`.
std::uint32_t symbol_at(const ptx::Body& body, std::string_view name);

} // namespace ptxasw::simt
