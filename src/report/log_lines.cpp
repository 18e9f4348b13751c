// One JSON object per line.
#include "report/log_lines.hpp"

#include "words/words.hpp"

namespace ptxasw::report {

const LogJson* log_member(const LogJson& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string log_text(const LogJson& object, const char* key) {
  const LogJson* found = log_member(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

const LogJson& log_list(const LogJson& object, const char* key) {
  static const LogJson none = LogJson::array();
  const LogJson* found = log_member(object, key);
  return found != nullptr && found->is_array() ? *found : none;
}

bool read_log(std::string_view log, const std::function<void(const LogJson&)>& call,
              const std::function<void()>& broken) {
  bool any = false;
  while (!log.empty()) {
    const std::string_view line = words::take(log, "\n");
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const LogJson read = LogJson::parse(line, nullptr, false);
    const bool good = read.is_object() && read.contains("ptxasw") && read.contains("action");
    if (!good && !any) return false;
    any = true;
    good ? call(read) : broken();
  }
  return any;
}

} // namespace ptxasw::report
