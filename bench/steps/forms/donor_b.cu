#include "forms.cuh"

__global__ void donor(const double* q, double* qn, const double* uf, const double* vf, int nx,
                      int ny, double s) {
  int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
  if (i <= 0 || j <= 0 || i >= nx - 1 || j >= ny - 1) return;
  int p = i + j * nx;
  double ul = uf[p] - 1.5, ur = uf[p + 1] - 1.5, vl = vf[p] - 1.5, vr = vf[p + nx] - 1.5;
  double fl = ul * (ul > 0 ? q[p - 1] : q[p]), fr = ur * (ur > 0 ? q[p] : q[p + 1]);
  double gl = vl * (vl > 0 ? q[p - nx] : q[p]), gr = vr * (vr > 0 ? q[p] : q[p + nx]);
  qn[p] = q[p] - s * (fr - fl + gr - gl);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "donor_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    double *u = arrays.doubles(size_t(n) * n), *v = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      donor<<<grid, block>>>(a, b, u, v, n, n, 0.1);
      std::swap(a, b);
    }
  });
}
