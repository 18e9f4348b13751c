// The choice of a coarsening, for people.
#include "ptxasw/coarsening.hpp"

#include <fmt/format.h>

namespace ptxasw {

std::string to_string(const Coarsening& how) {
  std::string text;
  for (std::size_t axis = 0; axis < how.factors.size(); ++axis) {
    if (how.factors[axis] == 1) continue;
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", "xyz"[axis], how.factors[axis]);
  }
  if (text.empty()) return "none";
  text += how.order == CoarsenOrder::copies ? " by copies" : " by instructions";
  if (how.registers != 0) text += fmt::format(", at most {} registers", how.registers);
  if (how.least_threads != 0) text += fmt::format(", from {} threads on", how.least_threads);
  return text;
}

} // namespace ptxasw
