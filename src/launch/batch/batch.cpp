// Which launches wait for which, and when they go out.
#include "launch/batch/batch.hpp"

#include "launch/driver/device_memory.hpp"
#include "launch/driver/in_context.hpp"
#include "launch/kernels/shapes.hpp"
#include "launch/log.hpp"
#include "launch/waiting/direct_calls.hpp"
#include "launch/waiting/trampolines.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_lanes = 32;
// A stream is left alone behind so many launches that nothing was gained with, for so many.
constexpr unsigned most_idle = 4096, left_alone_for = 4096;
// Where threads wait for one another, for so many.
constexpr unsigned crowded_alone_for = 1 << 20;
// Those of a sequence of which it is known that it gains nothing count for so many more.
constexpr unsigned known_idle = 4;
// Of a stream that is left alone so many of each kernel go by together.
constexpr unsigned together = 4;
constexpr unsigned most_strays = 1000; // launches by another thread, no sequence in between

bool is_default(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY;
}
// Of the names of the default stream.
CUstream one_name(CUstream stream) {
  return stream == nullptr ? CU_STREAM_LEGACY : stream;
}

} // namespace

// --- Lanes ---------------------------------------------------------------------------------------

// Null: there are enough others, threads launch to it in turn, or the driver has no graphs.
Batcher::Lane* Batcher::lane_of(CUstream stream, CUcontext context) {
  Lane* found = nullptr;
  for (const auto& lane : lanes_) {
    if (lane->stream == stream && lane->context == context)
      found = lane.get();
    else if (is_default(stream) || is_default(lane->stream))
      end_pass(*lane);
  }
  const bool is_possible = passes_ != nullptr || KeptGraph::is_possible();
  if (found == nullptr && lanes_.size() < most_lanes && is_possible) {
    lanes_.push_back(std::make_unique<Lane>());
    found = lanes_.back().get();
    found->stream = stream;
    found->context = context;
    found->thread = std::this_thread::get_id();
    if (has_default())
      for (LeftAlone& slot : left_alone_)
        slot.stream = nullptr;
  }
  return found == nullptr || found->strays >= most_strays ? nullptr : found;
}

void Batcher::change_to(Lane& lane, std::thread::id thread, const std::type_info& form) {
  if (lane.thread == thread && lane.form == &form) return;
  end_pass(lane);
  lane.end_segment();
  if (lane.thread != thread && ++lane.strays == most_strays)
    log("nothing goes out together to a stream any more: threads launch to it in turn");
  lane.thread = thread;
  lane.form = &form;
}

// --- Launches ------------------------------------------------------------------------------------

bool Batcher::has_default() const {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return is_default(lane->stream); });
}

// A bit for grid and block.
std::uint64_t Batcher::bit_of(const Dims& grid, const Dims& block) {
  std::uint64_t hash = 0;
  for (const unsigned n : {grid[0], grid[1], grid[2], block[0], block[1], block[2]})
    hash = (hash ^ n) * 0x9e3779b97f4a7c15;
  return std::uint64_t{1} << (hash >> 58);
}

bool Batcher::is_left_alone(const Asked& asked, CUstream stream) {
  CUstream name = one_name(stream);
  LeftAlone& slot = slot_of(name);
  if (slot.stream.load(std::memory_order_acquire) != name) return false;
  if (was_looked_at(*asked.kernel, asked.grid, asked.block) &&
      slot.launches.fetch_sub(1, std::memory_order_relaxed) > 1)
    return true;
  slot.stream.compare_exchange_strong(name, nullptr);
  return false;
}

std::uint64_t Batcher::left_alone(const Kernel& kernel, const Request& request) const {
  const CUstream name = one_name(request.stream);
  const bool is_so = slot_of(name).stream.load(std::memory_order_acquire) == name &&
                     was_looked_at(kernel, request.grid, request.block);
  return is_so ? together : 0;
}

