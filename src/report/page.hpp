// The page that draws what the JSON in it says; its style and script are files of src/report/page.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::report {

// Of {"report": a report, "text": hunks} or of what the launcher writes, {"launches": rows}. Any
// well-formed JSON gives a well-formed page.
std::string page_of(std::string_view json);

// Of what `ptxasw launch --report=FILE.json` writes; none where that is another text.
std::optional<std::string> page_of_launches(std::string_view json);

} // namespace ptxasw::report
