// Running ptxas on texts of our own making, with everything it answers kept in memory.
#pragma once

#include "driver/environment.hpp"
#include "driver/process.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::driver {

struct Assembled {
  std::string cubin, messages;
};

// The arguments with which ptxas reads the file `source` and writes the file `cubin`.
using Arguments =
    std::function<std::vector<std::string>(const std::string& source, const std::string& cubin)>;

// All texts, several at a time; nothing for those that ptxas would not take. `interrupted` is set
// to the signal that we were sent meanwhile.
std::vector<std::optional<Assembled>> assemble_all(const std::string& ptxas,
                                                   const Environment& environment,
                                                   const std::vector<std::string>& texts,
                                                   const Arguments& arguments, int& interrupted);

} // namespace ptxasw::driver
