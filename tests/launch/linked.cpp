// A program that is linked against libcuda itself, and exports nothing: nobody sees its call of
// cuStreamSynchronize. It prints how many of its nine time steps are made when that has returned.
#include <cuda.h>

#include <cstdio>

#undef cuLaunchKernel

extern "C" {
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void**, void**);
CUfunction make_step_kernel(); // linked_kernel.cpp
unsigned launches();
}

int main() {
  const CUfunction kernel = make_step_kernel();
  CUdeviceptr arrays[] = {8, 16};
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 9; ++n) {
      void* parameters[] = {&arrays[n % 2], &arrays[1 - n % 2]};
      cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr);
    }
    cuStreamSynchronize(nullptr);
    std::printf("%u ", launches());
  }
  return 0;
}
