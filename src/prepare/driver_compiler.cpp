#include "prepare/driver_compiler.hpp"

#include "driver/ptxas.hpp"
#include "image/headers.hpp"
#include "passes/shared/spread.hpp"
#include "prepare/nvlink.hpp"
#include "prepare/prepare.hpp"
#include "ptx/parse.hpp"
#include "sass/code.hpp"
#include "sass/operations.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

namespace ptxasw::prepare {
namespace {

using image::Reason;

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

tl::expected<std::string, Reason> linked(const Tool& tool, const std::string& chip,
                                         const AssemblyRequest& request) {
  const auto nvlink = find_nvlink(tool.program);
  if (!nvlink) return tl::unexpected(Reason::no_linker);
  const auto part = compiled(tool, chip, for_linking, request);
  if (!part) return tl::unexpected(Reason::not_assembled);
  LinkedCubin made = link(*nvlink, chip, part->cubin);
  if (made.interrupted != 0) throw Interrupted{made.interrupted};
  if (made.cubin.empty()) return tl::unexpected(Reason::not_assembled);
  return std::move(made.cubin);
}

std::string why_rounded_otherwise(const Tool& tool, const std::string& chip,
                                  const std::string& text) {
  try {
    const ptx::Module in_lines = passes::spread(ptx::parse(text, "image.ptx"));
    const AssemblyRequest request{.text = *in_lines.text, .line_info = true};
    const auto whole = compiled(tool, chip, nullptr, request);
    // Before it is linked it does not say which constants it reads.
    const auto by_linker = linked(tool, chip, request);
    if (!whole || !by_linker) return "it cannot be compiled line by line";
    const auto ones = sass::read_code(whole->cubin), others = sass::read_code(*by_linker);
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
