// Each kernel of dense_kernels.cuh on grids of one block to many waves, thin ones among them.
// There are more ways to try than the default --coarsen-budget has room for; 1000 is enough.
#include "dense_kernels.cuh"

#include <cctype>
#include <type_traits>

struct Size {
  int w, h, d;
};
// By words: arrays are large.
template <class T> uint64_t words(void* p) {
  const Buf<T>* b = (const Buf<T>*)p;
  static std::vector<uint64_t> v;
  v.resize((b->n * sizeof(T) + 7) / 8);
  v.back() = 0;
  CHECK(cudaMemcpy(v.data(), b->d, b->n * sizeof(T), cudaMemcpyDeviceToHost));
  uint64_t x = 1469598103934665603ull;
  for (uint64_t c : v) {
    x ^= c;
    x *= 1099511628211ull;
  }
  return x;
}
static unsigned up(int n, int by) {
  return (n + by - 1) / by;
}
static std::string shape(int a, int b, int c = 0) {
  return std::to_string(a) + "x" + std::to_string(b) + (c ? "x" + std::to_string(c) : "");
}
// Without parentheses and blanks, and with the type that T is.
template <class T> std::string named(const char* name) {
  std::string to;
  for (; *name; ++name)
    if (*name == 'T' && !isalnum(name[1]) && to.back() == '<')
      to += std::is_same_v<T, float> ? "float" : std::is_same_v<T, double> ? "double" : "int";
    else if (!strchr("() ", *name))
      to += *name;
  return to;
}
template <class T, class F>
void timed(const char* name, const std::string& of, Buf<T>& out, F launch) {
  CHECK(cudaMemset(out.d, 0xAB, out.n * sizeof(T)));
  report(named<T>(name).c_str(), of, launch, words<T>, &out);
}
// Where long sums would be NaN else.
template <class T> void tame(Buf<T>& b) {
  std::vector<T> v(b.n);
  for (T& e : v)
    e = T((int)(next_random() % 2001) - 1000) / T(77);
  CHECK(cudaMemcpy(b.d, v.data(), b.n * sizeof(T), cudaMemcpyHostToDevice));
}
static bool fits(size_t n, size_t bytes) {
  return n * bytes <= 64000000;
}
static const Size planes[] = {{9, 11, 1},      {50, 30, 1},     {200001, 11, 1}, {37, 60001, 1},
                              {259, 261, 1},   {700, 699, 1},   {521, 520, 1},   {740, 741, 1},
                              {1040, 1041, 1}, {2900, 2700, 1}, {4093, 3900, 1}};
// NAME(...) over w x h in blocks of BX x BY, MORE blocks along both axes than it takes.
#define ON(NAME, BX, BY, MORE, ...)                                                                \
  timed(#NAME, shape(w, h), out, [&] {                                                             \
    NAME<<<dim3(up(w, BX) + MORE, up(h, BY) + MORE), dim3(BX, BY)>>>(__VA_ARGS__, w, h);           \
  })
