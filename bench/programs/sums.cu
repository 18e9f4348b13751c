// Loops over global memory whose threads do not meet, held back when the rule for loops was made
// (products.cu has those it was read from): matching, clustering, transforms, filters, layers,
// triangles, masks, early ends. --coarsen-budget=1000 has room for all.
#include "programs.cuh"

template <> float2 make<float2>(uint64_t r) {
  return make_float2(float(r % 201) / 100 - 1, float(r / 201 % 201) / 100 - 1);
}

#define X (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define Y (int)(blockIdx.y * blockDim.y + threadIdx.y)

// a is n x d by rows, means d: entries of the upper triangle.
__global__ void covariance(const float* a, const float* mean, float* c, int n, int d) {
  int j = X, i = Y;
  if (i >= d || j >= d || j < i) return;
  float s = 0;
  for (int k = 0; k < n; k++)
    s += (a[k * d + i] - mean[i]) * (a[k * d + j] - mean[j]);
  c[i * d + j] = s / (n - 1);
}
template <class T>
__global__ void times_transposed(const T* __restrict__ a, const T* __restrict__ b,
                                 T* __restrict__ c, int n, int m, int k) {
  const int row = Y, col = X;
  if (row < n && col < m) {
    T sum{};
    for (int i = 0; i < k; ++i)
      sum += a[i * n + row] * b[i * m + col];
    c[row * m + col] = sum;
  }
}
__global__ void product_complex(const float2* a, const float2* b, float2* c, int n, int k) {
  int row = Y, col = X;
  if (row >= n || col >= n) return;
  float2 s = {0, 0};
  for (int i = 0; i < k; i++) {
    float2 p = a[row * k + i], q = b[i * n + col];
    s.x += p.x * q.x - p.y * q.y;
    s.y += p.x * q.y + p.y * q.x;
  }
  c[row * n + col] = s;
}
__global__ void product_half(const __half* a, const __half* b, float* c, int n, int k) {
  int row = Y, col = X;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int i = 0; i < k; i++)
    s += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
  c[row * n + col] = s;
}
template <class T> __global__ void lower(const T* l, const T* b, T* c, int n) {
  int row = Y, col = X;
  if (row >= n || col >= n) return;
  T s = 0;
  for (int k = 0; k <= row; k++)
    s += l[row * n + k] * b[k * n + col];
  c[row * n + col] = s;
}
__global__ void batched(const float* __restrict__ a, const float* __restrict__ b, float* c, int n,
                        int k) {
  int row = Y, col = X, z = blockIdx.z;
  if (row >= n || col >= n) return;
  a += (size_t)z * n * k;
  float s = 0;
#pragma unroll 2
  for (int i = 0; i < k; i++)
    s += a[row * k + i] * b[i * n + col];
  c[((size_t)z * n + row) * n + col] = s;
}
__global__ void linear_index(const double* a, const double* b, double* c, int n, int k) {
  int id = X;
  if (id >= n * n) return;
  int row = id / n, col = id % n;
  double s = 0;
  for (int i = 0; i < k; i++)
    s += a[row * k + i] * b[i * n + col];
  c[id] = s;
}
__global__ void nearest(const float* points, const float* centres, int* to, int n, int centre,
                        int d) {
  int p = X;
  if (p >= n) return;
  float best = 3e38f;
  int at = -1;
  for (int c = 0; c < centre; c++) {
    float s = 0;
    for (int k = 0; k < d; k++) {
      float t = points[k * n + p] - centres[c * d + k];
      s += t * t;
    }
    if (s < best) best = s, at = c;
  }
  to[p] = at;
}
template <class T> __global__ void manhattan(const T* a, const T* b, T* d, int n, int m, int dim) {
  int i = Y, j = X;
  if (i >= n || j >= m) return;
  T s = 0;
  for (int k = 0; k < dim; k++) {
    T t = a[i * dim + k] - b[k * m + j];
    s += t < 0 ? -t : t;
  }
  d[i * m + j] = s;
}
__global__ void hamming(const unsigned* __restrict__ a, const unsigned* __restrict__ b, int* d,
                        int n, int m, int words) {
  int i = Y, j = X;
  if (i >= n || j >= m) return;
  int s = 0;
  for (int k = 0; k < words; k++)
    s += __popc(a[i * words + k] ^ b[k * m + j]);
  d[i * m + j] = s;
}
__global__ void transform(const float* in, const float2* table, float2* out, int n, int rows) {
  int f = X, r = Y;
  if (f >= n || r >= rows) return;
  float re = 0, im = 0;
  for (int t = 0; t < n; t++) {
    float2 w = table[(f * t) % n];
    re += in[r * n + t] * w.x;
    im -= in[r * n + t] * w.y;
  }
  out[r * n + f] = make_float2(re, im);
}
__global__ void mean_in_window(const float* in, float* out, int w, int h, int r) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  float s = 0;
  int n = 0;
  for (int j = max(0, y - r); j <= min(h - 1, y + r); j++)
    for (int i = max(0, x - r); i <= min(w - 1, x + r); i++)
      s += in[j * w + i], n++;
  out[y * w + x] = s / n;
}
template <class T>
__global__ void rows_filtered(const T* __restrict__ in, const T* __restrict__ k, T* out, int w,
                              int h, int r) {
  int x = X, y = Y;
  if (x < r || x >= w - r || y < r || y >= h - r) return;
  T s = 0;
  for (int j = -r; j <= r; j++)
    s += k[j + r] * in[(y + j) * w + x];
  out[y * w + x] = s;
}
__global__ void bilateral(const float* in, float* out, int w, int h, int r, float s1, float s2) {
  int x = X, y = Y;
  if (x < r || y < r || x >= w - r || y >= h - r) return;
  float c = in[y * w + x], sum = 0, all = 0;
  for (int j = -r; j <= r; j++)
    for (int i = -r; i <= r; i++) {
      float v = in[(y + j) * w + x + i], d = v - c;
      float g = __expf(-(i * i + j * j) * s1 - d * d * s2);
      sum += g * v, all += g;
    }
  out[y * w + x] = sum / all;
}
__global__ void matched(const unsigned char* l, const unsigned char* r, unsigned char* disparity,
                        int w, int h, int most) {
  int x = X, y = Y;
  if (x < most + 3 || x >= w - 3 || y < 3 || y >= h - 3) return;
  int best = 1 << 30, at = 0;
  for (int d = 0; d < most; d++) {
    int s = 0;
    for (int j = -3; j <= 3; j++)
      for (int i = -3; i <= 3; i++)
        s += abs((int)l[(y + j) * w + x + i] - (int)r[(y + j) * w + x + i - d]);
    if (s < best) best = s, at = d;
  }
  disparity[y * w + x] = at;
}
__global__ void layer(const float* __restrict__ in, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* out, int c, int h, int w) {
  int x = X, y = Y, o = blockIdx.z;
  if (x >= w - 2 || y >= h - 2) return;
  float s = bias[o];
  for (int k = 0; k < c; k++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++)
        s += weight[((o * c + k) * 3 + j) * 3 + i] * in[(k * h + y + j) * w + x + i];
  out[(o * h + y) * w + x] = fmaxf(s, 0.f);
}
__global__ void scores(const float* q, const float* k, float* s, int n, int d, float scale) {
  int j = X, i = Y;
  if (i >= n || j >= n) return;
  float a = 0;
  for (int e = 0; e < d; e++)
    a += q[i * d + e] * k[e * n + j];
  s[i * n + j] = a * scale;
}
__global__ void masked_sum(const float* a, const unsigned char* mask, const float* b, float* c,
                           int n, int k) {
  int row = Y, col = X;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int i = 0; i < k; i++)
    if (mask[i * n + col]) s += a[row * k + i] * b[i * n + col];
  c[row * n + col] = s;
}
__global__ void first_over(const float* a, const float* b, int* at, int n, int k, float most) {
  int row = Y, col = X;
  if (row >= n || col >= n) return;
  int i = 0;
  float s = 0;
  while (i < k) {
    s += a[row * k + i] * a[row * k + i] + b[i * n + col] * b[i * n + col];
    if (s > most) break;
    ++i;
  }
  at[row * n + col] = i;
}
__global__ void density(const double* __restrict__ at, const double* __restrict__ samples,
                        double* out, int n, int m, double h) {
  int i = X;
  if (i >= n) return;
  double s = 0;
  for (int k = 0; k < m; k++) {
    double t = (at[i] - samples[k]) * h;
    s += 1 / (1 + t * t);
  }
  out[i] = s;
}
__global__ void sparse(const int* first, const int* column, const float* value, const float* x,
                       float* y, int rows, int sides) {
  int row = X, side = Y;
  if (row >= rows || side >= sides) return;
  float s = 0;
  for (int e = first[row]; e < first[row + 1]; e++)
    s += value[e] * x[(size_t)side * rows + column[e]];
  y[(size_t)side * rows + row] = s;
}
__global__ void two_by_two(const float* a, const float* b, float* c, int n, int k) {
  int row = 2 * Y, col = X;
  if (row + 1 >= n || col >= n) return;
  float s = 0, t = 0;
  for (int i = 0; i < k; i++) {
    s += a[row * k + i] * b[i * n + col];
    t += a[(row + 1) * k + i] * b[i * n + col];
  }
  c[row * n + col] = s;
  c[(row + 1) * n + col] = t;
}
__global__ void added(const float* a, const float* b, float* c, int n, int k, float alpha) {
  int row = Y, col = X;
  if (row < n && col < n)
    for (int i = 0; i < k; i++)
      c[row * n + col] += alpha * a[row * k + i] * b[i * n + col];
}

