#include "cubes.cuh"

// Neighbours beside the box are its outermost elements.
struct Box {
  int nx, ny, nz;
  __device__ int at(int x, int y, int z) const {
    return (min(max(z, 0), nz - 1) * ny + min(max(y, 0), ny - 1)) * nx + min(max(x, 0), nx - 1);
  }
};

__global__ void diffuse(const float* in, float* out, Box box, float rate) {
  const int x = blockDim.x * blockIdx.x + threadIdx.x;
  const int y = blockDim.y * blockIdx.y + threadIdx.y;
  const int z = blockDim.z * blockIdx.z + threadIdx.z;
  if (x >= box.nx || y >= box.ny || z >= box.nz) return;
  const float here = in[box.at(x, y, z)];
  const float around = in[box.at(x - 1, y, z)] + in[box.at(x + 1, y, z)] + in[box.at(x, y - 1, z)] +
                       in[box.at(x, y + 1, z)] + in[box.at(x, y, z - 1)] + in[box.at(x, y, z + 1)];
  out[box.at(x, y, z)] = here + rate * (around - 6.0f * here);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "clamp3d_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    const Box box{n, n, n};
    dim3 block(16, 4, 4), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(a, b, box, 0.1f);
      std::swap(a, b);
    }
  });
}
