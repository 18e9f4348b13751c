// What becomes of a launch.
//
// A launch of a kernel without a contract goes through as it came. Of one with a contract the
// policy picks a variant, once for each shape. Whatever fails on our side ends in the launch that
// the program asked for, whose result is returned.
#pragma once

#include "launch/check.hpp"
#include "launch/decisions.hpp"
#include "launch/kernels.hpp"
#include "launch/settings.hpp"

namespace ptxasw::launch {

class Engine {
public:
  explicit Engine(Settings settings);

  // `launch` is the driver's own.
  CUresult launch(const Request& request, const Launch& launch);
  // A module, a library or a context goes.
  void forget_handles() { kernels_.forget_all(); }
  void write_report();

private:
  void decide(const Kernel& kernel, Shape& shape);
  unsigned named(const Kernel& kernel, const Shape& shape, const std::string& name) const;
  unsigned next_trial(const Kernel& kernel, Shape& shape);
  CUresult run(const Kernel& kernel, Shape& shape, const Request& request, unsigned variant,
               const Launch& launch);
  CUresult timed(const Kernel& kernel, Shape& shape, const Request& request, unsigned variant,
                 const Launch& launch);
  CUresult checked(const Kernel& kernel, Shape& shape, const Request& request,
                   const Launch& launch);

  Settings settings_;
  Kernels kernels_;
  Decisions decisions_;
};

// Null where the launcher is switched off. Made when first needed, and never destroyed.
Engine* engine();

} // namespace ptxasw::launch
