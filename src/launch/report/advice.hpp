// What would help the launches of a run, at the end of its report: options of `ptxasw launch` that
// it was not given and that fit what it launched.
#pragma once

#include "launch/kernels/shapes.hpp"
#include "launch/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::launch {

struct Advice {
  std::string option, why;
};

// Of kernels whose times were read. Empty: nothing, or it is not known.
[[nodiscard]] std::vector<Advice> advise(const std::vector<std::shared_ptr<Shapes>>& kernels,
                                         const Settings& settings);

[[nodiscard]] std::string advice_as_text(const std::vector<Advice>& all);
[[nodiscard]] std::string advice_as_json(const std::vector<Advice>& all);

} // namespace ptxasw::launch
