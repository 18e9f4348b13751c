// Which launches wait for which, and when they go out.
#include "launch/batch.hpp"

#include "launch/direct_calls.hpp"
#include "launch/in_context.hpp"
#include "launch/log.hpp"
#include "launch/shapes.hpp"
#include "launch/trampolines.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr std::size_t longest = 64, shortest = 4, most_sequences = 16;
constexpr unsigned known_behind = 2; // times that a sequence came
// Passes as they come and as graphs, so many of each in a row, of which the first is not counted,
// until there are times enough of both.
constexpr unsigned in_a_row = 8, enough = 20;
constexpr unsigned most_missed = 8;
constexpr unsigned most_strays = 1000; // launches by another thread, no sequence in between

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

bool begins_with(std::span<const GraphLaunch> all, std::span<const GraphLaunch> first) {
  return all.size() >= first.size() &&
         std::ranges::equal(all.first(first.size()), first,
                            [](const auto& a, const auto& b) { return a.same_kernel(b); });
}

} // namespace

// --- Sequences -----------------------------------------------------------------------------------

bool Batcher::Sequence::wants_graph() const {
  return is_decided ? goes_out : passes / in_a_row % 2 != 0;
}

void Batcher::Sequence::add_time(bool as_graph, double microseconds) {
  if (is_decided) return;
  if (passes % in_a_row != 1) times[as_graph ? 1 : 0].push_back(microseconds);
  if (std::min(times[0].size(), times[1].size()) < enough) return;
  is_decided = true;
  const double singly = median(times[0]), together = median(times[1]);
  goes_out = together <= numbers::launch::batch_worth_it * singly;
  log("a sequence of %zu launches: %.1f us one by one, %.1f us as a graph", launches.size(), singly,
      together);
}

// The longest known one that begins with what was taken of the pass, and goes on with the launch
// that is looked at.
Batcher::Sequence* Batcher::find(std::size_t length) const {
  Sequence* best = nullptr;
  for (const auto& sequence : sequences_) {
    const std::span<const GraphLaunch> all = sequence->launches;
    if (sequence->seen < known_behind || sequence->missed > most_missed || all.size() <= length ||
        !all[length].same_kernel(next_) ||
        (length != 0 && !begins_with(all, std::span(pass_->launches).first(length))))
      continue;
    if (best == nullptr || all.size() > best->launches.size()) best = sequence.get();
  }
  return best;
}

// What was made between two other calls.
void Batcher::learn() {
  if (segment_.size() < shortest || segment_.size() > longest) return;
  for (const auto& sequence : sequences_)
    if (sequence->launches.size() == segment_.size() && begins_with(sequence->launches, segment_)) {
      ++sequence->seen;
      return;
    }
  if (sequences_.size() >= most_sequences) {
    // A graph is for good: it may run still, and to destroy it could wait for that.
    const auto useless = std::ranges::find_if(sequences_, [&](const auto& sequence) {
      return sequence.get() != timed_ && !sequence->graph.is_built() &&
             (sequence->seen < known_behind || sequence->missed > most_missed);
    });
    if (useless == sequences_.end()) return;
    sequences_.erase(useless);
  }
  sequences_.push_back(std::make_unique<Sequence>());
  sequences_.back()->launches = segment_;
}

// --- Launches ------------------------------------------------------------------------------------

bool Batcher::take(CUfunction function, CUcontext context, bool waits, const Request& request,
                   const Launch& launch) {
  if (is_stopped_ || request.stream == CU_STREAM_PER_THREAD || context == nullptr) {
    if (is_waiting(Waits::batch)) flush();
    return false;
  }
  const Turn::Holder turn(turn_);
  if (!turn) return false;
  const Place place{std::this_thread::get_id(), request.stream, context, &typeid(launch)};
  if (place != place_) {
    end_pass();
    end_segment();
    if (place.thread != place_.thread && ++strays_ == most_strays) {
      log("nothing goes out together any more: threads launch in turn");
      is_stopped_ = true;
    }
    place_ = place;
  }
  next_.function = function;
  next_.grid = request.grid;
  next_.block = request.block;
  next_.shared = request.shared;
  next_.waits = waits;
  const bool is_first = pass_ == nullptr && segment_.empty();
  if (is_first && (is_capturing(request.stream) || !unseen_caller().empty())) return false;
  set_waiting(Waits::batch, true);
  if (is_first && begin(launch)) return advance(request);
  if (pass_ != nullptr) {
    if (!pass_->launches[taken_].same_kernel(next_)) {
      // Another sequence may begin as this one did. Parameters of launches that wait stay here.
      Sequence* const other = waits_ ? nullptr : find(taken_);
      if (other == nullptr)
        end_pass();
      else
        pass_ = other;
    }
    if (pass_ != nullptr) return advance(request);
  }
  segment_.push_back({function, request.grid, request.block, request.shared, waits, {}, {}});
  timed_ = nullptr;
  if (segment_.size() == longest) end_segment();
  return false;
}

