// Kernels for which ptxas makes helpers, which it counts through the module: see make.
#ifdef WITH_MORE
extern "C" __global__ void third(float* p) {
  p[threadIdx.x] = p[threadIdx.x] / p[3];
}
#endif
extern "C" __global__ void first(float* p) {
  p[threadIdx.x] = p[threadIdx.x] / p[1];
}
extern "C" __global__ void second(double* p) {
  p[threadIdx.x] = p[threadIdx.x] / p[2];
}
