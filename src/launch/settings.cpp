// See settings.hpp.
#include "launch/settings.hpp"

#include <algorithm>
#include <charconv>

namespace ptxasw::launch {
namespace {

// Names of variants may hold a comma: "policy=x:2,y:4".
bool continues_a_name(std::string_view word) {
  return word.size() > 2 && word[1] == ':' &&
         std::string_view("xyz").find(word[0]) != std::string_view::npos;
}

void apply(Settings& settings, std::string_view word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(std::min(word.size(), equals + 1));
  if (key == "off" || key == "0") {
    settings.off = true;
  } else if (key == "log") {
    settings.log = true;
  } else if (key == "report") {
    settings.report = true;
    settings.report_file = value;
  } else if (key == "policy" && !value.empty()) {
    settings.name = value;
    settings.policy = value == "model"     ? Policy::model
                      : value == "measure" ? Policy::measure
                                           : Policy::named;
  } else if (key == "check") {
    settings.check = 1;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), settings.check);
    if (!value.empty() && (read.ptr != value.data() + value.size() || settings.check == 0)) {
      settings.check = 1;
      settings.complaint = word;
    }
  } else if (settings.policy == Policy::named && continues_a_name(word)) {
    settings.name += ',';
    settings.name += word;
  } else if (!word.empty() && word != "on") {
    settings.complaint = word;
  }
}

} // namespace

Settings read_settings(std::string_view words) {
  Settings settings;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    apply(settings, word);
  }
  return settings;
}

} // namespace ptxasw::launch
