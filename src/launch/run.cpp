// What a run remembers of its launches, and whether another one follows.
#include "launch/run.hpp"

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
  swaps = &kernel->contract.steps[0];
  next = waiting = followed = 0;
  const auto& places = kernel->contract.places;
  if (places.size() != kernel->contract.parameters) return false;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    bytes[parity].resize(kernel->contract.parameter_bytes);
    pointers[parity].clear();
    for (const contract::Place& place : places)
      pointers[parity].push_back(bytes[parity].data() + place.offset);
  }
  for (unsigned number = 0; number < places.size(); ++number) {
    unsigned moved = number; // where its value stands in the launch that follows
    for (const contract::Swap& swap : swaps->swaps)
      moved = number == swap.in ? swap.out : number == swap.out ? swap.in : moved;
    const void* value = parameter_of(first, number, places[number].offset, places[number].size);
    if (value == nullptr || places[moved].size != places[number].size) return false;
    std::memcpy(pointers[0][number], value, places[number].size);
    std::memcpy(pointers[1][moved], value, places[number].size);
  }
  return true;
}

bool Run::continues(const Kernel& its_kernel, const Request& other, const Launch& its_form) const {
  const unsigned last = (next + waiting + 1) % 2;
  if (kernel.get() != &its_kernel || thread != std::this_thread::get_id() ||
      request.function != other.function || request.stream != other.stream ||
      request.shared != other.shared || *form != typeid(its_form))
    return false;
  const auto parameters = [&](unsigned number) {
    const contract::Place& place = kernel->contract.places[number];
    return parameter_of(other, number, place.offset, place.size);
  };
  return contract::follows(kernel->contract, *swaps, step(last),
                           {other.grid, other.block, parameters});
}

contract::StepLaunch Run::step(unsigned parity) const {
  const std::span<void* const> values = pointers[parity];
  return {request.grid, request.block,
          [values](unsigned number) -> const void* { return values[number]; }};
}

} // namespace ptxasw::launch
