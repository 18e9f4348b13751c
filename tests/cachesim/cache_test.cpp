// The cache model: replacement against a list that is searched, orders as permutations, and the
// closed forms against the simulator.
#include "cachesim/columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace ptxasw::cachesim;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// The same numbers in every run; RC_PARAMS from outside still counts.
[[maybe_unused]] const int fixed_seed = setenv("RC_PARAMS", "seed=2025 max_success=200", 0);

// The same cache, slowly: each set is a list, the line used last in front.
class SlowCache {
public:
  explicit SlowCache(const CacheShape& shape)
      : ways_(shape.ways == 0 ? shape.lines : shape.ways), sets_(shape.lines / ways_) {}
  Cache::Outcome touch(std::uint64_t line) {
    auto& set = sets_[line % sets_.size()];
    Cache::Outcome outcome;
    const auto found = std::ranges::find(set, line);
    outcome.hit = found != set.end();
    if (outcome.hit) {
      set.erase(found);
    } else if (set.size() == ways_) {
      outcome.evicted = set.back();
      set.pop_back();
    }
    set.insert(set.begin(), line);
    return outcome;
  }

private:
  std::uint64_t ways_;
  std::vector<std::vector<std::uint64_t>> sets_;
};

CacheShape shape(std::string_view text) {
  return read_cache(text).value();
}
Order order(std::string_view text) {
  return read_order(text).value();
}

// Threads (x, y) of a plane that read a neighbourhood; rows run into each other, element (0, 0)
// lies `first` elements behind the first one of a line.
Stream stencil_stream(const StencilPlane& plane, std::uint64_t first) {
  Stream stream;
  const std::uint64_t left = (plane.across - 1) / 2, up = (plane.down - 1) / 2;
  const std::uint64_t origin = (1U << 20) + first;
  for (std::uint64_t at = 0; at < plane.columns * plane.rows; ++at) {
    auto& touches = stream.emplace_back();
    for (std::uint64_t dy = 0; dy < plane.down; ++dy)
      for (std::uint64_t dx = 0; dx < plane.across; ++dx)
        touches.push_back({(origin + at + (dy - up) * plane.columns + dx - left) * 4, 4, false});
  }
  return stream;
}

Stream product_stream(const ProductPlane& plane) {
  Stream stream;
  for (std::uint64_t y = 0; y < plane.rows; ++y)
    for (std::uint64_t x = 0; x < plane.columns; ++x) {
      auto& touches = stream.emplace_back();
      for (std::uint64_t k = 0; k < plane.depth; ++k) {
        touches.push_back({(y * plane.depth + k) * 4, 4, false});
        touches.push_back({(1U << 24) + (x + k * plane.columns) * 4, 4, false});
      }
    }
  return stream;
}

std::uint64_t fetches(const Stream& stream, std::string_view cache, std::string_view name,
                      std::uint32_t row) {
  const Threads threads{.grid = {static_cast<std::uint32_t>(stream.size()), 1, 1}, .row = row};
  return simulate(stream, thread_order(order(name), threads).value(), {.cache = shape(cache)})
      .fetches;
}

} // namespace

RC_GTEST_PROP(Cache, ReplacesAsAListWould, ()) {
  CacheShape s;
  s.ways = *rc::gen::inRange<std::uint64_t>(0, 5);
  s.lines = std::max<std::uint64_t>(1, s.ways) * *rc::gen::inRange<std::uint64_t>(1, 6);
  Cache fast(s);
  SlowCache slow(s);
  for (const auto line :
       *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 40))) {
    const auto a = fast.touch(line), b = slow.touch(line);
    RC_ASSERT(a.hit == b.hit);
    RC_ASSERT(a.evicted == b.evicted);
  }
}

TEST(Cache, ReadsItsShape) {
  EXPECT_EQ(shape("lines:24,width:4"), (CacheShape{24, 16, 0, 4}));
  EXPECT_EQ(shape("size:32768,bytes:128,ways:4"), (CacheShape{256, 128, 4, 4}));
  EXPECT_EQ(shape("lines:2,width:4,element:8"), (CacheShape{2, 32, 0, 8}));
  EXPECT_EQ(text_of(shape("lines:6,width:1,ways:2")), "6 lines of 1 element, 2 ways");
}

