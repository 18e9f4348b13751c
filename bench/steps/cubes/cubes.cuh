// What the programs of this folder share, beside the arrays of ../forms.
#pragma once

#include "../forms/forms.cuh"

namespace cubes {

inline dim3 cover(int nx, int ny, int nz, dim3 block) {
  return dim3((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y,
              (nz + block.z - 1) / block.z);
}

inline size_t places(int n) {
  return size_t(n) * n * n;
}

} // namespace cubes
