// Indexing shared by the kernels: arrays are row-major and i runs fastest, so neighbouring lanes
// (along %tid.x) touch neighbouring words. Indices are plain 32-bit ints, as users write them.
#pragma once

struct Plane {
  int nx;
  __device__ int operator()(int i, int j) const { return i + nx * j; }
};

struct Box {
  int nx, ny;
  __device__ int operator()(int i, int j, int k) const { return i + nx * (j + ny * k); }
};

// The innermost index of this thread, counted from `first`; outer indices come from the grid.
__device__ inline int inner(int first) {
  return first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
