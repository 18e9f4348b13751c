// What a run remembers of its launches, and whether another one follows.
#include "launch/run.hpp"

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
  is_timed = false;
  back.reset();
  is_half = true;
  launch.reset();
  is_fitted = false;
  entries.clear();
  scratch = fourth = 0;
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
  if (a.grid != b.grid || a.block != b.block) return false;
  for (unsigned number = 0; number < places.size(); ++number) {
    const void *first = a.parameters(number), *second = b.parameters(number);
    if (first == nullptr || second == nullptr ||
        std::memcmp(first, second, places[number].size) != 0)
      return false;
  }
  return true;
}

} // namespace

bool Run::copies_back(const DeviceCopy& copy) {
  if (!is_half || thread != std::this_thread::get_id() || copy.stream != request.stream)
    return false;
  if (!back) {
    const contract::Steps& steps = kernel->contract.steps[0];
    if (length != 1 || steps.rotation || steps.swaps.size() != 1) return false;
    const auto address = [parameters = step(0).parameters](unsigned part) {
      return contract::address_in(parameters, part);
    };
    if (address(steps.swaps[0].in) != copy.to || address(steps.swaps[0].out) != copy.from)
      return false;
    move_as(steps);
    back = copy;
    next = 0;
  } else if (*back != copy) {
    return false;
  }
  is_half = false;
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
  const contract::StepLaunch behind{other.grid, other.block, parameters};
  if (back) return !is_half && is_same(step(0), behind, kernel->contract.places);
  const unsigned last = (next + waiting + kinds() - 1) % kinds();
  if (contract::follows(kernel->contract, *motion, step(last), behind)) return true;
  if (followed != 0 || taken > 1) return false;
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
  if (fewest_ != 0) return fewest_;
  fewest_ = ~0U;
  for (const contract::Steps& steps : kernel->contract.steps)
    if (contract::move_alike(steps, *motion))
      fewest_ = std::min(fewest_, launches_at_a_time(steps) + singles_behind(steps));
  return fewest_;
}

contract::StepLaunch Run::step(unsigned kind) const {
  const std::span<void* const> values = pointers[kind];
  return {request.grid, request.block,
          [values](unsigned number) -> const void* { return values[number]; }};
}

} // namespace ptxasw::launch
