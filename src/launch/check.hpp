// One launch, checked: the kernel as the program knows it and every variant run on the same memory,
// and all bytes that the kernel's parameters lead to are compared.
//
// What they lead to: each eight bytes of a parameter that are an address in an allocation of the
// driver name that whole allocation. What hangs on pointers in device memory is not seen.
#pragma once

#include "launch/kernels.hpp"
#include "launch/request.hpp"
#include "launch/shapes.hpp"

#include <string>

namespace ptxasw::launch {

struct Checked {
  enum class Outcome { equal, differs, not_done } outcome = Outcome::not_done;
  CUresult result = CUDA_SUCCESS; // of the program's own launch, if it was done
  bool launched = false;
  std::string text; // why it was not done, or what differs
};

// The program's own launch is done last or in between; afterwards memory is as it left it.
Checked check(const Kernel& kernel, const Shape& shape, const Request& request,
              const Launch& launch);

} // namespace ptxasw::launch
