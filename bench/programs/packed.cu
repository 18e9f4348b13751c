// What large language models spend their time in when they answer one question: a matrix of packed
// weights (3 or 4 bits) times a vector, the sum split over blocks that add up by atomics; beside it
// products that are split along k, and tiles that are double-buffered. Inputs are small integers,
// so that sums are exact and their order does not show.
#include "programs.cuh"

constexpr int wide = 256; // threads of a block, and elements of the vector that one works on

template <class T> __device__ T number(unsigned bits) {
  return T((int)bits);
}
template <> __device__ __half number<__half>(unsigned bits) {
  return __int2half_rn((int)bits);
}

// 256 weights of 3 bits in 24 words.
template <class T>
__global__ void times_3_bits(const T* __restrict__ x, const int* __restrict__ m, T* __restrict__ y,
                             const T* __restrict__ scales, const T* __restrict__ zeros, int width) {
  __shared__ T part[wide];
  const int column = wide * blockIdx.y + threadIdx.x;
  part[threadIdx.x] = x[blockIdx.x * wide + threadIdx.x];
  __syncthreads();
  const T scale = scales[column], zero = zeros[column];
  T sum = number<T>(0);
  int i = width * 24 * blockIdx.x + column;
  for (int k = 0; k < wide; k += 32) {
    const unsigned a = m[i], b = m[i + width], c = m[i + 2 * width];
    i += 3 * width;
#pragma unroll
    for (int n = 0; n < 10; ++n)
      sum += (scale * number<T>(a >> 3 * n & 7) - zero) * part[k + n];
    sum += (scale * number<T>(a >> 30 | (b << 2 & 4)) - zero) * part[k + 10];
#pragma unroll
    for (int n = 0; n < 10; ++n)
      sum += (scale * number<T>(b >> (3 * n + 1) & 7) - zero) * part[k + 11 + n];
    sum += (scale * number<T>(b >> 31 | (c << 1 & 6)) - zero) * part[k + 21];
#pragma unroll
    for (int n = 0; n < 10; ++n)
      sum += (scale * number<T>(c >> (3 * n + 2) & 7) - zero) * part[k + 22 + n];
  }
  atomicAdd(&y[column], sum);
}

// 256 weights of 4 bits in 32 words, two at a time out of a table in shared memory.
template <class T>
__global__ void times_4_bits(const T* __restrict__ x, const int* __restrict__ m, T* __restrict__ y,
                             const T* __restrict__ scales, const T* __restrict__ zeros, int width) {
  __shared__ T part[wide], first[256], second[256];
  const int column = wide * blockIdx.y + threadIdx.x;
  part[threadIdx.x] = x[blockIdx.x * wide + threadIdx.x];
  first[threadIdx.x] = number<T>(threadIdx.x & 15);
  second[threadIdx.x] = number<T>(threadIdx.x >> 4);
  __syncthreads();
  const T scale = scales[column], zero = zeros[column];
  T sum = number<T>(0);
  int i = width * 32 * blockIdx.x + column;
  for (int k = 0; k < wide; k += 8) {
    const unsigned word = m[i];
    i += width;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const unsigned pair = word >> 8 * n & 255;
      sum += (scale * first[pair] - zero) * part[k + 2 * n];
      sum += (scale * second[pair] - zero) * part[k + 2 * n + 1];
    }
  }
  atomicAdd(&y[column], sum);
}

// Products of tiles, each block a part of k.
template <class T>
__global__ void split_k(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int n,
                        int part) {
  __shared__ T s[16][16], t[16][17];
  const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
  const int begin = blockIdx.z * part, end = min(n, begin + part);
  T sum = 0;
  for (int k = begin; k < end; k += 16) {
    s[y][x] = i < n && k + x < end ? a[i * n + k + x] : 0;
    t[y][x] = j < n && k + y < end ? b[(k + y) * n + j] : 0;
    __syncthreads();
    for (int q = 0; q < 16; ++q)
      sum += s[y][q] * t[q][x];
    __syncthreads();
  }
  if (i < n && j < n) atomicAdd(&c[i * n + j], sum);
}

// A dot product of rows and a vector, a part of the row in each block.
__global__ void rows_split(const float* __restrict__ a, const float* __restrict__ x,
                           float* __restrict__ y, int n, int part) {
  __shared__ float sums[8];
  const int row = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int begin = blockIdx.x * part, end = min(n, begin + part);
  float sum = 0;
  for (int k = begin + threadIdx.x; k < end; k += wide)
    sum += a[(size_t)row * n + k] * x[k];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w)
      sum += sums[w];
    atomicAdd(&y[row], sum);
  }
}

