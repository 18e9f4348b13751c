// Reads the words of PTXASW_LAUNCH.
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

// Above zero; otherwise `number` stays as it is.
bool read_number(std::string_view text, unsigned& number) {
  unsigned found = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), found);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || found == 0) return false;
  number = found;
  return true;
}

void apply(Settings& settings, std::string_view word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(std::min(word.size(), equals + 1));
  if (key == "off" || key == "0") {
    settings.off = true;
  } else if (key == "steps") {
    settings.steps = true;
    if (!value.empty() && !read_number(value, settings.longest_wait)) settings.complaint = word;
  } else if (key == "early") {
    settings.early = true;
  } else if (key == "batch") {
    settings.batch = true;
  } else if (key == "no-images") {
    settings.images = false;
  } else if (key == "log") {
    settings.log = true;
  } else if (key == "report") {
    settings.report = true;
    settings.report_file = value;
  } else if (key == "profile" && !value.empty()) {
    settings.profile = value;
  } else if (key == "policy" && !value.empty()) {
    settings.name = value;
    settings.policy = value == "model"     ? Policy::model
                      : value == "measure" ? Policy::measure
                                           : Policy::named;
  } else if (key == "check") {
    settings.check = 1;
    if (!value.empty() && !read_number(value, settings.check)) settings.complaint = word;
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
