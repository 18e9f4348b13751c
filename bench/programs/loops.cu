// Iterated stencils (rims of all kinds, hosts that read under way, parameters that change),
// products of matrices, images, gathers: loops of launches of all sizes, each against the wall of
// an event.
#include "programs.cuh"

__global__ void heat(const float* __restrict__ a, float* __restrict__ b, int w, int h, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    b[y * w + x] = a[y * w + x] + c * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] +
                                       a[(y + 1) * w + x] - 4.f * a[y * w + x]);
}
__global__ void heat_noalias(float* a, float* b, int w, int h, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int l = max(x - 1, 0), r = min(x + 1, w - 1), u = max(y - 1, 0), d = min(y + 1, h - 1);
  b[y * w + x] = a[y * w + x] + c * (a[y * w + l] + a[y * w + r] + a[u * w + x] + a[d * w + x] -
                                     4.f * a[y * w + x]);
}
__global__ void heat_periodic(const double* a, double* b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h, d = (y + 1) % h;
  b[y * w + x] = 0.2 * (a[y * w + x] + a[y * w + l] + a[y * w + r] + a[u * w + x] + a[d * w + x]);
}
__global__ void life(const unsigned char* a, unsigned char* b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int s = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i)
      if (i || j) s += a[(y + j) * w + x + i] & 1;
  b[y * w + x] = s == 3 || (s == 2 && (a[y * w + x] & 1));
}
__global__ void wave(const float* o, const float* n, float* r, int w, int h, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  r[i] = 2.f * n[i] - o[i] + k * (n[i - 1] + n[i + 1] + n[i - w] + n[i + w] - 4.f * n[i]);
}
__global__ void hot(const float* t, const float* p, float* r, int w, int h, float rx, float ry,
                    float rz, float cap) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x;
  float c = t[i], l = x ? t[i - 1] : c, e = x < w - 1 ? t[i + 1] : c, u = y ? t[i - w] : c,
        d = y < h - 1 ? t[i + w] : c;
  r[i] = c + cap * (p[i] + (u + d - 2.f * c) * ry + (l + e - 2.f * c) * rx + (80.f - c) * rz);
}
__global__ void one_d(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 && i < n - 2)
    b[i] = 0.1f * a[i - 2] + 0.2f * a[i - 1] + 0.4f * a[i] + 0.2f * a[i + 1] + 0.1f * a[i + 2];
}
__global__ void inplace(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 1.0001f + 0.5f;
}
__global__ void seven(const float* a, float* b, int w, int h, int d) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= w - 1 || y >= h - 1 || z >= d - 1) return;
  int i = (z * h + y) * w + x, p = w * h;
  b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] + a[i - p] + a[i + p]);
}
__global__ void march(const float* a, float* b, int w, int h, int d) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int p = w * h, i = y * w + x + p;
  for (int z = 1; z < d - 1; ++z, i += p)
    b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] + a[i - p] + a[i + p]);
}
__global__ void fvx(float* ex, const float* hz, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y > 0 && y < h) ex[y * w + x] -= 0.5f * (hz[y * w + x] - hz[(y - 1) * w + x]);
}
__global__ void fvh(float* hz, const float* ex, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w - 1 && y < h - 1) hz[y * w + x] -= 0.7f * (ex[(y + 1) * w + x] - ex[y * w + x]);
}
__global__ void mm(const float* a, const float* b, float* c, int n) {
  __shared__ float A[16][16], B[16][16];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
  float s = 0;
  for (int k = 0; k < n; k += 16) {
    A[y][x] = (i < n && k + x < n) ? a[i * n + k + x] : 0;
    B[y][x] = (j < n && k + y < n) ? b[(k + y) * n + j] : 0;
    __syncthreads();
    for (int q = 0; q < 16; ++q)
      s += A[y][q] * B[q][x];
    __syncthreads();
  }
  if (i < n && j < n) c[i * n + j] = s;
}
__global__ void gemv(const float* a, const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    float s = 0;
    for (int k = 0; k < n; ++k)
      s += a[r * n + k] * x[k];
    y[r] = s;
  }
}
__global__ void gemvT(const float* a, const float* x, float* y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    float s = 0;
    for (int k = 0; k < n; ++k)
      s += a[k * n + r] * x[k];
    y[r] = s;
  }
}
__global__ void transpose(const float* a, float* b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) b[x * h + y] = a[y * w + x];
}
__global__ void transposeS(const float* a, float* b, int w, int h) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) b[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}
__global__ void blur(const float* a, float* b, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0;
  int n = 0;
  for (int j = -r; j <= r; ++j)
    for (int i = -r; i <= r; ++i) {
      int X = x + i, Y = y + j;
      if (X >= 0 && X < w && Y >= 0 && Y < h) {
        s += a[Y * w + X];
        ++n;
      }
    }
  b[y * w + x] = s / n;
}
__global__ void conv5(const float* __restrict__ a, const float* __restrict__ k,
                      float* __restrict__ b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y * blockDim.y + threadIdx.y + 2;
  if (x >= w - 2 || y >= h - 2) return;
  float s = 0;
#pragma unroll
  for (int j = 0; j < 5; ++j)
#pragma unroll
    for (int i = 0; i < 5; ++i)
      s += a[(y + j - 2) * w + x + i - 2] * k[j * 5 + i];
  b[y * w + x] = s;
}
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void grid_stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = sqrtf(fabsf(x[i])) * 2.f;
}
__global__ void nbody(const float4* p, float4* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    float4 o = p[j];
    float dx = o.x - q.x, dy = o.y - q.y, dz = o.z - q.z,
          r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float f = o.w * r * r * r;
    ax += dx * f;
    ay += dy * f;
    az += dz * f;
  }
  v[i] = make_float4(ax, ay, az, 0);
}
__global__ void spmv(const int* row, const int* col, const float* val, const float* x, float* y,
                     int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n) {
    float s = 0;
    for (int k = row[r]; k < row[r + 1]; ++k)
      s += val[k] * x[col[k]];
    y[r] = s;
  }
}
__global__ void rgb(const unsigned char* a, unsigned char* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = (unsigned char)(0.299f * a[3 * i] + 0.587f * a[3 * i + 1] + 0.114f * a[3 * i + 2]);
}
__global__ void mandel(unsigned* o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float cr = x * 3.f / w - 2, ci = y * 2.f / h - 1, r = 0, i = 0;
  unsigned k = 0;
  while (k < 200 && r * r + i * i < 4) {
    float t = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = t;
    ++k;
  }
  o[y * w + x] = k;
}
template <class T> uint64_t dg(void* p) {
  return ((Buf<T>*)p)->digest();
}
template <class F> float timed(F f) {
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  f();
  CHECK(cudaDeviceSynchronize());
  cudaEventRecord(a);
  f();
  cudaEventRecord(b);
  CHECK(cudaEventSynchronize(b));
  float ms;
  cudaEventElapsedTime(&ms, a, b);
  return ms;
}
static void line(const char* n, const std::string& s, uint64_t d, uint64_t e, float ms) {
  printf("%-16s %-26s %016llx %016llx | %9.2f us\n", n, s.c_str(), (unsigned long long)d,
         (unsigned long long)e, ms * 1000);
}
template <class T, class L>
void pingpong(const char* name, int w, int h, int steps, dim3 b, L launch, bool copy = true,
              int stop = 0) {
  state = 12345 + w * 7 + h;
  Buf<T> x((size_t)w * h), y((size_t)w * h);
  if (copy) cudaMemcpy(y.d, x.d, sizeof(T) * x.n, cudaMemcpyDeviceToDevice);
  dim3 g((w + b.x - 1) / b.x, (h + b.y - 1) / b.y);
  T *p = x.d, *q = y.d;
  uint64_t mid = 0;
  float ms = timed([&] {
    for (int i = 0; i < steps; ++i) {
      launch(g, b, p, q);
      std::swap(p, q);
      if (stop && i % stop == stop - 1) {
        T v;
        cudaMemcpy(&v, p + x.n / 2, sizeof v, cudaMemcpyDeviceToHost);
        uint64_t u = 0;
        memcpy(&u, &v, sizeof v);
        mid = mid * 31 + u;
      }
    }
  });
  CHECK(cudaGetLastError());
  line(name,
       std::to_string(w) + "x" + std::to_string(h) + "x" + std::to_string(steps) + " " +
           std::to_string(b.x) + "x" + std::to_string(b.y) + (stop ? "r" : ""),
       x.digest() ^ mid, y.digest(), ms);
}
int main() {
  int S[][2] = {{33, 7},      {100, 100},   {129, 65}, {512, 512}, {1000, 777},
                {2048, 2048}, {4096, 1024}, {1, 50},   {3, 3}};
  for (auto& s : S)
    for (int steps : {1, 7, 50}) {
      int w = s[0], h = s[1];
      for (dim3 b : {dim3(32, 8), dim3(16, 16), dim3(128, 1), dim3(8, 8)}) {
        pingpong<float>("heat", w, h, steps, b, [&](dim3 g, dim3 b, float* p, float* q) {
          heat<<<g, b>>>(p, q, w, h, 0.1f);
        });
        pingpong<float>(
            "heat_nocopy", w, h, steps, b,
            [&](dim3 g, dim3 b, float* p, float* q) { heat<<<g, b>>>(p, q, w, h, 0.1f); }, false);
        pingpong<float>(
            "heat_read", w, h, steps, b,
            [&](dim3 g, dim3 b, float* p, float* q) { heat<<<g, b>>>(p, q, w, h, 0.1f); }, true, 5);
        pingpong<float>(
            "heat_varying", w, h, steps, b,
            [&, k = 0](dim3 g, dim3 b, float* p, float* q) mutable {
              heat<<<g, b>>>(p, q, w, h, 0.1f + 0.001f * (k++ % 3));
            },
            true);
        pingpong<float>("heat_clamp", w, h, steps, b, [&](dim3 g, dim3 b, float* p, float* q) {
          heat_noalias<<<g, b>>>(p, q, w, h, 0.1f);
        });
        pingpong<double>(
            "heat_periodic", w, h, steps, b,
            [&](dim3 g, dim3 b, double* p, double* q) { heat_periodic<<<g, b>>>(p, q, w, h); });
        pingpong<unsigned char>("life", w, h, steps, b,
                                [&](dim3 g, dim3 b, unsigned char* p, unsigned char* q) {
                                  life<<<g, b>>>(p, q, w, h);
                                });
      }
      {
        Buf<float> pw((size_t)w * h);
        pingpong<float>("hot", w, h, steps, dim3(16, 16), [&](dim3 g, dim3 b, float* p, float* q) {
          hot<<<g, b>>>(p, pw.d, q, w, h, 0.1f, 0.2f, 0.05f, 0.3f);
        });
      }
      {
        state = 99 + w;
        Buf<float> a((size_t)w * h), b2((size_t)w * h), c((size_t)w * h);
        dim3 b(32, 4), g((w + 31) / 32, (h + 3) / 4);
        float *o = a.d, *n = b2.d, *r = c.d;
        float ms = timed([&] {
          for (int i = 0; i < steps; ++i) {
            wave<<<g, b>>>(o, n, r, w, h, 0.2f);
            float* t = o;
            o = n;
            n = r;
            r = t;
          }
        });
        line("wave", std::to_string(w) + "x" + std::to_string(h) + "x" + std::to_string(steps),
             a.digest() ^ b2.digest() * 3, c.digest(), ms);
      }
      {
        state = 77 + w;
        Buf<float> ex((size_t)w * h), hz((size_t)w * h);
        dim3 b(32, 8), g((w + 31) / 32, (h + 7) / 8);
        float ms = timed([&] {
          for (int i = 0; i < steps; ++i) {
            fvx<<<g, b>>>(ex.d, hz.d, w, h);
            fvh<<<g, b>>>(hz.d, ex.d, w, h);
          }
        });
        line("fdtd", std::to_string(w) + "x" + std::to_string(h) + "x" + std::to_string(steps),
             ex.digest(), hz.digest(), ms);
      }
    }
  for (int n : {100, 70001, 1 << 22})
    for (int st : {3, 40}) {
      pingpong<float>("one_d", n, 1, st, dim3(256, 1),
                      [&](dim3 g, dim3 b, float* p, float* q) { one_d<<<g, b>>>(p, q, n); });
      Buf<float> a(n);
      float ms = timed([&] {
        for (int i = 0; i < st; ++i)
          inplace<<<(n + 255) / 256, 256>>>(a.d, n);
      });
      line("inplace", std::to_string(n), a.digest(), 0, ms);
    }
  for (int n : {20, 65, 200})
    for (int st : {1, 9}) {
      pingpong<float>("seven", n, n * n, st, dim3(32, 4), [&](dim3, dim3, float* p, float* q) {
        seven<<<dim3((n + 31) / 32, (n + 3) / 4, n), dim3(32, 4)>>>(p, q, n, n, n);
      });
      pingpong<float>("march", n, n * n, st, dim3(32, 4), [&](dim3, dim3, float* p, float* q) {
        march<<<dim3((n + 31) / 32, (n + 3) / 4), dim3(32, 4)>>>(p, q, n, n, n);
      });
    }
#define T1(NAME, SH, OUT, ...)                                                                     \
  do {                                                                                             \
    float ms = timed([&] {                                                                         \
      for (int i_ = 0; i_ < 5; ++i_) {                                                             \
        __VA_ARGS__;                                                                               \
      }                                                                                            \
    });                                                                                            \
    CHECK(cudaGetLastError());                                                                     \
    line(NAME, SH, OUT.digest(), 0, ms / 5);                                                       \
  } while (0)
  for (int n : {16, 17, 100, 333, 1024, 2048}) {
    state = 5 + n;
    Buf<float> a((size_t)n * n), b(n * n), c(n * n, false);
    std::string s = std::to_string(n);
    dim3 g((n + 15) / 16, (n + 15) / 16);
    T1("mm", s, c, (mm<<<g, dim3(16, 16)>>>(a.d, b.d, c.d, n)));
    Buf<float> y(n, false);
    for (int t : {32, 128, 256}) {
      T1("gemv", s, y, (gemv<<<(n + t - 1) / t, t>>>(a.d, b.d, y.d, n)));
      T1("gemvT", s, y, (gemvT<<<(n + t - 1) / t, t>>>(a.d, b.d, y.d, n)));
    }
    for (dim3 b3 : {dim3(32, 8), dim3(16, 16), dim3(32, 32), dim3(8, 32), dim3(256, 1)}) {
      dim3 g3((n + b3.x - 1) / b3.x, (n + b3.y - 1) / b3.y);
      std::string q = s + " " + std::to_string(b3.x) + "x" + std::to_string(b3.y);
      T1("transpose", q, c, (transpose<<<g3, b3>>>(a.d, c.d, n, n)));
      for (int r : {1, 4})
        T1("blur", q, c, (blur<<<g3, b3>>>(a.d, c.d, n, n, r)));
      T1("conv5", q, c, (conv5<<<g3, b3>>>(a.d, b.d, c.d, n, n)));
      T1("mandel", q, (*(Buf<unsigned>*)&c), (mandel<<<g3, b3>>>((unsigned*)c.d, n, n)));
    }
    T1("transposeS", s, c,
       (transposeS<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 8)>>>(a.d, c.d, n, n)));
  }
  for (int n : {100, 10000, 1 << 20, 1 << 25})
    for (int t : {64, 128, 256, 512, 1024}) {
      state = 5 + n;
      Buf<float> a(n), b(n), c(n, false);
      std::string s = std::to_string(n) + " " + std::to_string(t);
      int g = (n + t - 1) / t;
      T1("saxpy", s, b, (saxpy<<<g, t>>>(n, 1.5f, a.d, b.d)));
      T1("grid_stride", s, c, (grid_stride<<<std::min(g, 264), t>>>(a.d, c.d, n)));
      if (n <= 10000) {
        Buf<float> p(n * 4), v(n * 4, false);
        T1("nbody", s, v, (nbody<<<g, t>>>((float4*)p.d, (float4*)v.d, n)));
      } else {
        Buf<unsigned char> p(n * 3), v(n, false);
        T1("rgb", s, v, (rgb<<<g, t>>>(p.d, v.d, n)));
      }
      if (n < (1 << 22)) {
        std::vector<int> row(n + 1), col;
        for (int i = 0; i < n; ++i) {
          row[i] = (int)col.size();
          int k = next_random() % 9;
          for (int j = 0; j < k; ++j)
            col.push_back(next_random() % n);
        }
        row[n] = (int)col.size();
        Buf<int> R(n + 1), C(col.size());
        Buf<float> V(col.size());
        cudaMemcpy(R.d, row.data(), 4 * (n + 1), cudaMemcpyHostToDevice);
        cudaMemcpy(C.d, col.data(), 4 * col.size(), cudaMemcpyHostToDevice);
        T1("spmv", s, c, (spmv<<<g, t>>>(R.d, C.d, V.d, a.d, c.d, n)));
      }
    }
  printf("done\n");
}
