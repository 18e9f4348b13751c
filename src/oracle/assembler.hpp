// What an assembler says of the kernels that it makes code for. The interface itself is public, so
// that callers of the library can bring their own: ptxasw/assembler.hpp.
#pragma once

#include "ptxasw/assembler.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::oracle {

// By kernel, those that were compiled. No value: it was compiled, but its registers were not said.
using UsageTable = std::map<std::string, std::optional<Usage>, std::less<>>;

// Reads what `ptxas -v` printed; kernels only, not the functions that they call.
UsageTable read_usage(std::string_view messages);

// The usage of a kernel, where it is known.
std::optional<Usage> find(const UsageTable& table, std::string_view kernel);
// The same of a text, asked of an assembler.
std::optional<Usage> usage_in(const std::string& text, const std::string& kernel,
                              Assembler& assembler);

} // namespace ptxasw::oracle