TEST(Cache, SaysWhatIsWrongWithAShape) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "one of width and bytes is needed"},
      {"lines:24", "one of width and bytes is needed"},
      {"width:4", "one of lines and size is needed"},
      {"lines:24,width:4,bytes:16", "one of width and bytes is needed"},
      {"lines:24,width:4,ways:5", "the ways do not divide the lines"},
      {"lines:24,width:4,ways:48", "the ways do not divide the lines"},
      {"lines:0,width:4", "'lines:0' is not understood"},
      {"lines:-1,width:4", "'lines:-1' is not understood"},
      {"lines:24,width:4x", "'width:4x' is not understood"},
      {"lines:24,depth:4", "'depth:4' is not understood"},
      {"lines", "'lines' is not understood"},
      {"lines:99999999999,width:4", "that is too large"},
      {"size:100,bytes:16", "the size is not a multiple of the line"},
      {"lines:4,bytes:10", "a line holds whole elements"},
      {"lines:4,width:4,element:32", "an element has at most 16 bytes"},
  };
  for (const auto& [text, why] : cases) {
    const auto read = read_cache(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error(), HasSubstr(why)) << text;
  }
}

TEST(Order, WalksAPlane) {
  EXPECT_THAT(walk(order("naive"), 3, 2), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(walk(order("column:2"), 3, 2), ElementsAre(0, 1, 3, 4, 2, 5));
  EXPECT_THAT(walk(order("zigzag:2"), 3, 2), ElementsAre(0, 1, 4, 3, 2, 5));
  EXPECT_THAT(walk(order("swap"), 3, 2), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(walk(order("tile:2x1"), 3, 2), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(walk(order("tile:2x2"), 3, 3), ElementsAre(0, 1, 3, 4, 2, 5, 6, 7, 8));
}

RC_GTEST_PROP(Order, IsAPermutationOfTheThreads, ()) {
  const auto text = *rc::gen::element<std::string>(
      "naive", "column:3", "zigzag:2", "tile:2x3", "swap", "linear-column:3", "linear-zigzag:5",
      "linear-tile:2x2", "linear-swap", "column:4000000000");
  const auto size = rc::gen::inRange<std::uint32_t>(1, 6);
  Threads threads{.grid = {*size, *size, *size}, .block = {*size, *size, 1}, .row = *size - 1};
  if (text.starts_with("linear")) threads.grid[1] = threads.grid[2] = threads.block[1] = 1;
  auto found = thread_order(order(text), threads).value();
  std::ranges::sort(found);
  std::vector<std::uint32_t> all(threads.count());
  std::iota(all.begin(), all.end(), 0U);
  RC_ASSERT(found == all);
}

TEST(Order, KeepsTheThreadsOfABlockTogether) {
  const Threads threads{.grid = {2, 2, 1}, .block = {2, 1, 1}};
  EXPECT_THAT(thread_order(order("swap"), threads).value(), ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_THAT(thread_order(order("linear-swap"), threads).error(), HasSubstr("along x alone"));
}

TEST(Order, ReadsAndWritesItsName) {
  for (const auto* text : {"naive", "column:4", "zigzag:32", "tile:4x2", "swap", "linear-column:8"})
    EXPECT_EQ(text_of(order(text)), text);
  for (const auto* text : {"", "column", "column:0", "column:4x2", "tile:4", "tile:4x0", "swap:3",
                           "columns:4", "column:4 ", "linear-naive", "column:-4", "linear-"})
    EXPECT_FALSE(read_order(text)) << text;
}

TEST(Simulation, CountsWhatALineAndARequestAre) {
  // Four threads of one warp read four neighbours twice; then one of them reads across two lines.
  const Stream stream{
      {{0, 4}, {0, 4}, {12, 8}}, {{4, 4}, {4, 4}}, {{8, 4}, {8, 4}}, {{12, 4}, {12, 4}}};
  const std::vector<std::uint32_t> all{0, 1, 2, 3};
  const CacheShape cache = shape("lines:2,width:4");
  const CacheCounts one = simulate(stream, all, {.cache = cache});
  EXPECT_EQ(one,
            (CacheCounts{.accesses = 9, .touches = 10, .hits = 8, .fetches = 2, .distinct = 2}));
  const CacheCounts warp = simulate(stream, all, {.cache = cache, .group = 32});
  EXPECT_EQ(warp,
            (CacheCounts{.accesses = 9, .touches = 4, .hits = 2, .fetches = 2, .distinct = 2}));
}

TEST(Simulation, StoresPassByUnlessAskedFor) {
  const Stream stream{{{0, 4, true}, {0, 4}}};
  const std::vector<std::uint32_t> all{0};
  EXPECT_EQ(simulate(stream, all, {.cache = shape("lines:2,width:4")}).touches, 1U);
  EXPECT_EQ(simulate(stream, all, {.cache = shape("lines:2,width:4"), .stores = true}).hits, 1U);
}

TEST(Simulation, ASecondCacheSeesWhatTheFirstLacks) {
  const Stream stream{{{0, 4}, {16, 4}, {0, 4}, {16, 4}}};
  const std::vector<std::uint32_t> all{0};
  const CacheCounts counts = simulate(
      stream, all, {.cache = shape("lines:1,width:4"), .second = shape("lines:1,width:8")});
  EXPECT_EQ(counts.fetches, 4U);
  EXPECT_EQ(counts.evictions, 3U);
  EXPECT_EQ(counts.second_hits, 3U);
  EXPECT_EQ(counts.second_fetches, 1U);
}

// The example of the diagrams: 7x7 on 16x16.
TEST(ClosedForm, StencilOfTheDiagrams) {
  const StencilPlane plane{.columns = 16, .rows = 16, .across = 7, .down = 7};
  struct Case {
    const char* cache;
    const char* order;
    std::uint64_t width, formula, simulated;
    bool fits;
  };
  const Case cases[] = {
      {"lines:24,width:4", "naive", 16, 462, 462, false},
      {"lines:24,width:4", "linear-column:4", 4, 368, 264, true},
      {"lines:24,width:4", "linear-column:8", 8, 1120, 596, false},
      {"lines:20,width:4", "naive", 16, 5376, 1806, false},
      {"lines:29,width:4", "naive", 16, 91, 90, true},
      {"lines:32,width:4", "linear-column:4", 4, 368, 264, true},
      {"lines:32,width:4", "linear-column:8", 8, 230, 176, true},
  };
  const Stream stream = stencil_stream(plane, 3);
  for (const Case& c : cases) {
    const ColumnEstimate found = estimate(plane, shape(c.cache), c.width);
    EXPECT_EQ(found.lines, c.formula) << c.cache << ' ' << c.order;
    EXPECT_EQ(found.fits, c.fits) << c.cache << ' ' << c.order;
    EXPECT_EQ(fetches(stream, c.cache, c.order, 16), c.simulated) << c.cache << ' ' << c.order;
  }
  EXPECT_EQ(best_width(plane, shape("lines:24,width:4")), 4U);
  EXPECT_EQ(best_width(plane, shape("lines:29,width:4")), 16U); // all rows fit
  EXPECT_EQ(best_width({64, 64, 7, 7}, shape("lines:32,width:4")), 8U);
}

TEST(ClosedForm, ProductOfTheDiagrams) {
  const ProductPlane plane{.columns = 16, .rows = 16, .depth = 16};
  const Stream stream = product_stream(plane);
  const CacheShape cache = shape("lines:32,width:4");
  for (const auto& [name, width, lines] :
       {std::tuple{"naive", 16U, 1088U}, std::tuple{"linear-column:4", 4U, 320U},
        std::tuple{"linear-column:8", 8U, 1152U}}) {
    EXPECT_EQ(estimate(plane, cache, width).lines, lines) << name;
    EXPECT_EQ(fetches(stream, "lines:32,width:4", name, 16), lines) << name;
  }
  EXPECT_EQ(best_width(plane, cache), 4U);
}

// Where the cache is said to be large enough, the formula is an upper bound, and the naive one is
// close to what happens.
RC_GTEST_PROP(ClosedForm, BoundsTheStencilFromAbove, ()) {
  const auto odd = [](int most) { return *rc::gen::inRange<std::uint64_t>(0, most) * 2 + 1; };
  StencilPlane plane{.columns = *rc::gen::inRange<std::uint64_t>(8, 40),
                     .rows = *rc::gen::inRange<std::uint64_t>(4, 30),
                     .across = odd(4),
                     .down = odd(4)};
  const std::uint64_t w = *rc::gen::element<std::uint64_t>(1, 2, 4, 8);
  const std::uint64_t width = *rc::gen::inRange<std::uint64_t>(1, 40);
  const Stream stream = stencil_stream(plane, *rc::gen::inRange<std::uint64_t>(0, 8));
  const std::string order = "linear-column:" + std::to_string(width);
  CacheShape cache{.lines = 1, .line_bytes = static_cast<unsigned>(4 * w)};
  // Room for whole lines: a row needs one more than its elements fill.
  const std::uint64_t across = std::min(width, plane.columns) + plane.across - 1;
  cache.lines = (plane.down + 1) * ((across + w - 1) / w + 1);
  const std::string text = "lines:" + std::to_string(cache.lines) + ",width:" + std::to_string(w);
  const ColumnEstimate found = estimate(plane, cache, width);
  RC_ASSERT(found.fits);
  RC_ASSERT(fetches(stream, text, order, static_cast<std::uint32_t>(plane.columns)) <= found.lines);
}

// Exact but for lines that one column leaves in the cache for the next one.
RC_GTEST_PROP(ClosedForm, MissesOnlyWhatAlignedProductsKeep, ()) {
  const auto four = [](int least, int most) {
    return *rc::gen::inRange<std::uint64_t>(least, most) * 4;
  };
  const ProductPlane plane{.columns = four(2, 8), .rows = four(1, 5), .depth = four(1, 6)};
  const std::uint64_t width = four(1, 8);
  const CacheShape any{.lines = 1, .line_bytes = 16};
  const CacheShape cache{.lines = estimate(plane, any, width).required, .line_bytes = 16};
  const ColumnEstimate found = estimate(plane, cache, width);
  RC_ASSERT(found.fits);
  const std::uint64_t counted =
      fetches(product_stream(plane), "lines:" + std::to_string(cache.lines) + ",width:4",
              "linear-column:" + std::to_string(width), static_cast<std::uint32_t>(plane.columns));
  RC_ASSERT(counted <= found.lines);
  const std::uint64_t later_columns = (plane.columns - 1) / width;
  RC_ASSERT(counted + later_columns * cache.lines >= found.lines);
  RC_ASSERT(later_columns != 0 || counted == found.lines);
}

TEST(Recognition, TellsStencilsFromProducts) {
  const Threads threads{.grid = {256, 1, 1}, .row = 16};
  const CacheShape cache = shape("lines:24,width:4");
  const StencilPlane stencil{.columns = 16, .rows = 16, .across = 5, .down = 3};
  EXPECT_EQ(recognise(stencil_stream(stencil, 1), threads, cache).stencil, stencil);
  EXPECT_FALSE(recognise(stencil_stream(stencil, 1), threads, cache).product);
  const ProductPlane product{.columns = 16, .rows = 16, .depth = 8};
  EXPECT_EQ(recognise(product_stream(product), threads, cache).product, product);
  EXPECT_FALSE(recognise(product_stream(product), threads, cache).stencil);
}

TEST(Recognition, SaysNothingOfOtherKernels) {
  const Threads threads{.grid = {256, 1, 1}, .row = 16};
  const CacheShape cache = shape("lines:24,width:4");
  Stream gather(256);
  for (std::uint64_t i = 0; i < 256; ++i)
    gather[i] = {{i * i * 4, 4, false}, {i * 4, 4, false}};
  const RecognisedPlane plane = recognise(gather, threads, cache);
  EXPECT_FALSE(plane.stencil || plane.product);
  EXPECT_FALSE(recognise(Stream(256), threads, cache).stencil);
  EXPECT_FALSE(recognise({}, {}, cache).stencil);
}
