#include "cost/rotation.hpp"

#include <fmt/format.h>

namespace ptxasw::cost {

RotationVerdict rotation_verdict(const Profile& profile, const RotationWork& work) {
  RotationVerdict verdict;
  verdict.pays = !work.checked && !work.wide && work.before >= profile.rotate_margin * work.after &&
                 work.registers <= profile.rotate_registers;
  verdict.reason = fmt::format("its accesses go from {:.1f} to {:.1f} cycles a trip, in {} more "
                               "registers{}{}",
                               work.before, work.after, work.registers,
                               work.checked ? ", with a check of its index" : "",
                               work.wide ? ", of wide values" : "");
  return verdict;
}

} // namespace ptxasw::cost
