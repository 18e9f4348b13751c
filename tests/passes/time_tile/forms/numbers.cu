// Sizes that are written in the program: compilers divide by them with shifts, masks and products.
template <int W, int H> __device__ void ring(const int* in, int* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  int w = (x - 1 + W) % W, e = (x + 1) % W, s = (y - 1 + H) % H, n = (y + 1) % H;
  out[y * W + x] = in[y * W + w] - 3 * in[y * W + e] + in[s * W + x] * 5 + in[n * W + x];
}
template <class I, int W, int H> __device__ void row_by_row(const int* in, int* out) {
  I i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= W * H) return;
  I x = i % W, y = i / W;
  if (x == 0 || y == 0 || x == W - 1 || y == H - 1) return;
  out[i] = in[i - 1] - 3 * in[i + 1] + 5 * in[i - W] + in[i + W];
}
template <class I, int W, int H> __device__ void rows_of_ring(const int* in, int* out) {
  I i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= W * H) return;
  I x = i % W, y = i / W;
  I w = (x + W - 1) % W, e = (x + 1) % W, s = (y + H - 1) % H, n = (y + 1) % H;
  out[i] = in[y * W + w] - 3 * in[y * W + e] + in[s * W + x] * 5 + in[n * W + x];
}
// As many threads as places.
template <int W, int H> __device__ void exact(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % W, y = i / W;
  int w = (x + W - 1) % W, e = (x + 1) % W, s = (y + H - 1) % H, n = (y + 1) % H;
  out[i] = in[y * W + w] - 3 * in[y * W + e] + in[s * W + x] * 5 + in[n * W + x];
}
#define KERNEL(name, ...)                                                                          \
  extern "C" __global__ void name(const int* in, int* out) {                                       \
    __VA_ARGS__(in, out);                                                                          \
  }
KERNEL(ring_64_48, ring<64, 48>)
KERNEL(ring_37_41, ring<37, 41>)
KERNEL(ring_56_45, ring<56, 45>)
KERNEL(rows_64_48, row_by_row<int, 64, 48>)
KERNEL(rows_37_41, row_by_row<int, 37, 41>)
KERNEL(rows_56_45, row_by_row<int, 56, 45>)
KERNEL(rows_u_64_48, row_by_row<unsigned, 64, 48>)
KERNEL(torus_64_48, rows_of_ring<int, 64, 48>)
KERNEL(torus_37_41, rows_of_ring<int, 37, 41>)
KERNEL(torus_56_45, rows_of_ring<int, 56, 45>)
KERNEL(torus_u_64_48, rows_of_ring<unsigned, 64, 48>)
KERNEL(exact_64_48, exact<64, 48>)
KERNEL(exact_100_60, exact<100, 60>)
KERNEL(exact_64_64, exact<64, 64>)
KERNEL(rows_u_264_250, row_by_row<unsigned, 264, 250>)
