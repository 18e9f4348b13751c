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
                   [](const Seen& a, const Seen& b) { return a.is_same(b); }))
      return period;
  }
  return 0;
}

// Of one module and no kernel twice; the one with the least name is first.
void SeenLaunches::add(const Lane& lane, std::size_t period) {
  std::vector<const Seen*> stages;
  std::set<std::string> names;
  for (auto one = lane.end() - static_cast<std::ptrdiff_t>(period); one != lane.end(); ++one) {
    if (one->module != lane.back().module || !names.insert(one->name).second) return;
    stages.push_back(&*one);
  }
  std::rotate(stages.begin(), std::ranges::min_element(stages, {}, &Seen::name), stages.end());
  contract::SeenSequence made;
  std::vector<std::pair<std::vector<unsigned char>, std::vector<contract::Sequence::Part>>> values;
  for (unsigned stage = 0; stage < stages.size(); ++stage) {
    made.kernels.push_back(stages[stage]->name);
    for (unsigned n = 0; n < stages[stage]->layout.size(); ++n) {
      const auto [offset, size] = stages[stage]->layout[n];
      if (size != 4 && size != 8) continue;
      const auto begin = stages[stage]->parameters.begin() + static_cast<std::ptrdiff_t>(offset);
      const std::vector<unsigned char> value(begin, begin + static_cast<std::ptrdiff_t>(size));
      auto known = std::ranges::find(values, value, [](const auto& one) { return one.first; });
      if (known == values.end()) known = values.insert(values.end(), {value, {}});
      known->second.push_back({stage, contract::part(n, 0)});
    }
  }
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
