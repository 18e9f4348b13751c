// The lines of a log of calls (PTXASW_LOG), of any version of it and written by several processes:
// whatever a line lacks is left out.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace ptxasw::report {

using LogJson = nlohmann::ordered_json;

// Null where the object, if it is one, does not have it.
const LogJson* log_member(const LogJson& object, const char* key);
// "" and an empty list where it is missing or something else.
std::string log_text(const LogJson& object, const char* key);
const LogJson& log_list(const LogJson& object, const char* key);

// Each line is a call, or is broken. False, with nothing told, where the text is no such log.
bool read_log(std::string_view log, const std::function<void(const LogJson&)>& call,
              const std::function<void()>& broken);

} // namespace ptxasw::report