// Not where launches to the default stream may wait for those to another one, and they for those: a
// launch to the one has those to the other made.
void Batcher::leave_alone(Lane& lane, unsigned launches) {
  end_pass(lane);
  lane.forget_made();
  lane.timed = nullptr;
  lane.idle = lane.crowd = 0;
  if (lanes_.size() > 1 && has_default()) return;
  const auto is_looked_at = [](const auto& one) {
    return one->pass != nullptr || !one->segment.empty() || one->clocked != nullptr;
  };
  if (passes_ != nullptr) passes_->other_call(); // those that follow may not be seen
  set_waiting(Waits::batch, std::ranges::any_of(lanes_, is_looked_at));
  LeftAlone& slot = slot_of(one_name(lane.stream));
  slot.launches.store(launches, std::memory_order_relaxed);
  slot.stream.store(one_name(lane.stream), std::memory_order_release);
}

bool Batcher::look_at(const Asked& asked, const Request& request, const Launch& launch) {
  CUcontext const context = asked.kernel->context;
  if (is_stopped_ || request.stream == CU_STREAM_PER_THREAD || context == nullptr) {
    if (is_waiting(Waits::batch)) flush();
    return false;
  }
  ++entering_;
  const Turn::Holder turn(turn_);
  const bool others_wait = --entering_ != 0;
  if (!turn) return false;
  Lane* const lane = lane_of(request.stream, context);
  if (lane == nullptr) return false;
  lane->note_who_waits(others_wait);
  if ((++lane->idle > most_idle || lane->is_crowded()) && !lane->waits) {
    leave_alone(*lane, lane->is_crowded() ? crowded_alone_for : left_alone_for);
    return false;
  }
  change_to(*lane, std::this_thread::get_id(), typeid(launch));
  if (lane->strays >= most_strays) return false; // from the next one on the lane is not found
  if (lane->is_over) end_clock(*lane);
  const std::uint64_t bit = bit_of(asked.grid, asked.block);
  if ((asked.kernel->looked_at & bit) == 0) asked.kernel->looked_at |= bit;
  set_next(asked, request);
  const bool is_first = lane->pass == nullptr && lane->segment.empty();
  if (is_first && (is_capturing(request.stream) || !unseen_caller().empty())) return false;
  set_waiting(Waits::batch, true);
  if (is_first && begin(*lane, launch)) return advance(*lane, request);
  if (lane->pass != nullptr) {
    if (!lane->pass->launches[lane->taken].same_kernel(next_)) {
      // Another sequence may begin as this one did. Parameters of launches that wait stay here.
      Sequence* const other = lane->waits ? nullptr : lane->find(lane->taken, next_);
      if (other == nullptr) {
        end_pass(*lane);
      } else {
        end_clock(*lane);
        lane->pass = other;
        lane->how = Passes::How::neither;
      }
    }
    if (lane->pass != nullptr) return advance(*lane, request);
  }
  lane->segment.push_back(next_.without_parameters());
  lane->timed = nullptr;
  if (lane->segment.size() == longest ||
      (passes_ != nullptr && Passes::is_full(lane->segment, longest)))
    lane->end_segment();
  return false;
}

void Batcher::set_next(const Asked& asked, const Request& request) {
  next_.function = asked.function;
  next_.grid = request.grid;
  next_.block = request.block;
  next_.shared = request.shared;
  next_.waits = asked.waits;
  next_.identity = asked.kernel->identity;
  next_.stage = nullptr;
  if (passes_ == nullptr || !asked.kernel->is_stage) return;
  auto& kept = stages_[asked.kernel];
  if (kept == nullptr) kept = asked.kernel->shared_from_this();
  next_.stage = asked.kernel;
  next_.stage_grid = asked.grid;
  next_.stage_block = asked.block;
}

