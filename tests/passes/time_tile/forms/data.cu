// Steps of which data decide what is loaded: obstacles, walls and inflow, upwind differences,
// states of cells. nvcc -std=c++17 -O2 -arch=sm_90 -ptx data.cu

#define PLACE                                                                                      \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;  \
  const int i = y * nx + x

extern "C" __global__ void obstacle(const float* __restrict__ in, float* __restrict__ out,
                                    const unsigned char* __restrict__ mask, int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  if (mask[i] & 1)
    out[i] = in[i];
  else
    out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4 * in[i]);
}

// No flux through solid cells.
extern "C" __global__ void no_flux(const float* in, float* out, const unsigned char* solid, int nx,
                                   int ny) {
  PLACE;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    float c = in[i];
    if (!(solid[i] & 1)) {
      const float w = solid[i - 1] & 1 ? c : in[i - 1], e = solid[i + 1] & 1 ? c : in[i + 1],
                  n = solid[i - nx] & 1 ? c : in[i - nx], s = solid[i + nx] & 1 ? c : in[i + nx];
      c += 0.2f * (w + e + n + s - 4 * c);
    }
    out[i] = c;
  }
}

// At the rim the nearest element, in fluid cells alone.
extern "C" __global__ void walls(const double* T, double* next, const int* type, int nx, int ny,
                                 double inflow) {
  PLACE;
  if (x >= nx || y >= ny) return;
  switch (type[i] & 3) {
  case 1: next[i] = T[i]; break;
  case 2: next[i] = inflow; break;
  default: {
    double sum = -4 * T[i];
    sum += x > 0 ? T[i - 1] : T[i];
    sum += x < nx - 1 ? T[i + 1] : T[i];
    sum += y > 0 ? T[i - nx] : T[i];
    sum += y < ny - 1 ? T[i + nx] : T[i];
    next[i] = T[i] + 0.2 * sum;
  }
  }
}

extern "C" __global__ void upwind(const float* __restrict__ c, float* __restrict__ out,
                                  const float* __restrict__ u, const float* __restrict__ v, int nx,
                                  int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  float fx, fy;
  if (u[i] > 0)
    fx = u[i] * (c[i] - c[i - 1]);
  else
    fx = u[i] * (c[i + 1] - c[i]);
  if (v[i] > 0)
    fy = v[i] * (c[i] - c[i - nx]);
  else
    fy = v[i] * (c[i + nx] - c[i]);
  out[i] = c[i] - 0.3f * (fx + fy);
}

// The sign of the field itself.
extern "C" __global__ void burgers(const double* u, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  const double d = u[i] > 0 ? u[i] - u[i - 1] : u[i + 1] - u[i];
  out[i] = u[i] - 0.3 * u[i] * d;
}

extern "C" __global__ void round_torus(const double* c, double* out, const double* u, int nx,
                                       int ny) {
  PLACE;
  if (x >= nx || y < 1 || y >= ny - 1) return;
  const int before = x == 0 ? nx - 1 : x - 1, behind = x == nx - 1 ? 0 : x + 1;
  const double w = u[i], f = w > 0 ? c[i] - c[y * nx + before] : c[y * nx + behind] - c[i],
               g = c[i] > 0.25 ? c[i] - c[i - nx] : c[i + nx] - c[i];
  out[i] = c[i] - 0.3 * (w * f + g);
}

// Two signs choose one element.
extern "C" __global__ void corner(const float* c, float* out, const float* u, const float* v,
                                  int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int k = i + (u[i] > 0 ? -1 : 1) + (v[i] > 0 ? -nx : nx);
  out[i] = 0.5f * (c[i] + c[k]);
}

// Of what burns only, and of the coefficient beside it only where that is asked for.
extern "C" __global__ void fire(const float* T, float* out, const float* fuel, int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const float t = T[i];
  if (t > 0.4f) {
    out[i] = t * fuel[i + 1];
    return;
  }
  const float m = fmaxf(fmaxf(T[i - 1], T[i + 1]), fmaxf(T[i - nx], T[i + nx]));
  out[i] = m > 0.4f ? m * 0.9f : t * 1.2f;
}

// States on a torus: neighbours are looked at until one is in the state.
extern "C" __global__ void states(const unsigned char* in, unsigned char* out, int nx, int ny,
                                  float unused) {
  PLACE;
  if (x >= nx || y >= ny) return;
  unsigned char s = in[i] & 3;
  if (s == 0) {
    const int l = y * nx + (x + nx - 1) % nx, r = y * nx + (x + 1) % nx,
              u = (y + ny - 1) % ny * nx + x, d = (y + 1) % ny * nx + x;
    if ((in[l] & 3) == 1 || (in[r] & 3) == 1 || (in[u] & 3) == 1 || (in[d] & 3) == 1) s = 1;
  } else {
    s = (s + 1) % 4;
  }
  out[i] = s;
}

// A wave that is slower in some places and nothing in others.
extern "C" __global__ void wave(const float* old, const float* now, float* next, const short* kind,
                                int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  if (kind[i] & 1) {
    next[i] = 0;
    return;
  }
  const float sum = now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i];
  next[i] = 2 * now[i] - old[i] + (kind[i] & 2 ? 0.1f : 0.2f) * sum;
}

// Two kernels in turn: fields on a staggered grid, of which a conductor has none.
extern "C" __global__ void field_1(float* hx, float* hy, const float* ez, int nx, int ny) {
  PLACE;
  if (x >= nx - 1 || y >= ny - 1) return;
  hx[i] -= 0.4f * (ez[i + nx] - ez[i]);
  hy[i] += 0.4f * (ez[i + 1] - ez[i]);
}

extern "C" __global__ void field_2(float* ez, const float* hx, const float* hy,
                                   const int* conductor, int nx, int ny) {
  PLACE;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  if ((conductor[i] & 3) == 1) return;
  ez[i] += 0.4f * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - nx]));
}