static void floats() {
  Buf<float> k(128);
  tame(k);
  CHECK(cudaMemcpyToSymbol(fixed_weights, k.d, 81 * 4, 0, cudaMemcpyDeviceToDevice));
  for (const Size& of : planes) {
    const int w = of.w, h = of.h;
    Buf<unsigned char> columns(w);
    Buf<float> in((size_t)w * h), other((size_t)w * h), out((size_t)w * h, false);
    ON(box9<float>, 32, 8, 0, in.d, out.d);
    ON(two_ways<float>, 32, 8, 0, in.d, out.d);
    ON(masked9, 32, 8, 0, in.d, columns.d, out.d);
    ON(valid9, 16, 16, 0, in.d, out.d);
    ON((convolved<float, 3>), 64, 4, 1, in.d, k.d, out.d);
    ON((convolved<float, 4>), 16, 16, 0, in.d, k.d, out.d);
    ON(convolved_constant<4>, 32, 8, 0, in.d, out.d);
    ON(depthwise7<2>, 32, 8, 0, in.d, k.d, out.d);
    ON(median5<float>, 32, 8, 0, in.d, out.d);
    ON(edges<float>, 32, 8, 0, in.d, out.d);
    ON(edges_all<float>, 16, 16, 0, in.d, out.d);
    ON((star<float, 6>), 32, 8, 0, in.d, k.d, out.d);
    ON(bicubic, 32, 8, 0, in.d, k.d, out.d);
    ON((star<float, 4>), 32, 8, 0, in.d, k.d, out.d);
    ON(column33<float>, 32, 8, 0, in.d, k.d, out.d);
    ON(cosines, 32, 8, 1, in.d, k.d, out.d);
    ON((convolved_tile<float, 2>), 32, 8, 1, in.d, k.d, out.d);
    ON((convolved_tile<float, 3>), 32, 8, 0, in.d, k.d, out.d);
    Buf<float> cx(w), cy(h);
    timed("field", shape(w, h), out, [&] {
      field<<<dim3(up(w, 32), up(h, 8)), dim3(32, 8)>>>(in.d, other.d, in.d, cx.d, cy.d, out.d, w,
                                                        h);
    });
    if (!fits((size_t)w * h * 9, 4)) continue;
    Buf<float> nine((size_t)w * h * 9), to((size_t)w * h * 9, false);
    Buf<unsigned char> wall((size_t)w * h);
    timed("lattice", shape(w, h), to, [&] {
      lattice<<<dim3(up(w, 32), up(h, 4)), dim3(32, 4)>>>(nine.d, wall.d, to.d, w, h, 0.7f);
    });
  }
}
template <class T> void others() {
  Buf<T> k(128);
  for (const Size& of : planes) {
    const int w = of.w, h = of.h;
    if (!fits((size_t)w * h, sizeof(T))) continue;
    Buf<T> in((size_t)w * h), out((size_t)w * h, false);
    ON(box9<T>, 16, 16, 0, in.d, out.d);
    if constexpr (sizeof(T) == 4) {
      ON((convolved<T, 4>), 32, 8, 0, in.d, k.d, out.d);
      ON(column33<T>, 64, 4, 0, in.d, k.d, out.d);
    }
    ON(two_ways<T>, 16, 16, 1, in.d, out.d);
  }
}
static void bytes() {
  for (const Size& of : planes) {
    const int w = of.w, h = of.h;
    Buf<unsigned char> a((size_t)w * h);
    {
      Buf<unsigned char> out((size_t)w * h, false);
      ON(eroded<4>, 32, 8, 0, a.d, out.d);
    }
    {
      Buf<unsigned> out((size_t)w * h, false);
      ON(census, 32, 8, 0, a.d, out.d);
    }
    const dim3 grid(up(w, 16), up(h, 16));
    Buf<unsigned> out((size_t)grid.x * grid.y * 64, false);
    timed("textures", shape(w, h), out,
          [&] { textures<<<grid, dim3(16, 16)>>>(a.d, out.d, w, h); });
  }
}
template <class T> void volumes() {
  Buf<T> k(64);
  for (Size of : {Size{11, 10, 9},
                  {40, 41, 39},
                  {3000, 9, 13},
                  {13, 2000, 11},
                  {20, 20, 3000},
                  {64, 64, 130},
                  {161, 160, 158},
                  {200, 190, 199},
                  {250, 251, 240}}) {
    const int w = of.w, h = of.h, d = of.d;
    const size_t n = (size_t)w * h * d;
    if (!fits(n, sizeof(T))) continue;
    Buf<T> in(n), out(n, false);
    timed("cube27<T>", shape(w, h, d), out, [&] {
      cube27<<<dim3(up(w, 32), up(h, 8), d), dim3(32, 8)>>>(in.d, k.d, out.d, w, h, d);
    });
    if constexpr (sizeof(T) == 4)
      timed("cube125<T>", shape(w, h, d), out, [&] {
        cube125<<<dim3(up(w, 32), up(h, 4), d + 1), dim3(32, 4)>>>(in.d, out.d, w, h, d);
      });
    if (d > 300) continue;
    timed("marching4<T>", shape(w, h, d), out, [&] {
      marching4<<<dim3(up(w, 32) + 1, up(h, 8) + 1), dim3(32, 8)>>>(in.d, k.d, out.d, w, h, d);
    });
  }
}
// N results in blocks of BY.
#define LINE(NAME, OUT, BY, ...)                                                                   \
  {                                                                                                \
    Buf<OUT> out(n, false);                                                                        \
    timed(#NAME, std::to_string(n), out, [&] { NAME<<<up(n, BY) + 2, BY>>>(__VA_ARGS__, n); });    \
  }
static void lines() {
  Buf<float> k(128);
  Buf<int> ki(128);
  for (int n : {100, 300, 1000, 2047, 67001, 270001, 1081000, 3999999, 15900011}) {
    {
      Buf<int> in(n);
      LINE((filtered<int, 33>), int, 256, in.d, ki.d, out.d);
    }
    Buf<float> in(n);
    LINE((filtered<float, 33>), float, 256, in.d, k.d, out.d);
    if (!fits((size_t)n * 4, 4)) continue;
    Buf<float> four((size_t)n * 4);
    LINE((nearest<8, 4>), int, 256, four.d, k.d, out.d);
    LINE((nearest_tile<8, 4>), int, 256, four.d, k.d, out.d);
  }
  for (int n : {200, 2047, 67001, 270001, 999983}) {
    Buf<float> l(256), b((size_t)n * 16), out((size_t)n * 16, false);
    timed("solved<float>", std::to_string(n), out,
          [&] { solved<<<up(n, 256) + 1, 256>>>(l.d, b.d, out.d, n); });
    if (!fits((size_t)n * 16, 8)) continue;
    Buf<double> ld(256), bd((size_t)n * 16), outd((size_t)n * 16, false);
    timed("solved<double>", std::to_string(n), outd,
          [&] { solved<<<up(n, 256) + 1, 256>>>(ld.d, bd.d, outd.d, n); });
  }
  for (Size of :
       {Size{1000, 3, 0}, {70001, 1, 0}, {100000, 8, 0}, {300, 500, 0}, {2000001, 7, 0}}) {
    const int n = of.w, f = of.h;
    Buf<float> in(n), by((size_t)f * 24), out((size_t)n * f, false);
    timed("bank<24>", shape(n, f), out,
          [&] { bank<24><<<dim3(up(n, 128), f + 1), 128>>>(in.d, by.d, out.d, n, f); });
  }
}
static void layers() {
  Buf<float> k(8 * 75), bias(8);
  for (Size of : {Size{30, 20, 1},
                  {100, 101, 8},
                  {300, 299, 8},
                  {20001, 9, 8},
                  {9, 20001, 8},
                  {1000, 999, 7},
                  {1400, 1399, 8}}) {
    const int w = of.w, h = of.h, f = of.d;
    Buf<float> in((size_t)w * h * 3), out((size_t)w * h * f, false);
    timed("features", shape(w, h, f), out, [&] {
      features<<<dim3(up(w, 32), up(h, 8), f), dim3(32, 8)>>>(in.d, k.d, bias.d, out.d, w, h);
    });
  }
}
#define BY(NAME, EX, EY, TX, TY, MORE, ...)                                                        \
  timed(#NAME, shape(n, m, l), c, [&] {                                                            \
    NAME<<<dim3(up(m, EX) + MORE, up(n, EY) + MORE), dim3(TX, TY)>>>(a.d, b.d, c.d, __VA_ARGS__);  \
  })
