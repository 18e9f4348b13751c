// Random kernels with a tile, half of them with a fault in how they fill or read it: what is taken
// for a step leaves what its launches leave. PTXASW_STEPS_FUZZ=N makes N of them, from
// PTXASW_STEPS_SEED on.
#include "passes/time_tile/step_case.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel k(in, out, nx, ny): the tile has the block's places and a halo along each axis.
class TileKernel {
public:
  explicit TileKernel(unsigned seed) : random_(seed) {
    planar_ = chance(2, 3);
    constexpr std::array<std::array<unsigned, 2>, 4> blocks{{{8, 4}, {16, 2}, {4, 8}, {7, 3}}};
    block = blocks[below(blocks.size())];
    if (!planar_) block = {32U >> below(3), 1};
    reach_ = 1 + below(2);
    rim_ = static_cast<Rim>(below(3));
    together = chance(1, 3);
    fault_ = chance(1, 2) ? 1 + below(14) : 0;
    pitch_ = block[0] + 2 * reach_ + below(2);
    places();
    fill();
    line("bar.sync 0");
    if (is(1)) line("st.shared.f32 [%r20], %f0");
    guard();
    sum();
    line("st.global.f32 [%rd4], %f9");
  }

  std::array<unsigned, 2> block{};
  bool together = false; // threads fill the tile in a loop

  [[nodiscard]] std::string text() const {
    const unsigned rows = planar_ ? block[1] + 2 * reach_ : 1;
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny)
{{
.reg .pred %p<99>;
.reg .b32 %r<199>;
.reg .b64 %rd<99>;
.reg .f32 %f<99>;
.shared .align 4 .b8 tile[{}];
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [nx];
ld.param.u32 %r2, [ny];
cvta.to.global.u64 %rd1, %rd1;
cvta.to.global.u64 %rd2, %rd2;
{}end: ret;
}}
)",
                       4 * rows * pitch_, text_);
  }

