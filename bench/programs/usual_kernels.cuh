// Kernels as programs have them, written after the rules of --coarsen=auto and to judge these:
// physics, images, networks, linear algebra, statistics. None of them was looked at before it was
// measured.
#include "programs.cuh"

#define X (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define Y (int)(blockIdx.y * blockDim.y + threadIdx.y)
#define Z (int)(blockIdx.z * blockDim.z + threadIdx.z)

__global__ void shortest_paths(float* d, int n, int k) {
  int j = X, i = Y;
  if (i < n && j < n) d[i * n + j] = fminf(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void eliminated(float* a, const float* m, int n, int t) {
  int j = X, i = Y;
  if (i >= n - 1 - t || j >= n - t) return;
  a[(i + 1 + t) * n + j + t] -= m[(i + 1 + t) * n + t] * a[t * n + j + t];
}
template <class T> __global__ void rank_k_lower(const T* a, T* c, int n, int k, T alpha) {
  int j = X, i = Y;
  if (i >= n || j > i) return;
  T s = 0;
  for (int p = 0; p < k; ++p)
    s += a[p * n + i] * a[p * n + j];
  c[i * n + j] += alpha * s;
}
template <class T> __global__ void times_vector(const T* a, const T* x, T* y, int n, int m) {
  int i = X;
  if (i >= n) return;
  T s = 0;
  for (int j = 0; j < m; ++j)
    s += a[(size_t)j * n + i] * x[j];
  y[i] = s;
}
__global__ void contracted(const float* a, const float* b, float* c, int n, int k) {
  int j = X, i = Y, p = Z;
  if (i >= n || j >= n) return;
  float s = 0;
  for (int q = 0; q < k; ++q)
    s += a[(i * k + q) * 4 + p] * b[(q * n + j) * 4 + p];
  c[(p * n + i) * n + j] = s;
}
__global__ void potential(const float4* atoms, float* energy, int count, int w, int h, float step,
                          float z) {
  int i = X, j = Y;
  if (i >= w || j >= h) return;
  float x = i * step, y = j * step, sum = 0;
  for (int n = 0; n < count; ++n) {
    float dx = x - atoms[n].x, dy = y - atoms[n].y, dz = z - atoms[n].z;
    sum += atoms[n].w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
  }
  energy[j * w + i] += sum;
}
__global__ void forces(const float4* bodies, float4* force, int n, float soft) {
  int i = X;
  if (i >= n) return;
  float4 me = bodies[i];
  float fx = 0, fy = 0, fz = 0;
  for (int j = 0; j < n; ++j) {
    float4 o = bodies[j];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
    float s = o.w * r * r * r;
    fx += s * dx, fy += s * dy, fz += s * dz;
  }
  force[i] = make_float4(fx, fy, fz, 0);
}
__global__ void neighbours(const float* __restrict__ x, const int* __restrict__ list, float* f,
                           int n, int most, float cut) {
  int i = X;
  if (i >= n) return;
  float me = x[i], sum = 0;
  for (int j = 0; j < most; ++j) {
    float r = x[list[j * n + i]] - me;
    if (r * r < cut) sum += r * (1 - r * r / cut);
  }
  f[i] = sum;
}
__global__ void inside_polygon(const float2* points, const float2* corners, int* in, int n, int m) {
  int i = X;
  if (i >= n) return;
  float2 p = points[i];
  int c = 0;
  for (int k = 0, j = m - 1; k < m; j = k++) {
    float2 a = corners[k], b = corners[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) c ^= 1;
  }
  in[i] = c;
}
__global__ void great_circles(const float2* from, const float2* to, float* d, int n, int m) {
  int j = X, i = Y;
  if (i >= n || j >= m) return;
  float2 a = from[i], b = to[j];
  float u = (b.x - a.x) / 2, v = (b.y - a.y) / 2;
  d[(size_t)i * m + j] = 2 * sqrtf(fminf(1.f, u * u + (1 - a.x * a.x) * (1 - b.x * b.x) * v * v));
}
__global__ void lattice_step(const float* f, float* g, const unsigned char* wall, int w, int h,
                             float omega) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float wt[9] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                       1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    int sx = x - cx[k], sy = y - cy[k];
    sx = sx < 0 ? w - 1 : sx == w ? 0 : sx;
    sy = sy < 0 ? h - 1 : sy == h ? 0 : sy;
    v[k] = f[(size_t)k * w * h + sy * w + sx];
    rho += v[k], ux += cx[k] * v[k], uy += cy[k] * v[k];
  }
  const bool solid = wall[y * w + x] > 250;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    float cu = 3 * (cx[k] * ux + cy[k] * uy);
    float e = wt[k] * (rho + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
    g[(size_t)k * w * h + y * w + x] = solid ? v[k] : v[k] + omega * (e - v[k]);
  }
}
template <class T>
__global__ void burgers(const T* __restrict__ u, const T* __restrict__ v, T* __restrict__ un,
                        T* __restrict__ vn, int w, int h, T dt, T nu) {
  int i = Y, j = X;
  if (i <= 0 || j <= 0 || i >= h - 1 || j >= w - 1) return;
  int c = i * w + j;
  un[c] = u[c] - dt * (u[c] * (u[c] - u[c - 1]) + v[c] * (u[c] - u[c - w])) +
          nu * (u[c + 1] + u[c - 1] + u[c + w] + u[c - w] - 4 * u[c]);
  vn[c] = v[c] - dt * (u[c] * (v[c] - v[c - 1]) + v[c] * (v[c] - v[c - w])) +
          nu * (v[c + 1] + v[c - 1] + v[c + w] + v[c - w] - 4 * v[c]);
}
__global__ void diffusion_weights(const float* image, const int* up, const int* down,
                                  const int* left, const int* right, float* out, int w, int h,
                                  float q) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  float c = image[y * w + x];
  float n = image[up[y] * w + x] - c, s = image[down[y] * w + x] - c;
  float e = image[y * w + left[x]] - c, o = image[y * w + right[x]] - c;
  float g = (n * n + s * s + e * e + o * o) / (c * c + 1), l = (n + s + e + o) / (c + 100);
  float num = 0.5f * g - l * l / 16, den = 1 + 0.25f * l;
  float r = 1 / (1 + (num / (den * den) - q) / (q * (1 + q)));
  out[y * w + x] = r < 0 ? 0 : r > 1 ? 1 : r;
}
template <class T>
__global__ void wave(const T* __restrict__ old, const T* __restrict__ now, T* __restrict__ next,
                     const T* __restrict__ speed, int nx, int ny, int nz) {
  int x = X + 4, y = Y + 4, z = Z + 4;
  if (x >= nx - 4 || y >= ny - 4 || z >= nz - 4) return;
  int row = nx, plane = nx * ny, c = z * plane + y * row + x;
  T s = T(-2.5) * now[c];
#pragma unroll
  for (int r = 1; r <= 4; ++r)
    s += T(1) / r *
         (now[c + r] + now[c - r] + now[c + r * row] + now[c - r * row] + now[c + r * plane] +
          now[c - r * plane]);
  next[c] = 2 * now[c] - old[c] + speed[c] * s;
}
template <class T>
__global__ void upwind(const T* q, T* out, T cx, T cy, T cz, int nx, int ny, int nz) {
  int x = X, y = Y, z = Z;
  if (x < 1 || y < 1 || z < 1 || x > nx - 2 || y > ny - 2 || z > nz - 2) return;
  int c = (z * ny + y) * nx + x;
  out[c] = q[c] - cx * (q[c] - q[c - 1]) - cy * (q[c] - q[c - nx]) - cz * (q[c] - q[c - nx * ny]);
}
__global__ void cavity_pressure(const double* u, const double* v, double* rhs, int w, int h,
                                double dx, double dt) {
  int j = X + 1, i = Y + 1;
  if (i > h - 2 || j > w - 2) return;
  double a = (u[i * w + j + 1] - u[i * w + j - 1]) / (2 * dx);
  double b = (v[(i + 1) * w + j] - v[(i - 1) * w + j]) / (2 * dx);
  double c = (u[(i + 1) * w + j] - u[(i - 1) * w + j]) * (v[i * w + j + 1] - v[i * w + j - 1]);
  rhs[i * w + j] = (a + b) / dt - a * a - b * b - 2 * c / (4 * dx * dx);
}
__global__ void filtered_at(const float* in, const float* f, float* out, int n, int m) {
  int i = X;
  if (i >= n) return;
  float s = 0;
  for (int j = 0; j < m; ++j) {
    int p = i - m / 2 + j;
    if (p >= 0 && p < n) s += in[p] * f[j];
  }
  out[i] = s;
}
template <class T, class S>
__global__ void image_filtered(const T* in, const S* f, T* out, int w, int h, int m) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  S s = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      int yy = y + i - m / 2, xx = x + j - m / 2;
      if (yy >= 0 && yy < h && xx >= 0 && xx < w) s += S(in[yy * w + xx]) * f[i * m + j];
    }
  out[y * w + x] = T(s);
}
__global__ void gradients(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = X, y = Y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned char* p = in + y * w + x;
  int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
  int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
  int g = abs(gx) + abs(gy);
  out[y * w + x] = g > 255 ? 255 : g;
}
__global__ void warped(const float* in, float* out, int w, int h, float a, float b, float c,
                       float d) {
  int x = X, y = Y;
  if (x >= w || y >= h) return;
  float u = a * x + b * y, v = c * x + d * y;
  int i = (int)u, j = (int)v;
  if (i < 0 || j < 0 || i >= w - 1 || j >= h - 1) return;
  float p = u - i, q = v - j;
  const float* t = in + j * w + i;
  out[y * w + x] = (1 - q) * ((1 - p) * t[0] + p * t[1]) + q * ((1 - p) * t[w] + p * t[w + 1]);
}
__global__ void luma(const unsigned char* rgb, unsigned char* y, unsigned char* u, int w, int h) {
  int i = X, j = Y;
  if (i >= w || j >= h) return;
  const unsigned char* p = rgb + 3 * (j * w + i);
  y[j * w + i] = (66 * p[0] + 129 * p[1] + 25 * p[2] + 4224) >> 8;
  u[j * w + i] = (-38 * p[0] - 74 * p[1] + 112 * p[2] + 32896) >> 8;
}
__global__ void non_local(const float* in, float* out, int w, int h, int r, float k) {
  int x = X, y = Y;
  if (x < r + 1 || y < r + 1 || x >= w - r - 1 || y >= h - r - 1) return;
  float sum = 0, all = 0;
  for (int i = -r; i <= r; ++i)
    for (int j = -r; j <= r; ++j) {
      float d = 0;
      for (int p = -1; p <= 1; ++p)
        for (int q = -1; q <= 1; ++q) {
          float e = in[(y + p) * w + x + q] - in[(y + i + p) * w + x + j + q];
          d += e * e;
        }
      float g = 1 / (1 + k * d);
      sum += g * in[(y + i) * w + x + j], all += g;
    }
  out[y * w + x] = sum / all;
}
template <class T> __global__ void pooled(const T* in, T* out, int w, int h, int stride) {
  int x = X, y = Y, c = Z, ow = w / stride, oh = h / stride;
  if (x >= ow || y >= oh) return;
  T m = in[(c * h + y * stride) * w + x * stride];
  for (int i = 0; i < stride; ++i)
    for (int j = 0; j < stride; ++j) {
      T v = in[(c * h + y * stride + i) * w + x * stride + j];
      m = v > m ? v : m;
    }
  out[(c * oh + y) * ow + x] = m;
}
__global__ void pointwise(const float* in, const float* weight, const float* bias, float* out,
                          int channels, int pixels) {
  int p = X, o = Y;
  if (p >= pixels) return;
  float s = bias[o];
  for (int c = 0; c < channels; ++c)
    s += weight[o * channels + c] * in[(size_t)c * pixels + p];
  out[(size_t)o * pixels + p] = s > 0 ? s : 0;
}
__global__ void dense_layer(const float* in, const float* weight, const float* bias, float* out,
                            int batch, int from, int to) {
  int o = X, b = Y;
  if (o >= to || b >= batch) return;
  float s = bias[o];
  for (int i = 0; i < from; ++i)
    s += in[b * from + i] * weight[i * to + o];
  out[b * to + o] = 1 / (1 + expf(-s));
}
__global__ void softmax_rows(const float* in, float* out, int rows, int n) {
  int r = X;
  if (r >= rows) return;
  float m = in[r], s = 0;
  for (int i = 1; i < n; ++i)
    m = fmaxf(m, in[(size_t)i * rows + r]);
  for (int i = 0; i < n; ++i)
    s += expf(in[(size_t)i * rows + r] - m);
  for (int i = 0; i < n; ++i)
    out[(size_t)i * rows + r] = expf(in[(size_t)i * rows + r] - m) / s;
}
__global__ void embedded(const int* token, const float* table, const float* place, float* out,
                         int tokens, int width, int words) {
  int c = X, t = Y;
  if (c >= width || t >= tokens) return;
  out[(size_t)t * width + c] =
      table[(size_t)((unsigned)token[t] % words) * width + c] + place[(size_t)t * width + c];
}
__global__ void normalised(const float* in, const float* mean, const float* scale, float* out,
                           int n, int channels) {
  int i = X, c = Y, b = Z;
  if (i >= n) return;
  size_t p = ((size_t)b * channels + c) * n + i;
  out[p] = (in[p] - mean[c]) * scale[c];
}
__global__ void rotary(const float2* in, const float2* turns, float2* out, int half, int heads,
                       int tokens) {
  int i = X, h = Y, t = Z;
  if (i >= half || h >= heads || t >= tokens) return;
  size_t p = ((size_t)t * heads + h) * half + i;
  float2 v = in[p], w = turns[t * half + i];
  out[p] = make_float2(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
}
template <class T>
__global__ void swept(const T* a, const T* b, const T* c, T* d, T* x, int systems, int n) {
  int s = X;
  if (s >= systems) return;
  T p = c[s] / b[s], q = d[s] / b[s];
  x[s] = p, d[s] = q;
  for (int i = 1; i < n; ++i) {
    int at = i * systems + s;
    T m = 1 / (b[at] - a[at] * p);
    p = c[at] * m, q = (d[at] - a[at] * q) * m;
    x[at] = p, d[at] = q;
  }
}
__global__ void cheapest_row(const int* cost, const int* before, int* after, int w, int row) {
  int x = X;
  if (x >= w) return;
  int m = before[x];
  if (x > 0) m = min(m, before[x - 1]);
  if (x < w - 1) m = min(m, before[x + 1]);
  after[x] = m + cost[(size_t)row * w + x];
}
__global__ void spline_at(const float* grid, const float3* at, float* out, int n, int side) {
  int i = X;
  if (i >= n) return;
  float3 p = at[i];
  int x = 1 + (int)(fabsf(p.x) * (side - 4)), y = 1 + (int)(fabsf(p.y) * (side - 4)),
      z = 1 + (int)(fabsf(p.z) * (side - 4));
  float s = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int l = 0; l < 4; ++l)
        s +=
            grid[((z + k - 1) * side + y + j - 1) * side + x + l - 1] * (k + 1) * (j + 2) * (l + 3);
  out[i] = s;
}
__global__ void turned(const float2* in, float2* out, int w, int h) {
  int x = X, y = Y;
  if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
__global__ void outer(const double* a, const double* b, double* c, int n, int m) {
  int j = X, i = Y;
  if (i < n && j < m) c[(size_t)i * m + j] += a[i] * b[j];
}
__global__ void bins(const float* x, const float* y, const float* wx, float* out, int n, int m,
                     int points) {
  int j = X, i = Y;
  if (i >= n || j >= m) return;
  float s = 0, cx = j * 0.01f, cy = i * 0.02f;
  for (int p = 0; p < points; ++p) {
    float dx = x[p] - cx, dy = y[p] - cy;
    s += wx[p] / (1 + dx * dx + dy * dy);
  }
  out[i * m + j] = s;
}
__global__ void alternated(const unsigned char* a, const unsigned char* b, int* count, int n, int m,
                           int samples) {
  int j = X, i = Y;
  if (i >= n || j >= m) return;
  int c[3] = {0, 0, 0};
  for (int s = 0; s < samples; ++s) {
    unsigned u = a[(size_t)s * n + i], v = b[(size_t)s * m + j];
    c[0] += (u & v) != 0, c[1] += (u ^ v) > 100, c[2] += u == v;
  }
  count[i * m + j] = c[0] + 1000 * c[1] + 1000000 * c[2];
}
