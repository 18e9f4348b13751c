// Naive row-major matrix product over a linear thread index: one thread per element, no tiling.
extern "C" __global__ void mm_naive(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ c, int width, int height, int depth) {
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid >= width * height) return;
  const int x = tid % width, y = tid / width;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k)
    sum += a[y * depth + k] * b[x + k * width];
  c[tid] = sum;
}
