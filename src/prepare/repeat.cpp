#include "prepare/repeat.hpp"

#include "driver/command_line.hpp"
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/process.hpp"
#include "prepare/nvlink.hpp"

#include <algorithm>

namespace ptxasw::prepare {
namespace {

using driver::Item;
using driver::Role;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == text.npos) return words;
    text.remove_prefix(begin);
    words.emplace_back(text.substr(0, text.find(' ')));
    text.remove_prefix(words.back().size());
  }
}

// What it writes elsewhere, prints, or reads from elsewhere is not repeated.
bool can_be_repeated(Role role) {
  return role == Role::plain || role == Role::gpu || role == Role::opt_level ||
         role == Role::verbose;
}

std::vector<std::string> relocatable(std::vector<std::string> options) {
  options.emplace_back("-c");
  return options;
}

} // namespace

std::optional<Tool> find_tool() {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({driver::own_program_file(), ""}, environment);
  const auto output = driver::MemoryFile::create();
  if (!found || !output) return std::nullopt;
  const auto ended = driver::run(
      {.program = *found, .arguments = {"--version"}, .output = output->descriptor()}, environment);
  if (!ended || !ended->ok()) return std::nullopt;
  Tool tool{*found, release_in(output->content())};
  if (tool.release.empty()) return std::nullopt;
  return tool;
}

std::string release_in(std::string_view text) {
  const std::size_t at = text.find(", V");
  if (at == text.npos) return {};
  const std::string_view rest = text.substr(at + 3);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

tl::expected<std::vector<std::string>, image::Reason> repeated_options(const sass::ToolNote& note,
                                                                       std::string_view chip) {
  const auto refused = [](image::Reason reason) { return tl::unexpected(reason); };
  if (note.tool != "ptxas") return refused(image::Reason::ptxas_options);
  const driver::CommandLine line = driver::parse_command_line(words_of(note.options));
  if (!line.doubt.empty() || !line.inputs().empty() || !line.own_options().empty())
    return refused(image::Reason::ptxas_options);
  if (line.gives("compile-only")) return refused(image::Reason::relocatable);
  if (line.gives("device-debug") || line.opt_level() == 0U)
    return refused(image::Reason::debug_code);
  if (line.architecture() != chip) return refused(image::Reason::ptxas_options);
  std::vector<std::string> options;
  for (const Item& item : line.items) {
    if (!can_be_repeated(item.option->role) || item.option->long_name == "entry")
      return refused(image::Reason::ptxas_options);
    if (item.option->role != Role::gpu && item.option->role != Role::verbose)
      options.insert(options.end(), item.words.begin(), item.words.end());
  }
  return options;
}

std::optional<Assembled> Repeated::keep(const std::string& text) {
  auto made = assemble({.text = text});
  kept_ = made ? made->cubin : std::string{};
  return made;
}

RepeatedAndLinked::RepeatedAndLinked(const Tool& tool, std::string nvlink, const std::string& chip,
                                     std::vector<std::string> options)
    : Repeated(tool, chip, relocatable(std::move(options))), nvlink_(std::move(nvlink)),
      chip_(chip) {}

std::vector<std::optional<Assembled>>
RepeatedAndLinked::assemble(std::span<const AssemblyRequest> requests) {
  auto all = Repeated::assemble(requests);
  for (auto& made : all) {
    if (!made) continue;
    LinkedCubin whole = link(nvlink_, chip_, made->cubin);
    linker_stopped_by_ = std::max(linker_stopped_by_, whole.interrupted);
    made->cubin = std::move(whole.cubin);
    if (made->cubin.empty()) made.reset();
  }
  return all;
}

int RepeatedAndLinked::stopped_by() const {
  return linker_stopped_by_ != 0 ? linker_stopped_by_ : interrupted();
}

} // namespace ptxasw::prepare
