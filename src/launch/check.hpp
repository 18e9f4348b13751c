// What a program asked for, checked: it and every other way to do it are run on the same memory,
// and all bytes that the kernel's parameters lead to are compared.
//
// What they lead to: each eight bytes of a parameter that are an address in an allocation of the
// driver name that whole allocation. What hangs on pointers in device memory is not seen.
#pragma once

#include "launch/kernels.hpp"
#include "launch/request.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ptxasw::launch {

struct Checked {
  enum class Outcome { equal, differs, not_done } outcome = Outcome::not_done;
  CUresult result = CUDA_SUCCESS; // of the program's own launch, if it was done
  bool launched = false;
  std::string text; // why it was not done, or what differs
};

struct Way {
  std::string name;
  std::function<CUresult()> run;
};

// The program's own way is gone last or in between; afterwards memory is as it left it. `request`
// is for the parameters and the stream.
Checked check(const Kernel& kernel, const Request& request, const std::function<CUresult()>& own,
              const std::vector<Way>& others);

} // namespace ptxasw::launch
