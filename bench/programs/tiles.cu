// Each kernel of tiles_kernels.cuh on several sizes; more blocks than needed, some of which leave.
#include "tiles_kernels.cuh"

struct Size {
  int w, h, d;
};
template <class T> uint64_t dg(void* p) {
  return ((Buf<T>*)p)->digest();
}
static unsigned up(int n, int by) {
  return (n + by - 1) / by;
}
static std::string shape(int a, int b, const char* type) {
  return std::to_string(a) + "x" + std::to_string(b) + " " + type;
}
// NAME<TYPE>(in, out, w, h, ...) of blocks BX x BY, MORE blocks along x and y than it takes.
#define PLANE(NAME, TYPE, BX, BY, THREADS, MORE, ...)                                              \
  for (Size of :                                                                                   \
       {Size{33, 17, 1}, {500, 300, 1}, {1024, 1024, 1}, {2000, 1900, 1}, {3000, 3100, 1}}) {      \
    const int w = of.w, h = of.h;                                                                  \
    Buf<TYPE> in((size_t)w*h), out((size_t)w*h, false);                                            \
    report(                                                                                        \
        #NAME, shape(w, h, #TYPE),                                                                 \
        [&] {                                                                                      \
          NAME<<<dim3(up(w, BX) + MORE, up(h, BY) + MORE), THREADS>>>(in.d, __VA_ARGS__ out.d, w,  \
                                                                      h);                          \
        },                                                                                         \
        dg<TYPE>, &out);                                                                           \
  }
#define LINE(NAME, IN, OUT, ...)                                                                   \
  for (int n : {300, 65536, 1000003, 1 << 22, (1 << 23) + 77}) {                                   \
    Buf<IN> in(n);                                                                                 \
    Buf<OUT> out(n, false);                                                                        \
    report(                                                                                        \
        #NAME, std::to_string(n) + " " #IN,                                                        \
        [&] { NAME<<<up(n, 256) + 3, 256>>>(in.d, out.d, n __VA_ARGS__); }, dg<OUT>, &out);        \
  }
static void products() {
  for (Size of : {Size{60, 60, 60}, {512, 512, 512}, {1000, 900, 800}, {2048, 2048, 1024}}) {
    const int n = of.w, m = of.h, l = of.d;
    Buf<float> a((size_t)n * l), b((size_t)l * m), c((size_t)n * m, false);
    const dim3 by16(up(m, 16) + 1, up(n, 16) + 2), by32(up(m, 32) + 1, up(n, 32) + 2);
    report(
        "product16", shape(n, m, "float"),
        [&] { product<float, 16><<<by16, dim3(16, 16)>>>(a.d, b.d, c.d, n, m, l); }, dg<float>, &c);
    report(
        "product32", shape(n, m, "float"),
        [&] { product<float, 32><<<by32, dim3(32, 32)>>>(a.d, b.d, c.d, n, m, l); }, dg<float>, &c);
    Buf<int> d((size_t)n * l), e((size_t)l * m), f((size_t)n * m, false);
    report(
        "product16", shape(n, m, "int"),
        [&] { product<int, 16><<<by16, dim3(16, 16)>>>(d.d, e.d, f.d, n, m, l); }, dg<int>, &f);
  }
}
static void rows() {
  for (Size of :
       {Size{100, 100, 1}, {1000, 512, 1}, {4000, 1024, 1}, {20000, 777, 1}, {8000, 4096, 1}}) {
    const int r = of.w, n = of.h;
    Buf<float> in((size_t)r * n), out((size_t)r * n, false);
    report(
        "softmax", shape(r, n, "float"), [&] { softmax<<<r + 5, 128>>>(in.d, out.d, r, n); },
        dg<float>, &out);
  }
  for (int most : {200, 1000, 5000}) {
    const int many = 1000;
    Buf<float> a((size_t)many * most), b((size_t)many * most),
        out((size_t)many * up(most, 256), false);
    Buf<int> lengths(many);
    std::vector<int> l(many);
    for (int& v : l)
      v = next_random() % (most + 1);
    CHECK(cudaMemcpy(lengths.d, l.data(), many * 4, cudaMemcpyHostToDevice));
    report(
        "batches", shape(many, most, "float"),
        [&] { batches<<<dim3(up(most, 256), many), 256>>>(a.d, b.d, out.d, lengths.d, most); },
        dg<float>, &out);
  }
}
int main() {
  PLANE(row9<float>, float, 256, 1, 256, 1, )
  PLANE(row9<double>, double, 256, 1, 256, 1, )
  PLANE(five<float>, float, 16, 16, dim3(16, 16), 2, )
  PLANE(five<double>, double, 16, 16, dim3(16, 16), 2, )
  PLANE(five<int>, int, 16, 16, dim3(16, 16), 0, )
  PLANE(turned<float>, float, 32, 32, dim3(32, 8), 1, )
  PLANE(turned<double>, double, 32, 32, dim3(32, 8), 1, )
  PLANE(pooled<float>, float, 32, 16, dim3(32, 16), 0, )
  PLANE(pooled<int>, int, 32, 16, dim3(32, 16), 0, ) {
    Buf<float> k(25);
    PLANE(weights<float>, float, 32, 16, dim3(32, 16), 1, k.d, )
  }
  LINE(scan<float>, float, float)
  LINE(scan<int>, int, int)
  LINE(sorted, int, int)
  LINE(looked_up<float>, unsigned char, float)
  LINE(looked_up<int>, unsigned char, int)
  LINE(mirrored<float>, float, float)
  LINE(mirrored<double>, double, double)
  LINE((rounds<float>), float, float, , 10)
  LINE((rounds<int>), int, int, , 9)
  for (int n : {1000, 1000003, 1 << 23}) {
    Buf<float> in(n), out(n, false);
    report(
        "strided<float>", std::to_string(n), [&] { strided<<<1056, 256>>>(in.d, out.d, n); },
        dg<float>, &out);
  }
  for (int n : {1000, 1000003, 1 << 25}) {
    Buf<unsigned char> in(n);
    Buf<unsigned> out(256 * up(n, 4096), false);
    report(
        "counted", std::to_string(n), [&] { counted<<<up(n, 4096) + 3, 256>>>(in.d, out.d, n); },
        dg<unsigned>, &out);
  }
  for (int e : {40, 128, 384}) {
    Buf<float> in((size_t)e * e * e), out((size_t)e * e * e, false);
    Buf<double> ind((size_t)e * e * e), outd((size_t)e * e * e, false);
    const dim3 grid(up(e, 32), up(e, 8) + 1), block(32, 8);
    report(
        "marching<float>", shape(e, e, "float"),
        [&] { marching<<<grid, block>>>(in.d, out.d, e, e, e); }, dg<float>, &out);
    report(
        "marching<double>", shape(e, e, "double"),
        [&] { marching<<<grid, block>>>(ind.d, outd.d, e, e, e); }, dg<double>, &outd);
  }
  products();
  rows();
  printf("done\n");
}
