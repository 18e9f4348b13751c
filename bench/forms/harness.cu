// Times of cubins' kernels against the first, in interleaved rounds; all outputs compared bit for
// bit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <string>
#include <vector>
#define CK(x)                                                                                      \
  do {                                                                                             \
    CUresult e = (x);                                                                              \
    if (e) {                                                                                       \
      const char* s;                                                                               \
      cuGetErrorString(e, &s);                                                                     \
      printf("ERR %s line %d: %s\n", #x, __LINE__, s);                                             \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)
static std::vector<std::pair<std::string, CUmodule>> mods;
static CUdeviceptr a, b, o, o2, first;
static size_t bytes = size_t(1) << 30;
__global__ void compare(const unsigned* x, const unsigned* y, size_t words, unsigned* differ) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words;
       i += size_t(gridDim.x) * blockDim.x)
    if (x[i] != y[i]) *differ = 1;
}
// The output against that of the first kernel.
static bool is_equal(size_t outbytes) {
  unsigned differ = 0;
  CK(cuMemcpyHtoD(o2, &differ, 4));
  compare<<<1024, 256>>>((const unsigned*)o, (const unsigned*)first, outbytes / 4, (unsigned*)o2);
  CK(cuMemcpyDtoH(&differ, o2, 4));
  return differ == 0;
}
static void one(const char* name, dim3 g, dim3 bl, unsigned shared, std::vector<void*> args,
                size_t outbytes, int reps, const char* what) {
  std::vector<CUfunction> fs;
  std::vector<std::string> ns;
  for (auto& [n, m] : mods) {
    CUfunction f;
    if (cuModuleGetFunction(&f, m, name) == CUDA_SUCCESS) {
      if (fs.empty() && n != "plain") return;
      fs.push_back(f);
      ns.push_back(n);
    }
  }
  if (fs.empty()) return;
  std::vector<std::vector<float>> t(fs.size());
  std::vector<std::string> ok(fs.size(), "");
  CUevent e0, e1;
  CK(cuEventCreate(&e0, 0));
  CK(cuEventCreate(&e1, 0));
  std::vector<bool> dead(fs.size());
  for (size_t i = 0; i < fs.size(); i++) {
    CK(cuMemsetD8(o, 0xcd, outbytes));
    CK(cuMemsetD8(o2, 0xcd, 1 << 22));
    CUresult r = cuLaunchKernel(fs[i], g.x, g.y, g.z, bl.x, bl.y, bl.z, shared, 0, args.data(), 0);
    if (r) {
      ok[i] = "NOLAUNCH";
      dead[i] = true;
      continue;
    }
    CK(cuCtxSynchronize());
    if (i == 0) CK(cuMemcpyDtoD(first, o, outbytes));
    if (!is_equal(outbytes)) ok[i] = "DIFFERENT";
  }
  for (int r = 0; r < 11; r++)
    for (size_t i = 0; i < fs.size(); i++) {
      if (dead[i]) continue;
      CK(cuEventRecord(e0, 0));
      for (int k = 0; k < reps; k++)
        CK(cuLaunchKernel(fs[i], g.x, g.y, g.z, bl.x, bl.y, bl.z, shared, 0, args.data(), 0));
      CK(cuEventRecord(e1, 0));
      CK(cuEventSynchronize(e1));
      float ms;
      CK(cuEventElapsedTime(&ms, e0, e1));
      t[i].push_back(ms / reps);
    }
  printf("%s %s %ux%u", name, what, bl.x, bl.y);
  double p = 0;
  for (size_t i = 0; i < fs.size(); i++) {
    if (dead[i]) {
      printf(" %s=%s", ns[i].c_str(), ok[i].c_str());
      continue;
    }
    std::sort(t[i].begin(), t[i].end());
    double m = t[i][t[i].size() / 2];
    int regs;
    CK(cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, fs[i]));
    if (!i) {
      p = m;
      printf(" plain=%.4fms(%d)", m, regs);
    } else
      printf(" %s=%.3f(%d)%s", ns[i].c_str(), p / m, regs, ok[i].c_str());
  }
  printf("\n");
  fflush(stdout);
}
int main(int argc, char** argv) {
  CK(cuInit(0));
  CUdevice d;
  CUcontext c;
  CK(cuDeviceGet(&d, 0));
  CK(cuDevicePrimaryCtxRetain(&c, d));
  CK(cuCtxSetCurrent(c));
  CK(cuMemAlloc(&a, bytes));
  CK(cuMemAlloc(&b, bytes));
  CK(cuMemAlloc(&o, bytes));
  CK(cuMemAlloc(&first, bytes));
  CK(cuMemAlloc(&o2, 1 << 24));
  {
    std::vector<float> h(bytes / 4);
    unsigned s = 1;
    for (auto& x : h) {
      s = s * 1664525u + 1013904223u;
      x = 0.5f + (s >> 9) * (1.0f / (1 << 23));
    }
    CK(cuMemcpyHtoD(a, h.data(), bytes));
    for (size_t i = 0; i + 1 < h.size(); i += 2)
      std::swap(h[i], h[i + 1]);
    CK(cuMemcpyHtoD(b, h.data(), bytes));
  }
  std::string mode = argv[1];
  for (int i = 2; i < argc; i++) {
    std::string n = argv[i];
    CUmodule m;
    CK(cuModuleLoad(&m, (n + ".cubin").c_str()));
    if (i == 2) n = "plain";
    mods.push_back({n, m});
    if (i == 2) {
      CUmodule m2;
      CK(cuModuleLoad(&m2, (std::string(argv[i]) + ".cubin").c_str()));
      mods.push_back({"again", m2});
    }
  }
  if (mode == "windows") {
    struct Size {
      int nx, ny, nz;
    };
    for (const char* n : {"columnSum5", "columnMax3", "columnWeights7", "w_diff", "w_mean4",
                          "w_life3", "w_double5"})
      for (Size s :
           {Size{65536, 1000, 1}, {16384, 2000, 1}, {5000, 4000, 1}, {999, 999, 1}, {300, 100, 1}})
        for (unsigned t : {256, 128})
          one(n, dim3((s.nx + t - 1) / t), dim3(t), 0, {&a, &o, &s.nx, &s.ny, &s.nz},
              size_t(s.nx) * s.ny * 4, s.ny < 1000 ? 20 : 4,
              (std::to_string(s.nx) + "x" + std::to_string(s.ny)).c_str());
    for (const char* n : {"heat7", "box27", "derivative8", "w_star13", "w_grad"})
      for (Size s :
           {Size{512, 512, 512}, {300, 300, 300}, {1000, 1000, 60}, {128, 128, 128}, {70, 60, 50}})
        for (dim3 t : {dim3(32, 8), dim3(64, 2)})
          one(n, dim3((s.nx + t.x - 1) / t.x, (s.ny + t.y - 1) / t.y), t, 0,
              {&a, &o, &s.nx, &s.ny, &s.nz}, size_t(s.nx) * s.ny * s.nz * 4, s.nz < 100 ? 10 : 3,
              (std::to_string(s.nx) + "x" + std::to_string(s.ny) + "x" + std::to_string(s.nz))
                  .c_str());
  } else if (mode == "marching") {
    for (const char* F : {"f", "d"})
      for (int R = 1; R <= 4; R++)
        for (const char* u : {"nl", "1l", "ni"}) {
          std::string n = std::string(F) + std::to_string(R) + u;
          int e = F[0] == 'f' ? 512 : 384;
          size_t by = size_t(e) * e * e * (F[0] == 'f' ? 4 : 8);
          for (dim3 bl : {dim3(32, 8), dim3(128, 2)})
            one(n.c_str(), dim3(e / bl.x, e / bl.y), bl, 0, {&a, &o, &e, &e, &e}, by, 2, "large");
          for (int part : {2, 4}) {
            int s = e / part;
            one(n.c_str(), dim3(s / 32, s / 8), dim3(32, 8), 0, {&a, &o, &s, &s, &s},
                by / part / part / part, 5 * part, part == 2 ? "medium" : "small");
          }
          if (R == 4 && u[0] == 'n' && u[1] == 'l')
            one(n.c_str(), dim3(e / 32, e / 8), dim3(32, 8), F[0] == 'f' ? 48 << 10 : 48 << 10,
                {&a, &o, &e, &e, &e}, by, 2, "large-48KB");
        }
  } else {
    struct K {
      const char* n;
      int kind;
      bool dyn;
      int per;
    };
    K ks[] = {{"r0", 0, 1, 1},    {"r1", 0, 1, 1},    {"r2", 0, 1, 1},    {"r3", 0, 1, 2},
              {"r4", 0, 1, 2},    {"r4w", 0, 1, 2},   {"r5", 0, 0, 2},    {"r6", 0, 0, 2},
              {"scan1", 0, 0, 1}, {"scan2", 0, 0, 1}, {"scan3", 0, 1, 1}, {"dot", 1, 0, 1},
              {"dotw", 1, 0, 1},  {"bmax", 0, 0, 1},  {"bmaxb", 0, 0, 1}, {"amax", 2, 0, 1},
              {"sums", 0, 0, 1},  {"seg", 3, 0, 1},   {"early", 0, 0, 1}, {"own", 0, 0, 1},
              {"r0s", 0, 0, 1},   {"r0u", 0, 0, 1},   {"r1s", 0, 0, 1},   {"r1u", 0, 0, 1},
              {"r2s", 0, 0, 1},   {"r3s", 0, 0, 2},   {"seg32", 3, 0, 1}, {"isum", 0, 1, 1},
              {"imin2", 0, 0, 2}};
    const char* only = getenv("FORMS"); // "r0,r1": these alone
    const auto is_wanted = [&](const std::string& name) {
      return !only || ("," + std::string(only) + ",").find("," + name + ",") != std::string::npos;
    };
    for (auto& k : ks)
      for (int lg : {27, 22, 20, 16}) {
        int n = 1 << lg;
        if (!is_wanted(k.n)) continue;
        for (int t : {256, 128, 512}) {
          if (t != 256 && !k.dyn) continue;
          int g = n / t / k.per;
          dim3 bl(t), gr(g);
          int gg = g;
          if (k.kind == 3) {
            if (!strcmp(k.n, "seg")) bl = dim3(32, 8);
            gr = dim3(n / 256);
            gg = n / 32;
          }
          size_t ob = size_t(gg) * 8;
          if (!strncmp(k.n, "scan", 4) || !strcmp(k.n, "own")) ob = size_t(n) * 4;
          std::vector<void*> args;
          if (k.kind == 1)
            args = {&a, &b, &o, &n};
          else if (k.kind == 2)
            args = {&a, &o, &o2, &n};
          else
            args = {&a, &o, &n};
          char w[32];
          snprintf(w, 32, "2^%d", lg);
          one(k.n, gr, bl, k.dyn ? t * 4 : 0, args, ob, lg == 27 ? 2 : lg == 22 ? 10 : 40, w);
        }
      }
  }
}
