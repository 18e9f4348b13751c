// Compares the last launches with those a period before.
#include "launch/seen.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace ptxasw::launch {
namespace {

constexpr std::size_t periods = 4; // that have to be the same
constexpr std::size_t most_kept = (periods + 1) * contract::most_stages;
constexpr std::size_t most_lanes = 64, most_found = 16;

} // namespace

std::vector<unsigned char> SeenLaunches::Seen::value(unsigned number) const {
  const auto [offset, size] = layout[number];
  const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// Numbers may be others: a step's, a time.
bool SeenLaunches::Seen::is_like(const Seen& other) const {
  if (function != other.function || grid != other.grid || block != other.block) return false;
  if (parameters == other.parameters) return true;
  for (unsigned n = 0; n < layout.size(); ++n)
    if (!contract::is_one_value(layout[n].second) && value(n) != other.value(n)) return false;
  return true;
}

// The parameter had another value in one of the periods before.
bool SeenLaunches::is_another(const Lane::const_iterator& one, std::size_t period,
                              unsigned number) {
  const std::vector<unsigned char> value = one->value(number);
  for (std::size_t before = 1; before < periods; ++before)
    if ((one - static_cast<std::ptrdiff_t>(before * period))->value(number) != value) return true;
  return false;
}

void SeenLaunches::look(const Kernel& kernel, const Request& request) {
  if (left_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  const std::lock_guard lock(mutex_);
  if (lanes_.size() >= most_lanes || found_.size() >= most_found) return;
  Lane& lane = lanes_[{std::this_thread::get_id(), request.stream}];
  if (kernel.module == nullptr || request.shared != 0) return lane.clear();
  const auto [layout, is_new] = layouts_.try_emplace(request.function);
  if (is_new) layout->second = parameter_layout(kernel.function);
  Seen next{request.function, kernel.module,  kernel.name, request.grid,
            request.block,    layout->second, {}};
  for (unsigned n = 0; n < next.layout.size(); ++n) {
    const auto [offset, size] = next.layout[n];
    const void* const value = parameter_of(request, n, offset, size);
    if (value == nullptr) return lane.clear();
    next.parameters.resize(offset + size);
    std::memcpy(&next.parameters[offset], value, size);
  }
  lane.push_back(std::move(next));
  if (lane.size() > most_kept) lane.pop_front();
  if (const std::size_t period = period_of(lane); period >= 2) add(lane, period);
}

// Of the last launches the least one, of several periods; 0: there is none.
std::size_t SeenLaunches::period_of(const Lane& lane) {
  for (std::size_t period = 1; period <= contract::most_stages; ++period) {
    if (lane.size() < periods * period) return 0;
    const auto first = lane.end() - static_cast<std::ptrdiff_t>(periods * period);
    const auto second = first + static_cast<std::ptrdiff_t>(period);
    if (std::equal(second, lane.end(), first,
                   [](const Seen& a, const Seen& b) { return a.is_like(b); }))
      return period;
  }
  return 0;
}

// Of one module and no kernel twice; the one with the least name is first.
void SeenLaunches::add(const Lane& lane, std::size_t period) {
  std::vector<Lane::const_iterator> stages;
  std::set<std::string> names;
  for (auto one = lane.end() - static_cast<std::ptrdiff_t>(period); one != lane.end(); ++one) {
    if (one->module != lane.back().module || !names.insert(one->name).second) return;
    stages.push_back(one);
  }
  const auto least = [](const auto& a, const auto& b) { return a->name < b->name; };
  std::rotate(stages.begin(), std::ranges::min_element(stages, least), stages.end());
  contract::SeenSequence made;
  std::vector<std::pair<std::vector<unsigned char>, std::vector<contract::Sequence::Part>>> values;
  for (unsigned stage = 0; stage < stages.size(); ++stage) {
    const Lane::const_iterator& one = stages[stage];
    made.kernels.push_back(one->name);
    for (unsigned n = 0; n < one->layout.size(); ++n) {
      if (!contract::is_one_value(one->layout[n].second)) continue;
      const contract::Sequence::Part part{stage, contract::part(n, 0)};
      const std::vector<unsigned char> value = one->value(n);
      if (is_another(one, period, n)) {
        made.varying.push_back(part);
        continue;
      }
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