template <class T> uint64_t digest(void* p) {
  return ((Buf<T>*)p)->digest();
}
static unsigned up(int n, int by) {
  return (n + by - 1) / by;
}
template <class T> void tame(Buf<T>& b) {
  std::vector<T> v(b.n);
  for (T& e : v)
    e = T((int)(next_random() % 2001) - 1000) / T(77);
  CHECK(cudaMemcpy(b.d, v.data(), b.n * sizeof(T), cudaMemcpyHostToDevice));
}
#define ON(NAME, TYPE, OUT, GRID, BLOCK, ...)                                                      \
  CHECK(cudaMemset(OUT.d, 0, OUT.n * sizeof(TYPE)));                                               \
  report(                                                                                          \
      #NAME, shape, [&] { NAME<<<GRID, BLOCK>>>(__VA_ARGS__); }, digest<TYPE>, &OUT)

static void squares(int n, int k) {
  const std::string shape = std::to_string(n) + "x" + std::to_string(n) + "x" + std::to_string(k);
  Buf<float> a((size_t)n * k), b((size_t)n * k), c((size_t)n * n, false);
  Buf<double> da((size_t)n * k), db((size_t)n * k), dc((size_t)n * n, false);
  Buf<int> ia((size_t)n * k), ib((size_t)n * k), ic((size_t)n * n, false);
  Buf<__half> ha((size_t)n * k), hb((size_t)n * k);
  Buf<unsigned char> mask((size_t)n * k);
  tame(a), tame(b);
  dim3 square(16, 16), wide(32, 8), tall(8, 32), line(128, 1);
  const auto grid = [&](dim3 block) { return dim3(up(n, block.x), up(n, block.y)); };
  ON(covariance, float, c, grid(square), square, a.d, b.d, c.d, k, n);
  ON(times_transposed<float>, float, c, grid(wide), wide, a.d, b.d, c.d, n, n, k);
  ON(times_transposed<double>, double, dc, grid(square), square, da.d, db.d, dc.d, n, n, k);
  ON(times_transposed<int>, int, ic, grid(tall), tall, ia.d, ib.d, ic.d, n, n, k);
  ON(product_complex, float, c, dim3(up(n / 2, 32), up(n / 2, 8)), wide, (float2*)a.d, (float2*)b.d,
     (float2*)c.d, n / 2, k);
  ON(product_half, float, c, grid(square), square, ha.d, hb.d, c.d, n, k);
  ON(linear_index, double, dc, up(n * n, 256), 256, da.d, db.d, dc.d, n, k);
  ON(manhattan<float>, float, c, grid(wide), wide, a.d, b.d, c.d, n, n, k);
  ON(manhattan<int>, int, ic, grid(line), line, ia.d, ib.d, ic.d, n, n, k);
  ON(hamming, int, ic, grid(square), square, (unsigned*)ia.d, (unsigned*)ib.d, ic.d, n, n, k);
  ON(scores, float, c, grid(line), line, a.d, b.d, c.d, n, k, 0.125f);
  ON(masked_sum, float, c, grid(wide), wide, a.d, mask.d, b.d, c.d, n, k);
  ON(first_over, int, ic, grid(square), square, a.d, b.d, ic.d, n, k, 3000.f);
  ON(two_by_two, float, c, dim3(up(n, 32), up(n / 2, 8)), wide, a.d, b.d, c.d, n, k);
  ON(added, float, c, grid(wide), wide, a.d, b.d, c.d, n, k, 0.01f);
  if (n > 1500) return;
  Buf<float> l((size_t)n * n), r((size_t)n * n);
  Buf<double> dl((size_t)n * n), dr((size_t)n * n);
  ON(lower<float>, float, c, grid(wide), wide, l.d, r.d, c.d, n);
  ON(lower<double>, double, dc, grid(square), square, dl.d, dr.d, dc.d, n);
  Buf<float2> table(n), spectrum((size_t)n * k, false);
  ON(transform, float2, spectrum, dim3(up(n, 64), up(k, 4)), dim3(64, 4), a.d, table.d, spectrum.d,
     n, k);
}

static void planes(int w, int h, int r) {
  const std::string shape = std::to_string(w) + "x" + std::to_string(h) + "x" + std::to_string(r);
  Buf<float> in((size_t)w * h), weight(1024), out((size_t)w * h, false);
  Buf<double> din((size_t)w * h), dweight(1024), dout((size_t)w * h, false);
  Buf<unsigned char> left((size_t)w * h), right((size_t)w * h), shift((size_t)w * h, false);
  tame(in), tame(weight);
  dim3 wide(32, 8), square(16, 16), line(256, 1);
  const auto grid = [&](dim3 block) { return dim3(up(w, block.x), up(h, block.y)); };
  ON(mean_in_window, float, out, grid(square), square, in.d, out.d, w, h, r);
  ON(rows_filtered<float>, float, out, grid(line), line, in.d, weight.d, out.d, w, h, r);
  ON(rows_filtered<double>, double, dout, grid(wide), wide, din.d, dweight.d, dout.d, w, h, r);
  ON(bilateral, float, out, grid(wide), wide, in.d, out.d, w, h, r, 0.1f, 0.01f);
  ON(matched, unsigned char, shift, grid(wide), wide, left.d, right.d, shift.d, w, h, 4 * r);
  if ((size_t)w * h > 1000000) return;
  Buf<float> stack((size_t)w * h * 8), weights(8 * 8 * 9), biases(8),
      stacked((size_t)w * h * 8, false);
  tame(stack), tame(weights), tame(biases);
  ON(layer, float, stacked, dim3(up(w, 32), up(h, 8), 8), wide, stack.d, weights.d, biases.d,
     stacked.d, 8, h, w);
}

static void lines(int n, int m) {
  const std::string shape = std::to_string(n) + "x" + std::to_string(m);
  Buf<float> points((size_t)n * 3), centres(m * 3), value((size_t)n * 8), x((size_t)n * 4),
      y((size_t)n * 4, false);
  Buf<int> to(n, false), first(n + 1, false), column((size_t)n * 8, false);
  Buf<double> at(n), samples(m), out(n, false);
  std::vector<int> begin(n + 1), where((size_t)n * 8);
  for (int i = 0; i <= n; ++i)
    begin[i] = i * 7 + i % 2;
  for (size_t i = 0; i < where.size(); ++i)
    where[i] = (int)((i / 7 + next_random() % 100) % n);
  CHECK(cudaMemcpy(first.d, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(column.d, where.data(), where.size() * 4, cudaMemcpyHostToDevice));
  ON(nearest, int, to, up(n, 256), 256, points.d, centres.d, to.d, n, m, 3);
  ON(density, double, out, up(n, 128), 128, at.d, samples.d, out.d, n, m, 0.1);
  ON(sparse, float, y, dim3(up(n, 128), 4), 128, first.d, column.d, value.d, x.d, y.d, n, 4);
}

static void batches(int n, int k, int many) {
  const std::string shape =
      std::to_string(n) + "x" + std::to_string(k) + "x" + std::to_string(many);
  Buf<float> a((size_t)n * k * many), b((size_t)n * k), c((size_t)n * n * many, false);
  ON(batched, float, c, dim3(up(n, 16), up(n, 16), many), dim3(16, 16), a.d, b.d, c.d, n, k);
}

int main() {
  for (int n : {17, 100, 360, 510, 740, 1030, 2050, 3001})
    squares(n, n < 1000 ? 256 : 100);
  squares(733, 7);
  squares(1200, 33);
  for (int r : {1, 4})
    for (const auto& [w, h] : {std::pair(60, 50), std::pair(640, 480), std::pair(1023, 767),
                               std::pair(100000, 12), std::pair(40, 30000), std::pair(1920, 1080)})
      planes(w, h, r);
  for (int n : {1000, 60000, 300001, 1500000})
    lines(n, 64);
  for (int many : {1, 5, 40})
    batches(250, 64, many);
}
