// Puts names in the place of others.
#include "passes/time_tile/polynomial/parameter_names.hpp"

#include <algorithm>

namespace ptxasw::passes {
namespace {

// PTX ISA, identifiers.
constexpr std::string_view of_names =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";

} // namespace

std::string ParameterNames::in(std::string_view text) const {
  if (behind_.empty()) return std::string(text);
  std::string all;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_of(of_names), text.size());
    const std::size_t end = std::min(text.find_first_not_of(of_names, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const bool is_part = begin != 0 && text[begin - 1] == '.'; // of an instruction's name
    all += text.substr(0, end);
    if (!is_part && std::ranges::find(function_.parameters, word, &ptx::Variable::name) !=
                        function_.parameters.end())
      all += behind_;
    text.remove_prefix(end);
  }
  return all;
}

} // namespace ptxasw::passes
