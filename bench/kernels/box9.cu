// 9x9 box filter with clamped borders over a linear thread index: x = tid % width, y = tid / width.
// Rows of the image meet only through the remapping of tid, so column-based iteration can gain.
extern "C" __global__ void box9(const float* __restrict__ in, float* __restrict__ out, int width,
                                int height) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= width * height) return;
  const int x = tid % width, y = tid / width;
  float sum = 0.0f;
  for (int dy = -4; dy <= 4; ++dy) {
    const int row = min(max(y + dy, 0), height - 1) * width;
    for (int dx = -4; dx <= 4; ++dx)
      sum += in[row + min(max(x + dx, 0), width - 1)];
  }
  out[tid] = sum * (1.0f / 81.0f);
}
