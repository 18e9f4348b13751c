// One instruction in front of all others.
#include "passes/launch_early/launch_early.hpp"

namespace ptxasw::passes::launch_early {

ptx::Edit emit(const Plan& plan) {
  return {{plan.at, plan.at}, "griddepcontrol.wait;\n\t"};
}

} // namespace ptxasw::passes::launch_early
