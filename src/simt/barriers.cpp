// bar and barrier, and what to say when nobody can move.
#include "simt/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::simt {

namespace {

using ptx::Sub;

bool arrives_only(const Ins& ins) {
  return ins.inst->mods.sub == Sub::arrive;
}
bool reduces(const Ins& ins) {
  return ins.inst->mods.sub == Sub::red;
}
// "bar" is the aligned form of "barrier".
bool aligned(const Ins& ins) {
  return ins.inst->op == ptx::Op::bar || ins.inst->mods.aligned;
}

// Threads that a warp counts for: a warp whose lanes have all come counts as 32, however many of
// them exist (the thread count of a barrier is a multiple of the warp size).
unsigned weight(const Warp& warp, std::uint32_t arrived) {
  return (warp.alive() & ~arrived) == 0 && arrived != 0
             ? warp_size
             : static_cast<unsigned>(std::popcount(arrived));
}

bool complete(const Block& block, const Barrier& barrier) {
  unsigned threads = 0;
  bool all = true;
  for (std::size_t w = 0; w < block.warps.size(); ++w) {
    threads += weight(block.warps[w], barrier.arrived[w]);
    all = all && (block.warps[w].alive() & ~barrier.arrived[w]) == 0;
  }
  return barrier.expected == 0 ? all : threads >= barrier.expected;
}

} // namespace

void Engine::barrier(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  const Fragment& f = warp.fragments[id];
  const bool together = aligned(ins);
  if (together && mask != f.mask)
    return fail(Result::Status::undefined, warp, mask, ins,
                "divergent aligned barrier: some lanes are predicated off");
  if (mask != f.mask) {
    // The other lanes do not take part: they go on alone.
    const std::uint32_t others = split(warp, id, f.mask & ~mask);
    ++warp.fragments[others].pc;
  }
  ++result_.counts.barriers;
  if (together) {
    warp.fragments[id].state = Fragment::State::assembling;
    assemble(warp);
  } else {
    arrive_at_barrier(warp, warp.fragments[id]);
    release_barriers(*warp.block);
  }
}

// Lets the warp arrive at an aligned barrier once all its lanes stand there.
void Engine::assemble(Warp& warp) {
  const auto instruction = [&](const Fragment& f) {
    return &warp.frames[f.frame].code->insts[f.pc];
  };
  const Ins* barrier = nullptr;
  std::uint32_t here = 0;
  for (const Fragment& f : warp.fragments) {
    if (f.state != Fragment::State::assembling) continue;
    if (barrier == nullptr) barrier = instruction(f);
    if (barrier == instruction(f)) here |= f.mask;
  }
  if (barrier == nullptr || here != warp.alive()) return;
  for (Fragment& f : warp.fragments)
    if (f.state == Fragment::State::assembling) arrive_at_barrier(warp, f);
  release_barriers(*warp.block);
}

void Engine::arrive_at_barrier(Warp& warp, Fragment& f) {
  f.state = Fragment::State::barrier;
  const std::uint32_t lanes = f.mask;
  const Frame& frame = warp.frames[f.frame];
  const Ins& ins = frame.code->insts[f.pc];
  const Operands operands = this->operands(warp, frame);
  const auto src = frame.code->src(ins);
  // Operands: id, then the thread count if there is one, then the predicate of .red.
  const std::size_t numbers = src.size() - (reduces(ins) ? 1 : 0);
  const unsigned lane = lowest(lanes);
  const std::uint64_t number = numbers > 0 ? operands.lane(src[0], lane) : 0;
  const std::uint64_t expected = numbers > 1 ? operands.lane(src[1], lane) : 0;
  bool same = true;
  for_lanes(lanes, [&](unsigned l) {
    same = same && (numbers == 0 || operands.lane(src[0], l) == number) &&
           (numbers < 2 || operands.lane(src[1], l) == expected);
  });
  const auto undefined = [&](std::string_view what) {
    fail(Result::Status::undefined, warp, lanes, ins, what);
  };
  if (!same) return undefined("lanes name different barriers or thread counts");
  if (number >= 16) return undefined("there are 16 barriers, 0 to 15");
  if (expected % warp_size != 0)
    return undefined("the thread count of a barrier is a multiple of the warp size");
  if (expected == 0 && numbers > 1) return undefined("the thread count of a barrier is not 0");
  Barrier& barrier = warp.block->barriers[number];
  if (!barrier.in_use) {
    barrier = {};
    barrier.in_use = true;
    barrier.expected = static_cast<std::uint32_t>(expected);
    barrier.arrived.assign(warp.block->warps.size(), 0);
  }
  if (barrier.expected != expected)
    return undefined(fmt::format("barrier {} is in use for another number of threads", number));
  if ((barrier.arrived[warp.index] & lanes) != 0)
    return undefined(fmt::format("a thread arrives at barrier {} for the second time", number));
  barrier.arrived[warp.index] |= lanes;
  if (!reduces(ins)) return;
  for_lanes(lanes, [&](unsigned l) {
    ++barrier.threads;
    barrier.predicate_count += operands.lane(src.back(), l) != 0 ? 1 : 0;
  });
}

