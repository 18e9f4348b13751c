// Kernels of the suite, coarsened by hand in CUDA C++: what a programmer would write to have one
// block do the work of C neighbours along y, for the same launch. The bound that --coarsen is held
// against; results are the plain kernel's, bit for bit.
#pragma once

#include "../grid.cuh"

// Number of blocks of this block's group that are left for it: C or, in a group that hangs over the
// end of the grid, those that are there; 0 for all but the first of a group.
template <int C> __device__ inline int blocks_to_do() {
  const int first = blockIdx.y / C * C;
  return first == static_cast<int>(blockIdx.y) ? min(C, static_cast<int>(gridDim.y) - first) : 0;
}