static const Size factors[] = {
    {16, 15, 17},    {40, 41, 50},    {7, 60001, 64},    {60001, 7, 64},   {260, 261, 300},
    {700, 699, 100}, {520, 521, 199}, {1040, 1041, 128}, {2900, 2700, 64}, {3900, 4093, 33}};
template <class T> void products() {
  for (const Size& of : factors) {
    const int n = of.w, m = of.h, l = of.d;
    if (!fits((size_t)n * m, sizeof(T))) continue;
    Buf<T> a((size_t)n * l), b((size_t)l * m), c((size_t)n * m, false);
    tame(a);
    tame(b);
    if constexpr (sizeof(T) == 4) {
      BY((product<T, 16, 1024, false>), 16, 16, 16, 16, 1, n, m, l);
      BY((product<T, 16, 256, true>), 16, 16, 16, 16, 1, n, m, l);
      BY((least_sums<T>), 16, 16, 16, 16, 0, n, m, l);
    }
    if constexpr (std::is_same_v<T, float>) {
      BY((product<T, 16, 256, false>), 16, 16, 16, 16, 0, n, m, l);
      BY((product<T, 8, 64, false>), 8, 8, 8, 8, 0, n, m, l);
      BY((product_blocked<T, 2>), 32, 32, 16, 16, 1, n, m, l);
      BY((product_blocked<T, 4>), 64, 64, 16, 16, 0, n, m, l);
      BY((distances<T, 16>), 16, 16, 16, 16, 2, n, m, l);
    }
    if constexpr (std::is_same_v<T, int>) BY(differences, 16, 16, 16, 16, 0, n, m, l);
    std::vector<int> set(up(l, 16));
    for (int& f : set)
      f = next_random() % 4;
    Buf<int> flags(set.size());
    CHECK(cudaMemcpy(flags.d, set.data(), set.size() * 4, cudaMemcpyHostToDevice));
    BY((product_sparse<T>), 16, 16, 16, 16, 1, flags.d, n, m, l);
    Buf<int> ends(1);
    const int end = l * 2 / 3;
    CHECK(cudaMemcpy(ends.d, &end, 4, cudaMemcpyHostToDevice));
    BY((product_ended<T>), 32, 8, 32, 8, 0, ends.d, n, m, l);
  }
  for (Size of : {Size{32, 32, 64},
                  {32, 65504, 64},
                  {65504, 32, 64},
                  {256, 256, 256},
                  {512, 544, 192},
                  {1056, 1024, 128},
                  {2880, 2720, 64},
                  {3904, 4064, 32}}) {
    const int n = of.w, m = of.h, l = of.d;
    if (!fits((size_t)n * m, sizeof(T))) continue;
    Buf<T> a((size_t)n * l), b((size_t)l * m), c((size_t)n * m, false);
    tame(a);
    tame(b);
    BY((plain_product<T, 16>), 16, 16, 16, 16, 0, m, l);
  }
  for (int n : {48, 100, 300, 520, 1040, 2040, 3900}) {
    if (!fits((size_t)n * n, sizeof(T))) continue;
    Buf<T> in((size_t)n * n), out((size_t)n * n, false);
    timed("inner_tile<T,32>", shape(n, n), out,
          [&] { inner_tile<T, 32><<<dim3(up(n, 32), up(n, 32)), dim3(32, 32)>>>(in.d, out.d, n); });
  }
  struct {
    int n, m, l, z;
  } batches[] = {{16, 16, 16, 1},  {40, 30, 50, 3},   {16, 16, 64, 1000}, {100, 100, 40, 10},
                 {7, 9, 20, 9000}, {64, 64, 32, 500}, {64, 65, 31, 1900}};
  for (auto& of : batches) {
    const int n = of.n, m = of.m, l = of.l, z = of.z;
    Buf<T> a((size_t)n * l * z), b((size_t)l * m), c((size_t)n * m * z, false);
    timed("batched_product<T>", shape(n, m, l) + " " + std::to_string(z), c, [&] {
      batched_product<<<dim3(up(m, 16), up(n, 16), z), dim3(16, 16)>>>(a.d, b.d, c.d, n, m, l);
    });
  }
}
static void halves() {
  for (const Size& of : factors) {
    const int n = of.w, m = of.h, l = of.d;
    Buf<__half> a((size_t)n * l), b((size_t)l * m), c((size_t)n * m, false);
    BY(product_half, 16, 16, 16, 16, 0, n, m, l);
  }
}
// Blocks along y share keys and values.
static void meetings() {
  for (Size of : {Size{1, 15, 0},
                  {1, 100, 0},
                  {8, 30, 0},
                  {1, 1999, 0},
                  {64, 129, 0},
                  {132, 128, 0},
                  {528, 127, 0},
                  {3, 3000, 0},
                  {6000, 65, 0}}) {
    const int heads = of.w, n = of.h;
    const size_t all = (size_t)heads * n * 16;
    Buf<float> q(all), k(all), v(all), out(all, false);
    tame(q);
    tame(k);
    tame(v);
    timed("attended", shape(heads, n), out, [&] {
      attended<<<dim3(heads, up(n, 16) + 1), dim3(16, 16)>>>(q.d, k.d, v.d, out.d, n, 0.02f);
    });
  }
  for (Size of : {Size{1, 15, 40},
                  {1, 100, 100},
                  {8, 30, 77},
                  {1, 20000, 100},
                  {64, 129, 65},
                  {132, 128, 65},
                  {528, 127, 64},
                  {3, 60000, 33},
                  {600, 1499, 33}}) {
    const int heads = of.w, n = of.h, m = of.d;
    Buf<int> q((size_t)n * 16), k((size_t)m * 16), v((size_t)m * 16),
        out((size_t)heads * n * 16, false);
    timed("scored", shape(heads, n, m), out,
          [&] { scored<<<dim3(heads, up(n, 16)), dim3(16, 16)>>>(q.d, k.d, v.d, out.d, n, m); });
  }
}
int main() {
  floats();
  others<double>();
  others<int>();
  bytes();
  volumes<float>();
  volumes<double>();
  lines();
  layers();
  products<float>();
  products<double>();
  products<int>();
  halves();
  meetings();
  printf("done\n");
}
