// Loops over places in other words: rows by the number of blocks, or of a block's threads, and a
// line of threads that has the interior alone, or that nvcc gives several places a round, with a
// rim that is stored to as well. nvcc -std=c++17 -O2 -arch=sm_90 -ptx strides.cu

extern "C" __global__ void rows_by_blocks(const float* __restrict__ in, float* __restrict__ out,
                                          int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int j = blockIdx.y + 1; j < m - 1; j += gridDim.y)
    if (i < n - 1)
      out[j * n + i] =
          in[j * n + i - 1] - 3 * in[j * n + i + 1] + 5 * in[(j - 1) * n + i] + in[(j + 1) * n + i];
}

extern "C" __global__ void rows_by_threads(const float* __restrict__ in, float* __restrict__ out,
                                           int n, int m) {
  const int i = blockIdx.x + 1;
  if (i >= n - 1) return;
#pragma unroll 1
  for (int j = threadIdx.y + 1; j < m - 1; j += blockDim.y)
    out[j * n + i] =
        in[j * n + i - 1] - 3 * in[j * n + i + 1] + 5 * in[(j - 1) * n + i] + in[(j + 1) * n + i];
}

// Rows of the interior alone, one behind the other.
extern "C" __global__ void interior_in_line(const float* __restrict__ in, float* __restrict__ out,
                                            int n, int m) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (n - 2) * (m - 2)) return;
  const int i = t % (n - 2) + 1, j = t / (n - 2) + 1;
  out[j * n + i] =
      in[j * n + i - 1] - 3 * in[j * n + i + 1] + 5 * in[(j - 1) * n + i] + in[(j + 1) * n + i];
}

template <int W, int H, bool STRIDE> __device__ void with_rim(const int* in, int* out) {
  const int stride = blockDim.x * gridDim.x; // signed: nvcc unrolls
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < W * H; i += stride) {
    const int x = i % W, y = i / W;
    if (x > 0 && y > 0 && x < W - 1 && y < H - 1)
      out[i] = in[i - 1] - 3 * in[i + 1] + 5 * in[i - W] + in[i + W];
    else
      out[i] = 7;
    if (!STRIDE) break;
  }
}
extern "C" __global__ void rim_264_250(const int* in, int* out) {
  with_rim<264, 250, false>(in, out);
}
extern "C" __global__ void strided_264_250(const int* in, int* out) {
  with_rim<264, 250, true>(in, out);
}
