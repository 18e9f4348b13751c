// The table of options as command-line flags; texts in and out.
#include "command_line.hpp"

#include "nearest.hpp"

#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/progress.hpp"
#include "driver/ptxas.hpp"
#include "driver/stored_profile.hpp"
#include "ptxasw/hints.hpp"
#include "store/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

const OptionHelp* find(std::string_view name) {
  const auto found = std::ranges::find(option_help(), name, &OptionHelp::name);
  return found == option_help().end() ? nullptr : &*found;
}

void say(std::string_view what) {
  driver::write_all(STDERR_FILENO, fmt::format("ptxasw: {}\n", what));
}

[[noreturn]] void give_up(const std::string& path) {
  throw std::runtime_error(path + ": " + std::strerror(errno));
}

std::string target_of(const std::string& text) {
  const std::size_t directive = text.find(".target");
  const std::size_t begin = text.find("sm_", directive);
  if (directive == std::string::npos || begin == std::string::npos) return "sm_75";
  return text.substr(begin, text.find_first_of(", \t\r\n", begin) - begin);
}

// Comments, blanks and line markers may stand in front.
bool begins_as_ptx(std::string_view text) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\f\v");
    if (begin == text.npos) return false;
    text.remove_prefix(begin);
    const bool line = text.starts_with("//") || text.starts_with("#"),
               block = text.starts_with("/*");
    if (!line && !block) return text.starts_with(".version");
    const std::string_view end = line ? "\n" : "*/";
    const std::size_t at = text.find(end, line ? 1 : 2);
    if (at == text.npos) return false;
    text.remove_prefix(at + end.size());
  }
}

// Takes them out of the arguments.
// An option of the command's own goes before one of the same name.
void take_optimizer_options(const Parser& app, Options& options, Arguments& arguments) {
  Arguments rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    std::string_view name =
        word.starts_with("--") ? std::string_view(word).substr(2, word.find('=') - 2) : "";
    const FormerOption* former =
        word.starts_with("--") ? former_option(std::string_view(word).substr(2)) : nullptr;
    if (former != nullptr) name = former->now.substr(0, former->now.find('='));
    const OptionHelp* option = find(name);
    if ((option == nullptr && former == nullptr) || app.knows(word.substr(0, word.find('=')))) {
      rest.push_back(word);
      continue;
    }
    if (former != nullptr) say(fmt::format("--{}: {}", former->before, former->says));
    std::string name_value = word.substr(2);
    const bool value_is_optional = option != nullptr && option->value.starts_with('[');
    if (word.find('=') == std::string::npos && !value_is_optional && i + 1 < arguments.size())
      name_value += "=" + arguments[++i];
    if (const auto error = apply_option(options, name_value)) throw UsageError("--" + *error);
  }
  arguments = std::move(rest);
}

} // namespace

std::string optimizer_help() {
  std::string text;
  for (const OptionHelp& option : option_help()) {
    const bool optional = option.value.starts_with('[');
    text += fmt::format("  --{}{}{}{}\n      {}\n", option.name, optional ? "[" : "",
                        option.value.empty() ? "" : "=",
                        optional ? option.value.substr(1) : option.value, option.help);
  }
  return text;
}

int guarded(const std::function<int()>& act) {
  const auto end_with = [](const std::exception& error, int code) {
    say(error.what());
    return code;
  };
  try {
    return act();
  } catch (const UsageError& error) {
    return end_with(error, exit_usage);
  } catch (const InputError& error) {
    return end_with(error, exit_no_input);
  } catch (const std::exception& error) {
    return end_with(error, exit_failed);
  }
}

int parse_and(Parser& app, Options& options, Arguments arguments, const std::function<int()>& act) {
  return guarded([&] {
    app.takes_optimizer_options();
    take_optimizer_options(app, options, arguments);
    if (const auto code = app.read(std::move(arguments))) return *code;
    return act();
  });
}

void with_ptxas(const std::string& text, const Options& options,
                const std::function<void(Assembler*)>& act) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({driver::own_program_file(), ""}, environment);
  if (!found && !environment.get("PTXASW_PTXAS").value_or("").empty())
    throw std::runtime_error(found.error());
  if (!found) return act(nullptr);
  driver::Ptxas ptxas(*found,
                      options.architecture.empty() ? target_of(text) : options.architecture);
  driver::Progress progress("ptxas tries candidates, text");
  ptxas.watch([&](std::size_t ended, std::size_t of) { progress.at(ended, of); });
  act(&ptxas);
  if (ptxas.interrupted() != 0) std::exit(driver::end_like({.interrupted = ptxas.interrupted()}));
}

Optimized optimize_with_ptxas(const std::string& text, const std::string& name, Options options,
                              bool seeks_hints) {
  if (const auto warning = driver::read_stored_profile(options, driver::Environment::current()))
    fmt::print(stderr, "ptxasw warning: {}\n", *warning);
  Optimized result;
  with_ptxas(text, options, [&](Assembler* ptxas) {
    result = optimize(text, name, options, ptxas);
    for (const std::string& warning : result.report.warnings)
      fmt::print(stderr, "ptxasw warning: {}\n", warning);
    if (seeks_hints) find_hints(text, options, ptxas, result.report);
  });
  return result;
}

std::string read_text(const std::string& path) {
  const bool standard = path == "-";
  const store::Descriptor file(standard ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!standard && !file) throw InputError(path + ": " + std::strerror(errno));
  auto text = driver::read_all(standard ? STDIN_FILENO : file.get());
  if (!text) throw InputError(path + ": " + text.error());
  return std::move(*text);
}

void expect_ptx(std::string_view text, const std::string& path) {
  if (!begins_as_ptx(text))
    throw InputError((path == "-" ? "standard input" : path) +
                     " is no PTX: it does not begin with .version" +
                     (path.ends_with(".cu")
                          ? fmt::format("; nvcc -arch=sm_90 -lineinfo -ptx {} writes some", path)
                          : ""));
}

std::string read_ptx(const std::string& path) {
  std::string text = read_text(path);
  expect_ptx(text, path);
  return text;
}

std::string mistaken_report_name(std::string_view path) {
  constexpr std::array<std::string_view, 3> endings{".json", ".html", ".txt"};
  const std::string ending = std::filesystem::path(path).extension();
  if (ending.empty() || std::ranges::find(endings, ending) != endings.end()) return {};
  return fmt::format("--report={}: a report is FILE.json, FILE.html or FILE.txt{}", path,
                     did_you_mean(ending, endings));
}

bool color_to(const std::string& path) {
  const char* never = std::getenv("NO_COLOR");
  return path == "-" && ::isatty(STDOUT_FILENO) == 1 && (never == nullptr || *never == '\0');
}

void write_text(const std::string& path, std::string_view text) {
  const bool standard = path == "-";
  const store::Descriptor file(
      standard ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!standard && !file) give_up(path);
  if (!driver::write_all(standard ? STDOUT_FILENO : file.get(), text)) give_up(path);
}

} // namespace ptxasw::tool
