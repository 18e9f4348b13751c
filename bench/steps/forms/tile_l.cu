#include "forms.cuh"

// A tile without a halo: what lies beside the block is read from the array.
#define BX 32
#define BY 8

__global__ void spread(const float* __restrict__ t, float* __restrict__ next, int w, int h,
                       float k) {
  __shared__ float own[BY][BX];
  int lx = threadIdx.x, ly = threadIdx.y;
  int col = blockIdx.x * BX + lx, row = blockIdx.y * BY + ly, at = row * w + col;
  if (col < w && row < h) own[ly][lx] = t[at];
  __syncthreads();
  if (col < 1 || row < 1 || col >= w - 1 || row >= h - 1) return;
  float west = lx > 0 ? own[ly][lx - 1] : t[at - 1];
  float east = lx < BX - 1 ? own[ly][lx + 1] : t[at + 1];
  float north = ly > 0 ? own[ly - 1][lx] : t[at - w];
  float south = ly < BY - 1 ? own[ly + 1][lx] : t[at + w];
  float c = own[ly][lx];
  next[at] = c + k * (west + east + north + south - 4.0f * c);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_l", [](int n, int steps, forms::Arrays& arrays) {
    float *t = arrays.floats(size_t(n) * n), *next = arrays.floats(size_t(n) * n);
    dim3 block(BX, BY), grid = forms::cover(n, n, block);
    for (int s = 0; s < steps; ++s) {
      spread<<<grid, block>>>(t, next, n, n, 0.1f);
      std::swap(t, next);
    }
  });
}
