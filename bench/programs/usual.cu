// Each kernel of usual_kernels.cuh on launches of a few blocks to many waves.
// --coarsen-budget=1000 has room for all.
#include "usual_kernels.cuh"

#include <tuple>
#include <utility>

template <> float2 make<float2>(uint64_t r) {
  return make_float2(float(r % 201) / 100 - 1, float(r / 201 % 201) / 100 - 1);
}
template <> float3 make<float3>(uint64_t r) {
  return make_float3(float(r % 201) / 100 - 1, float(r / 201 % 201) / 100 - 1,
                     float(r / 40401 % 201) / 100 - 1);
}
template <> float4 make<float4>(uint64_t r) {
  const float3 v = make<float3>(r);
  return make_float4(v.x, v.y, v.z, float(r % 17));
}

// By words: arrays are large.
template <class T> uint64_t digest(void* p) {
  const Buf<T>& b = *(Buf<T>*)p;
  std::vector<uint64_t> words((b.n * sizeof(T) + 7) / 8);
  CHECK(cudaMemcpy(words.data(), b.d, b.n * sizeof(T), cudaMemcpyDeviceToHost));
  uint64_t x = 1469598103934665603ull;
  for (const uint64_t word : words)
    x = (x ^ word) * 1099511628211ull;
  return x;
}
static unsigned up(int n, int by) {
  return (n + by - 1) / by;
}
static dim3 over(dim3 block, int w, int h = 1, int d = 1) {
  return dim3(up(w, block.x), up(h, block.y), up(d, block.z));
}
#define ON(NAME, TYPE, OUT, GRID, BLOCK, ...)                                                      \
  report(                                                                                          \
      #NAME, shape, [&] { NAME<<<GRID, BLOCK>>>(__VA_ARGS__); }, digest<TYPE>, &OUT)

static const dim3 wide(32, 8), square(16, 16), line(256, 1), small(8, 8), long_line(128, 1);

static void matrices(int n, int k) {
  const std::string shape = std::to_string(n) + "x" + std::to_string(k);
  const size_t all = (size_t)n * n;
  Buf<float> a(all), b((size_t)n * k * 4), c(all * 4, false), m(all), bias(n);
  Buf<double> da((size_t)n * k), dc(all, false), x(n), y(n, false);
  Buf<unsigned char> one((size_t)n * k), other((size_t)n * k);
  Buf<int> count(all, false);
  // A way to itself is none, so that the row and the column that all read stay as they are.
  std::vector<float> ways(all);
  for (size_t i = 0; i < all; ++i)
    ways[i] = i % (n + 1) == 0 ? 0.f : 1.f + next_random() % 1000;
  CHECK(cudaMemcpy(a.d, ways.data(), all * 4, cudaMemcpyHostToDevice));
  ON(shortest_paths, float, a, over(square, n, n), square, a.d, n, k / 2);
  ON(eliminated, float, a, over(wide, n, n), wide, a.d, m.d, n, n / 7);
  ON(rank_k_lower<float>, float, c, over(wide, n, n), wide, b.d, c.d, n, k, 0.5f);
  ON(rank_k_lower<double>, double, dc, over(square, n, n), square, da.d, dc.d, n, k, 0.5);
  ON(contracted, float, c, over(square, n, n, 4), square, b.d, b.d, c.d, n, k);
  ON(dense_layer, float, c, over(long_line, n, n), long_line, b.d, b.d, bias.d, c.d, n, k, n);
  ON(pointwise, float, c, over(line, n * 4, n / 4), line, b.d, b.d, bias.d, c.d, k, n * 4);
  ON(outer, double, dc, over(wide, n, n), wide, x.d, x.d, dc.d, n, n);
  ON(alternated, int, count, over(square, n, n), square, one.d, other.d, count.d, n, n, k);
  ON(bins, float, c, over(small, n, n), small, a.d, b.d, m.d, c.d, n, n, k);
  Buf<float2> from(n), to(n);
  ON(great_circles, float, c, over(wide, n, n), wide, from.d, to.d, c.d, n, n);
}

static void images(int w, int h) {
  const std::string shape = std::to_string(w) + "x" + std::to_string(h);
  const size_t all = (size_t)w * h;
  Buf<float> in(all * 9), out(all * 9, false), also(all, false), filter(81);
  Buf<double> u(all), v(all), r(all, false), r2(all, false), weights(81);
  Buf<unsigned char> bytes(all * 3), grey(all, false), blue(all, false);
  Buf<float4> atoms(100);
  std::vector<int> index[4];
  for (int i = 0; i < h; ++i)
    index[0].push_back(i > 0 ? i - 1 : 0), index[1].push_back(i < h - 1 ? i + 1 : i);
  for (int i = 0; i < w; ++i)
    index[2].push_back(i > 0 ? i - 1 : 0), index[3].push_back(i < w - 1 ? i + 1 : i);
  Buf<int> above(h), below(h), left(w), right(w);
  Buf<int>* const to[] = {&above, &below, &left, &right};
  for (int i = 0; i < 4; ++i)
    CHECK(cudaMemcpy(to[i]->d, index[i].data(), index[i].size() * 4, cudaMemcpyHostToDevice));
  ON(lattice_step, float, out, over(wide, w, h), wide, in.d, out.d, bytes.d, w, h, 0.6f);
  ON(burgers<float>, float, out, over(square, w, h), square, in.d, in.d + all, out.d, out.d + all,
     w, h, 0.01f, 0.02f);
  ON(burgers<double>, double, r, over(wide, w, h), wide, u.d, v.d, r.d, r2.d, w, h, 0.01, 0.02);
  ON(diffusion_weights, float, out, over(square, w, h), square, in.d, above.d, below.d, left.d,
     right.d, out.d, w, h, 0.5f);
  ON(cavity_pressure, double, r, over(wide, w - 2, h - 2), wide, u.d, v.d, r.d, w, h, 0.1, 0.01);
  ON(potential, float, also, over(square, w, h), square, atoms.d, also.d, 100, w, h, 0.1f, 0.3f);
  ON((image_filtered<float, float>), float, out, over(square, w, h), square, in.d, filter.d, out.d,
     w, h, 5);
  ON((image_filtered<float, float>), float, out, over(wide, w, h), wide, in.d, filter.d, out.d, w,
     h, 9);
  ON((image_filtered<double, double>), double, r, over(wide, w, h), wide, u.d, weights.d, r.d, w, h,
     3);
  ON((image_filtered<unsigned char, float>), unsigned char, grey, over(line, w, h), line, bytes.d,
     filter.d, grey.d, w, h, 7);
  ON(gradients, unsigned char, grey, over(square, w, h), square, bytes.d, grey.d, w, h);
  ON(warped, float, out, over(square, w, h), square, in.d, out.d, w, h, 0.9f, 0.1f, -0.1f, 0.95f);
  ON(luma, unsigned char, blue, over(wide, w, h), wide, bytes.d, grey.d, blue.d, w, h);
  ON(pooled<float>, float, out, over(square, w / 3, h / 3, 4), square, in.d, out.d, w, h, 3);
  ON(normalised, float, out, over(line, w, h, 2), line, in.d, in.d, in.d, out.d, w, h);
  ON(cheapest_row, int, left, over(line, w), line, (int*)in.d, right.d, left.d, w, 5);
  Buf<float2> z(all), turns(all, false);
  ON(turned, float2, turns, over(square, w, h), square, z.d, turns.d, w, h);
  ON(rotary, float2, turns, over(dim3(64, 4), 64, 8, w * h / 1024), dim3(64, 4), z.d, z.d, turns.d,
     64, 8, w * h / 1024);
  Buf<int> token(h);
  ON(embedded, float, out, over(long_line, w, h), long_line, token.d, in.d, in.d, out.d, h, w, 50);
  if (w * h < 600000)
    ON(non_local, float, out, over(square, w, h), square, in.d, out.d, w, h, 3, 0.3f);
}

static void volumes(int x, int y, int z) {
  const std::string shape = std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
  const size_t all = (size_t)x * y * z;
  Buf<float> old(all), now(all), next(all, false), speed(all);
  Buf<double> p(all), q(all), r(all, false);
  const dim3 cube(8, 8, 4);
  ON(wave<float>, float, next, over(wide, x - 8, y - 8, z - 8), wide, old.d, now.d, next.d, speed.d,
     x, y, z);
  ON(wave<double>, double, r, over(cube, x - 8, y - 8, z - 8), cube, p.d, q.d, r.d, p.d, x, y, z);
  ON(upwind<float>, float, next, over(wide, x, y, z), wide, now.d, next.d, .1f, .2f, .3f, x, y, z);
  ON(upwind<double>, double, r, over(cube, x, y, z), cube, q.d, r.d, .1, .2, .3, x, y, z);
}

static void points(int n, int m) {
  const std::string shape = std::to_string(n) + "x" + std::to_string(m);
  Buf<float> in((size_t)n * m), out((size_t)n * m, false), weights(m), grid(64 * 64 * 64);
  Buf<double> a((size_t)n * m), x(n), y(n, false), b((size_t)n * m), d((size_t)n * m);
  Buf<float4> bodies(n), force(n, false);
  Buf<float3> places(n);
  Buf<float2> at(n), corners(m);
  Buf<int> list((size_t)n * m), inside(n, false);
  std::vector<int> near((size_t)n * m);
  for (size_t i = 0; i < near.size(); ++i)
    near[i] = (int)((i % n + next_random() % 64) % n);
  CHECK(cudaMemcpy(list.d, near.data(), near.size() * 4, cudaMemcpyHostToDevice));
  ON(times_vector<float>, float, out, over(line, n), line, in.d, weights.d, out.d, n, m);
  ON(times_vector<double>, double, y, over(long_line, n), long_line, a.d, x.d, y.d, n, m);
  if (n < 70000)
    ON(forces, float4, force, over(line, n / 8), line, bodies.d, force.d, n / 8, 0.01f);
  ON(neighbours, float, out, over(long_line, n), long_line, in.d, list.d, out.d, n, m, 9.f);
  ON(inside_polygon, int, inside, over(line, n), line, at.d, corners.d, inside.d, n, m);
  ON(filtered_at, float, out, over(line, n), line, in.d, weights.d, out.d, n, m);
  ON(softmax_rows, float, out, over(long_line, n), long_line, in.d, out.d, n, m);
  ON(spline_at, float, out, over(long_line, n), long_line, grid.d, places.d, out.d, n, 64);
  ON(swept<double>, double, b, over(long_line, n), long_line, a.d, b.d, a.d, d.d, b.d, n, m);
}

int main() {
  for (const auto& [n, k] :
       {std::pair(100, 33), std::pair(260, 128), std::pair(515, 96), std::pair(525, 64),
        std::pair(737, 100), std::pair(744, 40), std::pair(1050, 64), std::pair(2049, 50)})
    matrices(n, k);
  for (const auto& [w, h] :
       {std::pair(70, 50), std::pair(300, 200), std::pair(521, 520), std::pair(640, 853),
        std::pair(741, 740), std::pair(1920, 1080), std::pair(4001, 2500), std::pair(20000, 28)})
    images(w, h);
  for (const auto& [x, y, z] :
       {std::tuple(40, 36, 33), std::tuple(100, 90, 80), std::tuple(128, 140, 48),
        std::tuple(264, 200, 180), std::tuple(1000, 600, 12)})
    volumes(x, y, z);
  for (const auto& [n, m] : {std::pair(1000, 40), std::pair(30000, 31), std::pair(140000, 20),
                             std::pair(280000, 17), std::pair(1100000, 15)})
    points(n, m);
}
