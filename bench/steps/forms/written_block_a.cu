#include "forms.cuh"

// A line of cells in blocks of 256, zeros beside it in the tile.
#define THREADS 256

__global__ void advect(const float* u, float* v, int n, float c) {
  __shared__ float s[THREADS + 2];
  int gid = blockIdx.x * THREADS + threadIdx.x, lid = threadIdx.x + 1;
  s[lid] = gid < n ? u[gid] : 0.f;
  if (threadIdx.x == 0) s[0] = gid > 0 && gid - 1 < n ? u[gid - 1] : 0.f;
  if (threadIdx.x == THREADS - 1) s[THREADS + 1] = gid + 1 < n ? u[gid + 1] : 0.f;
  __syncthreads();
  if (gid < n)
    v[gid] = s[lid] - 0.5f * c * (s[lid + 1] - s[lid - 1]) +
             0.5f * c * c * (s[lid + 1] - 2.f * s[lid] + s[lid - 1]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_block_a", [](int n, int steps, forms::Arrays& arrays) {
    const int cells = n * n;
    float *u = arrays.floats(size_t(cells)), *v = arrays.floats(size_t(cells));
    for (int t = 0; t < steps; ++t) {
      advect<<<(cells + THREADS - 1) / THREADS, THREADS>>>(u, v, cells, 0.4f);
      std::swap(u, v);
    }
  });
}
