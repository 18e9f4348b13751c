// Runs kernels of two cubins on the same data and compares what they write, bit for bit.
//
//   sums_gpu FILE      lines of: original cubin, rewritten cubin, way, kernel, type
//
// tests/fuzz/sums makes both. A line "DIFFERS way kernel ..." for each kernel that is not the same,
// then how many were compared. Exit code 2 if something could not be run.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t in_bytes = 64 * 256 * 8, out_bytes = 5 * 256 * 32 * 8;

void check(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what.c_str(), text);
  std::exit(2);
}

// Numbers about one; with `wild`, zeros, tiny and huge ones and infinities among them.
class Numbers {
public:
  Numbers(std::string type, unsigned seed, bool wild)
      : type_(std::move(type)), random_(seed), wild_(wild) {}

  template <class T> T one() {
    const double sign = random_() % 2 == 0 ? 1 : -1;
    double value = sign * (0.5 + static_cast<double>(random_()) / 4294967296.0);
    if (wild_ && random_() % 8 == 0) {
      const double all[] = {0.0, 1e-30, 1e30, 1e-40, 1e-6, 3e4, INFINITY, 1.0};
      value = sign * all[random_() % 8];
    }
    return static_cast<T>(value);
  }
  void write(void* to) {
    if (type_ == "f64")
      put(to, one<double>());
    else if (type_ == "f32")
      put(to, one<float>());
    else if (type_ == "f16")
      put(to, __float2half(one<float>()));
    else if (type_ == "bf16")
      put(to, __float2bfloat16(one<float>()));
    else if (type_ == "f16x2") {
      put(to, __float2half(one<float>()));
      put(static_cast<char*>(to) + 2, __float2half(one<float>()));
    } else {
      put(to, __float2bfloat16(one<float>()));
      put(static_cast<char*>(to) + 2, __float2bfloat16(one<float>()));
    }
  }
  [[nodiscard]] std::size_t size() const {
    return type_ == "f64" ? 8 : type_ == "f16" || type_ == "bf16" ? 2 : 4;
  }
  std::vector<char> many(std::size_t bytes) {
    std::vector<char> made(bytes);
    for (std::size_t at = 0; at + size() <= bytes; at += size())
      write(made.data() + at);
    return made;
  }

private:
  template <class T> static void put(void* to, T value) { std::memcpy(to, &value, sizeof value); }
  std::string type_;
  std::mt19937 random_;
  bool wild_;
};

// What a kernel reads, on the device already.
struct Data {
  CUdeviceptr a = 0, b = 0;
  std::vector<std::uint64_t> constants;
};

Data make_data(const std::string& type, unsigned round) {
  Numbers numbers(type, 7 + round, round == 2);
  Data data;
  for (CUdeviceptr* p : {&data.a, &data.b}) {
    check(cuMemAlloc(p, in_bytes), "memory");
    check(cuMemcpyHtoD(*p, numbers.many(in_bytes).data(), in_bytes), "copy");
  }
  data.constants.resize(8);
  for (std::uint64_t& constant : data.constants)
    numbers.write(&constant);
  return data;
}

std::vector<char> launch(CUfunction kernel, Data data, CUdeviceptr out, int iterations,
                         unsigned rows) {
  check(cuMemsetD8(out, 0xcd, out_bytes), "fill");
  std::vector<void*> parameters{&data.a, &data.b, &out, &iterations};
  std::size_t offset = 0, size = 0;
  for (std::size_t n = 4; cuFuncGetParamInfo(kernel, n, &offset, &size) == CUDA_SUCCESS; ++n)
    parameters.push_back(&data.constants.at(n - 4));
  check(cuLaunchKernel(kernel, 3, rows, 1, 64, 1, 1, 0, nullptr, parameters.data(), nullptr),
        "launch");
  std::vector<char> made(out_bytes);
  check(cuMemcpyDtoH(made.data(), out, out_bytes), "copy back");
  return made;
}

} // namespace

int main(int, char** argv) {
  check(cuInit(0), "init");
  CUdevice id{};
  check(cuDeviceGet(&id, 0), "device");
  CUcontext context{};
  check(cuDevicePrimaryCtxRetain(&context, id), "context");
  check(cuCtxSetCurrent(context), "context");
  CUdeviceptr out = 0;
  check(cuMemAlloc(&out, out_bytes), "memory");
  std::map<std::pair<std::string, unsigned>, Data> all;
  std::map<std::string, CUmodule> modules;
  const auto function = [&](const std::string& cubin, const std::string& name) {
    const auto [at, fresh] = modules.emplace(cubin, nullptr);
    if (fresh) check(cuModuleLoad(&at->second, cubin.c_str()), cubin);
    CUfunction kernel{};
    check(cuModuleGetFunction(&kernel, at->second, name.c_str()), name);
    return kernel;
  };
  std::ifstream work(argv[1]);
  std::string plain, made, way, name, type;
  unsigned compared = 0, launches = 0, different = 0;
  while (work >> plain >> made >> way >> name >> type) {
    const CUfunction before = function(plain, name), after = function(made, name);
    ++compared;
    for (unsigned round = 0; round < 3; ++round) {
      auto [data, fresh] = all.try_emplace({type, round});
      if (fresh) data->second = make_data(type, round);
      const int iterations = round == 1 ? 9 : 5;
      const unsigned rows = 7 + round; // also one that two do not divide
      const auto was = launch(before, data->second, out, iterations, rows),
                 is = launch(after, data->second, out, iterations, rows);
      ++launches;
      if (was == is) continue;
      std::size_t at = 0;
      while (was[at] == is[at])
        ++at;
      ++different;
      std::printf("DIFFERS %s %s %s round %u at byte %zu\n", way.c_str(), name.c_str(),
                  type.c_str(), round, at);
      break;
    }
  }
  std::printf("%u kernels compared in %u launches, %u differ\n", compared, launches, different);
  return 0;
}
