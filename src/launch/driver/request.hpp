// One launch, as a program asked for it or as a variant of it is made.
#pragma once

#include "contract/reshape.hpp"

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ptxasw::launch {

using Dims = std::array<unsigned, 3>;

// Of parameters in the parameter space: offset and size of each.
using ParameterLayout = std::vector<std::pair<std::size_t, std::size_t>>;
// Empty where the driver does not tell, or there are none.
[[nodiscard]] ParameterLayout parameter_layout(CUfunction function);

struct Request {
  CUfunction function = nullptr; // or a CUkernel
  Dims grid{}, block{};
  unsigned shared = 0; // dynamic, bytes
  CUstream stream = nullptr;
  void** parameters = nullptr; // one pointer for each, or null
  void** extra = nullptr;      // the whole parameter space in one buffer
};

// A copy from device memory to device memory.
struct DeviceCopy {
  CUdeviceptr to = 0, from = 0;
  std::size_t bytes = 0;
  CUstream stream = nullptr;
  friend bool operator==(const DeviceCopy&, const DeviceCopy&) = default;
};

class VariantLaunch;

// The driver's own launch, in the form in which the program called it.
class Launch {
public:
  virtual CUresult operator()(const Request& request) const = 0;
  // The same, allowed to begin before what is in front of it has ended (front.hpp).
  virtual CUresult ahead(const Request&) const { return CUDA_ERROR_NOT_SUPPORTED; }
  // The next launches like this one, so many, need not be looked at, for as long as `epoch` lasts
  // (passing.hpp).
  virtual void pass_from_now_on(const Request&, std::uint64_t /*epoch*/,
                                std::uint64_t /*times*/) const {}
  // Nor these, which are made so, in that context (kernels/passing_variant.hpp).
  virtual void pass_by_variant_from_now_on(const Request&, std::uint64_t /*epoch*/,
                                           const VariantLaunch&, CUcontext,
                                           std::uint64_t /*times*/) const {}
  // How many of them went by since that was asked last.
  [[nodiscard]] virtual std::uint64_t passed(const Request&) const { return 0; }
  // For launches that are put off.
  [[nodiscard]] virtual std::unique_ptr<const Launch> copy() const = 0;
  virtual ~Launch() = default;
};

// By the driver's own cuLaunchKernelEx, to the stream that the request names.
CUresult launch_ahead(const Request& request);

// The value of a parameter at its place in the parameter space; null where the launch gives its
// parameters in a form that we do not know, or does not give this one.
[[nodiscard]] const void* parameter_of(const Request& request, unsigned number, std::size_t offset,
                                       std::size_t size);
// Bytes of the parameter space that hold them.
[[nodiscard]] inline std::size_t bytes_of(const ParameterLayout& layout) {
  return layout.empty() ? 0 : layout.back().first + layout.back().second;
}
// The values of all of them, as they lie in the parameter space, to so many bytes. False: one is
// not given.
[[nodiscard]] bool copy_parameters(const Request& request, const ParameterLayout& layout,
                                   unsigned char* into);
[[nodiscard]] bool copy_parameters(const Request& request, const ParameterLayout& layout,
                                   std::vector<unsigned char>& into);

[[nodiscard]] constexpr unsigned long long count(const Dims& dims) {
  return 1ULL * dims[0] * dims[1] * dims[2];
}

// May a launch be made so?
[[nodiscard]] bool divides(const Dims& grid, const Dims& block, const contract::Variant& variant);

// The launch of `variant` that does the work of `original`. Not copied: it holds what the request
// points to.
class VariantLaunch {
public:
  VariantLaunch(const Request& original, const contract::Contract& contract,
                const contract::Variant& variant, CUfunction function);
  VariantLaunch(const VariantLaunch&) = delete;
  VariantLaunch& operator=(const VariantLaunch&) = delete;

  // False where the parameters come in a form that we do not know.
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] const Request& request() const { return request_; }
  // What it has behind the program's own parameters.
  [[nodiscard]] std::span<const std::byte> appended() const { return appended_; }
  [[nodiscard]] unsigned own_parameters() const { return own_; }

private:
  bool reshape(const contract::Variant& variant);
  template <class Value> bool append(const contract::Contract& contract, Value& value);
  bool append_pointer(const contract::Contract& contract, void* value);
  bool append_bytes(const contract::Contract& contract, const void* value, std::size_t size);

  Request request_;
  Dims grid_; // the original one
  contract::OriginalShape original_;
  std::span<const std::byte> appended_;
  unsigned own_;
  bool usable_ = true;
  std::array<void*, 65> few_;
  std::vector<void*> many_;
  std::vector<unsigned char> buffer_;
  std::size_t buffer_size_ = 0;
  std::array<void*, 5> extra_{};
};

} // namespace ptxasw::launch