private:
  enum class Rim : std::uint8_t { left_out, zero, clamped }; // what is stored of places outside

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  // This is where it goes wrong.
  bool is(unsigned fault) const { return fault_ == fault; }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }
  std::string condition() { return fmt::format("%p{}", conditions_++); }
  std::string number() { return fmt::format("%r{}", numbers_++); }
  std::string address() { return fmt::format("%rd{}", addresses_++); }
  std::string value() { return fmt::format("%f{}", values_++); }
  std::string label() { return fmt::format("l{}", labels_++); }

  // %r10, %r11: x, y. %r12, %r13: in the block. %r14: their element. %r20: their place in the tile.
  void places() {
    const bool by_ntid = chance(1, 2);
    for (const auto& [axis, n] : {std::pair{'x', 0U}, {'y', 1U}}) {
      if (n == 1 && !planar_) {
        line("mov.u32 %r11, 0");
        line("mov.u32 %r13, 0");
        continue;
      }
      line("mov.u32 %r{}, %ctaid.{}", 4 + n, axis);
      line("mov.u32 %r{}, %tid.{}", 12 + n, axis);
      line("mov.u32 %r{}, %ntid.{}", 6 + n, axis);
      line("mad.lo.s32 %r{}, %r{}, {}, %r{}", 10 + n, 4 + n,
           by_ntid ? fmt::format("%r{}", 6 + n) : fmt::format("{}", block[n]), 12 + n);
    }
    line("mad.lo.s32 %r14, %r11, %r1, %r10");
    line("mul.wide.s32 %rd5, %r14, 4");
    line("add.s64 %rd3, %rd1, %rd5");
    line("add.s64 %rd4, %rd2, %rd5");
    line("mov.u32 %r15, tile");
    line("mad.lo.s32 %r16, %r13, {}, %r12", pitch_);
    line("mad.lo.s32 %r20, %r16, 4, %r15");
    line("mov.f32 %f0, 0f3F800000");
  }

  // Where the place so far from a thread's own is in the tile.
  [[nodiscard]] int in_tile(int dx, int dy) const {
    const int r = static_cast<int>(reach_), row = static_cast<int>(pitch_);
    return 4 * ((planar_ ? (dy + r) * row : 0) + dx + r);
  }

  // Leaves to the label where the element is outside: at once, or by one branch after the other.
  void unless_inside(const std::string& to, int dx, int dy) {
    std::vector<std::string> outside;
    for (const auto& [place, size, by] : {std::tuple{10, 1, dx}, {11, 2, dy}}) {
      if (place == 11 && !planar_) continue;
      const std::string moved = number(), before = condition(), behind = condition();
      line("add.s32 {}, %r{}, {}", moved, place, by);
      line("setp.lt.s32 {}, {}, {}", before, moved, is(2) ? 1 : 0);
      line("setp.ge.s32 {}, {}, %r{}", behind, moved, size);
      outside.insert(outside.end(), {before, behind});
    }
    if (rim_ == Rim::zero) {
      for (std::size_t n = 1; n < outside.size(); ++n)
        line("or.pred {}, {}, {}", outside[0], outside[0], outside[n]);
      outside.resize(1);
    }
    for (const std::string& condition : outside)
      line("@{} bra {}", condition, to);
  }

  std::string clamped(int place, int size, int by) {
    const std::string moved = number(), last = number(), low = number(), kept = number();
    line("add.s32 {}, %r{}, {}", moved, place, by);
    line("sub.s32 {}, %r{}, {}", last, size, is(3) ? 2 : 1);
    line("max.s32 {}, {}, 0", low, moved);
    line("min.s32 {}, {}, {}", kept, low, last);
    return kept;
  }

  // The element so far away goes to its place in the tile.
  void store(int dx, int dy) {
    const std::string loaded = value(), at = address(), far = address();
    if (rim_ == Rim::clamped) {
      const std::string index = number();
      const std::string y = planar_ ? clamped(11, 2, dy) : "%r11", x = clamped(10, 1, dx);
      line("mad.lo.s32 {}, {}, %r1, {}", index, y, x);
      line("mul.wide.s32 {}, {}, 4", far, index);
      line("add.s64 {}, %rd1, {}", at, far);
      line("ld.global.f32 {}, [{}]", loaded, at);
      line("st.shared.f32 [%r20+{}], {}", in_tile(dx, dy), loaded);
      return;
    }
    const std::string outside = label(), row = number();
    if (rim_ == Rim::zero) line("mov.f32 {}, 0f00000000", loaded);
    unless_inside(outside, dx, dy);
    line("mul.lo.s32 {}, %r1, {}", row, dy);
    line("mul.wide.s32 {}, {}, 4", far, row);
    line("add.s64 {}, %rd3, {}", at, far);
    line("ld.global.f32 {}, [{}+{}]", loaded, at, 4 * (is(4) && dx > 0 ? dx - 1 : dx));
    if (rim_ == Rim::zero) text_ += outside + ":\n";
    line("st.shared.f32 [%r20+{}], {}", in_tile(dx, dy) + (is(5) ? 4 : 0), loaded);
    if (rim_ != Rim::zero) text_ += outside + ":\n";
  }

  // Threads at the block's ends have what lies beside it, too; with a clamp those at the grid's.
  void fill() {
    if (is(6)) {
      line("setp.gt.s32 %p0, %r12, 2");
      line("@%p0 bra end");
    }
    if (is(13)) { // a place that stores nothing
      line("setp.eq.s32 %p0, %r10, 5");
      line("@%p0 ret");
    }
    if (is(14)) { // no fault
      line("setp.ge.s32 %p0, %r10, %r1");
      line("@%p0 ret");
    }
    if (together) return fill_together();
    store(0, 0);
    const int r = static_cast<int>(reach_);
    for (const unsigned axis : {0U, 1U}) {
      if (axis == 1 && !planar_) continue;
      const int size = static_cast<int>(block[axis]), own = 12 + static_cast<int>(axis);
      for (const bool low : {true, false}) {
        const std::string past = label(), out = condition();
        const int by = is(7) && !low ? r - 1 : r;
        if (low)
          line("setp.ge.s32 {}, %r{}, {}", out, own, is(8) ? r - 1 : r);
        else
          line("setp.lt.s32 {}, %r{}, {}", out, own, is(9) ? size - r + 1 : size - r);
        line("@{} bra {}", out, past);
        const int d = low ? -by : by;
        store(axis == 0 ? d : 0, axis == 0 ? 0 : d);
        text_ += past + ":\n";
      }
    }
  }

  // Threads take one place of the tile after another, whatever is beside it.
  void fill_together() {
    const unsigned threads = block[0] * block[1], r = reach_,
                   size = pitch_ * (planar_ ? block[1] + 2 * r : 1);
    const std::string k = number(), x = number(), y = number(), more = condition();
    line("mad.lo.s32 {}, %r13, {}, %r12", k, block[0]);
    if (is(7)) line("add.s32 {}, {}, 1", k, k);
    if (chance(2, 3)) {
      line("setp.ge.s32 {}, {}, {}", more, k, size);
      line("@{} bra filled", more);
    }
    text_ += "again:\n";
    line("rem.s32 {}, {}, {}", x, k, pitch_ - (is(5) ? 1 : 0));
    line("div.s32 {}, {}, {}", y, k, pitch_);
    line("sub.s32 {}, {}, %r12", x, x);
    line("sub.s32 {}, {}, %r13", y, y);
    line("add.s32 {}, {}, %r10", x, x);
    line("add.s32 {}, {}, %r11", y, y);
    line("sub.s32 {}, {}, {}", x, x, is(4) ? r - 1 : r);
    if (planar_) line("sub.s32 {}, {}, {}", y, y, r);
    store_at(k, x, y);
    line("add.s32 {}, {}, {}", k, k, is(8) ? threads - 1 : is(9) ? threads + 1 : threads);
    line("setp.lt.s32 {}, {}, {}", more, k, is(3) ? size - pitch_ - 1 : size);
    line("@{} bra again", more);
    text_ += "filled:\n";
  }

  // The element of the place goes to the tile's place with that number.
  void store_at(const std::string& k, std::string x, std::string y) {
    const std::string loaded = value(), at = address(), index = number(), to = number();
    line("mad.lo.s32 {}, {}, 4, %r15", to, k);
    if (rim_ == Rim::clamped) {
      for (const auto& [place, size] : {std::pair{&x, 1}, {&y, 2}}) {
        const std::string last = number(), low = number(), kept = number();
        line("sub.s32 {}, %r{}, {}", last, size, 1);
        line("max.s32 {}, {}, 0", low, *place);
        line("min.s32 {}, {}, {}", kept, low, last);
        *place = kept;
      }
    } else {
      line("mov.f32 {}, 0f00000000", loaded);
      const std::string signs = number(), outside = condition(), behind = condition();
      line("or.b32 {}, {}, {}", signs, x, y);
      line("setp.lt.s32 {}, {}, {}", outside, signs, is(2) ? 1 : 0);
      for (const auto& [place, size] : {std::pair{x, 1}, {y, 2}}) {
        if (size == 2 && !planar_) continue;
        line("setp.ge.s32 {}, {}, %r{}", behind, place, size);
        line("or.pred {}, {}, {}", outside, outside, behind);
      }
      line("@{} bra outside", outside);
    }
    line("mad.lo.s32 {}, {}, %r1, {}", index, y, x);
    line("mul.wide.s32 {}, {}, 4", at, index);
    line("add.s64 {}, %rd1, {}", at, at);
    line("ld.global.f32 {}, [{}]", loaded, at);
    if (rim_ == Rim::zero) text_ += "outside:\n";
    line("st.shared.f32 [{}], {}", to, loaded);
    if (rim_ == Rim::left_out) text_ += "outside:\n";
  }

  void guard() {
    const bool all = rim_ == Rim::clamped && chance(1, 2);
    for (const auto& [place, size] : {std::pair{10, 1}, {11, 2}}) {
      if (place == 11 && !planar_) continue;
      const int r = static_cast<int>(reach_) - (is(10) ? 1 : 0);
      const std::string before = condition(), behind = condition(), last = number();
      if (!all) {
        line("setp.lt.s32 {}, %r{}, {}", before, place, r);
        line("@{} bra end", before);
      }
      line("sub.s32 {}, %r{}, {}", last, size, all ? 0 : r);
      line("setp.ge.s32 {}, %r{}, {}", behind, place, last);
      line("@{} bra end", behind);
    }
  }

  void sum() {
    line("mov.f32 %f9, 0f3DCCCCCD");
    const int r = static_cast<int>(reach_);
    for (unsigned n = 0; n < 4; ++n) {
      int dx = static_cast<int>(below(2 * reach_ + 1)) - r, dy = 0;
      if (planar_ && chance(1, 2)) std::swap(dx, dy);
      if (is(11) && planar_ && n == 3) dx = dy = 1;
      const std::string tap = value();
      line("ld.shared.f32 {}, [%r20+{}]", tap, in_tile(dx, dy) + (is(12) && n == 0 ? 4 * r : 0));
      line("{}.rn.f32 %f9, %f9, {}", chance(1, 2) ? "add" : "mul", tap);
    }
  }

  std::mt19937 random_;
  std::string text_;
  bool planar_ = true;
  unsigned reach_ = 1, pitch_ = 0, fault_ = 0;
  Rim rim_ = Rim::left_out;
  unsigned numbers_ = 30, addresses_ = 10, values_ = 10, conditions_ = 1, labels_ = 0;
};

