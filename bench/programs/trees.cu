// Each kernel of trees_kernels.cuh on several sizes and blocks.
#include "trees_kernels.cuh"

template <class T> uint64_t dg(void* p) {
  return ((Buf<T>*)p)->digest();
}
#define RUN1(K, T, BS, SM, GRID, IN, OUT, NN, ...)                                                 \
  do {                                                                                             \
    Buf<T> in(IN), out(OUT, false);                                                                \
    report(                                                                                        \
        #K, "n" + std::to_string(NN) + " b" + std::to_string(BS) + " " #T,                         \
        [&] { K<<<GRID, BS, SM>>>(in.d, out.d, ##__VA_ARGS__, NN); }, dg<T>, &out);                \
  } while (0)
#define TR(K, T)                                                                                   \
  for (int n : {1000, 65537, 1 << 20, 1 << 24})                                                    \
    for (int b : {32, 64, 96, 128, 200, 256, 512, 1024}) {                                         \
      int g = (n + b - 1) / b;                                                                     \
      RUN1(K, T, b, b * sizeof(T), g, n, g, n);                                                    \
    }
#define FX(K, T, B, PER)                                                                           \
  for (int n : {777, 65536, 1000003, 1 << 24}) {                                                   \
    int g = (n + PER - 1) / PER;                                                                   \
    RUN1(K, T, B, 0, g, g* PER, g* PER, n);                                                        \
  }
int main() {
  TR(tree_mod<float>, float);
  TR(tree_mod<int>, int);
  TR(tree_strided<float>, float);
  TR(tree_strided<double>, double);
  TR(tree_down<float>, float);
  TR(tree_down<long long>, long long);
  TR(tree_down<short>, short);
  FX(tree_two<float>, float, 256, 512);
  FX(tree_two<int>, int, 256, 512);
  FX(tree_two<double>, double, 256, 512);
  FX(tree_volatile<float>, float, 256, 256);
  FX(tree_volatile<int>, int, 256, 256);
  FX((tree_full<float, 64>), float, 64, 4096);
  FX((tree_full<int, 128>), int, 128, 4096);
  FX((tree_full<double, 256>), double, 256, 4096);
  FX((tree_full<float, 512>), float, 512, 4096);
  for (int b : {32, 64, 128, 256, 512, 1024}) {
    int n = 1 << 22, g = n / b;
    RUN1(tree_max<float>, float, b, 0, g, n, g, n);
    RUN1(tree_max<int>, int, b, 0, g, n, g, n);
    RUN1(tree_max<unsigned>, unsigned, b, 0, g, n, g, n);
    RUN1(tree_fmaxf, float, b, 0, g, n, g, n);
    RUN1(odd_size, int, b - 5, 0, g, n, g, n);
    RUN1(odd_size, int, b, 0, g, n, g, n);
  }
  for (int b : {32, 64, 128, 256, 512}) {
    int n = 1 << 22, g = n / b;
    Buf<float> in(n);
    Buf<int> out(g, false);
    report(
        "argmin", "b" + std::to_string(b), [&] { argmin<<<g, b>>>(in.d, out.d, n - 17); }, dg<int>,
        &out);
  }
  for (int b : {32, 64, 128, 256}) {
    int n = 1 << 22, g = n / b;
    RUN1(two_trees, float, b, 0, g, n, n, n);
  }
  {
    Buf<float> in(8192 * 1000), out(8192, false);
    report(
        "tree_2d", "32x8", [&] { tree_2d<<<1024, dim3(32, 8)>>>(in.d, out.d, 1000); }, dg<float>,
        &out);
  }
  {
    Buf<float> in(1 << 22), out(1 << 18, false);
    report(
        "tree_2dy", "16x16",
        [&] { tree_2dy<<<(1 << 22) / 256, dim3(16, 16)>>>(in.d, out.d, 1 << 22); }, dg<float>,
        &out);
  }
  for (dim3 b : {dim3(32, 8), dim3(16, 16), dim3(256, 1), dim3(8, 32)}) {
    Buf<double> in(1 << 22), out(1 << 14, false);
    report(
        "tree_flat2d", std::to_string(b.x) + "x" + std::to_string(b.y),
        [&] { tree_flat2d<<<1 << 14, b>>>(in.d, out.d, (1 << 22) - 3); }, dg<double>, &out);
  }
  FX(early, int, 256, 256) {
    int r = 5000, n = 1333;
    Buf<float> in((size_t)r * n), out(r, false);
    report(
        "loopwg", "", [&] { loopwg<<<264, 128>>>(in.d, out.d, r, n); }, dg<float>, &out);
  }
  for (int b : {64, 128, 256, 512, 1024})
    for (int n : {100, 1000, 4096}) {
      int r = 3000;
      Buf<float> in((size_t)r * n), out((size_t)r * n, false);
      report(
          "softmax_rows", "b" + std::to_string(b) + " n" + std::to_string(n),
          [&] { softmax_rows<<<r, b, b * 4>>>(in.d, out.d, n); }, dg<float>, &out);
    }
  FX(scan_hs, int, 256, 256);
  FX(scan_blelloch, int, 256, 512);
  FX(bitonic, unsigned, 512, 512) {
    Buf<unsigned char> in(1 << 22);
    Buf<unsigned> out(264, false);
    report(
        "hist_reduce", "", [&] { hist_reduce<<<264, 256>>>(in.d, out.d, 1 << 22); }, dg<unsigned>,
        &out);
  }
  FX(cg_tree, float, 256, 256);
  FX(cg_tile, float, 256, 256) {
    int n = 1 << 22;
    Buf<float> in(n), out(n / 128, false);
    report(
        "complex_tree", "", [&] { complex_tree<<<n / 256, 256>>>(in.d, out.d, n); }, dg<float>,
        &out);
  }
  {
    int n = 1 << 20;
    Buf<float> in(n * 4), out(n / 32, false);
    report(
        "float4_tree", "", [&] { float4_tree<<<n / 128, 128>>>((float4*)in.d, (float4*)out.d, n); },
        dg<float>, &out);
  }
  FX(half_tree, __half, 256, 256);
  FX(byte_tree, unsigned char, 256, 256) for (int n : {3000, 1 << 22}) {
    int g = (n + 255) / 256;
    Buf<float> in(n), part(g), out(1, false);
    Buf<unsigned> c(1);
    CHECK(cudaMemset(c.d, 0, 4));
    report(
        "last_block", std::to_string(n),
        [&] { last_block<<<g, 256>>>(in.d, part.d, out.d, c.d, n); }, dg<float>, &out);
  }
  FX(seg_tree, float, 256, 256);
  FX(readback, int, 256, 256);
  FX(interleave, int, 512, 512) printf("done\n");
}
