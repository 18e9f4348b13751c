// The shapes of a kernel, and the timings that are read from events.
#include "launch/kernels/shapes.hpp"

#include "launch/kernels/kernels.hpp"

#include <algorithm>
#include <cstddef>

namespace ptxasw::launch {

void Timing::add(double microseconds, bool is_trial) {
  constexpr std::size_t most_kept = 64;
  ++samples;
  sum += microseconds;
  if (is_trial) {
    ++trials;
    sum_of_trials += microseconds;
  }
  least = std::min(least, microseconds);
  if (first.size() < most_kept) first.push_back(static_cast<float>(microseconds));
}

double Timing::at(double share) const {
  if (first.empty()) return least;
  std::vector<float> sorted = first;
  const auto place =
      sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, place);
  return static_cast<double>(*place);
}

Shapes::Shapes(const Kernel& kernel)
    : kernel_(kernel.name), why_(kernel.why), chip_(kernel.chip),
      architecture_(kernel.architecture), text_(kernel.contract.text),
      versions_(contract::versions_of(kernel.contract, numbers::launch::worth_it)) {
  if (kernel_.empty()) kernel_ = "(unknown)";
  for (const contract::Variant& variant : kernel.contract.variants)
    variants_.push_back(variant.name);
}

Shape* Shapes::known(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = shapes_.find(key);
  return found == shapes_.end() ? nullptr : found->second.get();
}

Shape* Shapes::keep(const Key& key, std::unique_ptr<Shape> made) {
  constexpr std::size_t most_shapes = 1 << 12;
  const std::lock_guard lock(mutex_);
  if (shapes_.size() >= most_shapes && !shapes_.contains(key)) return nullptr;
  return shapes_.try_emplace(key, std::move(made)).first->second.get();
}

std::vector<Shape*> Shapes::all() {
  const std::lock_guard lock(mutex_);
  std::vector<Shape*> result;
  for (const auto& [key, shape] : shapes_)
    result.push_back(shape.get());
  return result;
}

bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver().stream_is_capturing == nullptr ||
         driver().stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Stopwatch::Stopwatch(CUstream stream) : stream_(stream) {
  const Driver& d = driver();
  if (!d.event_create || !d.event_record || !d.event_destroy || !d.event_query ||
      !d.event_elapsed || is_capturing(stream))
    return;
  const Relaxed relaxed;
  if (d.event_create(&begin_, CU_EVENT_DEFAULT) != CUDA_SUCCESS) begin_ = nullptr;
  if (begin_ == nullptr) return;
  if (d.event_create(&end_, CU_EVENT_DEFAULT) != CUDA_SUCCESS) end_ = nullptr;
  if (end_ != nullptr && d.event_record(begin_, stream) == CUDA_SUCCESS) return;
  d.event_destroy(begin_);
  if (end_ != nullptr) d.event_destroy(end_);
  begin_ = end_ = nullptr;
}

Stopwatch::~Stopwatch() {
  if (begin_ == nullptr) return;
  driver().event_destroy(begin_);
  driver().event_destroy(end_);
}

void Stopwatch::stop(Shape& shape, unsigned variant, bool is_trial) {
  if (begin_ == nullptr || driver().event_record(end_, stream_) != CUDA_SUCCESS) return;
  const std::lock_guard lock(shape.mutex);
  shape.pending.push_back({variant, begin_, end_, is_trial});
  begin_ = end_ = nullptr;
}

void collect(Shape& shape) {
  std::deque<Shape::Pending> taken;
  {
    const std::lock_guard lock(shape.mutex);
    if (shape.pending.empty() || shape.being_read != 0) return;
    taken.swap(shape.pending);
    shape.being_read = static_cast<unsigned>(taken.size());
  }
  const Driver& d = driver();
  const Relaxed relaxed;
  std::vector<std::pair<Shape::Pending, double>> times; // of events that are gone
  while (!taken.empty()) {
    const Shape::Pending& oldest = taken.front();
    const CUresult state = d.event_query(oldest.end);
    if (state == CUDA_ERROR_NOT_READY) break;
    float milliseconds = 0;
    if (state == CUDA_SUCCESS &&
        d.event_elapsed(&milliseconds, oldest.begin, oldest.end) == CUDA_SUCCESS)
      times.emplace_back(oldest, 1000.0 * static_cast<double>(milliseconds));
    d.event_destroy(oldest.begin);
    d.event_destroy(oldest.end);
    taken.pop_front();
  }
  const std::lock_guard lock(shape.mutex);
  shape.being_read = 0;
  shape.pending.insert(shape.pending.begin(), taken.begin(), taken.end());
  for (const auto& [ended, microseconds] : times)
    shape.timings.at(ended.variant).add(microseconds, ended.is_trial);
}

} // namespace ptxasw::launch
