// One thread an element, with addresses or ways that are data: tables, sparse rows, sums over
// everything, atomics that nobody waits for.
#include "grid.cuh"

extern "C" __global__ void gather_f32(const float* __restrict__ a, const int* __restrict__ index,
                                      float* __restrict__ out, int n) {
  const int i = inner(0);
  if (i < n) out[i] = a[index[i]];
}

extern "C" __global__ void lookup(const unsigned* __restrict__ keys,
                                  const float* __restrict__ table, float* __restrict__ out, int n) {
  const int i = inner(0);
  if (i < n) out[i] = table[keys[i] & 255];
}

extern "C" __global__ void nbody_naive(const float4* __restrict__ bodies,
                                       float4* __restrict__ force, int n) {
  const int i = inner(0);
  if (i >= n) return;
  const float4 me = bodies[i];
  float x = 0.0f, y = 0.0f, z = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), w = other.w * r * r * r;
    x += w * dx;
    y += w * dy;
    z += w * dz;
  }
  force[i] = make_float4(x, y, z, 0.0f);
}

extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ columns,
                                    const float* __restrict__ values, const float* __restrict__ x,
                                    float* __restrict__ y, int n) {
  const int i = inner(0);
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = rows[i]; k < rows[i + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[i] = sum;
}

// Columns walked: a thread reads a row.
extern "C" __global__ void row_sum(const float* __restrict__ a, float* __restrict__ sums, int n,
                                   int width) {
  const int i = inner(0);
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += a[i * width + j];
  sums[i] = sum;
}

extern "C" __global__ void histogram256(const unsigned* __restrict__ keys, unsigned* bins, int n) {
  const int i = inner(0);
  if (i < n) atomicAdd(&bins[keys[i] & 255], 1u);
}

extern "C" __global__ void count_above(const float* __restrict__ x, unsigned* count, int n,
                                       float limit) {
  const int i = inner(0);
  if (i < n && x[i] > limit) atomicAdd(count, 1u);
}

// The order of the output is nobody's business, so two runs differ.
extern "C" __global__ void compact(const float* __restrict__ x, float* __restrict__ out,
                                   unsigned* count, int n, float limit) {
  const int i = inner(0);
  if (i < n && x[i] > limit) out[atomicAdd(count, 1u) % n] = x[i];
}
