// nvlink knows its inputs by the ends of their names: so there is a folder.
#include "prepare/driver_compiler.hpp"

#include "driver/files.hpp"
#include "driver/process.hpp"
#include "image/headers.hpp"
#include "passes/shared/spread.hpp"
#include "prepare/prepare.hpp"
#include "ptx/parse.hpp"
#include "sass/code.hpp"
#include "sass/operations.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace ptxasw::prepare {
namespace {

namespace fs = std::filesystem;
using image::Reason;

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "ptxasw-XXXXXX").string();
    if (!failed && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; } // empty: there is none

private:
  std::string path_;
};

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) return std::nullopt;
  return text;
}

// With this option, or none.
std::optional<Assembled> compiled(const Tool& tool, const std::string& chip, const char* option,
                                  AssemblyRequest request) {
  driver::Ptxas ptxas(tool.program, chip,
                      option == nullptr ? std::vector<std::string>{}
                                        : std::vector<std::string>{option});
  request.purpose = AssemblyRequest::Purpose::original;
  auto made = ptxas.assemble(std::move(request));
  if (ptxas.interrupted() != 0) throw Interrupted{ptxas.interrupted()};
  return made;
}

constexpr const char* for_linking = "-c";

std::string difference(const sass::Code& whole, const sass::Code& part) {
  if (whole.bytes() == part.bytes()) return {};
  for (const sass::Code* code : {&whole, &part})
    if (!code->unknown().empty()) return code->unknown();
  const auto same = [](std::uint32_t line) { return line; };
  const auto one = sass::operations(whole, same), other = sass::operations(part, same);
  for (const auto& [mine, others] : {std::pair(&one, &other), std::pair(&other, &one)})
    for (const std::string& operation : *mine)
      if (!others->contains(operation))
        return fmt::format("compiled for linking, it computes otherwise: {}", operation);
  const auto unknown = std::ranges::find_if(
      one, [](const std::string& operation) { return operation.find('?') != operation.npos; });
  return unknown == one.end() ? "" : fmt::format("not all operands are known: {}", *unknown);
}

} // namespace

std::string chip_for(const std::string& text, const std::string& chip) {
  const auto here = image::chip_of(chip);
  const auto named = image::chip_of(ptx::parse(text, "image.ptx").target);
  return here && named && named->suffix == image::Suffix::chip_only && named->number == here->number
             ? image::name_of(*named)
             : chip;
}

std::optional<std::string> find_nvlink(const std::string& ptxas) {
  std::error_code failed;
  const fs::path real = fs::canonical(ptxas, failed);
  for (const fs::path& beside : {fs::path(ptxas), real}) {
    std::string path = (beside.parent_path() / "nvlink").string();
    if (driver::is_executable_file(path)) return path;
  }
  return std::nullopt;
}

tl::expected<std::string, Reason> linked(const Tool& tool, const std::string& chip,
                                         const std::string& text) {
  const auto nvlink = find_nvlink(tool.program);
  if (!nvlink) return tl::unexpected(Reason::no_linker);
  const auto part = compiled(tool, chip, for_linking, {.text = text});
  const TemporaryFolder folder;
  if (!part || folder.path().empty()) return tl::unexpected(Reason::not_assembled);
  const std::string input = folder.path() + "/text.cubin", output = folder.path() + "/linked.cubin";
  std::ofstream(input, std::ios::binary) << part->cubin;
  const auto messages = driver::MemoryFile::create();
  if (!messages) return tl::unexpected(Reason::not_assembled);
  const auto ended = driver::run({.program = *nvlink,
                                  .arguments = {"-arch=" + chip, input, "-o", output},
                                  .output = messages->descriptor(),
                                  .error = messages->descriptor()},
                                 driver::Environment::current());
  if (ended && ended->interrupted != 0) throw Interrupted{ended->interrupted};
  auto made = ended && ended->ok() ? content_of(output) : std::nullopt;
  if (!made) return tl::unexpected(Reason::not_assembled);
  return std::move(*made);
}

std::string why_rounded_otherwise(const Tool& tool, const std::string& chip,
                                  const std::string& text) {
  try {
    const ptx::Module in_lines = passes::spread(ptx::parse(text, "image.ptx"));
    const AssemblyRequest request{.text = *in_lines.text, .line_info = true};
    const auto whole = compiled(tool, chip, nullptr, request),
               part = compiled(tool, chip, for_linking, request);
    if (!whole || !part) return "it cannot be compiled line by line";
    const auto ones = sass::read_code(whole->cubin), others = sass::read_code(part->cubin);
    for (const auto& [name, code] : ones) {
      const auto other = others.find(name);
      if (other == others.end()) return fmt::format("{}: it has no code for linking", name);
      if (std::string why = difference(code, other->second); !why.empty())
        return fmt::format("{}: {}", name, why);
    }
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

} // namespace ptxasw::prepare
