// Copies between two arrays of a step.
#include "launch/steps/copy_back.hpp"

#include "launch/log.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace ptxasw::launch {
namespace {

using contract::TouchedRange;

const void* value_of(const CopyCall& call, unsigned number) {
  const contract::ParameterSlot& place = call.kernel->contract.places[number];
  return parameter_of(*call.request, number, place.offset, place.size);
}

bool are_apart(const TouchedRange& a, const TouchedRange& b) {
  return a.end <= b.begin || b.end <= a.begin;
}

bool is_within(const TouchedRange& range, const TouchedRange& all) {
  return all.begin <= range.begin && range.end <= all.end;
}

} // namespace

std::optional<CopyCall> copy_call(const Kernel& kernel, Shape& shape, const Request& request,
                                  const Launch& launch) {
  const contract::Contract& contract = kernel.contract;
  CopyCall call{.copy = {.stream = request.stream},
                .kernel = &kernel,
                .shape = &shape,
                .request = &request,
                .launch = &launch};
  if (!contract.copy || contract.places.size() != contract.parameters) return std::nullopt;
  for (unsigned number = 0; number < contract.parameters; ++number)
    if (value_of(call, number) == nullptr) return std::nullopt;
  const contract::ParameterBytes parameters = [&](unsigned number) {
    return value_of(call, number);
  };
  call.copy.from = contract::address_in(parameters, contract.copy->from);
  call.copy.to = contract::address_in(parameters, contract.copy->to);
  return call;
}

CopyBack::CopyBack(const CopyCall& call) : copy_(call.copy) {
  if (call.kernel == nullptr) return;
  kernel_ = call.kernel->shared_from_this();
  shape_ = call.shape;
  request_ = *call.request;
  request_.parameters = nullptr;
  request_.extra = nullptr;
  form_ = &typeid(*call.launch);
  launch_ = call.launch->copy();
  bytes_.resize(kernel_->contract.parameter_bytes);
  const auto& places = kernel_->contract.places;
  for (unsigned number = 0; number < places.size(); ++number)
    std::memcpy(bytes_.data() + places[number].offset, value_of(call, number), places[number].size);
}

bool CopyBack::is_same(const CopyCall& call) const {
  if (copy_ != call.copy || kernel_.get() != call.kernel) return false;
  if (kernel_ == nullptr) return true;
  const Request& other = *call.request;
  if (request_.function != other.function || request_.grid != other.grid ||
      request_.block != other.block || request_.shared != other.shared ||
      *form_ != typeid(*call.launch))
    return false;
  const auto& places = kernel_->contract.places;
  for (unsigned number = 0; number < places.size(); ++number)
    if (std::memcmp(bytes_.data() + places[number].offset, value_of(call, number),
                    places[number].size) != 0)
      return false;
  return true;
}

std::optional<contract::FittedCopy> CopyBack::fitted() const {
  if (kernel_ == nullptr)
    return contract::FittedCopy{{.first = copy_.from, .bytes = copy_.bytes, .along = {}}, copy_.to};
  const auto value = [this](unsigned number) -> const void* {
    return bytes_.data() + kernel_->contract.places[number].offset;
  };
  auto found = contract::fit_copy(kernel_->contract,
                                  {request_.grid, request_.block, value, request_.shared});
  if (!found) {
    log("%s: it may not copy: %s", kernel_->name.c_str(), found.error().c_str());
    return std::nullopt;
  }
  return *found;
}

// First what is read.
std::vector<TouchedRange> CopyBack::touched() const {
  const auto found = fitted();
  if (!found) return {};
  const std::uint64_t bytes = found->from.end() - found->from.first;
  return {{found->from.first, found->from.end(), false}, {found->to, found->to + bytes, true}};
}

// Elements that are copied and not stored have what they had behind the first copies; so nothing
// else of what the step reads may be among them, and no copy reads or writes what another one
// writes.
CopyBack::Covers CopyBack::covers(std::span<const CopyBack> copies, const contract::Steps& steps,
                                  const contract::FittedSteps& step) {
  if (copies.size() != steps.swaps.size()) return Covers::nothing;
  std::vector<TouchedRange> all;
  for (const CopyBack& copy : copies)
    for (const TouchedRange& range : copy.touched()) {
      if (!std::ranges::all_of(all, [&](const auto& other) { return are_apart(range, other); }))
        return Covers::nothing;
      all.push_back(range);
    }
  Covers least = Covers::all;
  for (const contract::Swap& swap : steps.swaps) {
    Covers most = Covers::nothing;
    for (const CopyBack& copy : copies)
      most = std::max(most, copy.covers(swap, steps, step));
    least = std::min(least, most);
  }
  return least == Covers::stored && copies.size() != 1 ? Covers::nothing : least;
}

// Of what the step reads and stores of these two arrays; of all others it has to be apart.
CopyBack::Covers CopyBack::covers(const contract::Swap& swap, const contract::Steps& steps,
                                  const contract::FittedSteps& step) const {
  const auto found = fitted();
  if (!found) return Covers::nothing;
  const auto both = touched();
  const TouchedRange &from = both[0], &to = both[1];
  bool all = found->from.is_whole();
  TouchedRange of_in, of_out; // from where it is copied to, and from
  for (std::size_t n = 0; n < step.ranges.size(); ++n) {
    const TouchedRange& range = step.ranges[n];
    const unsigned parameter = steps.touched[n].parameter;
    const bool is_in = parameter == swap.in, is_out = parameter == swap.out;
    if ((!is_in && !are_apart(range, to)) || (!is_out && !are_apart(range, from)))
      return Covers::nothing;
    if (is_in) of_in = {range.begin - copy_.to, range.end - copy_.to};
    if (is_out) of_out = {range.begin - copy_.from, range.end - copy_.from};
    all = all && (!is_in || is_within(range, to)) && (!is_out || is_within(range, from));
  }
  if (of_in.begin != of_out.begin || of_in.end != of_out.end) return Covers::nothing;
  if (all) return Covers::all;
  return step.stored.bytes != 0 && contract::contains(found->from, step.stored) ? Covers::stored
                                                                                : Covers::nothing;
}

void CopyBack::make(const Single& single) const {
  if (kernel_ == nullptr) {
    const auto copy = driver().copy_on_device;
    if (copy == nullptr || copy(copy_.to, copy_.from, copy_.bytes, copy_.stream) != CUDA_SUCCESS)
      log("a copy that was put off fails");
    return;
  }
  auto bytes = bytes_;
  std::vector<void*> pointers;
  for (const contract::ParameterSlot& place : kernel_->contract.places)
    pointers.push_back(bytes.data() + place.offset);
  Request request = request_;
  request.parameters = pointers.data();
  if (single(*kernel_, *shape_, request, *launch_) != CUDA_SUCCESS)
    log("%s: a launch that was put off fails", kernel_->name.c_str());
}

void CopyBack::redirect(const Copies& copies) {
  for (CUdeviceptr* const address : {&copy_.to, &copy_.from})
    copies.redirect({reinterpret_cast<unsigned char*>(address), sizeof *address});
  if (kernel_ == nullptr) return;
  for (const contract::ParameterSlot& place : kernel_->contract.places)
    copies.redirect(std::span(bytes_).subspan(place.offset, place.size));
}

} // namespace ptxasw::launch
