// Edits of a parameter list.
#include "passes/shared/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {
namespace {

// The first byte of `text` from `at` on that is neither blank nor in a comment.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  for (;;) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (rest.starts_with("/*"))
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else
      return at;
  }
}

} // namespace

ptx::Edit append_parameter(const ptx::Module& module, const ptx::Function& kernel,
                           const std::string& declaration) {
  const std::string_view text = *module.text;
  const auto name_end =
      static_cast<std::size_t>(kernel.name.data() + kernel.name.size() - text.data());
  const auto insert = [](std::size_t at, std::string what) {
    const auto place = static_cast<std::uint32_t>(at);
    return ptx::Edit{{place, place}, std::move(what)};
  };
  std::size_t at = skip_blanks(text, name_end);
  if (at == text.size() || text[at] != '(') // a kernel without a list
    return insert(name_end, fmt::format("({})", declaration));
  while (at < text.size() && text[at] != ')')
    at = skip_blanks(text, at + 1);
  return insert(at, fmt::format("{}\n\t{}\n", kernel.parameters.empty() ? "" : ",", declaration));
}

} // namespace ptxasw::passes
