// What became of the launches: a table of kernels and shapes, as text, JSON or HTML.
#pragma once

#include "launch/shapes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::launch {

enum class Format { text, json, html };
[[nodiscard]] Format format_of(const std::string& file);

// Times are those of the launches that were timed, so gains are measured, not predicted. Of
// launches with attributes only the number is known.
[[nodiscard]] std::string report(const std::vector<std::shared_ptr<Shapes>>& kernels,
                                 std::uint64_t with_attributes, Format format);

} // namespace ptxasw::launch
