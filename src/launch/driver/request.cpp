// Parameters of a launch, in a list or in a buffer, and those that a variant gets behind them.
#include "launch/driver/request.hpp"

#include "launch/driver/driver.hpp"

#include <algorithm>
#include <cstring>

namespace ptxasw::launch {
namespace {

struct Buffer {
  const void* bytes = nullptr; // null: in a form that we do not know
  std::size_t size = 0;
};

// CU_LAUNCH_PARAM_BUFFER_POINTER, a buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, its size, END.
Buffer buffer_of(void** extra) {
  const void* bytes = nullptr;
  const std::size_t* size = nullptr;
  for (unsigned pairs = 0; *extra != CU_LAUNCH_PARAM_END; extra += 2, ++pairs) {
    if (pairs == 2) return {};
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      bytes = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const std::size_t*>(extra[1]);
    else
      return {};
  }
  if (bytes == nullptr || size == nullptr) return {};
  return {bytes, *size};
}

} // namespace

bool divides(const Dims& grid, const Dims& block, const contract::Variant& variant) {
  if (variant.reshapes()) return contract::reshape(variant, grid, block).has_value();
  return variant.takes_grid() ||
         (grid[0] % variant.divide[0] == 0 && grid[1] % variant.divide[1] == 0 &&
          grid[2] % variant.divide[2] == 0);
}

VariantLaunch::VariantLaunch(const Request& original, const contract::Contract& contract,
                             const contract::Variant& variant, CUfunction function)
    : request_(original), grid_(original.grid), own_(contract.parameters) {
  request_.function = function;
  if (variant.reshapes()) {
    usable_ = reshape(variant) && append(contract, original_);
    return;
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    const contract::Blocks blocks = contract::blocks_of(variant, axis, grid_[axis]);
    request_.grid[axis] = blocks.groups + blocks.alone;
  }
  if (!variant.takes_grid()) {
    usable_ = divides(grid_, original.block, variant);
    return;
  }
  usable_ = append(contract, grid_);
}

bool VariantLaunch::reshape(const contract::Variant& variant) {
  const auto made = contract::reshape(variant, grid_, request_.block);
  if (!made) return false;
  request_.grid = made->grid;
  request_.block = made->block;
  original_ = made->original;
  return true;
}

template <class Value>
bool VariantLaunch::append(const contract::Contract& contract, Value& value) {
  appended_ = std::as_bytes(std::span(&value, 1));
  if (request_.extra == nullptr) return append_pointer(contract, &value);
  return request_.parameters == nullptr && append_bytes(contract, &value, sizeof value);
}

bool VariantLaunch::append_pointer(const contract::Contract& contract, void* value) {
  const std::size_t own = contract.parameters;
  if (own != 0 && request_.parameters == nullptr) return false;
  void** all = few_.data();
  if (own + 1 > few_.size()) {
    many_.resize(own + 1);
    all = many_.data();
  }
  std::copy_n(request_.parameters, own, all);
  all[own] = value;
  request_.parameters = all;
  return true;
}

bool VariantLaunch::append_bytes(const contract::Contract& contract, const void* value,
                                 std::size_t size) {
  const Buffer given = buffer_of(request_.extra);
  if (given.bytes == nullptr || given.size < contract.parameter_bytes) return false;
  const std::size_t offset = contract::grid_offset(contract);
  buffer_.resize(offset + size);
  std::memcpy(buffer_.data(), given.bytes, contract.parameter_bytes);
  std::memcpy(buffer_.data() + offset, value, size);
  buffer_size_ = buffer_.size();
  extra_ = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer_.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
            &buffer_size_, CU_LAUNCH_PARAM_END};
  request_.extra = extra_.data();
  return true;
}

CUresult launch_ahead(const Request& request) {
  const Driver& d = driver();
  if (d.launch_kernel_ex == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  CUlaunchAttribute ahead{};
  ahead.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  ahead.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config{.gridDimX = request.grid[0],
                              .gridDimY = request.grid[1],
                              .gridDimZ = request.grid[2],
                              .blockDimX = request.block[0],
                              .blockDimY = request.block[1],
                              .blockDimZ = request.block[2],
                              .sharedMemBytes = request.shared,
                              .hStream = request.stream,
                              .attrs = &ahead,
                              .numAttrs = 1};
  return d.launch_kernel_ex(&config, request.function, request.parameters, request.extra);
}

ParameterLayout parameter_layout(CUfunction function) {
  ParameterLayout layout;
  const auto ask = driver().func_get_param_info;
  std::size_t offset = 0, size = 0;
  for (std::size_t n = 0; ask != nullptr && ask(function, n, &offset, &size) == CUDA_SUCCESS; ++n)
    layout.emplace_back(offset, size);
  return layout;
}

const void* parameter_of(const Request& request, unsigned number, std::size_t offset,
                         std::size_t size) {
  if (request.extra == nullptr)
    return request.parameters == nullptr ? nullptr : request.parameters[number];
  const Buffer given = buffer_of(request.extra);
  if (request.parameters != nullptr || given.bytes == nullptr || given.size < offset + size)
    return nullptr;
  return static_cast<const char*>(given.bytes) + offset;
}

bool copy_parameters(const Request& request, const ParameterLayout& layout, unsigned char* into) {
  for (unsigned n = 0; n < layout.size(); ++n) {
    const auto [offset, size] = layout[n];
    const void* const value = parameter_of(request, n, offset, size);
    if (value == nullptr) return false;
    std::memcpy(into + offset, value, size);
  }
  return true;
}

bool copy_parameters(const Request& request, const ParameterLayout& layout,
                     std::vector<unsigned char>& into) {
  into.assign(bytes_of(layout), 0);
  return copy_parameters(request, layout, into.data());
}

} // namespace ptxasw::launch
