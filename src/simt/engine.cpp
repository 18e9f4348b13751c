// Set-up of a launch and the loop over instructions.
#include "simt/engine.hpp"

#include "semantics/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ptxasw::simt {

std::optional<std::uint64_t> special_of_thread(ptx::Special special, std::uint64_t thread,
                                               const Dim3& block) {
  using S = ptx::Special;
  const auto lane = static_cast<unsigned>(thread % warp_size);
  const std::uint32_t bit = 1U << lane;
  switch (special) {
  case S::tid_x: return thread % block.x;
  case S::tid_y: return thread / block.x % block.y;
  case S::tid_z: return thread / block.x / block.y;
  case S::laneid: return lane;
  case S::warpid: return thread / warp_size;
  case S::lanemask_eq: return bit;
  case S::lanemask_lt: return bit - 1;
  case S::lanemask_le: return bit | (bit - 1);
  case S::lanemask_gt: return ~(bit | (bit - 1));
  case S::lanemask_ge: return ~(bit - 1);
  default: return std::nullopt;
  }
}

namespace {

std::uint64_t special_value(ptx::Special special, const Launch& launch, const Block& block,
                            const Warp& warp, unsigned lane, const Program& program) {
  using S = ptx::Special;
  const std::uint64_t thread = std::uint64_t{warp.index} * warp_size + lane;
  const Dim3 &b = launch.block, &g = launch.grid;
  if (const auto own = special_of_thread(special, thread, b)) return *own;
  switch (special) {
  case S::ntid_x: return b.x;
  case S::ntid_y: return b.y;
  case S::ntid_z: return b.z;
  case S::ctaid_x:
  case S::clusterid_x: return block.index.x;
  case S::ctaid_y:
  case S::clusterid_y: return block.index.y;
  case S::ctaid_z:
  case S::clusterid_z: return block.index.z;
  case S::nctaid_x:
  case S::nclusterid_x: return g.x;
  case S::nctaid_y:
  case S::nclusterid_y: return g.y;
  case S::nctaid_z:
  case S::nclusterid_z: return g.z;
  case S::nwarpid: return 64;
  case S::smid: return block.linear % 132;
  case S::nsmid: return 132;
  case S::gridid: return 1;
  case S::total_smem_size:
  case S::aggr_smem_size: return program.dynamic_shared_offset + launch.dynamic_shared;
  case S::dynamic_smem_size: return launch.dynamic_shared;
  case S::warp_size: return warp_size;
  case S::cluster_nctaid_x:
  case S::cluster_nctaid_y:
  case S::cluster_nctaid_z:
  case S::cluster_nctarank: return 1;
  default: return 0; // cluster ranks of a launch without clusters; clocks are set as they are read
  }
}

Dim3 unflatten(std::uint64_t linear, const Dim3& grid) {
  return {static_cast<std::uint32_t>(linear % grid.x),
          static_cast<std::uint32_t>(linear / grid.x % grid.y),
          static_cast<std::uint32_t>(linear / grid.x / grid.y)};
}

} // namespace

Engine::Engine(const Program& program, const Launch& launch, Memory& memory)
    : program_(program), launch_(launch), memory_(memory), random_(launch.schedule.seed),
      block_threads_(launch.block.count()) {}