// The next tile is under way while this one is used.
template <class T>
__global__ void double_buffered(const T* __restrict__ a, T* __restrict__ c, int n) {
  __shared__ T s[2][64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  T sum = 0, next = t < n ? a[t] : 0;
  const int tiles = (n + 63) / 64;
  for (int q = 0; q < tiles; ++q) {
    s[q & 1][t] = next;
    __syncthreads();
    const int j = (q + 1) * 64 + t;
    next = j < n ? a[j] : 0;
    for (int p = 0; p < 64; ++p)
      sum += s[q & 1][p] * (1 + ((p + t) & 1));
  }
  if (i < n) c[i] = sum;
}

// Below `most`; all but one of so many are zeros.
template <class T> static void small_numbers(Buf<T>& buffer, int most, int one_of = 1) {
  std::vector<T> values(buffer.n);
  for (T& value : values)
    value = T((float)(next_random() % one_of == 0 ? next_random() % most : 0));
  CHECK(cudaMemcpy(buffer.d, values.data(), buffer.n * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T> static uint64_t digest_of(void* buffer) {
  return ((Buf<T>*)buffer)->digest();
}
// From an output of zeros: `add` adds to it.
template <class T, class F>
static void timed(const char* name, const std::string& shape, Buf<T>& out, F add) {
  CHECK(cudaMemset(out.d, 0, out.n * sizeof(T)));
  report(name, shape, add, digest_of<T>, &out);
}

template <class T> static void packed(const std::string& type, int parts, int columns) {
  const std::string shape = std::to_string(parts) + "x" + std::to_string(columns);
  const int width = columns * wide;
  Buf<T> x(parts * wide), y(width), scales(width), zeros(width);
  small_numbers(x, 2, 200); // sums stay below 2,048, so that halves hold them in any order
  small_numbers(scales, 2), small_numbers(zeros, 2);
  Buf<int> m((size_t)parts * 32 * width);
  const dim3 grid(parts, columns);
  timed(("times_3_bits" + type).c_str(), shape, y,
        [&] { times_3_bits<<<grid, wide>>>(x.d, m.d, y.d, scales.d, zeros.d, width); });
  timed(("times_4_bits" + type).c_str(), shape, y,
        [&] { times_4_bits<<<grid, wide>>>(x.d, m.d, y.d, scales.d, zeros.d, width); });
}

template <class T> static void split(const std::string& type, int n, int parts) {
  const std::string shape = std::to_string(n) + "/" + std::to_string(parts);
  Buf<T> a((size_t)n * n), b((size_t)n * n), c((size_t)n * n);
  small_numbers(a, 3), small_numbers(b, 3);
  const int part = ((n + parts - 1) / parts + 15) / 16 * 16, tiles = (n + 15) / 16;
  timed(("split_k" + type).c_str(), shape, c,
        [&] { split_k<<<dim3(tiles, tiles, parts), dim3(16, 16)>>>(a.d, b.d, c.d, n, part); });
}

template <class T> static void buffered(const std::string& type, int n) {
  Buf<T> a(n), c(n);
  small_numbers(a, 3);
  timed(("double_buffered" + type).c_str(), std::to_string(n), c,
        [&] { double_buffered<<<(n + 63) / 64, 64>>>(a.d, c.d, n); });
}

int main() {
  for (const auto& [parts, columns] : {std::pair(16, 16), std::pair(48, 16), std::pair(16, 48),
                                       std::pair(64, 64), std::pair(192, 48)}) {
    packed<float>("<float>", parts, columns);
    packed<__half>("<half>", parts, columns);
  }
  for (const auto& [n, parts] :
       {std::pair(256, 8), std::pair(512, 4), std::pair(1000, 7), std::pair(2048, 2)}) {
    split<float>("<float>", n, parts);
    split<int>("<int>", n, parts);
  }
  for (const std::pair<int, int> size :
       {std::pair(1024, 4), std::pair(4096, 8), std::pair(8192, 4)}) {
    const int n = size.first, parts = size.second;
    const std::string shape = std::to_string(n) + "/" + std::to_string(parts);
    Buf<float> a((size_t)n * n), x(n), y(n);
    small_numbers(a, 3), small_numbers(x, 3);
    const int part = (n + parts - 1) / parts;
    timed("rows_split", shape, y,
          [&] { rows_split<<<dim3(parts, n), wide>>>(a.d, x.d, y.d, n, part); });
  }
  for (const int n : {2000, 5000, 20000, 60000}) {
    buffered<double>("<double>", n);
    buffered<float>("<float>", n);
    buffered<int>("<int>", n);
    buffered<signed char>("<signed char>", n);
  }
}
