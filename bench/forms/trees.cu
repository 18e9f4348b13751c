// Trees and scans in shared memory, in the forms in which programs have them: reductions as CUDA's
// samples number them, sums, dot products, maxima, arg-max pairs, scans, rows of a block.
extern "C" __global__ void r0(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < blockDim.x; w *= 2) {
    if (t % (2 * w) == 0) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r1(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < blockDim.x; w *= 2) {
    int k = 2 * w * t;
    if (k < blockDim.x) s[k] += s[k + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r2(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r3(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  float m = i < n ? in[i] : 0;
  if (i + blockDim.x < n) m += in[i + blockDim.x];
  s[t] = m;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] = m = m + s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = m;
}
// The last warp with volatile accesses
extern "C" __global__ void r4(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  float m = i < n ? in[i] : 0;
  if (i + blockDim.x < n) m += in[i + blockDim.x];
  s[t] = m;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 32; w >>= 1) {
    if (t < w) s[t] = m = m + s[t + w];
    __syncthreads();
  }
  if (t < 32) {
    volatile float* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
// 4b: __syncwarp tail, with own in register
extern "C" __global__ void r4w(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  float m = i < n ? in[i] : 0;
  if (i + blockDim.x < n) m += in[i + blockDim.x];
  s[t] = m;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 32; w >>= 1) {
    if (t < w) s[t] = m = m + s[t + w];
    __syncthreads();
  }
  if (t < 32) {
    float v = s[t];
    v += s[t + 32];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 16];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 8];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 4];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 2];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 1];
    __syncwarp();
    s[t] = v;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
