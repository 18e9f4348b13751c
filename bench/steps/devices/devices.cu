// Programs that use two devices at a time, as people write them; they know nothing of merged
// launches.
//
//   devices [SIZE [STEPS]]      a line for each: NAME DIGEST | MICROSECONDS A STEP
#include "../arrays.cuh"

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

int n = 512, steps = 100; // n x n, each device's part

__global__ void heat(const float* in, float* out, int rows, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= rows - 1) return;
  const int i = y * n + x;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4.0f * in[i]);
}
// The row below the last one is the other device's.
__global__ void heat_over(const float* in, float* out, const float* below, int rows, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= rows) return;
  const int i = y * n + x;
  const float under = y + 1 < rows ? in[i + n] : below[x];
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + under - 4.0f * in[i]);
}
__global__ void velocity(float* v, const float* u, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  v[i] += 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4.0f * u[i]);
}
__global__ void move(float* u, const float* v, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] += 0.05f * v[y * n + x];
}

dim3 blocks() {
  return dim3((n + 31) / 32, (n + 7) / 8);
}
const dim3 threads(32, 8);

struct Part { // of one device
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  float *a = nullptr, *b = nullptr;

  explicit Part(int its_device, bool is_managed = false) : device(its_device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    const size_t words = size_t(n) * n;
    for (float** const array : {&a, &b}) {
      CHECK(is_managed ? cudaMallocManaged(array, words * 4) : cudaMalloc(array, words * 4));
      fill<<<unsigned((words + 255) / 256), 256, 0, stream>>>(reinterpret_cast<unsigned*>(*array),
                                                              words, device + 1, false);
    }
    CHECK(cudaStreamSynchronize(stream));
  }
  Part(const Part&) = delete;
  ~Part() {
    cudaSetDevice(device);
    cudaFree(a);
    cudaFree(b);
    cudaEventDestroy(done);
    cudaStreamDestroy(stream);
  }
  void step() {
    CHECK(cudaSetDevice(device));
    heat<<<blocks(), threads, 0, stream>>>(a, b, n, n);
    std::swap(a, b);
  }
  void add_to(unsigned long long& sum) const {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceSynchronize());
    unsigned long long *found = nullptr, words = size_t(n) * n;
    CHECK(cudaMallocManaged(&found, sizeof *found));
    *found = sum;
    for (const float* const array : {a, b})
      digest<<<unsigned((words + 255) / 256), 256>>>(reinterpret_cast<const unsigned*>(array),
                                                     words, found);
    CHECK(cudaDeviceSynchronize());
    sum = *found * 0x9e3779b97f4a7c15ull;
    CHECK(cudaFree(found));
  }
};