namespace {

// Which barrier a fragment waits at, by its first lane.
std::uint64_t barrier_of(const Operands& operands, const Frame& frame, const Ins& ins,
                         std::uint32_t lanes) {
  const std::size_t numbers = ins.src.count - (reduces(ins) ? 1U : 0U);
  if (numbers == 0) return 0;
  return operands.lane(frame.code->places[ins.src.first], lowest(lanes));
}

std::uint64_t reduced(const Ins& ins, const Barrier& barrier) {
  switch (ins.inst->mods.sub2) {
  case Sub::popc: return barrier.predicate_count;
  case Sub::and_: return static_cast<std::uint64_t>(barrier.predicate_count == barrier.threads);
  default: return static_cast<std::uint64_t>(barrier.predicate_count != 0);
  }
}

} // namespace

// Frees the fragments that wait at barriers which are complete, and those that only arrive.
void Engine::release_barriers(Block& block) {
  std::array<bool, 16> open{};
  bool any = false;
  for (std::size_t i = 0; i < block.barriers.size(); ++i) {
    open[i] = block.barriers[i].in_use && complete(block, block.barriers[i]);
    any = any || block.barriers[i].in_use;
  }
  if (!any || !result_.ok()) return;
  for (Warp& warp : block.warps) {
    for (Fragment& f : warp.fragments) {
      if (f.state != Fragment::State::barrier) continue;
      Frame& frame = warp.frames[f.frame];
      const Ins& ins = frame.code->insts[f.pc];
      const std::uint64_t number = barrier_of(operands(warp, frame), frame, ins, f.mask);
      if (!open[number] && !arrives_only(ins)) continue;
      if (reduces(ins) && ins.dst.count != 0)
        for_lanes(f.mask, [&](unsigned lane) {
          write(frame, frame.code->places[ins.dst.first], lane,
                reduced(ins, block.barriers[number]), 0, false);
        });
      f.state = Fragment::State::ready;
      ++f.pc;
    }
  }
  for (std::size_t i = 0; i < block.barriers.size(); ++i) {
    if (!open[i]) continue;
    block.barriers[i] = {};
    ++block.epoch;
  }
}

// Nobody in the resident blocks can move: says why, by the first fragment that waits.
// Where lanes wait for an exchange with others that wait for them at a join, those others go on
// alone, as lanes may: they will come to the exchange, or exit and be missed no more.
bool Engine::open_joins() {
  bool opened = false;
  for (Block& block : blocks_) {
    if (!block.active) continue;
    for (Warp& warp : block.warps) {
      const auto waits = [](const Fragment& f) { return f.state == Fragment::State::warp_sync; };
      if (std::ranges::none_of(warp.fragments, waits)) continue;
      for (std::uint32_t id = 0; id < warp.fragments.size(); ++id) {
        const Fragment join = warp.fragments[id];
        if (join.state != Fragment::State::join || join.mask == 0) continue;
        const std::uint32_t ahead = new_fragment(warp);
        warp.fragments[ahead] = join;
        warp.fragments[ahead].state = Fragment::State::ready;
        warp.fragments[ahead].children = 0;
        warp.fragments[id].mask = 0;
        if (join.parent != nowhere) ++warp.fragments[join.parent].children;
        opened = true;
      }
    }
  }
  return opened;
}

void Engine::report_deadlock() {
  for (const Block& block : blocks_) {
    if (!block.active) continue;
    for (const Warp& warp : block.warps) {
      for (const Fragment& f : warp.fragments) {
        if (f.state == Fragment::State::free || f.state == Fragment::State::join) continue;
        const Ins& ins = warp.frames[f.frame].code->insts[f.pc];
        switch (f.state) {
        case Fragment::State::warp_sync: {
          const std::uint32_t members = warp.letters[lowest(f.mask)].members;
          return fail(Result::Status::undefined, warp, f.mask, ins,
                      fmt::format("lanes {:#010x} of the member mask {:#010x} do not arrive",
                                  members & warp.alive() & ~f.mask, members));
        }
        case Fragment::State::assembling:
          return fail(Result::Status::undefined, warp, f.mask, ins,
                      fmt::format("divergent aligned barrier: lanes {:#010x} do not arrive",
                                  warp.alive() & ~f.mask));
        default:
          return fail(Result::Status::undefined, warp, f.mask, ins,
                      "deadlock: threads that this barrier waits for do not arrive");
        }
      }
    }
  }
}

} // namespace ptxasw::simt