// 5: completely unrolled, template block size 256, sync each
extern "C" __global__ void r5(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
  float m = i < n ? in[i] : 0;
  if (i + 256 < n) m += in[i + 256];
  s[t] = m;
  __syncthreads();
  if (t < 128) s[t] = m = m + s[t + 128];
  __syncthreads();
  if (t < 64) s[t] = m = m + s[t + 64];
  __syncthreads();
  if (t < 32) s[t] = m = m + s[t + 32];
  __syncthreads();
  if (t < 16) s[t] = m = m + s[t + 16];
  __syncthreads();
  if (t < 8) s[t] = m = m + s[t + 8];
  __syncthreads();
  if (t < 4) s[t] = m = m + s[t + 4];
  __syncthreads();
  if (t < 2) s[t] = m = m + s[t + 2];
  __syncthreads();
  if (t < 1) s[t] = m = m + s[t + 1];
  __syncthreads();
  if (t == 0) out[blockIdx.x] = m;
}
// 6: grid-stride + volatile tail, block 256
extern "C" __global__ void r6(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
  float m = 0;
  while (i < n) {
    m += in[i];
    if (i + 256 < n) m += in[i + 256];
    i += 512 * gridDim.x;
  }
  s[t] = m;
  __syncthreads();
  if (t < 128) s[t] = m = m + s[t + 128];
  __syncthreads();
  if (t < 64) s[t] = m = m + s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile float* v = s;
    v[t] = m = m + v[t + 32];
    v[t] = m = m + v[t + 16];
    v[t] = m = m + v[t + 8];
    v[t] = m = m + v[t + 4];
    v[t] = m = m + v[t + 2];
    v[t] = m = m + v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void scan1(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i];
  __syncthreads();
  for (int w = 1; w < 256; w *= 2) {
    float v = 0;
    if (t >= w) v = s[t - w];
    __syncthreads();
    if (t >= w) s[t] += v;
    __syncthreads();
  }
  out[i] = s[t];
}
extern "C" __global__ void scan2(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[2][256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, p = 0;
  s[0][t] = in[i];
  __syncthreads();
  for (int w = 1; w < 256; w *= 2) {
    int q = 1 - p;
    s[q][t] = t >= w ? s[p][t] + s[p][t - w] : s[p][t];
    p = q;
    __syncthreads();
  }
  out[i] = s[p][t];
}
extern "C" __global__ void scan3(const float* __restrict__ in, float* __restrict__ out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  for (int w = 1; w < blockDim.x; w *= 2) {
    float v = 0;
    if (t >= w) v = s[t - w];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[i] = s[t];
}
extern "C" __global__ void dot(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float m = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x)
    m += a[i] * b[i];
  s[t] = m;
  __syncthreads();
  for (int w = 128; w > 0; w /= 2) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void dotw(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float m = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x)
    m += a[i] * b[i];
  s[t] = m;
  __syncthreads();
  int w = blockDim.x / 2;
  while (w != 0) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
    w /= 2;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void bmax(const int* __restrict__ in, int* __restrict__ out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] = max(s[t], s[t + w]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void bmaxb(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w && s[t] < s[t + w]) s[t] = s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void amax(const float* __restrict__ in, float* __restrict__ out,
                                int* __restrict__ at, int n) {
  __shared__ float s[256];
  __shared__ int k[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  k[t] = t;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) {
      if (s[t + w] > s[t]) {
        s[t] = s[t + w];
        k[t] = k[t + w];
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = s[0];
    at[blockIdx.x] = k[0];
  }
}
extern "C" __global__ void sums(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256], q[256];
  int t = threadIdx.x;
  float v = in[blockIdx.x * 256 + t];
  s[t] = v;
  q[t] = v * v;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) {
      s[t] += s[t + w];
      q[t] += q[t + w];
    }
    __syncthreads();
  }
  if (t == 0) {
    out[2 * blockIdx.x] = s[0];
    out[2 * blockIdx.x + 1] = q[0];
  }
}
// rows: rmsnorm-like: every thread reads s[0]
extern "C" __global__ void rms(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float m = 0;
  for (int i = t; i < n; i += 256) {
    float v = in[(size_t)blockIdx.x * n + i];
    m += v * v;
  }
  s[t] = m;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  float r = rsqrtf(s[0] / n);
  for (int i = t; i < n; i += 256)
    out[(size_t)blockIdx.x * n + i] = in[(size_t)blockIdx.x * n + i] * r;
}
// 2-D blocks: rows of 32
extern "C" __global__ void seg(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[8][32];
  int t = threadIdx.x, y = threadIdx.y;
  s[y][t] = in[(blockIdx.x * 8 + y) * 32 + t];
  __syncthreads();
  for (int w = 16; w > 0; w >>= 1) {
    if (t < w) s[y][t] += s[y][t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x * 8 + y] = s[y][0];
}
extern "C" __global__ void early(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w && i + w < n) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void atom(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}
// shared as own staging
extern "C" __global__ void own(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i];
  __syncthreads();
  float l = t > 0 ? s[t - 1] : 0.f, r = t < 255 ? s[t + 1] : 0.f;
  out[i] = l + s[t] + r;
}
// Reductions 0 to 3 with an array whose size is known, so that blocks can be merged; and 0 and 1 of
// a block whose size is known, so that compilers unroll them.
extern "C" __global__ void r0s(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < blockDim.x; w *= 2) {
    if (t % (2 * w) == 0) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r0u(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < 256; w *= 2) {
    if (t % (2 * w) == 0) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r1s(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < blockDim.x; w *= 2) {
    unsigned k = 2 * w * t;
    if (k < blockDim.x) s[k] += s[k + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r1u(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 1; w < 256; w *= 2) {
    unsigned k = 2 * w * t;
    if (k < 256) s[k] += s[k + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r2s(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void r3s(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  float m = i < n ? in[i] : 0;
  if (i + blockDim.x < n) m += in[i + blockDim.x];
  s[t] = m;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] = m = m + s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = m;
}
// A tree for each 32 threads.
extern "C" __global__ void seg32(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = 16; w > 0; w >>= 1) {
    if (lane < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (lane == 0) out[i / 32] = s[t];
}
// Of integers: a loop from blockDim.x / 2 on, and two elements a thread
extern "C" __global__ void isum(const int* __restrict__ in, int* __restrict__ out, int n) {
  extern __shared__ int si[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  si[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) si[t] += si[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = si[0];
}
extern "C" __global__ void imin2(const int* __restrict__ in, int* __restrict__ out, int n) {
  __shared__ int s[256];
  unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
  s[t] = min(in[i], in[i + 256]);
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] = min(s[t], s[t + w]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
