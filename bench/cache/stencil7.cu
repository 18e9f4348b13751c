// 7x7 box filter over a linear thread index, without borders: `in` points at the first element of
// an image that lies inside a larger buffer, whose rows are `pitch` elements apart; with pitch =
// width they run into each other.
// The kernel of the spatial-temporal diagrams in tools/cachesim/CACHE.md.
extern "C" __global__ void stencil7(const float* __restrict__ in, float* __restrict__ out,
                                    int width, int height, int pitch) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= width * height) return;
  const int x = tid % width, y = tid / width;
  float sum = 0.0f;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx)
      sum += in[(y + dy) * pitch + x + dx];
  out[tid] = sum * (1.0f / 49.0f);
}
