// Asks the driver.
#include "launch/driver/device_memory.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::launch {

bool is_private(const contract::TouchedRange& range, int device,
                std::vector<std::uint64_t>& known) {
  const auto ask = driver().pointer_get_attribute;
  if (range.begin == range.end) return true;
  if (ask == nullptr) return false;
  for (const std::uint64_t at : {range.begin, range.end - 1}) {
    if (std::ranges::find(known, at) != known.end()) continue;
    unsigned type = 0, managed = 1;
    int ordinal = -1;
    if (ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS ||
        ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) != CUDA_SUCCESS ||
        ask(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE || managed != 0 || ordinal != device)
      return false;
    known.push_back(at);
  }
  return true;
}

std::string name_of(CUdevice device) {
  const auto ask = driver().device_get_name;
  std::array<char, 128> name{};
  if (ask == nullptr || ask(name.data(), name.size() - 1, device) != CUDA_SUCCESS) return {};
  return name.data();
}

std::string chip_of_context() {
  const auto ask = driver().ctx_get_device;
  CUdevice device = 0;
  return ask != nullptr && ask(&device) == CUDA_SUCCESS ? name_of(device) : "";
}

bool is_only_device() {
  const Driver& d = driver();
  CUdevice own = 0;
  int count = 0;
  if (!d.ctx_get_device || !d.device_get_count || !d.device_get || !d.primary_ctx_get_state ||
      d.ctx_get_device(&own) != CUDA_SUCCESS || d.device_get_count(&count) != CUDA_SUCCESS)
    return false;
  for (int number = 0; number < count; ++number) {
    CUdevice device = 0;
    unsigned flags = 0;
    int is_active = 1;
    if (d.device_get(&device, number) != CUDA_SUCCESS) return false;
    if (device != own &&
        (d.primary_ctx_get_state(device, &flags, &is_active) != CUDA_SUCCESS || is_active != 0))
      return false;
  }
  return true;
}

} // namespace ptxasw::launch