// The last rows of the one are the first of the other, brought over behind each step.
void halo(Part& p, Part& q) {
  const size_t row = n;
  for (int t = 0; t < steps; ++t) {
    p.step();
    q.step();
    CHECK(cudaEventRecord(p.done, p.stream));
    CHECK(cudaEventRecord(q.done, q.stream));
    CHECK(cudaStreamWaitEvent(p.stream, q.done, 0));
    CHECK(cudaStreamWaitEvent(q.stream, p.done, 0));
    CHECK(
        cudaMemcpyPeerAsync(p.a + (n - 1) * row, p.device, q.a + row, q.device, row * 4, p.stream));
    CHECK(cudaMemcpyPeerAsync(q.a, q.device, p.a + (n - 2) * row, p.device, row * 4, q.stream));
    CHECK(cudaEventRecord(p.done, p.stream));
    CHECK(cudaEventRecord(q.done, q.stream));
    CHECK(cudaStreamWaitEvent(p.stream, q.done, 0));
    CHECK(cudaStreamWaitEvent(q.stream, p.done, 0));
  }
}
// Every tenth step.
void seldom(Part& p, Part& q) {
  for (int t = 0; t < steps; ++t) {
    p.step();
    q.step();
    if (t % 10 != 9) continue;
    CHECK(cudaStreamSynchronize(p.stream));
    CHECK(cudaStreamSynchronize(q.stream));
    CHECK(cudaMemcpyPeer(p.a + size_t(n) * (n - 1), p.device, q.a + n, q.device, n * 4));
  }
}
// The kernel reads from the other device itself.
void reach(Part& p, Part& q) {
  for (int t = 0; t < steps; ++t) {
    CHECK(cudaSetDevice(p.device));
    heat_over<<<blocks(), threads, 0, p.stream>>>(p.a, p.b, q.a, n, n);
    CHECK(cudaEventRecord(p.done, p.stream));
    CHECK(cudaSetDevice(q.device));
    CHECK(cudaStreamWaitEvent(q.stream, p.done, 0));
    heat<<<blocks(), threads, 0, q.stream>>>(q.a, q.b, n, n);
    CHECK(cudaEventRecord(q.done, q.stream));
    CHECK(cudaSetDevice(p.device));
    CHECK(cudaStreamWaitEvent(p.stream, q.done, 0));
    std::swap(p.a, p.b);
    std::swap(q.a, q.b);
  }
}
// One loop, whose arrays are the other device's.
void remote(Part& p, Part& q) {
  CHECK(cudaSetDevice(p.device));
  for (int t = 0; t < steps; ++t) {
    heat<<<blocks(), threads, 0, p.stream>>>(q.a, q.b, n, n);
    std::swap(q.a, q.b);
  }
  CHECK(cudaStreamSynchronize(p.stream));
}
void in_turn(Part& p, Part& q) {
  for (int t = 0; t < steps; ++t) {
    p.step();
    q.step();
  }
}
void one_behind_the_other(Part& p, Part& q) {
  for (Part* const part : {&p, &q}) {
    for (int t = 0; t < steps; ++t)
      part->step();
    CHECK(cudaMemcpyPeerAsync(part->device == p.device ? q.a : p.a,
                              part->device == p.device ? q.device : p.device, part->a, part->device,
                              size_t(n) * n * 4, part->stream));
    CHECK(cudaStreamSynchronize(part->stream));
  }
}
void by_threads(Part& p, Part& q) {
  std::vector<std::thread> running;
  for (Part* const part : {&p, &q})
    running.emplace_back([part] {
      for (int t = 0; t < steps; ++t)
        part->step();
      CHECK(cudaStreamSynchronize(part->stream));
    });
  for (std::thread& thread : running)
    thread.join();
}
void two_kernels(Part& p, Part& q) {
  for (int t = 0; t < steps; ++t)
    for (Part* const part : {&p, &q}) {
      CHECK(cudaSetDevice(part->device));
      velocity<<<blocks(), threads, 0, part->stream>>>(part->b, part->a, n);
      move<<<blocks(), threads, 0, part->stream>>>(part->a, part->b, n);
    }
}
void two_kernels_by_threads(Part& p, Part& q) {
  std::vector<std::thread> running;
  for (Part* const part : {&p, &q})
    running.emplace_back([part] {
      CHECK(cudaSetDevice(part->device));
      for (int t = 0; t < steps; ++t) {
        velocity<<<blocks(), threads, 0, part->stream>>>(part->b, part->a, n);
        move<<<blocks(), threads, 0, part->stream>>>(part->a, part->b, n);
      }
      CHECK(cudaStreamSynchronize(part->stream));
    });
  for (std::thread& thread : running)
    thread.join();
}

void run(const std::string& name, const std::function<void(Part&, Part&)>& loop,
         bool is_managed = false) {
  using Clock = std::chrono::steady_clock;
  Part p(0, is_managed), q(1, is_managed);
  double least = 1e30;
  for (int round = 0; round < 6; ++round) {
    const auto begin = Clock::now();
    loop(p, q);
    for (const Part* const part : {&p, &q}) {
      CHECK(cudaSetDevice(part->device));
      CHECK(cudaDeviceSynchronize());
    }
    least =
        std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  unsigned long long sum = 0;
  p.add_to(sum);
  q.add_to(sum);
  std::printf("%-24s %016llx | %8.2f\n", name.c_str(), sum, least / steps);
  std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
  if (count > 1) n = std::atoi(words[1]);
  if (count > 2) steps = std::atoi(words[2]);
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    std::fprintf(stderr, "two devices are needed\n");
    return 77;
  }
  int reaches = 0;
  CHECK(cudaDeviceCanAccessPeer(&reaches, 0, 1));
  const auto all = [](bool peers) {
    const std::string behind = peers ? "_peers" : "";
    run("halo" + behind, halo);
    run("seldom" + behind, seldom);
    if (peers) run("reach", reach);
    if (peers) run("remote", remote);
    run("in_turn" + behind, in_turn);
    run("one_behind_the_other" + behind, one_behind_the_other);
    run("by_threads" + behind, by_threads);
    run("two_kernels" + behind, two_kernels);
    run("two_kernels_by_threads" + behind, two_kernels_by_threads);
    run("managed" + behind, in_turn, true);
  };
  all(false);
  if (reaches == 0) return 0;
  for (const int device : {0, 1}) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
  }
  all(true);
}
