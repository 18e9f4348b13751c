// Which places a step reads: "0(-1,0,0) 0(1,0,0)", by parameter.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <vector>

namespace ptxasw::passes {

inline std::string offsets_text(const StepPlan& plan) {
  std::vector<std::string> texts;
  for (const StepArray& array : plan.arrays) {
    std::set<Offset> offsets;
    for (const StepArray::Load& load : array.loads)
      offsets.insert(load.offset());
    for (const Offset& offset : offsets)
      texts.push_back(fmt::format("{}({})", contract::to_word(array.in), fmt::join(offset, ",")));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

} // namespace ptxasw::passes
