// Loops over global memory whose threads do not meet: products of matrices as they are first
// written, distances, filters of run-time width. What --coarsen=auto asks of loops was read from
// these (src/passes/coarsen/PROOF.md, small launches); --coarsen-budget=1000 has room for
// all.
#include "programs.cuh"

template <class T> __global__ void mm(const T* A, const T* B, T* C, int n, int m, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && col < m) {
    T s = 0;
    for (int i = 0; i < k; i++)
      s += A[row * k + i] * B[i * m + col];
    C[row * m + col] = s;
  }
}

template <class T>
__global__ void mmr(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || j >= n) return;
  T s = 0;
  for (int k = 0; k < n; k++)
    s += A[i * n + k] * B[k * n + j];
  C[i * n + j] = s;
}

template <class T>
__global__ void gemm(T alpha, const T* A, const T* B, T beta, T* C, size_t n, size_t K) {
  size_t j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  size_t i = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    T s = 0;
    for (size_t k = 0; k < K; k++)
      s += A[i * K + k] * B[k * n + j];
    C[i * n + j] = alpha * s + beta;
  }
}

template <class T>
__global__ void convr(const T* __restrict__ in, const T* __restrict__ w, T* __restrict__ out, int W,
                      int H, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  T s = 0;
  for (int j = -r; j <= r; j++)
    for (int i = -r; i <= r; i++) {
      int xx = min(max(x + i, 0), W - 1), yy = min(max(y + j, 0), H - 1);
      s += w[(j + r) * (2 * r + 1) + i + r] * in[yy * W + xx];
    }
  out[y * W + x] = s;
}

template <class T>
__global__ void dist(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ d, int n,
                     int m, int dim) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m) {
    T s = 0;
    for (int k = 0; k < dim; k++) {
      T t = a[k * n + i] - b[k * m + j];
      s += t * t;
    }
    d[(size_t)i * m + j] = s;
  }
}

template <class T>
__global__ void fir(const T* __restrict__ x, const T* __restrict__ h, T* __restrict__ y, int n,
                    int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - taps) return;
  T s = 0;
  for (int k = 0; k < taps; k++)
    s += h[k] * x[i + k];
  y[i] = s;
}

template <class T> uint64_t digest(void* p) {
  return ((Buf<T>*)p)->digest();
}

template <class T> void all(const std::string& type) {
  for (int n : {64, 200, 512, 1000, 2048, 4000}) {
    int k = n < 1000 ? n : n < 2000 ? 500 : 200;
    Buf<T> A((size_t)n * n), B((size_t)n * n), C((size_t)n * n, false);
    std::string shape = std::to_string(n);
    dim3 square(16, 16), squares((n + 15) / 16, (n + 15) / 16);
    dim3 flat(32, 8), flats((n + 31) / 32, (n + 7) / 8);
    const auto timed = [&](const char* name, auto launch) {
      report((name + type).c_str(), shape, launch, digest<T>, &C);
    };
    timed("mm", [&] { mm<T><<<squares, square>>>(A.d, B.d, C.d, n, n, k); });
    timed("mm_32x8", [&] { mm<T><<<flats, flat>>>(A.d, B.d, C.d, n, n, k); });
    if (n <= 2048) timed("mmr", [&] { mmr<T><<<squares, square>>>(A.d, B.d, C.d, n); });
    timed("gemm", [&] { gemm<T><<<flats, flat>>>(T(3), A.d, B.d, T(2), C.d, n, k); });
    timed("convr", [&] { convr<T><<<flats, flat>>>(A.d, B.d, C.d, n, n, 3); });
    timed("dist", [&] { dist<T><<<squares, square>>>(A.d, B.d, C.d, n, n, 40); });
    timed("fir", [&] { fir<T><<<(n * n + 255) / 256, 256>>>(A.d, B.d, C.d, n * n, 50); });
  }
}

int main() {
  all<float>("<float>");
  all<double>("<double>");
  all<int>("<int>");
}
