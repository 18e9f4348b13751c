// What a run remembers of its launches, and whether another one follows.
#include "launch/steps/run.hpp"

#include "launch/log.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace ptxasw::launch {

bool Run::begin(const Kernel& its_kernel, Shape& its_shape, const Request& first,
                const Launch& its_form) {
  if (kernel.get() != &its_kernel) kernel = its_kernel.shared_from_this();
  shape = &its_shape;
  thread = std::this_thread::get_id();
  form = &typeid(its_form);
  request = first;
  request.parameters = nullptr;
  request.extra = nullptr;
  next = waiting = followed = 0;
  expected = taken = groups = since_single = 0;
  length = 1;
  is_timed = has_waited = is_waited = false;
  asked = ahead = 0;
  back.clear();
  copied = 0;
  launch.reset();
  is_fitted = false;
  entries.clear();
  scratch = fourth = 0;
  is_apart = is_filled = false;
  const auto& places = kernel->contract.places;
  if (places.size() != kernel->contract.parameters) return false;
  for (std::size_t kind = 0; kind < bytes.size(); ++kind) {
    bytes[kind].resize(kernel->contract.parameter_bytes);
    pointers[kind].clear();
    for (const contract::ParameterSlot& place : places)
      pointers[kind].push_back(bytes[kind].data() + place.offset);
  }
  for (unsigned number = 0; number < places.size(); ++number) {
    const void* value = parameter_of(first, number, places[number].offset, places[number].size);
    if (value == nullptr) return false;
    std::memcpy(pointers[0][number], value, places[number].size);
  }
  move_as(kernel->contract.steps[0]);
  return true;
}

namespace {

bool is_same(const contract::StepLaunch& a, const contract::StepLaunch& b,
             const std::vector<contract::ParameterSlot>& places) {
  if (a.grid != b.grid || a.block != b.block || a.shared != b.shared) return false;
  for (unsigned number = 0; number < places.size(); ++number) {
    const void *first = a.parameters(number), *second = b.parameters(number);
    if (first == nullptr || second == nullptr ||
        std::memcmp(first, second, places[number].size) != 0)
      return false;
  }
  return true;
}

} // namespace

// As far behind the begin of either.
bool Run::brings_back(const CopyCall& call, const contract::Swap& swap) const {
  const contract::ParameterBytes parameters = step(0).parameters;
  return call.copy.to - contract::address_in(parameters, swap.in) ==
         call.copy.from - contract::address_in(parameters, swap.out);
}

bool Run::copies_back(const CopyCall& call) {
  if (thread != std::this_thread::get_id() || call.copy.stream != request.stream ||
      (call.kernel != nullptr && call.kernel->context != kernel->context))
    return false;
  if (copied < back.size()) {
    if (!back[copied].is_same(call)) return false;
    ++copied;
    return true;
  }
  if (length != 1) return false;
  const auto moves = [&](const contract::Steps& steps) {
    return !steps.rotation && std::ranges::any_of(steps.swaps, [&](const contract::Swap& swap) {
      return brings_back(call, swap);
    });
  };
  if (back.empty()) {
    const auto found = std::ranges::find_if(kernel->contract.steps, moves);
    if (found == kernel->contract.steps.end()) return false;
    move_as(*found);
    next = 0;
  } else if (back.size() == motion->swaps.size() || !moves(*motion)) {
    return false;
  }
  back.emplace_back(call);
  ++copied;
  return true;
}

// What moves are pointers (contract::decode).
void Run::move_as(const contract::Steps& steps) {
  motion = &steps;
  fewest_ = 0;
  for (unsigned kind = 1; kind < kinds(); ++kind) {
    std::ranges::copy(bytes[0], bytes[kind].begin()); // where `pointers` lead
    for (const unsigned part : contract::moving(steps)) {
      const unsigned to = moves_to(steps, part);
      const std::uint64_t address = contract::address_in(step(kind - 1).parameters, part);
      std::memcpy(static_cast<unsigned char*>(pointers[kind][contract::number_of(to)]) +
                      contract::byte_of(to),
                  &address, sizeof address);
    }
  }
}

bool Run::continues(const Kernel& its_kernel, const Request& other, const Launch& its_form) {
  if (kernel.get() != &its_kernel || thread != std::this_thread::get_id() ||
      request.function != other.function || request.stream != other.stream ||
      request.shared != other.shared || *form != typeid(its_form))
    return false;
  const auto parameters = [&](unsigned number) {
    const contract::ParameterSlot& place = kernel->contract.places[number];
    return parameter_of(other, number, place.offset, place.size);
  };
  const contract::StepLaunch behind{other.grid, other.block, parameters, other.shared};
  if (!back.empty())
    return copied == back.size() && is_same(step(0), behind, kernel->contract.places);
  const unsigned last = (next + waiting + (kinds() - 1) * (ahead + 1)) % kinds(); // - ahead - 1
  if (contract::follows(kernel->contract, *motion, step(last), behind)) return true;
  if (length != 1) return false;
  // Only one launch was seen, whose parameters are the first set.
  const contract::Steps* const usual = motion;
  for (const contract::Steps& steps : kernel->contract.steps) {
    if (contract::move_alike(steps, *usual) ||
        !contract::follows(kernel->contract, steps, step(0), behind))
      continue;
    move_as(steps);
    return true;
  }
  return false;
}

void Run::back_off(const std::string& why) const {
  constexpr std::uint64_t some = 512;
  if (!why.empty() && shape->launched) log("%s: not merged: %s", kernel->name.c_str(), why.c_str());
  shape->back_off_until = shape->launches + (shape->launched ? some : 1);
}

unsigned Run::fewest() {
  if (fewest_ == 0) {
    fewest_ = ~0U;
    for (const contract::Steps& steps : kernel->contract.steps)
      if (contract::move_alike(steps, *motion))
        fewest_ = std::min(fewest_, launches_at_a_time(steps) + singles_behind(steps));
  }
  return fewest_ + (!back.empty() && shape->copies_less ? 1 : 0);
}

contract::StepLaunch Run::step(unsigned kind) const {
  const std::span<void* const> values = pointers[kind];
  return {request.grid, request.block,
          [values](unsigned number) -> const void* { return values[number]; }, request.shared};
}

} // namespace ptxasw::launch
