// The table of options as command-line flags; texts in and out.
#include "options.hpp"

#include "driver/descriptor.hpp"
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/ptxas.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>

namespace ptxasw::tool {
namespace {

const OptionHelp* find(std::string_view name) {
  const auto found = std::ranges::find(option_help(), name, &OptionHelp::name);
  return found == option_help().end() ? nullptr : &*found;
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

// Takes them out of the arguments; throws CLI::ValidationError on a mistake.
void take_optimizer_options(Options& options, Arguments& arguments) {
  Arguments rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const OptionHelp* option = word.starts_with("--")
                                   ? find(std::string_view(word).substr(2, word.find('=') - 2))
                                   : nullptr;
    if (option == nullptr) {
      rest.push_back(word);
      continue;
    }
    std::string name_value = word.substr(2);
    const bool value_is_optional = option->value.starts_with('[');
    if (word.find('=') == std::string::npos && !value_is_optional && i + 1 < arguments.size())
      name_value += "=" + arguments[++i];
    if (const auto error = apply_option(options, name_value))
      throw CLI::ValidationError("--" + *error);
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

int parse_and(CLI::App& app, Options& options, Arguments arguments,
              const std::function<void()>& act) {
  try {
    take_optimizer_options(options, arguments);
    std::ranges::reverse(arguments); // as CLI11 wants them
    app.parse(arguments);
    act();
    return 0;
  } catch (const CLI::CallForHelp& error) {
    return app.exit(error);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "ptxasw: {}\n", error.what());
    return 1;
  }
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
  act(&ptxas);
  if (ptxas.interrupted() != 0) std::exit(driver::end_like({.interrupted = ptxas.interrupted()}));
}

Optimized optimize_with_ptxas(const std::string& text, const std::string& name,
                              const Options& options) {
  Optimized result;
  with_ptxas(text, options,
             [&](Assembler* ptxas) { result = optimize(text, name, options, ptxas); });
  return result;
}

std::string read_text(const std::string& path) {
  const bool standard = path == "-";
  const driver::Descriptor file(standard ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!standard && !file) give_up(path);
  auto text = driver::read_all(standard ? STDIN_FILENO : file.get());
  if (!text) throw std::runtime_error(path + ": " + text.error());
  return std::move(*text);
}

void write_text(const std::string& path, std::string_view text) {
  const bool standard = path == "-";
  const driver::Descriptor file(
      standard ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!standard && !file) give_up(path);
  if (!driver::write_all(standard ? STDOUT_FILENO : file.get(), text)) give_up(path);
}

} // namespace ptxasw::tool
