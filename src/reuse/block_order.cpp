// A scope of registers { } begins a segment too: its names end with it.
#include "reuse/block_order.hpp"

namespace ptxasw::reuse {

using ptx::InstId;
using ptx::StatementKind;

namespace {

// Alone in its segment: what writes memory or decides where to go on.
bool stands_alone(const emulator::Kernel& kernel, const ptx::Inst& inst) {
  const ptx::Effects effects = ptx::effects(kernel.body, inst);
  return effects.writes_memory || effects.branches || effects.terminates;
}

} // namespace

std::vector<std::uint32_t> segments(const emulator::Kernel& kernel, CopyOrder order) {
  std::vector<std::uint32_t> result;
  std::uint32_t segment = 0;
  InstId next = 0;
  bool closed = true;
  for (const ptx::Statement& statement : kernel.body.module->body_of(*kernel.body.function)) {
    if (statement.kind != StatementKind::instruction) {
      closed |= statement.kind != StatementKind::location;
      continue;
    }
    const bool alone =
        order == CopyOrder::instructions || stands_alone(kernel, kernel.body.insts[next]);
    if (closed || alone) ++segment;
    result.push_back(segment);
    closed = alone;
    ++next;
  }
  return result;
}

} // namespace ptxasw::reuse
