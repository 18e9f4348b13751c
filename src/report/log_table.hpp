// The log of calls (PTXASW_LOG) for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::report {

// A row for each kernel: its file, what was done, the predicted gain, why it was left alone; and
// how many there were. None where the text is no such log. A line that is broken is counted.
std::optional<std::string> table_of_log(std::string_view log, unsigned width = 120);

} // namespace ptxasw::report