// What a single launch says of values that nobody stored.
std::string undefined_in(const StepHost& host) {
  auto [values, memory] = host.place();
  simt::Launch launch{.grid = host.grid, .block = host.block, .arguments = {}};
  launch.report_undefined = true;
  for (const auto& value : values)
    launch.arguments.emplace_back().bytes.assign(value.begin(), value.end());
  const simt::Result result = simt::run(*host.stepped.single, launch, memory);
  return result.ok() ? "" : result.message;
}

TEST(TileFuzz, LeavesTheSame) {
  const unsigned count = test::number_of_seeds("PTXASW_STEPS_FUZZ", 60),
                 first = test::number_of_seeds("PTXASW_STEPS_SEED", 1);
  unsigned taken = 0, together = 0, merged = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const TileKernel kernel(seed);
    const Stepped stepped(kernel.text(), "k", {3, 32, 2, 16, seed % 2 == 0 ? 1U : 4U});
    if (!stepped.entry.refused.empty()) continue;
    ++taken;
    together += kernel.together ? 1 : 0;
    for (unsigned n = 0; n < 3; ++n) {
      const auto size = [&](unsigned places) {
        return 1 + static_cast<unsigned>(random() % places);
      };
      const bool planar = stepped.plan.places[1] != passes::Place::none;
      const unsigned nx = size(70), ny = planar ? size(40) : 1;
      StepHost host{.stepped = stepped,
                    .grid = {(nx + kernel.block[0] - 1) / kernel.block[0] + size(2) - 1,
                             (ny + kernel.block[1] - 1) / kernel.block[1]},
                    .block = {kernel.block[0], kernel.block[1]},
                    .arguments = {0, 1, nx, ny},
                    .buffers = {},
                    .pointers = {0, 1}};
      for (unsigned buffer = 0; buffer < 2; ++buffer)
        host.buffers.push_back(test::random_elements(std::size_t{nx} * ny, 4, true, buffer));
      if (!host.fit_error().empty()) continue;
      const std::string at_fault = undefined_in(host);
      if (at_fault.find("outside of every allocation") != std::string::npos)
        continue; // the program's own fault: n - 2 of a size of 1
      EXPECT_EQ(at_fault, "") << seed << '\n' << kernel.text();
      EXPECT_EQ(host.difference(7, &merged), "") << seed << '\n' << kernel.text();
      EXPECT_TRUE(host.loads_what_single_ones_touch(7)) << seed << kernel.text();
    }
    if (HasFailure()) return;
  }
  RecordProperty("taken", static_cast<int>(taken));
  EXPECT_GT(taken, count / 3);
  EXPECT_GT(together, count / 10);
  EXPECT_GT(merged, count / 3);
}

} // namespace
} // namespace ptxasw
