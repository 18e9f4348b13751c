#!/usr/bin/env bash
# The launcher under a program with a static and one with a shared CUDA runtime, on a machine with a
# GPU: the same results with every policy, and a launch that ran a variant.
#   tools/hooks/try_launcher.sh
. "$(dirname "$0")/lib.sh"
need nvcc
nvidia-smi > /dev/null 2>&1 || skip "a GPU"
cat > launched.cu <<'END'
#include <cstdio>
#include <vector>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  const int n = (1 << 24) - 77;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 1021;
  float *a, *b, *c;
  cudaMalloc(&a, 4L * n), cudaMalloc(&b, 4L * n), cudaMalloc(&c, 4L * n);
  cudaMemcpy(a, h.data(), 4L * n, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), 4L * n, cudaMemcpyHostToDevice);
  for (int k = 0; k < 50; ++k) add<<<(n + 127) / 128, 128>>>(a, b, c, n);
  cudaMemcpy(h.data(), c, 4L * n, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float x : h) sum += x;
  std::printf("%s %.0f\n", cudaGetErrorString(cudaGetLastError()), sum);
}
END
for runtime in static shared; do
  nvcc -arch=native -cudart "$runtime" --ptxas-prefix="$ptxasw" -Xptxas --ptxasw-variants \
    launched.cu -o launched
  expected=$(./launched)
  for options in --policy=model --policy=measure --policy=original --check=10; do
    result=$("$ptxasw" launch "$options" --report=report.json -- ./launched)
    [ "$result" = "$expected" ] || { echo "FAIL: $options: $result instead of $expected"; exit 1; }
    echo "$runtime runtime, $options: $(grep -o '"variant": "[^"]*"' report.json)"
  done
done

# A program of the driver API, linked with libcuda itself, with a kernel of clang's. CLANG_PTX names
# what clang made of kernel.cu elsewhere (--cuda-device-only -S), for machines without clang.
cat > kernel.cu <<'K'
extern "C" __attribute__((global)) void add(const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c, int n) {
  int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  if (i < n) c[i] = a[i] + b[i];
}
K
cat > driver.cpp <<'K'
#include <cuda.h>
#include <cstdio>
#include <vector>
int main() {
  CUdevice device; CUcontext context; CUmodule module; CUfunction add; CUdeviceptr a, b, c;
  int n = (1 << 24) - 77;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 1021;
  cuInit(0), cuDeviceGet(&device, 0), cuDevicePrimaryCtxRetain(&context, device), cuCtxSetCurrent(context);
  if (cuModuleLoad(&module, "kernel.cubin") != CUDA_SUCCESS) return 1;
  cuModuleGetFunction(&add, module, "add");
  cuMemAlloc(&a, 4L * n), cuMemAlloc(&b, 4L * n), cuMemAlloc(&c, 4L * n);
  cuMemcpyHtoD(a, h.data(), 4L * n), cuMemcpyHtoD(b, h.data(), 4L * n);
  void* parameters[] = {&a, &b, &c, &n};
  CUresult result = CUDA_SUCCESS;
  for (int k = 0; k < 50; ++k)
    result = cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr);
  cuMemcpyDtoH(h.data(), c, 4L * n);
  double sum = 0;
  for (float x : h) sum += x;
  std::printf("%d %.0f\n", result, sum);
}
K
if command -v clang > /dev/null; then
  clang -x cuda --cuda-gpu-arch=sm_80 --cuda-device-only -nocudainc -nocudalib -O2 -S kernel.cu \
    -o kernel.ptx --cuda-path="$cuda" -Wno-unknown-cuda-version || exit 1
elif [ -n "${CLANG_PTX:-}" ]; then
  cp "$CLANG_PTX" kernel.ptx
else
  echo "clang is not here: its kernels were not tried"
  exit 0
fi
unset PTXASW_FLAGS
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
"$ptxasw" -arch="$arch" kernel.ptx -o kernel.cubin --ptxasw-variants || exit 1
nvcc -std=c++17 driver.cpp -o driver -L"$cuda/lib64/stubs" -lcuda || exit 1
expected=$(./driver)
for options in --policy=model --policy=measure --policy=block:256x1x1 --check=10; do
  result=$("$ptxasw" launch "$options" --report=report.json -- ./driver)
  [ "$result" = "$expected" ] || { echo "FAIL: $options: $result instead of $expected"; exit 1; }
  echo "the driver API, a kernel of clang's, $options: $(grep -o '"variant": "[^"]*"' report.json)"
done
