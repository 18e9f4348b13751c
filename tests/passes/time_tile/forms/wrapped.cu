// Tori whose places in front of the first one are found with a sign.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx wrapped.cu
#define TORUS(name, wrap)                                                                          \
  extern "C" __global__ void name(const float* in, float* out, int nx, int ny) {                   \
    const int x = blockIdx.x * blockDim.x + threadIdx.x,                                           \
              y = blockIdx.y * blockDim.y + threadIdx.y;                                           \
    if (x >= nx || y >= ny) return;                                                                \
    out[y * nx + x] = 0.5f * in[y * nx + wrap(x - 1, nx)] - in[y * nx + wrap(x + 1, nx)] +         \
                      in[wrap(y - 1, ny) * nx + x] + 0.25f * in[wrap(y + 1, ny) * nx + x];         \
  }

__device__ __forceinline__ int by_branch(int place, int size) {
  if (place >= 0) return place % size;
  return size - (-place) % size;
}
__device__ __forceinline__ int by_choice(int place, int size) {
  return place < 0 ? place % size + size : place % size;
}
__device__ __forceinline__ int added(int place, int size) {
  int rest = place % size;
  if (rest < 0) rest += size;
  return rest;
}
__device__ __forceinline__ int twice(int place, int size) {
  return (place % size + size) % size;
}
TORUS(torus_by_branch, by_branch)
TORUS(torus_by_choice, by_choice)
TORUS(torus_added, added)
TORUS(torus_twice, twice)

// Blocks are rows; that a place is in front of the first one is asked of each.
__device__ __forceinline__ int of_row(int place, int size) {
  if (place >= 0)
    place %= size;
  else
    place = size - ((-place) % size);
  return place;
}
extern "C" __global__ void rows_by_branch(const int* in, int* out) {
  const int x = threadIdx.x, y = blockIdx.x, nx = blockDim.x, ny = gridDim.x;
  const int left = of_row(x - 1, nx), right = of_row(x + 1, nx), here = of_row(x, nx),
            below = of_row(y - 1, ny), above = of_row(y + 1, ny), row = of_row(y, ny);
  const int sum = in[row * nx + left] + 3 * in[row * nx + right] - in[below * nx + here] +
                  in[above * nx + here];
  if (in[row * nx + here] > 0) {
    if (sum > 7)
      out[row * nx + here] = sum;
    else
      out[row * nx + here] = 1;
  } else {
    out[row * nx + here] = 2 - sum;
  }
}

// Not so: what is in front of the first place is the row before; it is one place too far; the rest
// of what is farther away than a size is nearer; a bit of the size is none of it.
__device__ __forceinline__ int rest(int place, int size) {
  return place % size;
}
__device__ __forceinline__ int too_far(int place, int size) {
  if (place >= 0) return place % size;
  return place + size - (-place) % size;
}
__device__ __forceinline__ int farther(int place, int size) {
  return (place - size) % size + size;
}
__device__ __forceinline__ int with_bit(int place, int size) {
  const int rest = place % size;
  return rest + (size & (rest < 0 ? 1 : 0));
}
TORUS(torus_with_bit, with_bit)
TORUS(torus_rest, rest)
TORUS(torus_too_far, too_far)
TORUS(torus_farther, farther)
