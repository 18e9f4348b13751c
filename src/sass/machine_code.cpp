// The sections of the cubin that hold code.
#include "sass/machine_code.hpp"

#include "sass/cubin.hpp"

namespace ptxasw::sass {

std::map<std::string, std::string> machine_code(std::string_view bytes) {
  std::map<std::string, std::string> code;
  const Cubin cubin(bytes);
  for (const Section& section : cubin.sections())
    if (section.name.starts_with(text_prefix))
      code.emplace(section.name.substr(text_prefix.size()), section.bytes);
  return code;
}

std::map<std::string, std::vector<Instruction>, std::less<>> decoded(std::string_view bytes) {
  std::map<std::string, std::vector<Instruction>, std::less<>> code;
  const Cubin cubin(bytes);
  for (const Section& section : cubin.sections())
    if (section.name.starts_with(text_prefix))
      code.emplace(section.name.substr(text_prefix.size()),
                   decode(section.bytes, cubin.architecture()));
  return code;
}

} // namespace ptxasw::sass
