// Kernels for driver.cpp, which loads them as a fat binary or compiles them by NVRTC. -DDIVIDE:
// with a division, for which ptxas makes a helper.
#ifdef DIVIDE
#define MEAN(sum) ((sum) / 25.5f)
#else
#define MEAN(sum) ((sum)*0.04f)
#endif

extern "C" __global__ void box5(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      sum += in[(y + dy) * w + x + dx];
  out[y * w + x] = MEAN(sum);
}

extern "C" __global__ void cross(const double* in, double* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int at = y * w + x;
  out[at] = 0.5 * in[at] + 0.125 * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w]);
}
