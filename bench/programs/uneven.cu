// Work that hangs on data or on the block: blocks that are merged share it otherwise, and the
// launch ends with the slowest. A picture of a fractal, rows of a triangle, sparse rows of unequal
// length, a walk along chains, and a sum over windows whose width a table holds.
#include "programs.cuh"

__global__ void fractal(unsigned* out, int w, int h, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const float cr = x * 3.f / w - 2, ci = y * 2.f / h - 1;
  float r = 0, i = 0;
  int k = 0;
  for (; k < most && r * r + i * i < 4; ++k) {
    const float t = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = t;
  }
  out[y * w + x] = k;
}

template <class T> __global__ void triangle(const T* a, const T* x, T* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  T sum = 0;
  for (int k = 0; k <= row; ++k)
    sum += a[(size_t)k * n + row] * x[k];
  y[row] = sum;
}

template <class T>
__global__ void sparse(const int* first, const int* column, const T* value, const T* x, T* y,
                       int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  T sum = 0;
  for (int k = first[row]; k < first[row + 1]; ++k)
    sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void chains(const int* next, int* length, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int steps = 0;
  for (int at = i; at != 0 && steps < 4096; at = next[at])
    ++steps;
  length[i] = steps;
}

template <class T> __global__ void windows(const T* in, const int* width, T* out, int n, int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= rows) return;
  T sum = 0;
  const int reach = width[y];
  for (int d = -reach; d <= reach; ++d)
    if (x + d >= 0 && x + d < n) sum += in[(size_t)y * n + x + d];
  out[(size_t)y * n + x] = sum;
}

template <class T> static uint64_t digest_of(void* buffer) {
  return ((Buf<T>*)buffer)->digest();
}
static void put(Buf<int>& buffer, const std::vector<int>& values) {
  CHECK(cudaMemcpy(buffer.d, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
}

template <class T> static void of_type(const std::string& type) {
  for (const int n : {500, 2048, 6000}) {
    Buf<T> a((size_t)n * n), x(n), y(n);
    report(("triangle" + type).c_str(), std::to_string(n),
           [&] { triangle<<<(n + 127) / 128, 128>>>(a.d, x.d, y.d, n); }, digest_of<T>, &y);
  }
  for (const int n : {3000, 50000, 400000}) {
    std::vector<int> first(n + 1), column;
    for (int row = 0; row < n; ++row) { // most are short; runs of long ones lie together
      const int length = row / 700 % 16 == 3 ? 200 : 1 + (int)(next_random() % 9);
      for (int k = 0; k < length; ++k)
        column.push_back((int)(next_random() % n));
      first[row + 1] = (int)column.size();
    }
    Buf<int> f(n + 1), c(column.size());
    put(f, first), put(c, column);
    Buf<T> value(column.size()), x(n), y(n);
    report(("sparse" + type).c_str(), std::to_string(n),
           [&] { sparse<<<(n + 255) / 256, 256>>>(f.d, c.d, value.d, x.d, y.d, n); }, digest_of<T>,
           &y);
  }
  for (const std::pair<int, int> size :
       {std::pair(300, 64), std::pair(1024, 512), std::pair(4096, 1024)}) {
    const int n = size.first, rows = size.second;
    std::vector<int> width(rows);
    for (int y = 0; y < rows; ++y)
      width[y] = y / 16 % 8 == 5 ? 60 : 2;
    Buf<int> w(rows);
    put(w, width);
    Buf<T> in((size_t)n * rows), out((size_t)n * rows);
    report(("windows" + type).c_str(), std::to_string(n) + "x" + std::to_string(rows),
           [&] {
             windows<<<dim3((n + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in.d, w.d, out.d, n,
                                                                           rows);
           },
           digest_of<T>, &out);
  }
}

int main() {
  for (const int n : {128, 600, 1024, 2048}) {
    Buf<unsigned> out((size_t)n * n);
    report(
        "fractal", std::to_string(n),
        [&] { fractal<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(out.d, n, n, 200); },
        digest_of<unsigned>, &out);
  }
  of_type<float>("<float>");
  of_type<double>("<double>");
  of_type<int>("<int>");
  for (const int n : {5000, 100000, 1000000}) {
    std::vector<int> next(n);
    for (int i = 1; i < n; ++i)
      next[i] = i - 1 - (int)(next_random() % (i < 64 ? i : 64)) / 2;
    for (int& at : next)
      at = at < 0 ? 0 : at;
    Buf<int> links(n), length(n);
    put(links, next);
    report(
        "chains", std::to_string(n),
        [&] { chains<<<(n + 255) / 256, 256>>>(links.d, length.d, n); }, digest_of<int>, &length);
  }
}
