// Which role a call asks for, by its name and its arguments.
#include "driver/mode.hpp"

#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"

#include <algorithm>

namespace ptxasw::driver {
namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_ptxas_name(std::string_view path) {
  const std::string_view name = base_name(path);
  return name == "ptxas" || name.ends_with("-ptxas");
}

// Something ptxas could read; a report that happens to be called `report` is not.
bool holds_ptx(const std::string& path) {
  const auto text = read_regular_file(path, std::size_t{1} << 30);
  return text && text->find(".version") != std::string::npos;
}

} // namespace

Invocation read_invocation(std::span<const std::string> words,
                           std::span<const std::string_view> sub_commands,
                           const Environment& environment) {
  Invocation call;
  if (words.empty()) return call;
  call.stand_alone = base_name(words[0]) == "ptxasw";
  call.arguments.assign(words.begin() + 1, words.end());
  if (call.arguments.empty()) {
    if (call.stand_alone) call.mode = Invocation::Mode::help;
    return call;
  }
  const std::string first = call.arguments[0];
  const auto take_first = [&] { call.arguments.erase(call.arguments.begin()); };
  if (call.stand_alone) {
    if (call.arguments.size() == 1 && (first == "--help" || first == "-h")) {
      call.mode = Invocation::Mode::help;
    } else if (std::ranges::find(sub_commands, first) != sub_commands.end() && !holds_ptx(first)) {
      call.mode = Invocation::Mode::sub_command;
      call.command = first;
      take_first();
    }
  }
  if (call.mode == Invocation::Mode::drop_in && is_ptxas_name(first) &&
      !find_in_path(first, environment).empty()) {
    call.named_ptxas = first;
    take_first();
  }
  return call;
}

} // namespace ptxasw::driver
