// Branches stand alone in their segments, and a scope of registers { } begins one: its names end
// with it.
#include "reuse/block_order.hpp"

namespace ptxasw::reuse {

using ptx::InstId;
using ptx::StatementKind;

namespace {

std::vector<std::uint32_t> find_segments(const ptx::Body& body, CopyOrder order) {
  std::vector<std::uint32_t> result;
  std::uint32_t segment = 0;
  bool closed = true;
  for (const ptx::Statement& statement : body.module->body_of(*body.function)) {
    if (statement.kind != StatementKind::instruction) {
      closed |= statement.kind != StatementKind::location;
      continue;
    }
    const ptx::Effects effects = ptx::effects(body, body.insts[result.size()]);
    const bool alone = order == CopyOrder::instructions || effects.branches || effects.terminates;
    if (closed || alone) ++segment;
    result.push_back(segment);
    closed = alone;
  }
  return result;
}

} // namespace

Schedule make_schedule(const emulator::Kernel& kernel, unsigned copies, CopyOrder order) {
  Schedule schedule{.segment = find_segments(kernel.body, order)};
  const auto count = static_cast<InstId>(schedule.segment.size());
  for (InstId first = 0, end = 0; first < count; first = end) {
    while (end < count && schedule.segment[end] == schedule.segment[first])
      ++end;
    for (unsigned copy = 0; copy < copies; ++copy) {
      for (InstId inst = first; inst < end; ++inst)
        schedule.steps.push_back({inst, copy});
    }
  }
  return schedule;
}

} // namespace ptxasw::reuse