bool Engine::check_launch() {
  const auto refuse = [&](std::string why) {
    result_.status = Result::Status::bad_launch;
    result_.message = std::move(why);
    return false;
  };
  const Dim3 &b = launch_.block, &g = launch_.grid;
  if (b.count() == 0 || b.count() > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64)
    return refuse(fmt::format("a block of {}x{}x{} threads cannot be launched", b.x, b.y, b.z));
  if (g.count() == 0 || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
    return refuse(fmt::format("a grid of {}x{}x{} blocks cannot be launched", g.x, g.y, g.z));
  const ptx::Function& kernel = *program_.kernel;
  const std::array<std::uint32_t, 3> block{b.x, b.y, b.z};
  if (kernel.reqntid[0] != 0)
    for (std::size_t i = 0; i < 3; ++i)
      if (block[i] != std::max(kernel.reqntid[i], 1U))
        return refuse("the block is not the one that .reqntid asks for");
  if (kernel.maxntid[0] != 0) {
    std::uint64_t most = 1;
    for (const std::uint32_t n : kernel.maxntid)
      most *= std::max(n, 1U);
    if (b.count() > most) return refuse("the block is larger than .maxntid allows");
  }
  const auto& wanted = program_.codes.front()->parameters;
  if (launch_.arguments.size() != wanted.size())
    return refuse(fmt::format("the kernel takes {} arguments, {} were given", wanted.size(),
                              launch_.arguments.size()));
  return true;
}

void Engine::prepare_memory() {
  const auto& wanted = program_.codes.front()->parameters;
  parameters_.assign(program_.parameter_size, 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& bytes = launch_.arguments[i].bytes;
    std::copy_n(bytes.begin(), std::min<std::size_t>(bytes.size(), wanted[i].size),
                parameters_.begin() + static_cast<std::ptrdiff_t>(wanted[i].offset));
  }
  parameters_defined_.assign(parameters_.size(), 1);
  constants_ = program_.constants;
  constants_defined_.assign(constants_.size(), 1);
  for (const Initial& variable : program_.globals)
    if (memory_.find(variable.name) == nullptr)
      memory_.place(variable.name, variable.base, variable.data);
}

void Engine::fill_specials(Block& block, Warp& warp) {
  warp.specials.resize(program_.specials.size());
  for (std::size_t s = 0; s < program_.specials.size(); ++s)
    for (unsigned lane = 0; lane < warp_size; ++lane)
      warp.specials[s][lane] =
          special_value(program_.specials[s], launch_, block, warp, lane, program_);
}

void Engine::refresh_clocks(Warp& warp) {
  clock_ += 17;
  for (std::size_t s = 0; s < program_.specials.size(); ++s) {
    const ptx::Special special = program_.specials[s];
    if (!ptx::is_clock(special)) continue;
    std::uint64_t now = clock_ + launch_.schedule.seed % 8191;
    if (special == ptx::Special::clock_hi || special == ptx::Special::globaltimer_hi) now >>= 32;
    if (ptx::info(special).width == 32) now &= 0xffffffff;
    warp.specials[s].fill(now);
  }
}

void Engine::begin_block(Block& block, std::uint64_t linear) {
  block.linear = linear;
  block.index = unflatten(linear, launch_.grid);
  block.active = true;
  block.shared.assign(program_.dynamic_shared_offset + launch_.dynamic_shared, 0xa5);
  block.shared_defined.assign(block.shared.size(), 0);
  const auto warps = static_cast<std::uint32_t>((block_threads_ + warp_size - 1) / warp_size);
  block.warps.resize(warps);
  for (Barrier& barrier : block.barriers)
    barrier = {};
  for (std::uint32_t i = 0; i < warps; ++i) {
    Warp& warp = block.warps[i];
    const std::uint64_t threads =
        std::min<std::uint64_t>(warp_size, block_threads_ - std::uint64_t{i} * warp_size);
    warp.block = &block;
    warp.index = i;
    warp.existing = threads == warp_size ? ~0U : (1U << threads) - 1;
    warp.exited = 0;
    warp.letters = {};
    warp.copies.clear();
    warp.copy_groups = {};
    warp.fragments.clear();
    warp.fragments.reserve(std::size_t{4} *
                           warp_size); // no more can exist, so references stay good
    warp.free_frames.clear();
    for (std::uint32_t f = 0; f < warp.frames.size(); ++f)
      warp.free_frames.push_back(f);
    fill_specials(block, warp);
    Fragment whole;
    whole.state = Fragment::State::ready;
    whole.mask = warp.existing;
    whole.frame = make_frame(warp, *program_.codes.front(), nowhere, warp.existing);
    warp.fragments.push_back(whole);
    if (launch_.schedule.kind == Schedule::Kind::one_lane)
      for_lanes(warp.existing & (warp.existing - 1),
                [&](unsigned lane) { split(warp, 0, 1U << lane); });
  }
}

Operands Engine::operands(const Warp& warp, const Frame& frame) const {
  Operands result;
  result.rows = {frame.rows.data(), warp.specials.data(), frame.code->constants.data()};
  result.undefined = {frame.undefined.data(), nullptr, nullptr};
  return result;
}

void Engine::write(Frame& frame, const OperandLocation& place, unsigned lane, std::uint64_t value,
                   std::uint64_t high, bool undefined) {
  if (place.base != OperandLocation::Base::registers) return; // a sink
  const std::uint32_t bit = 1U << lane;
  frame.rows[place.row][lane] = value;
  if (place.width > 64) frame.rows[place.row + 1][lane] = high;
  if (place.width == 1)
    frame.bits[place.row] = (frame.bits[place.row] & ~bit) | (value != 0 ? bit : 0);
  frame.undefined[place.row] = (frame.undefined[place.row] & ~bit) | (undefined ? bit : 0);
}

void Engine::fail(Result::Status status, const Warp& warp, std::uint32_t mask, const Ins& ins,
                  std::string_view what) {
  if (!result_.ok()) return;
  result_.status = status;
  const std::uint64_t thread = std::uint64_t{warp.index} * warp_size + lowest(mask | 0x80000000);
  const Dim3 t = unflatten(thread, launch_.block), b = warp.block->index;
  result_.message = fmt::format("{}: {}: {} [block ({}, {}, {}), thread ({}, {}, {})]",
                                place_of(program_, *ins.inst), text_of(program_, *ins.inst), what,
                                b.x, b.y, b.z, t.x, t.y, t.z);
}

// False (and the launch fails) if some of these lanes are undefined and that matters to the caller.
bool Engine::reject_undefined(const Warp& warp, const Ins& ins, std::uint32_t lanes,
                              std::string_view what) {
  if (lanes == 0 || !launch_.report_undefined) return true;
  fail(Result::Status::undefined, warp, lanes, ins, fmt::format("{} an undefined value", what));
  return false;
}

namespace {

// A step with one result over plain 64-bit rows: nearly all of them. N is the number of sources.
template <std::size_t N>
std::uint32_t plain_step(const Ins& ins,
                         const std::array<const std::uint64_t*, most_operands>& rows,
                         std::uint64_t* result, std::uint32_t mask) {
  std::array<sem::Bits, N> in{};
  sem::Bits out = 0;
  sem::ConcreteDomain domain;
  std::uint32_t bits = 0;
  for_lanes(mask, [&](unsigned lane) {
    // The upper halves stay zero.
    for (std::size_t i = 0; i < N; ++i)
      std::memcpy(&in[i], rows[i] + lane, sizeof(std::uint64_t));
    ins.step(domain, *ins.operation, in, {&out, 1});
    const auto value = static_cast<std::uint64_t>(out);
    result[lane] = value;
    bits |= static_cast<std::uint32_t>(value & 1) << lane;
  });
  return bits;
}

} // namespace

void Engine::step(Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask) {
  const auto src = frame.code->src(ins);
  const auto dst = frame.code->dst(ins);
  std::array<const std::uint64_t*, most_operands> rows;
  std::uint32_t undefined = 0;
  for (std::size_t i = 0; i < src.size(); ++i) {
    rows[i] = operands.row(src[i]);
    undefined |= operands.undefined_lanes(src[i]);
  }
  if (undefined != 0 && ins.inst->op == ptx::Op::selp) {
    // Of the two values only the chosen one counts.
    undefined = operands.undefined_lanes(src[2]);
    for_lanes(mask, [&](unsigned lane) {
      const OperandLocation& from = operands.lane(src[2], lane) != 0 ? src[0] : src[1];
      undefined |= operands.undefined_lanes(from) & (1U << lane);
    });
  }
  std::array<std::uint32_t, most_operands> bits{};
  if (ins.plain) {
    std::uint64_t* result = frame.rows[dst[0].row].data();
    switch (src.size()) {
    case 1: bits[0] = plain_step<1>(ins, rows, result, mask); break;
    case 2: bits[0] = plain_step<2>(ins, rows, result, mask); break;
    default: bits[0] = plain_step<3>(ins, rows, result, mask); break;
    }
  } else {
    any_step(frame, operands, ins, mask, bits);
  }
  for (std::size_t i = 0; i < dst.size(); ++i) {
    if (dst[i].base != OperandLocation::Base::registers) continue;
    std::uint32_t& lanes = frame.undefined[dst[i].row];
    lanes = (lanes & ~mask) | (undefined & mask);
    if (dst[i].width == 1) frame.bits[dst[i].row] = (frame.bits[dst[i].row] & ~mask) | bits[i];
  }
}

// Any number of operands, 128-bit ones, !p, sinks.
void Engine::any_step(Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask,
                      std::span<std::uint32_t> bits) {
  const auto src = frame.code->src(ins);
  const auto dst = frame.code->dst(ins);
  std::array<sem::Bits, most_operands> in{}, out{};
  sem::ConcreteDomain domain;
  for_lanes(mask, [&](unsigned lane) {
    for (std::size_t i = 0; i < src.size(); ++i)
      in[i] = operands.wide_lane(src[i], lane);
    ins.step(domain, *ins.operation, {in.data(), src.size()}, {out.data(), dst.size()});
    for (std::size_t i = 0; i < dst.size(); ++i) {
      if (dst[i].base != OperandLocation::Base::registers) continue;
      const auto low = static_cast<std::uint64_t>(out[i]);
      frame.rows[dst[i].row][lane] = low;
      if (dst[i].width > 64)
        frame.rows[dst[i].row + 1][lane] = static_cast<std::uint64_t>(out[i] >> 64);
      bits[i] |= static_cast<std::uint32_t>(low & 1) << lane;
    }
  });
}

// Runs a fragment until it ends, waits, or has used up its steps.
void Engine::advance(Warp& warp, std::uint32_t id, std::uint64_t quantum) {
  warp.turn = id;
  for (; quantum != 0 && result_.ok(); --quantum) {
    Fragment& f = warp.fragments[id];
    if (f.state != Fragment::State::ready) return;
    Frame& frame = warp.frames[f.frame];
    const Code& code = *frame.code;
    const bool at_end = f.pc == code.insts.size();
    // Lanes that leave the kernel wait for nobody, or a barrier would wait for them.
    const bool leaving = frame.caller == nowhere && (at_end || code.insts[f.pc].only_leaves);
    if (f.pc == f.stop_pc && f.frame == f.stop_frame && !leaving) return arrive(warp, id);
    if (at_end) {
      return_lanes(warp, id);
      continue;
    }
    const Ins& ins = code.insts[f.pc];
    if (ins.loop_header) count_iteration(frame, f, ins);
    f.last_pc = f.pc;
    std::uint32_t mask = f.mask;
    if (ins.guard != nowhere) {
      if (!reject_undefined(warp, ins, frame.undefined[ins.guard] & mask, "the guard is")) return;
      mask &= ins.guard_negated ? ~frame.bits[ins.guard] : frame.bits[ins.guard];
    }
    ++result_.counts.warp_instructions;
    result_.counts.thread_instructions += static_cast<unsigned>(std::popcount(mask));
    if (result_.counts.warp_instructions > launch_.budget) {
      fail(Result::Status::budget, warp, f.mask, ins, "the launch has used up its steps");
      return;
    }
    if (mask == 0) {
      ++f.pc;
      continue;
    }
    if (launch_.coverage && &code == program_.codes.front().get()) {
      std::uint8_t& most = result_.coverage[f.pc];
      most = std::max(most, static_cast<std::uint8_t>(std::popcount(mask)));
    }
    if (execute(warp, id, ins, mask)) ++warp.fragments[id].pc;
  }
}

// True: the fragment goes on with the next instruction. False: its place is set already.
bool Engine::execute(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  Fragment& f = warp.fragments[id];
  Frame& frame = warp.frames[f.frame];
  const Operands values = operands(warp, frame);
  switch (ins.kind) {
  case Kind::step:
    if (ins.reads_clock) refresh_clocks(warp);
    result_.approximate |= ins.approximate;
    step(frame, values, ins, mask);
    return true;
  case Kind::load: load(warp, frame, values, ins, mask); return true;
  case Kind::store: store(warp, frame, values, ins, mask); return true;
  case Kind::atomic: atomic(warp, frame, values, ins, mask); return true;
  case Kind::copy: copy(warp, frame, values, ins, mask); return true;
  case Kind::copy_commit:
    for_lanes(mask, [&](unsigned lane) { ++warp.copy_groups[lane]; });
    return true;
  case Kind::copy_wait: land(warp, frame, ins, mask); return true;
  case Kind::branch: branch(warp, id, ins, mask); return false;
  case Kind::branch_table: branch_table(warp, id, ins, mask); return false;
  case Kind::call: return call(warp, id, ins, mask);
  case Kind::return_: {
    if (frame.caller == nowhere) {
      ++f.pc;
      exit_lanes(warp, id, mask);
      return false;
    }
    const auto end = static_cast<std::uint32_t>(frame.code->insts.size());
    const std::array<Successor, 2> ways{{{end, mask}, {f.pc + 1, f.mask & ~mask}}};
    diverge(warp, id, std::span(ways).first(mask == f.mask ? 1 : 2), ins.reconverge);
    return false;
  }
  case Kind::exit:
    ++f.pc;
    exit_lanes(warp, id, mask);
    return false;
  case Kind::trap: fail(Result::Status::trapped, warp, mask, ins, "trap"); return false;
  case Kind::barrier: barrier(warp, id, ins, mask); return false;
  case Kind::warp_sync: warp_sync(warp, id, values, ins, mask); return false;
  case Kind::matrix: matrix(warp, id, ins, mask); return false;
  case Kind::policy: {
    const OperandLocation& dst = frame.code->places[ins.dst.first];
    for_lanes(mask, [&](unsigned lane) { write(frame, dst, lane, 0, 0, true); });
    return true;
  }
  case Kind::active_mask: {
    const OperandLocation& dst = frame.code->places[ins.dst.first];
    for_lanes(mask, [&](unsigned lane) { write(frame, dst, lane, mask, 0, false); });
    return true;
  }
  case Kind::nothing: return true;
  case Kind::unsupported:
    fail(Result::Status::unsupported, warp, mask, ins, "the machine has no meaning for this");
    return false;
  }
  return false;
}

Result Engine::run() {
  if (!check_launch()) return std::move(result_);
  prepare_memory();
  if (launch_.coverage) result_.coverage.assign(program_.codes.front()->insts.size(), 0);
  order_.resize(launch_.grid.count());
  for (std::size_t i = 0; i < order_.size(); ++i)
    order_[i] = i;
  if (launch_.schedule.seed != 0)
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[random_.below(i)]);
  const std::size_t resident = std::clamp<std::size_t>(launch_.schedule.resident, 1, order_.size());
  blocks_.resize(resident);
  while (result_.ok() && refill()) {
    bool moved = false;
    switch (launch_.schedule.kind) {
    case Schedule::Kind::lockstep: moved = turn_of_lockstep(); break;
    case Schedule::Kind::independent: moved = turn_of_independent(); break;
    case Schedule::Kind::one_lane: moved = turn_of_one_lane(); break;
    }
    if (!moved && result_.ok() && !open_joins()) report_deadlock();
  }
  return std::move(result_);
}