// A pass through a sequence that begins with this launch, if one is known.
bool Batcher::begin(Lane& lane, const Launch& launch) {
  lane.taken = 0;
  lane.pass = lane.find(0, next_);
  const auto now = Clock::now();
  const auto since = std::chrono::duration<double, std::micro>(now - lane.begun).count();
  if (lane.timed != nullptr && lane.pass != nullptr &&
      lane.timed->add_time(lane.timed_as_graph, since))
    memory_.keep(lane.timed->launched, chip_of_context(), lane.timed->goes_out);
  lane.timed = nullptr;
  if (lane.pass == nullptr) return false;
  Sequence& sequence = *lane.pass;
  if (makes_graphs_ && sequence.launched == 0) recall(sequence);
  lane.how = passes_ == nullptr
                 ? Passes::How::neither
                 : passes_->how(sequence.plan, sequence.launches, is_young(sequence, now));
  lane.waits = lane.how == Passes::How::merged ||
               (lane.how == Passes::How::neither && makes_graphs_ && sequence.wants_graph());
  if (lane.how != Passes::How::neither) begin_clock(lane);
  lane.begun = now;
  if (!lane.waits) return true;
  lane.launch = launch.copy();
  watcher_.wake();
  return true;
}

void Batcher::recall(Sequence& sequence) const {
  sequence.launched = hash_of(sequence.launches);
  const auto is_faster = memory_.recall(sequence.launched, chip_of_context());
  if (!is_faster) return;
  sequence.is_decided = true;
  sequence.goes_out = *is_faster;
}

// To find out what a short sequence gains takes as long as many of its passes: not while nobody
// knows whether there will be many.
bool Batcher::is_young(const Sequence& sequence, Clock::time_point now) const {
  return sequence.launches.size() < longest / 2 && now - sequence.learned < tries_behind_;
}

// One launch more of the pass. True: it waits, or has gone out with the others.
bool Batcher::advance(Lane& lane, const Request& request) {
  Sequence& sequence = *lane.pass;
  if (lane.waits && !read(next_, request)) {
    sequence.is_decided = true;
    sequence.plan.kind = PassPlan::Kind::none;
    end_pass(lane);
    return false;
  }
  if (lane.waits) {
    GraphLaunch& before = sequence.launches[lane.taken];
    std::swap(next_, before);
    sequence.plan.look_at(lane.taken, before, next_);
  }
  ++lane.taken;
  lane.last_taken = Clock::now();
  const bool waits = lane.waits;
  if (lane.taken == sequence.launches.size()) {
    if (lane.how == Passes::How::merged) {
      merge(lane, sequence, lane.taken);
    } else if (lane.how == Passes::How::neither) {
      ++sequence.passes;
      if (!lane.waits && !may_gain(sequence))
        lane.idle += known_idle * static_cast<unsigned>(lane.taken);
      if (lane.waits) hand_over(lane, sequence);
      lane.timed = &sequence;
      lane.timed_as_graph = lane.waits;
    }
    lane.add_to_row(sequence);
    lane.is_over = true;
    lane.pass = nullptr;
    lane.waits = false;
  }
  return waits;
}

bool Batcher::may_gain(const Sequence& sequence) const {
  return (makes_graphs_ && (!sequence.is_decided || sequence.goes_out)) ||
         (passes_ != nullptr && Passes::may_gain(sequence.plan));
}

// The values of its parameters. False: they come in a form that is not known.
bool Batcher::read(GraphLaunch& into, const Request& request) {
  const ParameterLayout& layout = layout_of(into.function);
  if (layout.empty() || !copy_parameters(request, layout, into.bytes)) return false;
  into.parameters.clear();
  for (const auto& [offset, size] : layout)
    into.parameters.push_back(&into.bytes[offset]);
  return true;
}

// Empty where the driver does not tell, or there are none.
const ParameterLayout& Batcher::layout_of(CUfunction function) {
  const auto [found, is_new] = layouts_.try_emplace(function);
  if (is_new) found->second = parameter_layout(function);
  return found->second;
}

// --- Making them ---------------------------------------------------------------------------------

void Batcher::hand_over(Lane& lane, Sequence& sequence) {
  const CUresult result = sequence.graph.launch(sequence.launches, lane.stream);
  if (result == CUDA_SUCCESS) {
    batched_ += sequence.launches.size();
    ++graphs_;
    lane.strays = lane.idle = 0;
    return;
  }
  log("a sequence of %zu launches does not become a graph (%d)", sequence.launches.size(),
      static_cast<int>(result));
  sequence.is_decided = true;
  sequence.goes_out = false;
  make_singly(lane, sequence, sequence.launches.size());
}

