// A program that runs for a while, as people write them; it knows nothing of merged launches.
//
//   first_run PROGRAM SIZE LOOPS      loops of 1000 steps on SIZE x SIZE points
//
// A line for each second: SECOND | microseconds a step in it
// At the end: PROGRAM SIZE STEPS DIGEST | SECONDS MILLISECONDS, the latter of the step whose
// launches took longest, behind the first thousand.
#include "../arrays.cuh"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

__global__ void diffuse(const float* in, float* out, int nx, int ny, float k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int i = y * nx + x;
  out[i] = in[i] + k * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4.0f * in[i]);
}

__global__ void accelerate(float* v, const float* u, int nx, int ny, float c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int i = y * nx + x;
  v[i] += c * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
}
__global__ void displace(float* u, const float* v, int nx, int ny, float dt) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) u[y * nx + x] += dt * v[y * nx + x];
}

// No steps: each element is the mean of those around it.
__global__ void blur(const float* in, float* out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 3 || y < 3 || x >= nx - 3 || y >= ny - 3) return;
  float sum = 0.0f;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx)
      sum += in[(y + dy) * nx + x + dx];
  out[y * nx + x] = sum / 49.0f;
}

int main(int count, char** words) {
  if (count != 4) return std::fputs("first_run heat|membrane|blur SIZE LOOPS\n", stderr), 2;
  const char* const program = words[1];
  const int n = std::atoi(words[2]), loops = std::atoi(words[3]);
  const size_t points = size_t(n) * n;
  float* arrays[2];
  unsigned long long* sum = nullptr;
  for (float*& array : arrays) {
    CHECK(cudaMalloc(&array, points * sizeof(float)));
    fill<<<unsigned((points + 255) / 256), 256>>>(reinterpret_cast<unsigned*>(array), points, 1,
                                                  false);
  }
  CHECK(cudaMalloc(&sum, sizeof *sum));
  CHECK(cudaMemset(sum, 0, sizeof *sum));
  CHECK(cudaDeviceSynchronize());
  const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double last = 0, longest = 0;
  int done = 0;
  for (int loop = 0; loop < loops; ++loop) {
    for (int step = 0; step < 1000; ++step) {
      const double began = seconds();
      if (std::strcmp(program, "heat") == 0) {
        diffuse<<<grid, block>>>(arrays[0], arrays[1], n, n, 0.2f);
        std::swap(arrays[0], arrays[1]);
      } else if (std::strcmp(program, "membrane") == 0) {
        accelerate<<<grid, block>>>(arrays[1], arrays[0], n, n, 0.1f);
        displace<<<grid, block>>>(arrays[0], arrays[1], n, n, 0.1f);
      } else {
        blur<<<grid, block>>>(arrays[0], arrays[1], n, n);
      }
      if (loop > 0) longest = std::max(longest, seconds() - began);
    }
    CHECK(cudaDeviceSynchronize());
    done += 1000;
    if (const double now = seconds(); now - last >= 1) {
      std::printf("%.0f | %.2f\n", now, (now - last) / done * 1e6);
      std::fflush(stdout);
      last = now;
      done = 0;
    }
  }
  const double all = seconds();
  unsigned long long result = 0;
  for (float* array : arrays)
    digest<<<unsigned((points + 255) / 256), 256>>>(reinterpret_cast<unsigned*>(array), points,
                                                    sum);
  CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%s %d %d000 %016llx | %.1f %.2f\n", program, n, loops, result, all, longest * 1e3);
}