Result run(const Program& program, const Launch& launch, Memory& memory) {
  return Engine(program, launch, memory).run();
}

Argument value(std::uint64_t bits) {
  Argument argument;
  argument.bytes.resize(sizeof bits);
  std::memcpy(argument.bytes.data(), &bits, sizeof bits);
  return argument;
}
Argument value(float number) {
  return value(std::uint64_t{std::bit_cast<std::uint32_t>(number)});
}
Argument value(double number) {
  return value(std::bit_cast<std::uint64_t>(number));
}

std::string_view name(Result::Status status) {
  switch (status) {
  case Result::Status::ok: return "ok";
  case Result::Status::undefined: return "undefined behaviour";
  case Result::Status::unsupported: return "unsupported";
  case Result::Status::trapped: return "trap";
  case Result::Status::budget: return "out of steps";
  case Result::Status::bad_launch: return "bad launch";
  }
  return "";
}

std::string Schedule::options() const {
  constexpr std::array kinds{"lockstep", "independent", "one-lane"};
  std::string all = fmt::format("--schedule={}", kinds.at(static_cast<std::size_t>(kind)));
  if (seed != 0) all += fmt::format(" --seed={}", seed);
  if (across_iterations) all += " --across-trips";
  if (resident != 1) all += fmt::format(" --resident={}", resident);
  return all;
}

} // namespace ptxasw::simt
