#include "cubes.cuh"

// A diffusivity on each face of a cell: three staggered arrays, each read on both of its sides.
__global__ void diffuse_faces(const float* T, float* T_new, const float* kx, const float* ky,
                              const float* kz, int nx, int ny, int nz, float dt) {
  int ix = threadIdx.x + blockIdx.x * blockDim.x, iy = threadIdx.y + blockIdx.y * blockDim.y,
      iz = threadIdx.z + blockIdx.z * blockDim.z;
  if (ix == 0 || iy == 0 || iz == 0 || ix >= nx - 1 || iy >= ny - 1 || iz >= nz - 1) return;
  int sy = nx, sz = nx * ny, id = ix + iy * sy + iz * sz;
  float t = T[id];
  float east = kx[id + 1] * (T[id + 1] - t), west = kx[id] * (t - T[id - 1]);
  float north = ky[id + sy] * (T[id + sy] - t), south = ky[id] * (t - T[id - sy]);
  float top = kz[id + sz] * (T[id + sz] - t), bottom = kz[id] * (t - T[id - sz]);
  T_new[id] = t + dt * (east - west + north - south + top - bottom);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "faces3d_a", [](int n, int steps, forms::Arrays& arrays) {
    const size_t all = cubes::places(n);
    float *kx = arrays.floats(all), *ky = arrays.floats(all), *kz = arrays.floats(all),
          *now = arrays.floats(all), *next = arrays.floats(all);
    dim3 block(64, 4), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse_faces<<<grid, block>>>(now, next, kx, ky, kz, n, n, n, 0.05f);
      float* const last = now;
      now = next;
      next = last;
    }
  });
}
