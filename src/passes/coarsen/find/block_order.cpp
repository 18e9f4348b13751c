// Branches stand alone in their segments, a store ends its own, and a scope of registers { } begins
// one: its names end with it.
#include "passes/coarsen/find/block_order.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using ptx::InstId;
using ptx::StatementKind;

namespace {

// Cuts the body into segments in which "copy 0 from end to end, then copy 1, ..." runs, for each
// copy, every access and every definition in an order that the copy cannot tell from its own.
// What stands once for all copies is run with copy 0, ahead of everything of the others.
class Cutter {
public:
  Cutter(const ptx::Body& body, const analysis::ReplicaDivergence& replica_divergence,
         CopyOrder order, std::span<const Region> regions)
      : body_(body), replica_divergence_(replica_divergence), order_(order), regions_(regions),
        read_(body.registers.size(), 0) {}

  std::vector<std::uint32_t> run() {
    bool closed = true;
    for (const ptx::Statement& statement : body_.module->body_of(*body_.function)) {
      if (statement.kind != StatementKind::instruction) {
        closed |= statement.kind != StatementKind::location;
        continue;
      }
      const auto id = static_cast<InstId>(segments_.size());
      if (in_region(id)) {
        if (id == regions_.front().first) ++segment_;
        segments_.push_back(segment_);
        closed = true;
        continue;
      }
      const ptx::Inst& inst = body_.insts[id];
      if (closed || starts_segment(inst)) ++segment_;
      segments_.push_back(segment_);
      if (replica_divergence_.differs(body_, inst)) note_reads(inst);
      closed = ends_segment(inst);
    }
    return std::move(segments_);
  }

private:
  bool in_region(InstId id) {
    if (!regions_.empty() && id >= regions_.front().end) regions_ = regions_.subspan(1);
    return !regions_.empty() && id >= regions_.front().first;
  }

  // Control may go elsewhere, all copies of all threads meet, or the accesses on one side of it are
  // told from those on the other.
  [[nodiscard]] static bool stands_alone(const ptx::Effects& effects) {
    return effects.branches || effects.terminates || effects.ordered;
  }

  [[nodiscard]] bool starts_segment(const ptx::Inst& inst) const {
    const ptx::Effects effects = ptx::effects(body_, inst);
    if (order_ == CopyOrder::instructions || stands_alone(effects)) return true;
    if (replica_divergence_.differs(body_, inst)) return false;
    // Other copies have yet to load, or to read the register, ahead of it.
    return effects.writes_memory || std::ranges::any_of(body_.dst(inst), [&](const ptx::Arg& dst) {
             return dst.kind == ptx::Arg::Kind::reg && read_[dst.id] == segment_;
           });
  }

  // Behind a store, a load that stands once would miss what the other copies store.
  [[nodiscard]] bool ends_segment(const ptx::Inst& inst) const {
    const ptx::Effects effects = ptx::effects(body_, inst);
    return order_ == CopyOrder::instructions || stands_alone(effects) || effects.writes_memory;
  }

  void note_reads(const ptx::Inst& inst) {
    const auto note = [&](const ptx::Arg& arg) {
      if (arg.kind == ptx::Arg::Kind::reg) read_[arg.id] = segment_;
    };
    std::ranges::for_each(body_.src(inst), note);
    for (const ptx::Address& address : body_.addr(inst))
      note(address.base);
    if (inst.guard != ptx::none) read_[inst.guard] = segment_;
  }

  const ptx::Body& body_;
  const analysis::ReplicaDivergence& replica_divergence_;
  CopyOrder order_;
  std::span<const Region> regions_; // those that are not behind us
  std::uint32_t segment_ = 0;
  std::vector<std::uint32_t> segments_;
  std::vector<std::uint32_t> read_; // by register: the last segment that reads it copy by copy
};

} // namespace

Schedule make_schedule(const ptx::Body& body, const analysis::ReplicaDivergence& replica_divergence,
                       unsigned copies, CopyOrder order, std::span<const Region> regions) {
  Schedule schedule;
  schedule.segment = Cutter(body, replica_divergence, order, regions).run();
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

} // namespace ptxasw::passes
