// Branches, reconvergence and the end of lanes.
#include "simt/engine.hpp"

#include <algorithm>

namespace ptxasw::simt {

std::uint32_t Engine::new_fragment(Warp& warp) {
  const auto unused = std::ranges::find(warp.fragments, Fragment::State::free, &Fragment::state);
  if (unused != warp.fragments.end())
    return static_cast<std::uint32_t>(unused - warp.fragments.begin());
  warp.fragments.emplace_back();
  return static_cast<std::uint32_t>(warp.fragments.size() - 1);
}

// Takes `lanes` out of a fragment into a new one at the same place with the same parent.
std::uint32_t Engine::split(Warp& warp, std::uint32_t id, std::uint32_t lanes) {
  const std::uint32_t made = new_fragment(warp);
  Fragment& from = warp.fragments[id];
  Fragment& to = warp.fragments[made];
  to = from;
  to.mask = lanes;
  from.mask &= ~lanes;
  if (to.parent != nowhere) ++warp.fragments[to.parent].children;
  return made;
}

void Engine::branch(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  Fragment& f = warp.fragments[id];
  const std::uint32_t target = warp.frames[f.frame].code->targets[ins.targets.first];
  if (mask == f.mask) {
    f.pc = target;
    return;
  }
  const std::array<Successor, 2> successors{{{target, mask}, {f.pc + 1, f.mask & ~mask}}};
  diverge(warp, id, successors, ins.reconverge);
}

void Engine::branch_table(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  const Fragment& f = warp.fragments[id];
  const Frame& frame = warp.frames[f.frame];
  const Operands values = operands(warp, frame);
  const OperandLocation& index = frame.code->places[ins.src.first];
  if (!reject_undefined(warp, ins, values.undefined_lanes(index) & mask, "branch on")) return;
  std::vector<Successor> successors;
  bool outside = false;
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t entry = values.lane(index, lane);
    if (entry >= ins.targets.count) {
      outside = true;
      return;
    }
    const std::uint32_t pc = frame.code->targets[ins.targets.first + entry];
    const auto known = std::ranges::find(successors, pc, &Successor::pc);
    if (known == successors.end())
      successors.push_back({pc, 1U << lane});
    else
      known->lanes |= 1U << lane;
  });
  if (outside)
    return fail(Result::Status::undefined, warp, mask, ins, "the index lies outside the table");
  if (mask != f.mask) {
    const auto next = std::ranges::find(successors, f.pc + 1, &Successor::pc);
    if (next == successors.end())
      successors.push_back({f.pc + 1, f.mask & ~mask});
    else
      next->lanes |= f.mask & ~mask;
  }
  diverge(warp, id, successors, ins.reconverge);
}

void Engine::diverge(Warp& warp, std::uint32_t id, std::span<const Successor> successors,
                     std::uint32_t reconverge) {
  if (successors.size() == 1) {
    warp.fragments[id].pc = successors.front().pc;
    return;
  }
  const bool lockstep = launch_.schedule.kind == Schedule::Kind::lockstep;
  const Fragment before = warp.fragments[id];
  const bool new_join =
      lockstep && (reconverge != before.stop_pc || before.frame != before.stop_frame);
  std::uint32_t parent = before.parent;
  if (new_join) {
    const std::uint32_t join = new_fragment(warp);
    warp.fragments[join] = before;
    warp.fragments[join].state = Fragment::State::join;
    warp.fragments[join].mask = 0;
    warp.fragments[join].pc = reconverge;
    warp.fragments[join].children = 1; // the fragment itself
    parent = join;
  }
  for (std::size_t i = 0; i < successors.size(); ++i) {
    const std::uint32_t child = i == 0 ? id : new_fragment(warp);
    Fragment& f = warp.fragments[child];
    f = before;
    f.pc = successors[i].pc;
    f.mask = successors[i].lanes;
    f.parent = parent;
    if (new_join) {
      f.stop_pc = reconverge;
      f.stop_frame = before.frame;
    }
    if (i != 0 && parent != nowhere) ++warp.fragments[parent].children;
  }
}

// A child has reached its join.
void Engine::arrive(Warp& warp, std::uint32_t id) {
  Fragment& f = warp.fragments[id];
  Fragment& join = warp.fragments[f.parent];
  join.mask |= f.mask;
  f.mask = 0;
  retire(warp, id);
}

void Engine::retire(Warp& warp, std::uint32_t id) {
  Fragment& f = warp.fragments[id];
  const std::uint32_t parent = f.parent;
  f = {};
  if (parent == nowhere) return;
  --warp.fragments[parent].children;
  join_changed(warp, parent);
}

void Engine::join_changed(Warp& warp, std::uint32_t id) {
  Fragment& join = warp.fragments[id];
  if (join.children != 0) return;
  if (join.mask == 0)
    retire(warp, id);
  else
    join.state = Fragment::State::ready;
}

// Lanes of a running fragment that end.
void Engine::exit_lanes(Warp& warp, std::uint32_t id, std::uint32_t lanes) {
  Fragment& f = warp.fragments[id];
  for (std::uint32_t at = f.frame; at != nowhere;) {
    Frame& frame = warp.frames[at];
    frame.live &= ~lanes;
    const std::uint32_t caller = frame.caller;
    if (frame.live == 0) warp.free_frames.push_back(at);
    at = caller;
  }
  warp.exited |= lanes;
  f.mask &= ~lanes;
  if (f.mask == 0) retire(warp, id);
  // Whoever waited for these lanes need not any more.
  deliver(warp);
  assemble(warp);
  release_barriers(*warp.block);
}

} // namespace ptxasw::simt