// The first `count` launches of the sequence.
void Batcher::merge(Lane& lane, Sequence& sequence, std::size_t count) {
  const unsigned passes = passes_->make(sequence.plan, std::span(sequence.launches).first(count),
                                        lane.stream, *lane.launch);
  if (passes == 0) return;
  lane.strays = lane.idle = 0;
  if (sequence.missed != 0) --sequence.missed;
}

void Batcher::make_singly(const Lane& lane, const Sequence& sequence, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n)
    make_launch(sequence.launches[n], lane.stream, *lane.launch);
}

// Events in the stream, ahead of the pass and of whatever comes behind it.
void Batcher::begin_clock(Lane& lane) {
  const bool merged = lane.how == Passes::How::merged;
  StepTimes& times = lane.pass->plan.times;
  if (lane.pass->plan.gain == PassPlan::Gain::yes ||
      !times.wants(merged ? PassPlan::merged : StepTimes::singly))
    return;
  times.begin(lane.stream);
  lane.clocked = times.is_running() ? lane.pass : nullptr;
  lane.is_over = false;
  event_comes_(lane.stream);
}

void Batcher::end_clock(Lane& lane) {
  const bool is_over = std::exchange(lane.is_over, false);
  Sequence* const sequence = std::exchange(lane.clocked, nullptr);
  if (sequence == nullptr) return;
  const InContext context(lane.context);
  StepTimes& times = sequence->plan.times;
  if (is_over)
    times.end(lane.stream, lane.how == Passes::How::merged ? PassPlan::merged : StepTimes::singly,
              static_cast<unsigned>(sequence->launches.size()));
  else
    times.cancel();
  event_comes_(lane.stream);
}

// The program does something else: what waits is made, and was a segment like any other.
void Batcher::end_pass(Lane& lane) {
  end_clock(lane);
  if (lane.pass == nullptr) return;
  Sequence& sequence = *lane.pass;
  for (const GraphLaunch& one : std::span(sequence.launches).first(lane.taken))
    lane.segment.push_back(one.without_parameters());
  ++sequence.missed;
  if (lane.waits) {
    const InContext context(lane.context);
    // Merged where they are as those of the pass before.
    if (lane.how == Passes::How::merged && sequence.plan.is_current)
      merge(lane, sequence, lane.taken);
    else
      make_singly(lane, sequence, lane.taken);
  }
  lane.pass = nullptr;
  lane.waits = false;
  lane.timed = nullptr;
}

void Batcher::end_all() {
  for (const auto& lane : lanes_) {
    end_pass(*lane);
    lane->end_segment();
  }
}

void Batcher::failed() {
  const Turn::Holder turn(turn_);
  if (!turn) return;
  for (const auto& lane : lanes_) {
    end_pass(*lane);
    lane->forget_made();
  }
}

void Batcher::flush() {
  const Turn::Holder turn(turn_);
  if (!turn) return; // a tool asks, within a call that makes what waits
  end_all();
  if (passes_ != nullptr) passes_->other_call(); // it comes behind what was made now
  set_waiting(Waits::batch, false);
}

void Batcher::forget_handles() {
  flush();
  const Turn::Holder turn(turn_);
  if (!turn) return;
  lanes_.clear();
  layouts_.clear();
  stages_.clear();
}

bool Batcher::look() {
  const Turn::Holder turn(turn_);
  if (!turn) return false;
  bool any_waits = false;
  for (const auto& lane : lanes_) {
    if (!lane->waits) continue;
    // Its thread may be one of those that wait for others to hand over.
    const auto longest_wait = entering_ == 0 ? longest_wait_ : 10 * longest_wait_;
    if (Clock::now() - lane->last_taken >= longest_wait) {
      end_pass(*lane);
      lane->end_segment();
    }
    any_waits |= lane->waits;
  }
  return any_waits;
}

} // namespace ptxasw::launch