// A pass through a sequence that begins with this launch, if one is known.
bool Batcher::begin(const Launch& launch) {
  taken_ = 0;
  pass_ = find(0);
  const auto now = Clock::now();
  if (timed_ != nullptr && pass_ != nullptr)
    timed_->add_time(timed_as_graph_,
                     std::chrono::duration<double, std::micro>(now - begun_).count());
  timed_ = nullptr;
  if (pass_ == nullptr) return false;
  waits_ = pass_->wants_graph();
  begun_ = now;
  if (!waits_) return true;
  launch_ = launch.copy();
  watcher_.wake();
  return true;
}

// One launch more of the pass. True: it waits, or has gone out with the others.
bool Batcher::advance(const Request& request) {
  Sequence& sequence = *pass_;
  if (waits_ && !read(next_, request)) {
    sequence.is_decided = true;
    end_pass();
    return false;
  }
  if (waits_) std::swap(next_, sequence.launches[taken_]);
  ++taken_;
  last_taken_ = Clock::now();
  const bool waits = waits_;
  if (taken_ == sequence.launches.size()) {
    ++sequence.passes;
    if (waits_) hand_over(sequence);
    timed_ = &sequence;
    timed_as_graph_ = waits_;
    pass_ = nullptr;
    waits_ = false;
  }
  return waits;
}

// The values of its parameters. False: they come in a form that is not known.
bool Batcher::read(GraphLaunch& into, const Request& request) {
  const Layout& layout = layout_of(into.function);
  if (layout.empty()) return false;
  const auto [last_offset, last_size] = layout.back();
  into.bytes.assign(last_offset + last_size, 0);
  into.parameters.clear();
  for (unsigned n = 0; n < layout.size(); ++n) {
    const auto [offset, size] = layout[n];
    const void* const value = parameter_of(request, n, offset, size);
    if (value == nullptr) return false;
    std::memcpy(&into.bytes[offset], value, size);
    into.parameters.push_back(&into.bytes[offset]);
  }
  return true;
}

// Empty where the driver does not tell, or there are none.
const Batcher::Layout& Batcher::layout_of(CUfunction function) {
  const auto [found, is_new] = layouts_.try_emplace(function);
  const auto ask = driver().func_get_param_info;
  std::size_t offset = 0, size = 0;
  for (std::size_t n = 0;
       is_new && ask != nullptr && ask(function, n, &offset, &size) == CUDA_SUCCESS; ++n)
    found->second.emplace_back(offset, size);
  return found->second;
}

// --- Making them ---------------------------------------------------------------------------------

void Batcher::hand_over(Sequence& sequence) {
  const CUresult result = sequence.graph.launch(sequence.launches, place_.stream);
  if (result == CUDA_SUCCESS) {
    batched_ += sequence.launches.size();
    ++graphs_;
    strays_ = 0;
    return;
  }
  log("a sequence of %zu launches does not become a graph (%d)", sequence.launches.size(),
      static_cast<int>(result));
  sequence.is_decided = true;
  sequence.goes_out = false;
  make_singly(sequence, sequence.launches.size());
}

void Batcher::make_singly(const Sequence& sequence, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    const GraphLaunch& one = sequence.launches[n];
    const Request request{one.function,
                          one.grid,
                          one.block,
                          one.shared,
                          place_.stream,
                          const_cast<void**>(one.parameters.data()), // only read
                          nullptr};
    if ((*launch_)(request) != CUDA_SUCCESS) log("a launch that was put off fails");
  }
}

// The program does something else: what waits is made, and was a segment like any other.
void Batcher::end_pass() {
  if (pass_ == nullptr) return;
  const std::span<const GraphLaunch> made = std::span(pass_->launches).first(taken_);
  for (const GraphLaunch& one : made)
    segment_.push_back({one.function, one.grid, one.block, one.shared, one.waits, {}, {}});
  ++pass_->missed;
  if (waits_) {
    const InContext context(place_.context);
    make_singly(*pass_, taken_);
  }
  pass_ = nullptr;
  waits_ = false;
  timed_ = nullptr;
}

void Batcher::end_segment() {
  learn();
  segment_.clear();
}

void Batcher::failed() {
  const Turn::Holder turn(turn_);
  if (!turn) return;
  end_pass();
  segment_.clear();
}

void Batcher::flush() {
  const Turn::Holder turn(turn_);
  if (!turn) return; // a tool asks, within a call that makes what waits
  end_pass();
  end_segment();
  set_waiting(Waits::batch, false);
}

void Batcher::forget_handles() {
  flush();
  const Turn::Holder turn(turn_);
  if (!turn) return;
  timed_ = nullptr;
  sequences_.clear();
  layouts_.clear();
}

bool Batcher::look() {
  const Turn::Holder turn(turn_);
  if (!turn || !waits_) return false;
  if (Clock::now() - last_taken_ >= longest_wait_) {
    end_pass();
    end_segment();
  }
  return waits_;
}

} // namespace ptxasw::launch
