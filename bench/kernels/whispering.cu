// Whispering-gallery mode: one finite-difference time-domain step of a 2-D electromagnetic field.
// Each point also computes its left and lower neighbour's electric field, so that all four results
// come from one kernel: many loads at shifted positions, some of them of material coefficients.
#include "grid.cuh"

extern "C" __global__ void whispering(const float* __restrict__ ca, const float* __restrict__ cb,
                                      const float* __restrict__ da, const float* __restrict__ db,
                                      const float* __restrict__ e00, const float* __restrict__ e01,
                                      const float* __restrict__ h0, const float* __restrict__ u0,
                                      float* __restrict__ e0, float* __restrict__ e1,
                                      float* __restrict__ h, float* __restrict__ u, int nx, int ny,
                                      float mu, float eps) {
  const int i = inner(1), j = 1 + blockIdx.y;
  if (i > nx - 2 || j > ny - 2) return;
  const int c = Plane{nx}(i, j), left = c - 1, right = c + 1, down = c - nx, up = c + nx;
  const float e0_new = ca[c] * e00[c] + cb[c] * (h0[up] - h0[c]);
  const float e1_new = ca[c] * e01[c] - cb[c] * (h0[right] - h0[c]);
  const float ey = ca[down] * e00[down] + cb[down] * (h0[c] - h0[down]);
  const float ex = ca[left] * e01[left] - cb[left] * (h0[c] - h0[left]);
  const float h_new = da[c] * h0[c] + db[c] * (e0_new - ey + ex - e1_new);
  e0[c] = e0_new;
  e1[c] = e1_new;
  h[c] = h_new;
  u[c] = u0[c] + 0.5f * (h_new * h_new / mu + eps * (e0_new * e0_new + e1_new * e1_new));
}
