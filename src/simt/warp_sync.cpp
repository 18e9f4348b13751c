// Exchange between the lanes of a warp: shfl, vote, match, redux, elect, bar.warp.
//
// Lanes bring a letter and wait until all lanes that their member mask names, and that have not
// exited, have brought one for the same kind of instruction with the same mask (PTX ISA 9.7.9.6 and
// others). They need not stand at the same instruction. Lanes that are missing for ever are found
// when nobody in the block can move any more.
#include "simt/engine.hpp"

#include <fmt/format.h>

namespace ptxasw::simt {

namespace {

using ptx::Op;
using ptx::Sub;
using sem::Bits;

// The formulas of PTX ISA 9.7.9.5, "shfl".
void shuffle(const ptx::Inst& inst, std::array<Letter, warp_size>& letters, unsigned lane,
             std::uint32_t group) {
  Letter& own = letters[lane];
  const auto self = static_cast<int>(lane);
  const auto b = static_cast<int>(own.b & 31), c = static_cast<int>(own.c & 31);
  const auto segment = static_cast<int>(own.c >> 8 & 31);
  const int last = (self & segment) | (c & ~segment);
  const int first = self & segment;
  int from = self;
  bool inside = false;
  switch (inst.mods.sub) {
  case Sub::up:
    from = self - b;
    inside = from >= last;
    break;
  case Sub::down:
    from = self + b;
    inside = from <= last;
    break;
  case Sub::bfly:
    from = self ^ b;
    inside = from <= last;
    break;
  default:
    from = first | (b & ~segment);
    inside = from <= last;
    break;
  }
  if (!inside) from = self;
  const Letter& source = letters[static_cast<unsigned>(from)];
  const bool takes_part = (group >> from & 1) != 0;
  own.result = takes_part ? source.value : 0xdeadbeef;
  own.result_undefined = !takes_part || source.undefined;
  own.predicate = inside;
}

std::uint64_t reduce(const ptx::Inst& inst, const std::array<Letter, warp_size>& letters,
                     std::uint32_t group) {
  using Domain = sem::ConcreteDomain;
  const ptx::Type type = inst.mods.type;
  const unsigned w = ptx::bit_width(type);
  Bits result = letters[lowest(group)].value;
  for_lanes(group & (group - 1), [&](unsigned lane) {
    const Bits x = letters[lane].value;
    switch (inst.mods.sub) {
    case Sub::add: result = Domain::add(w, result, x); break;
    case Sub::and_: result &= x; break;
    case Sub::or_: result |= x; break;
    case Sub::xor_: result ^= x; break;
    default: {
      const bool smallest = inst.mods.sub == Sub::min;
      if (ptx::is_float(type)) {
        sem::Function f;
        f.fn = smallest ? sem::Fn::fmin : sem::Fn::fmax;
        f.to = f.from = type;
        f.nan = inst.mods.nan;
        const std::array<Bits, 2> arguments{result, x};
        result = sem::compute(f, w, arguments);
        break;
      }
      const bool less = ptx::is_signed(type) ? Domain::slt(w, x, result) != 0 : x < result;
      if (less == smallest) result = x;
    }
    }
  });
  return static_cast<std::uint64_t>(result);
}

// Lanes of the group whose value satisfies `test`.
template <class Test>
std::uint32_t lanes_where(const std::array<Letter, warp_size>& letters, std::uint32_t group,
                          Test&& test) {
  std::uint32_t result = 0;
  for_lanes(group, [&](unsigned lane) {
    if (test(letters[lane])) result |= 1U << lane;
  });
  return result;
}

// Fills in what each lane of a complete group takes home.
void answer(const ptx::Inst& inst, std::array<Letter, warp_size>& letters, std::uint32_t group) {
  const ptx::Modifiers& m = inst.mods;
  const bool undefined =
      lanes_where(letters, group, [](const Letter& l) { return l.undefined; }) != 0;
  const std::uint32_t votes =
      lanes_where(letters, group, [](const Letter& l) { return l.value != 0; });
  const std::uint64_t reduced = inst.op == Op::redux ? reduce(inst, letters, group) : 0;
  for_lanes(group, [&](unsigned lane) {
    Letter& own = letters[lane];
    own.result_undefined = undefined;
    switch (inst.op) {
    case Op::shfl: shuffle(inst, letters, lane, group); break;
    case Op::vote:
      if (m.sub == Sub::ballot) own.result = votes;
      if (m.sub == Sub::all) own.result = votes == group;
      if (m.sub == Sub::any) own.result = votes != 0;
      if (m.sub == Sub::uni) own.result = votes == 0 || votes == group;
      break;
    case Op::match: {
      const std::uint32_t same =
          lanes_where(letters, group, [&](const Letter& l) { return l.value == own.value; });
      own.predicate = same == group;
      own.result = m.sub == Sub::all && !own.predicate ? 0 : same;
      break;
    }
    case Op::redux: own.result = reduced; break;
    case Op::elect:
      own.result = lowest(group);
      own.predicate = lane == lowest(group);
      break;
    default: break; // bar.warp
    }
  });
}

} // namespace

void Engine::warp_sync(Warp& warp, std::uint32_t id, const Operands& operands, const Ins& ins,
                       std::uint32_t mask) {
  const Fragment& f = warp.fragments[id];
  const auto src = warp.frames[f.frame].code->src(ins);
  const bool old_form =
      !ins.inst->mods.sync && ins.inst->op != Op::bar && ins.inst->op != Op::barrier;
  std::uint32_t strangers = 0;
  for_lanes(mask, [&](unsigned lane) {
    Letter& letter = warp.letters[lane];
    letter = {};
    letter.waiting = true;
    letter.key = ins.sync_key;
    // The member mask comes last; the forms without .sync mean the lanes that are here.
    letter.members = old_form ? mask : static_cast<std::uint32_t>(operands.lane(src.back(), lane));
    if (src.size() > 1 || old_form) {
      letter.value = operands.lane(src[0], lane);
      letter.undefined = operands.is_undefined(src[0], lane);
    }
    if (ins.inst->op == Op::shfl) {
      letter.b = static_cast<std::uint32_t>(operands.lane(src[1], lane));
      letter.c = static_cast<std::uint32_t>(operands.lane(src[2], lane));
    }
    if ((letter.members >> lane & 1) == 0) strangers |= 1U << lane;
  });
  if (ins.inst->op == Op::shfl) ++result_.counts.shuffles;
  if (strangers != 0)
    return fail(Result::Status::undefined, warp, strangers, ins,
                fmt::format("lane {} is not in its own member mask {:#010x}", lowest(strangers),
                            warp.letters[lowest(strangers)].members));
  warp.fragments[id].state = Fragment::State::warp_sync;
  deliver(warp);
  // Lanes that are predicated off need not wait.
  if (warp.fragments[id].state == Fragment::State::warp_sync) settle(warp, id);
}

// Completes every group whose members are all there, and lets their fragments go on.
void Engine::deliver(Warp& warp) {
  std::uint32_t waiting = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (warp.letters[lane].waiting) waiting |= 1U << lane;
  bool any = false;
  while (waiting != 0) {
    const Letter& first = warp.letters[lowest(waiting)];
    std::uint32_t group = 0;
    for_lanes(waiting, [&](unsigned lane) {
      const Letter& letter = warp.letters[lane];
      if (letter.key == first.key && letter.members == first.members) group |= 1U << lane;
    });
    waiting &= ~group;
    if ((first.members & warp.alive() & ~group) != 0) continue;
    // Any fragment of the group knows what kind of exchange this is.
    for (const Fragment& f : warp.fragments) {
      if (f.state != Fragment::State::warp_sync || (f.mask & group) == 0) continue;
      const Ins& ins = warp.frames[f.frame].code->insts[f.pc];
      if (ins.kind == Kind::matrix)
        do_matrix(warp, ins, group);
      else
        answer(*ins.inst, warp.letters, group);
      break;
    }
    for_lanes(group, [&](unsigned lane) {
      warp.letters[lane].waiting = false;
      warp.letters[lane].done = true;
    });
    any = true;
  }
  if (!any) return;
  ++warp.epoch;
  for (std::uint32_t id = 0; id < warp.fragments.size(); ++id)
    if (warp.fragments[id].state == Fragment::State::warp_sync) settle(warp, id);
}

// Moves the lanes of a waiting fragment that need not wait any more behind the instruction.
void Engine::settle(Warp& warp, std::uint32_t id) {
  const Fragment& f = warp.fragments[id];
  std::uint32_t done = 0, waiting = 0;
  for_lanes(f.mask, [&](unsigned lane) {
    if (warp.letters[lane].done) done |= 1U << lane;
    if (warp.letters[lane].waiting) waiting |= 1U << lane;
  });
  if (waiting == f.mask) return;
  Frame& frame = warp.frames[f.frame];
  const Ins& ins = frame.code->insts[f.pc];
  const std::span dst(&frame.code->places[ins.dst.first],
                      ins.kind == Kind::matrix ? 0 : ins.dst.count); // of a matrix: written already
  for_lanes(done, [&](unsigned lane) {
    Letter& letter = warp.letters[lane];
    if (!dst.empty()) write(frame, dst[0], lane, letter.result, 0, letter.result_undefined);
    if (dst.size() > 1)
      write(frame, dst[1], lane, static_cast<std::uint64_t>(letter.predicate), 0, false);
    letter = {};
  });
  const std::uint32_t moving = waiting == 0 ? id : split(warp, id, f.mask & ~waiting);
  warp.fragments[moving].state = Fragment::State::ready;
  ++warp.fragments[moving].pc;
}

} // namespace ptxasw::simt
