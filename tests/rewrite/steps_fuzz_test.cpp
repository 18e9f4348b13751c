// Random stencils: launches against launches that are merged. PTXASW_STEPS_FUZZ=N makes N of them.
#include "rewrite/step_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel k(in, out, c, nx, ny, pitch), two-dimensional or one-dimensional.
class Stencil {
public:
  explicit Stencil(unsigned seed) : random_(seed) {
    planar = chance(4, 5);
    constexpr std::array types{"f32", "f64", "s32"};
    type = types[below(3)];
    bytes = type == "f64" ? 8 : 4;
    reach = chance(1, 3) ? 2 : 1;
    places();
    guards();
    addresses();
    values();
  }

  std::string type;
  bool planar = true;
  unsigned bytes = 4;
  int reach = 1;

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 c, .param .u32 nx, .param .u32 ny,
                  .param .u32 pitch)
{{
.reg .pred %p<20>;
.reg .b32 %r<60>;
.reg .b64 %rd<60>;
.reg .{} %v<99>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [c];
ld.param.u32 %r1, [nx];
ld.param.u32 %r2, [ny];
ld.param.u32 %r3, [pitch];
cvta.to.global.u64 %rd4, %rd1;
cvta.to.global.u64 %rd5, %rd2;
cvta.to.global.u64 %rd6, %rd3;
{}
out: ret;
}}
)",
                       type, text_);
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  int offset() { return static_cast<int>(below(2 * static_cast<unsigned>(reach) + 1)) - reach; }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }

  void places() { // %r10, %r11
    line("mov.u32 %r4, %ctaid.x");
    line("mov.u32 %r5, %ntid.x");
    line("mov.u32 %r6, %tid.x");
    line("mad.lo.s32 %r10, %r4, %r5, %r6");
    if (!planar) return;
    line("mov.u32 %r7, %ctaid.y");
    line("mov.u32 %r8, %ntid.y");
    line("mov.u32 %r9, %tid.y");
    line("mad.lo.s32 %r11, %r7, %r8, %r9");
  }

  // Rims of the reach at least, so that no row is wrapped; perhaps more on one side.
  void guard(const char* place, const char* size, unsigned n) {
    const int first = reach + static_cast<int>(below(2)), last = reach + static_cast<int>(below(3));
    if (chance(1, 2)) {
      line("setp.lt.s32 %p{}, {}, {}", 13 + n, place, first);
      line("@%p{} bra out", 13 + n);
      line("sub.s32 %r{}, {}, {}", 20 + n, size, last);
      line("setp.ge.s32 %p{}, {}, %r{}", 2 + n, place, 20 + n);
      line("@%p{} bra out", 2 + n);
    } else {
      line("sub.s32 %r{}, {}, {}", 22 + n, place, first);
      line("sub.s32 %r{}, {}, {}", 24 + n, size, first + last);
      line("setp.lt.u32 %p{}, %r{}, %r{}", 4 + n, 22 + n, 24 + n);
      line("@!%p{} bra out", 4 + n);
    }
  }

  void guards() {
    // A row that is not there at all makes its bound negative, which is large without a sign.
    line("setp.lt.s32 %p10, %r1, 9");
    line("@%p10 bra out");
    guard("%r10", "%r1", 0);
    if (!planar) return;
    line("setp.lt.s32 %p11, %r2, 9");
    line("@%p11 bra out");
    guard("%r11", "%r2", 1);
    if (chance(1, 5)) { // a hole
      line("add.s32 %r26, %r10, %r11");
      line("setp.eq.s32 %p12, %r26, {}", below(30));
      line("@%p12 bra out");
    }
  }

  void addresses() {
    if (planar)
      line("mad.lo.s32 %r30, %r11, %r3, %r10");
    else
      line("mov.u32 %r30, %r10");
    line("mul.wide.s32 %rd10, %r30, {}", bytes);
    line("add.s64 %rd11, %rd4, %rd10");
    line("add.s64 %rd12, %rd5, %rd10");
    line("add.s64 %rd13, %rd6, %rd10");
    line("mul.wide.s32 %rd14, %r3, {}", bytes);
  }

  std::string load(int dx, int dy) {
    const std::string into = value();
    line("mul.lo.s64 %rd20, %rd14, {}", dy);
    const unsigned at = 21 + loads_;
    text_.replace(text_.rfind("%rd20"), 5, fmt::format("%rd{}", at)); // each written once
    line("add.s64 %rd{}, %rd11, %rd{}", at + 12, at);
    line("ld.global.{} {}, [%rd{}+{}]", type, into, at + 12, dx * static_cast<int>(bytes));
    ++loads_;
    return into;
  }

  std::string value() { return fmt::format("%v{}", values_++); }

  std::string combine(const std::string& a, const std::string& b) {
    const std::string into = value();
    if (type == "s32") {
      constexpr std::array ops{"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32"};
      line("{} {}, {}, {}", ops[below(5)], into, a, b);
    } else {
      constexpr std::array ops{"add.rn", "mul.rn", "sub.rn", "min", "max"};
      line("{}.{} {}, {}, {}", ops[below(5)], type, into, a, b);
    }
    return into;
  }

  void values() {
    std::string sum = load(offset(), planar ? offset() : 0);
    const unsigned count = 1 + below(7);
    for (unsigned n = 0; n < count; ++n)
      sum = combine(sum, load(offset(), planar ? offset() : 0));
    if (chance(1, 3)) { // of the place
      const std::string c = value();
      line("ld.global.{} {}, [%rd13+{}]", type, c, chance(1, 2) ? bytes : 0);
      sum = combine(sum, c);
    }
    if (chance(1, 4)) { // the same for all
      const std::string c = value();
      line("ld.global.{} {}, [%rd6+{}]", type, c, 2 * bytes);
      sum = combine(sum, c);
    }
    if (chance(1, 4)) {
      const std::string x = value();
      if (type == "s32")
        line("mov.u32 {}, %r10", x);
      else
        line("cvt.rn.{}.s32 {}, %r10", type, x);
      sum = combine(sum, x);
    }
    line("st.global.{} [%rd12], {}", type, sum);
  }

  std::mt19937 random_;
  std::string text_;
  unsigned loads_ = 0, values_ = 0;
};

