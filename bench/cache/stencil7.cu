// 7x7 box filter over a linear thread index, without borders: `in` points at the first element of an
// image that lies inside a larger buffer, and rows run into each other. The kernel of the
// spatial-temporal diagrams, small enough to be drawn access by access.
extern "C" __global__ void stencil7(const float* __restrict__ in, float* __restrict__ out, int width,
                                    int height) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= width * height) return;
  const int x = tid % width, y = tid / width;
  float sum = 0.0f;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx)
      sum += in[(y + dy) * width + x + dx];
  out[tid] = sum * (1.0f / 49.0f);
}
