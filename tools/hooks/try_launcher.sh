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
