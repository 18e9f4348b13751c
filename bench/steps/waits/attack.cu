// Steps behind each of which the host waits, and at random places somebody who looks at memory, in
// every way that the runtime has. What is seen is summed up: with and without the launcher it has
// to be the same.
//
//   PROGRAM FIRST-SEED SEEDS      one number a seed
#include "../arrays.cuh"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

__device__ float rate = 0.2f;

__global__ void diffuse(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const float c = in[y * w + x];
  out[y * w + x] = c + rate * (in[y * w + x - 1] + in[y * w + x + 1] + in[y * w + x - w] +
                               in[y * w + x + w] - 4 * c);
}
__global__ void add(float* data, int at, float value) {
  data[at] += value;
}
__global__ void mix(const float* in, float* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < words) out[i] = in[i] * 0.5f;
}

class Attack {
public:
  explicit Attack(unsigned seed)
      : random_(seed), size_(seed % 8 == 0 ? 8 : 1), w_(size_ * (64 + random_() % 200)),
        h_(size_ * (64 + random_() % 100)), host_(w_ * h_) {
    CHECK(cudaMalloc(&a_, bytes()));
    CHECK(cudaMalloc(&b_, bytes()));
    CHECK(cudaMalloc(&c_, bytes()));
    CHECK(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking));
    for (float& each : host_)
      each = static_cast<float>(random_() % 1000);
    CHECK(cudaMemcpy(a_, host_.data(), bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b_, host_.data(), bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(c_, host_.data(), bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
  }
  ~Attack() {
    cudaFree(a_);
    cudaFree(b_);
    cudaFree(c_);
    cudaStreamDestroy(other_);
  }
  unsigned long long run() {
    for (int round = 0; round < 12; ++round) {
      const unsigned steps = random_() % 3 == 0 ? 20 : 1 + random_() % 40;
      for (unsigned n = 0; n < steps; ++n) {
        step();
        if (random_() % 60 == 0) continue; // it does not wait for this one
        CHECK(cudaDeviceSynchronize());
        if (random_() % 90 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      look();
    }
    read(a_, nullptr);
    read(b_, nullptr);
    return sum_;
  }

private:
  [[nodiscard]] size_t bytes() const { return host_.size() * sizeof(float); }
  void step() {
    const dim3 block(32, 4), grid((w_ + 31) / 32, (h_ + 3) / 4);
    diffuse<<<grid, block>>>(a_, b_, w_, h_);
    std::swap(a_, b_);
  }
  void note() {
    for (const float each : host_) {
      unsigned word = 0;
      memcpy(&word, &each, sizeof word);
      sum_ = (sum_ ^ word) * 0x100000001b3ULL;
    }
  }
  // By a stream that waits for no other: what the host has waited for has to be there.
  void read(const float* from, cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(host_.data(), from, bytes(), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    note();
  }
  void look() {
    const unsigned how = random_() % 12;
    if (how < 6) CHECK(cudaDeviceSynchronize());
    switch (how) {
    case 0: return read(a_, other_);
    case 1: return read(b_, other_);
    case 2: // a kernel of another stream
      mix<<<(w_ * h_ + 255) / 256, 256, 0, other_>>>(random_() % 2 == 0 ? a_ : b_, c_, w_ * h_);
      return read(c_, other_);
    case 3: // another thread
      return std::thread([this] { read(random_() % 2 == 0 ? a_ : b_, other_); }).join();
    case 4: { // what steps read changes
      const float next = 0.1f + 0.01f * static_cast<float>(random_() % 10);
      CHECK(cudaMemcpyToSymbolAsync(rate, &next, sizeof next, 0, cudaMemcpyHostToDevice, other_));
      CHECK(cudaStreamSynchronize(other_));
      return;
    }
    case 5:
      CHECK(cudaMemcpyAsync(c_, a_, bytes(), cudaMemcpyDeviceToDevice, other_));
      CHECK(cudaStreamSynchronize(other_));
      return read(c_, nullptr);
    case 6: add<<<1, 1>>>(a_, static_cast<int>(random_() % (w_ * h_)), 3); return;
    case 7: add<<<1, 1>>>(b_, static_cast<int>(random_() % (w_ * h_)), 5); return;
    case 8: CHECK(cudaMemcpy(b_, a_, bytes(), cudaMemcpyDeviceToDevice)); return;
    case 9: CHECK(cudaMemset(b_, 0, 4 * (1 + random_() % w_))); return;
    case 10: std::swap(a_, c_); return; // another array
    default: {                          // a graph with a step in it
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t made = nullptr;
      cudaStream_t stream = nullptr;
      CHECK(cudaStreamCreate(&stream));
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      diffuse<<<dim3((w_ + 31) / 32, (h_ + 3) / 4), dim3(32, 4), 0, stream>>>(a_, b_, w_, h_);
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&made, graph, 0));
      CHECK(cudaGraphLaunch(made, stream));
      CHECK(cudaStreamSynchronize(stream));
      std::swap(a_, b_);
      CHECK(cudaGraphExecDestroy(made));
      CHECK(cudaGraphDestroy(graph));
      CHECK(cudaStreamDestroy(stream));
      return read(b_, nullptr);
    }
    }
  }

  std::mt19937 random_;
  unsigned size_; // some take as long as the host needs to look too early
  unsigned w_, h_;
  std::vector<float> host_;
  float *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
  cudaStream_t other_ = nullptr;
  unsigned long long sum_ = 0xcbf29ce484222325ULL;
};

int main(int argc, char** argv) {
  const unsigned first = argc > 1 ? std::atoi(argv[1]) : 1,
                 seeds = argc > 2 ? std::atoi(argv[2]) : 20;
  for (unsigned seed = first; seed < first + seeds; ++seed)
    std::printf("%u %016llx\n", seed, Attack(seed).run());
  return 0;
}