StepHost host_of(const Stepped& stepped, const Stencil& stencil, std::mt19937& random) {
  const auto size = [&] { return 1 + static_cast<unsigned>(random() % 70); };
  const unsigned nx = size(), ny = stencil.planar ? size() : 1;
  const unsigned pitch = nx + static_cast<unsigned>(random() % 3);
  const std::size_t count = std::size_t{pitch} * ny + 4;
  const bool is_float = stencil.type != "s32";
  StepHost host{.stepped = stepped,
                .grid = {(nx + 31) / 32, (ny + 3) / 4},
                .block = {32, 4},
                .arguments = {0, 1, 2, nx, ny, pitch},
                .buffers = {},
                .pointers = {0, 1, 2}};
  if (!stencil.planar) host.grid.y = host.block.y = 1;
  for (unsigned n = 0; n < 3; ++n)
    host.buffers.push_back(test::random_elements(count, stencil.bytes, is_float, n));
  return host;
}

TEST(StepsFuzz, LeaveTheSame) {
  const char* asked = std::getenv("PTXASW_STEPS_FUZZ"); // NOLINT(concurrency-mt-unsafe)
  const unsigned count = asked == nullptr ? 25 : static_cast<unsigned>(std::atoi(asked));
  const char* from = std::getenv("PTXASW_STEPS_SEED"); // NOLINT(concurrency-mt-unsafe)
  const unsigned first = from == nullptr ? 1 : static_cast<unsigned>(std::atoi(from));
  unsigned merged = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const Stencil stencil(seed);
    constexpr std::array shapes{
        rewrite::StepShape{3, 32, 2, 16},   rewrite::StepShape{3, 32, 4, 8},
        rewrite::StepShape{5, 64, 1, 32},   rewrite::StepShape{3, 64, 4, 8},
        rewrite::StepShape{3, 64, 4, 8, 4}, rewrite::StepShape{3, 48, 2, 16, 2},
        rewrite::StepShape{5, 64, 3, 16, 4}};
    const Stepped stepped(stencil.text(), "k", shapes[random() % shapes.size()]);
    ASSERT_EQ(stepped.entry.refused, "") << seed << '\n' << stencil.text();
    for (unsigned n = 0; n < 2; ++n) {
      const StepHost host = host_of(stepped, stencil, random);
      const unsigned steps = 1 + static_cast<unsigned>(random() % 12);
      if (!host.fit_error().empty()) continue; // too small to have an inside
      merged += host.run(steps, false).merged_launches;
      const std::string difference = host.difference(steps);
      ASSERT_EQ(difference, "") << seed << ": " << host.arguments[3] << 'x' << host.arguments[4]
                                << ", " << steps << " steps\n"
                                << stencil.text();
    }
  }
  EXPECT_GT(merged, count / 2);
}

} // namespace
} // namespace ptxasw
