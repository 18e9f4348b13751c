// Red and black places of one array, each of which reads the others.
#define PLACE                                                                                      \
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;        \
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;                                        \
  int i = y * nx + x;
extern "C" __global__ void relax(int* u, int nx, int ny, int colour) {
  PLACE if ((x + y) % 2 != colour) return;
  u[i] = u[i] + 3 * u[i - 1] - u[i + 1] + 5 * u[i - nx] + u[i + nx];
}
extern "C" __global__ void red(int* u, const int* f, int nx, int ny) {
  PLACE if ((x ^ y) & 1) u[i] = f[i] + 3 * u[i - 1] - u[i + 1] + 5 * u[i - nx] + u[i + nx];
}
extern "C" __global__ void black(int* u, const int* f, int nx, int ny) {
  PLACE if (((x ^ y) & 1) == 0) u[i] = f[i] - 3 * u[i - 1] + u[i + 1] + u[i - nx] + 7 * u[i + nx];
}
extern "C" __global__ void clamped(int* u, int nx, int ny, int colour) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny || ((x + y) & 1) != colour) return;
  int w = x > 0 ? x - 1 : x, e = x < nx - 1 ? x + 1 : x, s = y > 0 ? y - 1 : y,
      n = y < ny - 1 ? y + 1 : y;
  u[y * nx + x] += 3 * u[y * nx + w] - u[y * nx + e] + 5 * u[s * nx + x] + u[n * nx + x];
}
// Columns in turn.
extern "C" __global__ void columns(int* u, int nx, int ny, int odd) {
  PLACE if ((x & 1) == odd) u[i] += 3 * u[i - 1] - u[i + 1] + 5 * u[i + nx + 1] + u[i];
}
// Not so: a diagonal neighbour has the same colour; a torus may have an odd size; every third.
extern "C" __global__ void diagonal(int* u, int nx, int ny, int colour) {
  PLACE if ((x + y) % 2 == colour) u[i] += u[i - nx - 1];
}
extern "C" __global__ void torus(int* u, int n, int colour) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n || ((x + y) & 1) != colour) return;
  u[y * n + x] += u[y * n + (x + 1) % n] - u[y * n + (x + n - 1) % n];
}
extern "C" __global__ void third(int* u, int nx, int ny, int colour) {
  PLACE if ((x + y) % 3 == colour) u[i] += u[i - 1];
}
extern "C" __global__ void other(int* u, int nx, int ny, int colour) {
  PLACE if ((x + y) % 2 != colour) u[i] += u[i - 1];
}
extern "C" __global__ void told(int* u, const int* f, int nx, int ny) {
  PLACE if ((x + y + f[i]) & 1) u[i] += u[i - 1];
}
extern "C" __global__ void scaled(int* u, int nx, int ny, int colour) {
  PLACE if ((x * colour + y) & 1) u[i] += u[i - 1];
}
// The colour is asked for beside a comparison of rests.
extern "C" __global__ void parted(int* u, int nx, int ny, int colour) {
  PLACE if ((x % 2 != y % 2 && colour == 0) || (x % 2 == y % 2 && colour == 1)) u[i] +=
      3 * u[i - 1] - u[i + 1] + 5 * u[i - nx] + u[i + nx];
}
extern "C" __global__ void told_apart(int* u, int nx, int ny, int colour) {
  PLACE const int odd = (x + y) & 1;
  if ((odd && colour != 1) || (!odd && colour == 1)) u[i] -= u[i - 1] + 7 * u[i + 1] - u[i + nx];
}
// Not so: both colours at once; colours of which two numbers tell, or places; every third.
extern "C" __global__ void overlapping(int* u, int nx, int ny, int colour) {
  PLACE if ((x % 2 != y % 2 && colour >= 0) || (x % 2 == y % 2 && colour == 1)) u[i] += u[i - 1];
}
extern "C" __global__ void of_two(int* u, int nx, int ny, int colour) {
  PLACE if ((x % 2 != y % 2 && colour == 0) || (x % 2 == y % 2 && ny == 1)) u[i] += u[i - 1];
}
extern "C" __global__ void of_columns(int* u, int nx, int ny, int colour) {
  PLACE if ((x % 2 != y % 2 && x == 3) || (x % 2 == y % 2 && x == 4)) u[i] += u[i - 1] + colour;
}
extern "C" __global__ void parted_thirds(int* u, int nx, int ny, int colour) {
  PLACE if ((x % 3 != y % 3 && colour == 0) || (x % 3 == y % 3 && colour == 1)) u[i] += u[i - 1];
}
