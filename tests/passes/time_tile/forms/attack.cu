// Kernels of sequences of which a launcher could leave something else than they do.
// nvcc -ptx -arch=sm_90 -O2 attack.cu
#define PLACE                                                                                      \
  int x = blockIdx.x * blockDim.x + threadIdx.x;                                                   \
  if (x < 1 || x >= n - 1) return

extern "C" {
__global__ void pair_1(float* b, const float* a, int n) {
  PLACE;
  b[x] = 0.5f * (a[x - 1] + a[x + 1]);
}
__global__ void pair_2(float* a, const float* b, int n) {
  PLACE;
  a[x] += 0.25f * b[x];
}

// Behind these two: a picture of the array, to where the program says.
__global__ void picture(float* to, const float* a, int n) {
  PLACE;
  to[x] = a[x];
}
// In the place of the second one.
__global__ void driven(float* a, const float* b, const float* source, int n) {
  PLACE;
  a[x] = 0.25f * b[x] + source[x];
}
// nvcc cannot tell the arrays apart, and loads what was stored.
__global__ void reread(float* a, float* c, float* d, const float* b, int n) {
  PLACE;
  a[x] = a[x] * 0.5f + b[x];
  c[x] = a[x] * 2.f;
  d[x] = c[x] + a[x];
}
// The parameter's register has something else on another way.
__global__ void either(float* a, const float* b, int n, float t) {
  PLACE;
  float v = t;
  if (x > 5) {
    v = sqrtf(b[x]) * b[x];
    v = __fdividef(v, a[x] + 1.5f);
    v = sqrtf(fabsf(v));
  }
  a[x] = v;
}
__global__ void strided_1(float* b, const float* a, int n) {
  for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < n - 1; x += gridDim.x * blockDim.x)
    if (x >= 1) b[x] = 0.5f * (a[x - 1] + a[x + 1]);
}
__global__ void strided_2(float* a, const float* b, int n) {
  for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < n - 1; x += gridDim.x * blockDim.x)
    if (x >= 1) a[x] += 0.25f * b[x];
}
// Some bytes of a number, each by itself.
__global__ void parts(float* a, const float* b, int n, long long step) {
  PLACE;
  a[x] = a[x] * 0.5f + b[x] * (float)(int)(step >> 32) + (float)(unsigned char)step +
         (float)(short)(step >> 16);
}
__global__ void late(float* a, const float* b, int n, int step) {
  PLACE;
  if (step > 5)
    a[x] = b[x];
  else
    a[x] = a[x] * 0.5f + b[x] * sqrtf((float)step);
}
__global__ void clamped(float* a, const float* b, const float* source, int n, int step) {
  PLACE;
  a[x] = a[x] * 0.5f + b[x] * source[step > 3 ? 3 : step];
}
__global__ void point(float* a, const float* b, int n, int m) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  if (x == m)
    a[m] = b[x];
  else
    a[x] = a[x] * 0.5f;
}
}
