// A directive that requires something goes over an option that says it.
#include "passes/shared/function_facts.hpp"

#include "target/profile.hpp"

#include <algorithm>

namespace ptxasw::passes {
namespace {

unsigned count(const std::array<std::uint32_t, 3>& shape) {
  return std::max(shape[0], 1U) * std::max(shape[1], 1U) * std::max(shape[2], 1U);
}

} // namespace

std::string_view architecture_of(const ptx::Module& module, const Options& options) {
  return options.architecture.empty() ? module.target : options.architecture;
}

bool FunctionFacts::is_bounded() const {
  return (function_.maxntid[0] | function_.reqntid[0]) != 0;
}

bool FunctionFacts::is_tuned() const {
  return is_bounded() || function_.minnctapersm != 0 || function_.maxnreg != 0;
}

Launches FunctionFacts::launches() const {
  Launches launches{.states_size = is_bounded(), .sizes = {}, .resident = {}};
  if (function_.maxntid[0] != 0) launches.sizes.most = count(function_.maxntid);
  if (const auto shape = block_shape(); shape[0] != 0)
    launches.sizes.least = launches.sizes.most = count(shape);
  if (!options_.fewer_blocks) launches.resident = launches.sizes;
  if (const target::Profile* profile = target::find_profile(architecture()))
    launches.shared_per_sm = profile->shared_per_sm;
  return launches;
}

std::array<std::uint32_t, 3> FunctionFacts::block_shape() const {
  std::array<std::uint32_t, 3> shape = options_.block.value_or(std::array<std::uint32_t, 3>{});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (function_.reqntid[axis] != 0) shape[axis] = function_.reqntid[axis];
  }
  return shape;
}

bool FunctionFacts::assumed(std::string_view what) const {
  return std::ranges::find(options_.assumptions, what) != options_.assumptions.end();
}

unsigned FunctionFacts::threads() const {
  if (const auto known = block_shape(); known[0] != 0) return count(known);
  return function_.maxntid[0] != 0 ? count(function_.maxntid) : 0;
}

} // namespace ptxasw::passes
