// Writes launches down, and compares them with those a period before.
#include "launch/steps/seen.hpp"

#include "launch/kernels/passing.hpp"

#include <algorithm>
#include <cstring>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_lanes = 64, most_found = 32;
constexpr int behind_a_new_kernel = 1024;    // launches
constexpr int behind_a_known_step = 64;      // the same: what is missing are other kernels
constexpr std::size_t usual_parameters = 64; // bytes

} // namespace

// --- One launch ----------------------------------------------------------------------------------

bool SeenLaunches::Seen::is_same(const Seen& other, std::size_t number) const {
  const auto [offset, size] = kernel->layout[number];
  return std::memcmp(&parameters[offset], &other.parameters[offset], size) == 0;
}

std::vector<unsigned char> SeenLaunches::Seen::value(std::size_t number) const {
  const auto [offset, size] = kernel->layout[number];
  const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// Numbers may be others: a step's, a time.
bool SeenLaunches::Seen::is_like(const Seen& other) const {
  if (kernel != other.kernel || grid != other.grid || block != other.block ||
      shared != other.shared)
    return false;
  if (parameters == other.parameters) return true;
  for (std::size_t n = 0; n < kernel->layout.size(); ++n)
    if (!contract::is_one_value(kernel->layout[n].second) && !is_same(other, n)) return false;
  return true;
}

// --- Launches in a row ---------------------------------------------------------------------------

void SeenLaunches::Lane::clear() {
  count = period = due = 0;
  alike.fill(0);
}

// Parameters of the last so many launches that may be pointers, and were others so many launches
// before.
std::size_t SeenLaunches::Lane::count_moving(std::size_t of) const {
  std::size_t all = 0;
  for (std::size_t n = count - of; n < count; ++n)
    for (std::size_t one = 0; one < at(n).kernel->layout.size(); ++one)
      if (at(n).kernel->layout[one].second == sizeof(CUdeviceptr) &&
          !at(n).is_same(at(n - of), one))
        ++all;
  return all;
}

// In the last periods of so many launches.
bool SeenLaunches::Lane::has_varied(std::size_t of) const {
  for (std::size_t n = count - (periods - 1) * of; n < count; ++n)
    if (at(n).parameters != at(n - of).parameters) return true;
  return false;
}

// Several of which came: the one in which the fewest pointers move, since those that are exchanged
// are the same ones every other time; of these one in which nothing varies, as red and black come
// in turn; of these the least one. 0: there is none.
std::size_t SeenLaunches::Lane::find_period() const {
  std::size_t best = 0, moving = 0;
  bool varies = true;
  for (std::size_t one = 1; one < alike.size(); ++one) {
    if (!is_alike(one)) continue;
    const std::size_t its = count_moving(one);
    const bool its_varies = has_varied(one);
    const bool is_better =
        its * best < moving * one || (its * best == moving * one && varies && !its_varies);
    if (best != 0 && !is_better) continue;
    best = one;
    moving = its;
    varies = its_varies;
  }
  return best;
}

// What a launch has otherwise than the one a period before. Whether something else varied so far.
bool SeenLaunches::Lane::note_varied(std::size_t number) {
  const Seen &now = at(number), &before = at(number - period);
  if (now.parameters == before.parameters) return false;
  std::vector<bool>& known = varied[number % period];
  known.resize(now.kernel->layout.size());
  bool is_new = false;
  for (std::size_t n = 0; n < known.size(); ++n) {
    if (known[n] || now.is_same(before, n)) continue;
    known[n] = is_new = true;
  }
  return is_new;
}

// The last launch with those before it. Whether they are a sequence that is to be told.
bool SeenLaunches::Lane::compare() {
  const std::size_t now = count++;
  bool is_new = false; // which periods there are, or what varies
  for (std::size_t before = 1; before < alike.size(); ++before) {
    const bool was = is_alike(before);
    alike[before] = before <= now && at(now).is_like(at(now - before)) ? alike[before] + 1 : 0;
    is_new |= was != is_alike(before);
  }
  if (period != 0 && is_alike(period) && note_varied(now)) {
    is_new = true;
    due = std::max(due, now + period);
  }
  if (const std::size_t found = is_new || due == count ? find_period() : period; found != period)
    begin(found);
  return (period > 1 || at(now).shared != 0) && due == count;
}

// What moves now may be the same in a longer period, which takes longer to be seen.
void SeenLaunches::Lane::begin(std::size_t found) {
  period = found;
  due = count;
  varied.fill({});
  if (period == 0) return;
  for (std::size_t n = count - period; n < count; ++n)
    note_varied(n);
  if (count_moving(period) != 0) due = count + periods * contract::most_stages;
}

// --- While the program launches ------------------------------------------------------------------

const SeenKernel& SeenLaunches::seen_kernel(const Kernel& kernel) {
  const SeenKernel*& known = by_function_[kernel.function];
  if (known == nullptr)
    known = &kernels_.emplace_back(
        SeenKernel{kernel.name, kernel.module, parameter_layout(kernel.function)});
  return *known;
}

// Its first launch. It may follow one that goes by.
void SeenLaunches::begin_to_look(const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (kernel.seen.load() != nullptr) return;
  kernel.seen.store(&seen_kernel(kernel), std::memory_order_release);
  const contract::Contract& known = kernel.contract;
  const bool is_known_step = !known.steps.empty() && known.sequences.empty() && !kernel.is_stage;
  const int wanted = is_known_step ? behind_a_known_step : behind_a_new_kernel;
  const int more = std::min(wanted - std::max(left_.load(), 0), reserve_.load());
  if (more <= 0) return;
  if (!is_looking()) {
    const std::size_t next = written_.size() + static_cast<std::size_t>(more) + 1;
    written_.reserve(next);
    parameters_.reserve(next * usual_parameters);
    written_.emplace_back();
    passing_epoch().fetch_add(1, std::memory_order_acq_rel);
  }
  reserve_ -= more;
  left_ = std::max(left_.load(), 0) + more;
}

void SeenLaunches::write_down(const Kernel& kernel, const Request& request) {
  if (left_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  const SeenKernel& seen = *kernel.seen.load(std::memory_order_acquire);
  const std::lock_guard lock(mutex_);
  const std::size_t begin = parameters_.size();
  parameters_.resize(begin + bytes_of(seen.layout));
  const bool is_known =
      seen.module != nullptr && copy_parameters(request, seen.layout, parameters_.data() + begin);
  written_.push_back({&seen, request.stream, std::this_thread::get_id(), request.grid,
                      request.block, request.shared, is_known, begin});
}

// --- Behind it -----------------------------------------------------------------------------------

// Null: there are enough others.
SeenLaunches::Lane* SeenLaunches::lane_of(std::thread::id thread, CUstream stream) {
  const std::pair key{thread, stream};
  if (const auto found = lanes_.find(key); found != lanes_.end()) return &found->second;
  return lanes_.size() < most_lanes ? &lanes_[key] : nullptr;
}

void SeenLaunches::compare(const Written& launch, std::span<const unsigned char> parameters) {
  Lane* const lane = lane_of(launch.thread, launch.stream);
  if (lane == nullptr) return;
  if (!launch.is_known) return lane->clear();
  const auto its = parameters.subspan(launch.begin, bytes_of(launch.kernel->layout));
  lane->at(lane->count) = {
      launch.kernel, launch.grid, launch.block, launch.shared, {its.begin(), its.end()}};
  if (lane->compare()) add(*lane);
}

void SeenLaunches::forget_handles() {
  const std::lock_guard lock(mutex_);
  if (written_.empty() || written_.back().kernel != nullptr) written_.emplace_back();
  by_function_.clear();
}

// As red and black do.
bool SeenLaunches::differ_in_numbers(const Lane& lane, std::span<const std::size_t> stages) {
  const Seen& first = lane.at(stages[0]);
  return std::ranges::any_of(stages, [&](std::size_t stage) {
    for (std::size_t n = 0; n < first.kernel->layout.size(); ++n)
      if (first.kernel->layout[n].second != sizeof(CUdeviceptr) &&
          !first.is_same(lane.at(stage), n))
        return true;
    return false;
  });
}

// Of one module; the one with the least name is first. Steps of one kernel of which nothing varies
// are merged otherwise (merge.hpp).
void SeenLaunches::add(const Lane& lane) {
  if (add_blocks(lane)) return;
  std::vector<std::size_t> stages;
  bool is_one_kernel = true;
  const SeenKernel& last = *lane.at(lane.count - 1).kernel;
  for (std::size_t n = lane.count - lane.period; n < lane.count; ++n) {
    if (lane.at(n).kernel->module != last.module) return;
    is_one_kernel &= lane.at(n).kernel == &last;
    stages.push_back(n);
  }
  const auto name = [&](std::size_t n) { return lane.at(n).kernel->name; };
  std::rotate(stages.begin(), std::ranges::min_element(stages, {}, name), stages.end());
  contract::SeenSequence made;
  std::vector<std::pair<std::vector<unsigned char>, std::vector<contract::Sequence::Part>>> values;
  for (unsigned stage = 0; stage < stages.size(); ++stage) {
    const Seen& one = lane.at(stages[stage]);
    const std::vector<bool>& varied = lane.varied[stages[stage] % lane.period];
    made.kernels.push_back(one.kernel->name);
    for (unsigned n = 0; n < one.kernel->layout.size(); ++n) {
      if (!contract::is_one_value(one.kernel->layout[n].second)) continue;
      const contract::Sequence::Part part{stage, contract::part(n, 0)};
      if (n < varied.size() && varied[n]) {
        made.varying.push_back(part);
        continue;
      }
      const std::vector<unsigned char> value = one.value(n);
      auto known = std::ranges::find(values, value, [](const auto& pair) { return pair.first; });
      if (known == values.end()) known = values.insert(values.end(), {value, {}});
      known->second.push_back(part);
    }
  }
  if (made.varying.size() > contract::most_varying ||
      (is_one_kernel && made.varying.empty() && !differ_in_numbers(lane, stages)))
    return;
  for (auto& [value, parts] : values)
    if (parts.size() > 1)
      made.classes.push_back({static_cast<unsigned>(value.size()), std::move(parts)});
  add(std::move(made));
}

// A stage that is given dynamic shared memory belongs to no sequence: it may be a step by itself.
bool SeenLaunches::add_blocks(const Lane& lane) {
  bool any = false;
  for (std::size_t n = lane.count - lane.period; n < lane.count; ++n) {
    const Seen& one = lane.at(n);
    if (one.shared == 0) continue;
    any = true;
    add({.kernels = {one.kernel->name}, .classes = {}, .varying = {}, .block = one.block});
  }
  return any;
}

void SeenLaunches::add(contract::SeenSequence made) {
  if (std::ranges::find(found_, made) == found_.end()) found_.push_back(std::move(made));
}

std::vector<contract::SeenSequence> SeenLaunches::found() {
  const std::lock_guard comparing(comparing_);
  std::vector<Written> written;
  std::vector<unsigned char> parameters;
  written.reserve(behind_a_new_kernel); // for those that come
  parameters.reserve(behind_a_new_kernel * usual_parameters);
  {
    const std::lock_guard lock(mutex_);
    written.swap(written_);
    parameters.swap(parameters_);
  }
  for (const Written& launch : written)
    if (launch.kernel == nullptr)
      lanes_.clear();
    else if (found_.size() < most_found)
      compare(launch, parameters);
  return found_;
}

} // namespace ptxasw::launch
