// Compares launches with those a period before.
#include "launch/seen.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_lanes = 64, most_found = 16;

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
  if (kernel != other.kernel || grid != other.grid || block != other.block) return false;
  if (parameters == other.parameters) return true;
  for (std::size_t n = 0; n < kernel->layout.size(); ++n)
    if (!contract::is_one_value(kernel->layout[n].second) && !is_same(other, n)) return false;
  return true;
}

bool SeenLaunches::read(Seen& into, const Request& request) {
  const ParameterLayout& layout = into.kernel->layout;
  into.grid = request.grid;
  into.block = request.block;
  into.parameters.assign(layout.empty() ? 0 : layout.back().first + layout.back().second, 0);
  for (unsigned n = 0; n < layout.size(); ++n) {
    const auto [offset, size] = layout[n];
    const void* const value = parameter_of(request, n, offset, size);
    if (value == nullptr) return false;
    std::memcpy(&into.parameters[offset], value, size);
  }
  return true;
}

// --- Launches in a row ---------------------------------------------------------------------------

void SeenLaunches::Lane::clear() {
  count = period = due = 0;
  alike.fill(0);
}

// Of the last launches the least one, of several periods; 0: there is none.
std::size_t SeenLaunches::Lane::find_period() const {
  for (std::size_t found = 1; found < alike.size(); ++found)
    if (alike[found] >= (periods - 1) * found) return found;
  return 0;
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

// Null: there are enough others.
SeenLaunches::Lane* SeenLaunches::lane_of(CUstream stream) {
  const std::pair key{std::this_thread::get_id(), stream};
  if (const auto found = lanes_.find(key); found != lanes_.end()) return &found->second;
  return lanes_.size() < most_lanes ? &lanes_[key] : nullptr;
}

const SeenLaunches::Launched& SeenLaunches::launched(const Kernel& kernel) {
  const auto [found, is_new] = launched_.try_emplace(kernel.function);
  if (is_new) found->second = {kernel.name, kernel.module, parameter_layout(kernel.function)};
  return found->second;
}

void SeenLaunches::look(const Kernel& kernel, const Request& request) {
  if (left_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  const std::lock_guard lock(mutex_);
  Lane* const lane = found_.size() < most_found ? lane_of(request.stream) : nullptr;
  if (lane == nullptr) return;
  Seen& next = lane->at(lane->count);
  if (kernel.module == nullptr || request.shared != 0) return lane->clear();
  next.kernel = &launched(kernel);
  if (!read(next, request)) return lane->clear();
  for (std::size_t before = 1; before < lane->alike.size(); ++before) {
    const bool is_alike = before <= lane->count && next.is_like(lane->at(lane->count - before));
    lane->alike[before] = is_alike ? lane->alike[before] + 1 : 0;
  }
  const std::size_t last = lane->count++;
  const std::size_t period = lane->find_period();
  const bool is_new = period != lane->period;
  if (is_new) {
    lane->varied.fill({});
    lane->due = lane->count;
  }
  lane->period = period;
  if (period < 2) return;
  for (std::size_t n = is_new ? lane->count - (periods - 1) * period : last; n <= last; ++n)
    if (lane->note_varied(n) && !is_new) lane->due = std::max(lane->due, last + period);
  if (lane->due == lane->count) add(*lane);
}

void SeenLaunches::forget_handles() {
  const std::lock_guard lock(mutex_);
  lanes_.clear();
  launched_.clear();
}

// Of one module and no kernel twice; the one with the least name is first.
void SeenLaunches::add(const Lane& lane) {
  std::vector<std::size_t> stages;
  std::set<std::string> names;
  for (std::size_t n = lane.count - lane.period; n < lane.count; ++n) {
    const Launched& one = *lane.at(n).kernel;
    if (one.module != lane.at(lane.count - 1).kernel->module || !names.insert(one.name).second)
      return;
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
  if (made.varying.size() > contract::most_varying) return;
  for (auto& [value, parts] : values)
    if (parts.size() > 1)
      made.classes.push_back({static_cast<unsigned>(value.size()), std::move(parts)});
  if (std::ranges::find(found_, made) == found_.end()) found_.push_back(std::move(made));
}

std::vector<contract::SeenSequence> SeenLaunches::found() {
  const std::lock_guard lock(mutex_);
  return found_;
}

} // namespace ptxasw::launch
