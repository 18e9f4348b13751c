// Events around steps.
#include "launch/kernels/step_times.hpp"

#include "launch/kernels/shapes.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr unsigned most_cancelled = 6; // runs that end too early are not asked for ever
constexpr unsigned made_between = 32, most_anew = 4;

} // namespace

bool StepTimes::wants(unsigned kind) const {
  const auto found = times_.find(kind);
  if (found != times_.end() && found->second.asked >= enough) return false;
  if (cancelled_ >= most_cancelled) return false;
  return kind == singly || times_.contains(singly);
}

bool StepTimes::wants_now(unsigned entry) {
  const bool is_another = begun_anew_ < most_anew && ++made_ % made_between == 0;
  return wants(entry) || (is_another && times_.contains(entry));
}

// Singles have a turn where an entry was timed as often.
void StepTimes::begin_anew() {
  times_.clear();
  times_[singly] = {};
  cancelled_ = 0;
  ++begun_anew_;
}

double StepTimes::step_of(unsigned kind) {
  if (!pending_.empty()) collect();
  const auto found = times_.find(kind);
  return found == times_.end() || found->second.known == 0 ? 0 : found->second.least;
}

bool StepTimes::is_turn_of_singles() const {
  if (!wants(singly)) return false;
  const auto single = times_.find(singly);
  return single != times_.end() && std::ranges::any_of(times_, [&](const auto& each) {
           return each.first != singly && each.second.asked >= single->second.asked;
         });
}

void StepTimes::begin(CUstream stream) {
  const Driver& d = driver();
  if (begun_ != nullptr || !d.event_create || !d.event_record || !d.event_destroy ||
      !d.event_query || !d.event_elapsed || is_capturing(stream))
    return;
  const Relaxed relaxed;
  if (d.event_create(&begun_, CU_EVENT_DEFAULT) != CUDA_SUCCESS) begun_ = nullptr;
  if (begun_ != nullptr && d.event_record(begun_, stream) != CUDA_SUCCESS) cancel();
}

void StepTimes::end(CUstream stream, unsigned kind, unsigned steps) {
  if (begun_ == nullptr) return;
  const Driver& d = driver();
  const Relaxed relaxed;
  CUevent end = nullptr;
  if (d.event_create(&end, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return cancel();
  if (d.event_record(end, stream) != CUDA_SUCCESS) {
    d.event_destroy(end);
    return cancel();
  }
  ++times_[kind].asked;
  pending_.push_back({std::exchange(begun_, nullptr), end, kind, steps});
}

void StepTimes::cancel() {
  if (begun_ == nullptr) return;
  driver().event_destroy(std::exchange(begun_, nullptr));
  ++cancelled_;
}

void StepTimes::collect() {
  const Driver& d = driver();
  const Relaxed relaxed;
  bool is_slower = false; // than it was
  for (; !pending_.empty(); pending_.pop_front()) {
    const Pending& oldest = pending_.front();
    const CUresult state = d.event_query(oldest.end);
    if (state == CUDA_ERROR_NOT_READY) break;
    Times& times = times_[oldest.kind];
    float milliseconds = 0;
    if (state == CUDA_SUCCESS &&
        d.event_elapsed(&milliseconds, oldest.begin, oldest.end) == CUDA_SUCCESS) {
      const double step = 1000.0 * static_cast<double>(milliseconds) / oldest.steps;
      is_slower |= times.known >= enough && step > numbers::launch::has_changed * times.least;
      ++times.known;
      times.least = std::min(times.least, step);
    } else {
      --times.asked; // an event of a context that went
    }
    d.event_destroy(oldest.begin);
    d.event_destroy(oldest.end);
  }
  if (is_slower) begin_anew();
}

std::optional<double> StepTimes::share_of(unsigned kind, unsigned times, unsigned singles) {
  if (!pending_.empty()) collect();
  const auto found = times_.find(kind), single = times_.find(singly);
  if (found == times_.end() || single == times_.end() || found->second.known < times ||
      single->second.known < singles)
    return std::nullopt;
  return found->second.least / single->second.least;
}

bool StepTimes::pays(unsigned kind) {
  const auto share = share_of(kind, enough, 1);
  return !share || *share <= numbers::launch::merged_worth_it;
}

} // namespace ptxasw::launch
