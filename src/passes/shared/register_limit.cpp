// Writes `.maxnreg` where performance directives stand.
#include "passes/shared/register_limit.hpp"

#include "ptx/written.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

std::optional<ptx::Edit> register_limit(const ptx::Body& body, unsigned registers) {
  if (registers == 0 || body.function->maxnreg != 0) return std::nullopt;
  // Directives stand between the parameters and the body (PTX ISA 11.4).
  const std::uint32_t at = ptx::brace_of(body).begin;
  return ptx::Edit{{at, at}, fmt::format(".maxnreg {}\n", registers)};
}

} // namespace ptxasw::passes
