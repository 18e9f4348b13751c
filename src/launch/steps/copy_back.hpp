// What a program that does not exchange its arrays does behind each step: what the step wrote is
// copied to where it reads from, by the driver or by a kernel (contract::CopyKernel).
#pragma once

#include "contract/steps.hpp"
#include "launch/choose/check.hpp"
#include "launch/driver/request.hpp"
#include "launch/kernels/kernels.hpp"
#include "launch/kernels/shapes.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <typeinfo>
#include <vector>

namespace ptxasw::launch {

// As the program calls: a copy of the driver's, or a launch.
struct CopyCall {
  DeviceCopy copy; // of a launch: what its two pointers are, and its stream
  // Of a launch; all null: it is none.
  const Kernel* kernel = nullptr;
  Shape* shape = nullptr;
  const Request* request = nullptr;
  const Launch* launch = nullptr;
};
// None: its parameters come in a form that is not known.
std::optional<CopyCall> copy_call(const Kernel& kernel, Shape& shape, const Request& request,
                                  const Launch& launch);

// The same, to be made later.
class CopyBack {
public:
  explicit CopyBack(const CopyCall& call);

  [[nodiscard]] bool is_same(const CopyCall& call) const;
  // Where the arrays of a step hold the same behind it.
  enum class Covers : std::uint8_t {
    nothing, // not even where it stores, or that is not known
    stored,  // where it stores
    all,     // wherever it reads or stores
  };
  // All copies behind a launch. `steps`: of arrays that are exchanged, fitted to the launch.
  [[nodiscard]] static Covers covers(std::span<const CopyBack> copies, const contract::Steps& steps,
                                     const contract::FittedSteps& fitted);
  // What it reads and writes.
  [[nodiscard]] std::vector<contract::TouchedRange> touched() const;

  using Single = std::function<CUresult(const Kernel&, Shape&, const Request&, const Launch&)>;
  void make(const Single& single) const;
  void redirect(const Copies& copies);

private:
  [[nodiscard]] std::optional<contract::FittedCopy> fitted() const;
  [[nodiscard]] Covers covers(const contract::Swap& swap, const contract::Steps& steps,
                              const contract::FittedSteps& step) const;

  DeviceCopy copy_;
  std::shared_ptr<const Kernel> kernel_; // null: the driver copies
  Shape* shape_ = nullptr;
  Request request_; // without parameters
  const std::type_info* form_ = nullptr;
  std::shared_ptr<const Launch> launch_;
  std::vector<unsigned char> bytes_; // parameters, each at its place
};

} // namespace ptxasw::launch
