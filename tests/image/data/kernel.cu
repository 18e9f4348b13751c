// The images beside this file are of it: see make.
extern "C" __global__ void scale(float* p, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * by + 1.0f;
}
__constant__ float weights[4];
extern "C" __global__ void weigh(float* p) {
  p[threadIdx.x] *= weights[threadIdx.x & 3];
}
