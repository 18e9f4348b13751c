// Loads that data decide, of which it matters which places do them: one whose values are not right
// would load what no thread loads. nvcc -std=c++17 -O2 -arch=sm_90 -ptx late.cu

#define PLACE                                                                                      \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;  \
  const int i = y * nx + x
#define WITHIN                                                                                     \
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return
#define AROUND(a) a[i - 1] + a[i + 1] + a[i - nx] + a[i + nx] - 3 * a[i]

// Of ones it makes ones. Where something else came out there is a cure for it.
extern "C" __global__ void level(const int* __restrict__ in, int* __restrict__ out,
                                 const int* __restrict__ cure, int nx, int ny) {
  PLACE;
  WITHIN;
  int v = AROUND(in);
  if (v != 1) v ^= cure[i];
  out[i] = v;
}

// As two stages, of which the first one needs no cure.
extern "C" __global__ void spread(const int* f, int* g, int nx, int ny) {
  PLACE;
  WITHIN;
  g[i] = AROUND(f);
}
extern "C" __global__ void cured(const int* g, int* f, const int* cure, int nx, int ny) {
  PLACE;
  WITHIN;
  int v = AROUND(g);
  if (v != 1) v ^= cure[i];
  f[i] = v;
}

// Nothing is read but behind branches.
extern "C" __global__ void one_side(const float* in, float* out, const float* wind, int nx,
                                    int ny) {
  PLACE;
  WITHIN;
  float v;
  if (wind[i] > 0)
    v = in[i - 1] * 0.5f + 0.125f;
  else
    v = in[i + nx] * 0.75f;
  out[i] = v;
}

// Below a diagonal: which places store no axis tells by itself.
extern "C" __global__ void wedge(const float* in, float* out, const float* wind, int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1 || x + y >= nx) return;
  float v = in[i];
  if (wind[i] > 0)
    v = v * 0.5f + in[i + 1] * 0.25f;
  else
    v = v * 0.75f + in[i - 1] * 0.125f;
  out[i] = v;
}
