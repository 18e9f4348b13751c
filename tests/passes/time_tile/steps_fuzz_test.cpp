// Random stencils: launches against launches that are merged. PTXASW_STEPS_FUZZ=N makes N of them.
#include "passes/time_tile/step_case.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// What elements are, and the registers and instructions that compute with them.
struct ElementType {
  const char* name; // of loads and stores
  const char* held; // registers
  unsigned bytes;
  bool is_float;
  std::array<const char*, 5> sums;
  const char* from_place; // conversion of a coordinate
};

constexpr std::array<ElementType, 9> element_types{{
    {"f32",
     "f32",
     4,
     true,
     {"add.rn.f32", "mul.rn.f32", "sub.rn.f32", "min.f32", "max.f32"},
     "cvt.rn.f32.s32"},
    {"f64",
     "f64",
     8,
     true,
     {"add.rn.f64", "mul.rn.f64", "sub.rn.f64", "min.f64", "max.f64"},
     "cvt.rn.f64.s32"},
    {"s32", "b32", 4, false, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32"}, "mov.b32"},
    {"u64",
     "b64",
     8,
     false,
     {"add.s64", "xor.b64", "mul.lo.s64", "min.u64", "sub.s64"},
     "cvt.u64.u32"},
    {"b16",
     "b16",
     2,
     true,
     {"add.rn.f16", "mul.rn.f16", "sub.rn.f16", "min.f16", "max.f16"},
     "cvt.rn.f16.s32"},
    {"s16", "b32", 2, false, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32"}, "mov.b32"},
    {"u16",
     "b16",
     2,
     false,
     {"add.s16", "xor.b16", "mul.lo.s16", "min.u16", "sub.s16"},
     "cvt.u16.u32"},
    {"u8",
     "b16",
     1,
     false,
     {"add.s16", "xor.b16", "mul.lo.s16", "min.u16", "sub.s16"},
     "cvt.u16.u32"},
    {"s8", "b32", 1, false, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32"}, "mov.b32"},
}};

// kernel k(in, out, c, nx, ny, pitch, in2, out2): one-dimensional; two-dimensional, along either
// axis, or row by row of one line of threads; or planes, one behind the other. One array, or two
// that hang on each other; or one that is computed from two, of which any may be the older one of
// three in rotation.
class Stencil {
public:
  explicit Stencil(unsigned seed, bool rotates = false) : random_(seed), data_(seed) {
    asks_data = data_() % 3 == 0;
    planar = chance(4, 5);
    transposed = planar && chance(1, 8);
    by_rows = planar && !transposed && chance(1, 4);
    planes = planar && !by_rows && chance(1, 8) ? 1 + below(3) : 0;
    sweeps = planar && !by_rows && planes == 0 && chance(1, 4);
    arrays = chance(1, 6) ? 2 : 1;
    if (rotates) arrays = 1;
    read_ = rotates ? 2 : arrays;
    type = element_types[below(element_types.size())];
    reach = chance(1, 3) ? 2 : 1;
    if (chance(1, 2)) rim_ = static_cast<Rim>(1 + below(3));
    places();
    guards();
    addresses();
    if (rim_ == Rim::copied) copied_rim();
    const bool reuses = arrays == 2 && data_() % 2 == 0;
    for (unsigned n = 0; n < arrays; ++n) {
      sums_.push_back(values());
      if (n == 0 && reuses) store_and_reuse();
    }
    if (reuses) sums_[1] = combine(sums_[1], sums_[0]);
    for (unsigned n = reuses ? 1 : 0; n < arrays; ++n)
      line("st.global.{} [%rd{}], {}", type.name, 12 + 4 * n, sums_[n]);
    if (rim_ == Rim::copied) copy();
    if (sweeps) sweep();
  }

  ElementType type{};
  bool planar = true, transposed = false;
  bool by_rows = false;            // x and y are rest and quotient of a thread's number
  bool sweeps = false;             // a thread takes all places along y
  bool asks_data = false;          // some elements are loaded if data say so
  unsigned planes = 0, arrays = 1; // planes: 0 if the kernel knows of none
  int reach = 1;

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 c, .param .u32 nx, .param .u32 ny,
                  .param .u32 pitch, .param .u64 in2, .param .u64 out2)
{{
.reg .pred %p<20>, %q<199>;
.reg .b32 %r<999>;
.reg .b64 %rd<499>;
.reg .{} %v<199>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [c];
ld.param.u64 %rd7, [in2];
ld.param.u64 %rd8, [out2];
ld.param.u32 %r1, [nx];
ld.param.u32 %r2, [ny];
ld.param.u32 %r3, [{}];
cvta.to.global.u64 %rd4, %rd1;
cvta.to.global.u64 %rd5, %rd2;
cvta.to.global.u64 %rd6, %rd3;
{}
end: ret;
}}
)",
                       type.held, by_rows ? "nx" : "pitch", text_);
  }

private:
  // At the rim nothing is stored; or neighbours are the nearest ones inside, those at the other
  // end, or the place's own element is copied.
  enum class Rim : std::uint8_t { kept, clamped, around, copied };

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  int offset() { return static_cast<int>(below(2 * static_cast<unsigned>(reach) + 1)) - reach; }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }
  std::string condition() { return fmt::format("%q{}", conditions_++); }
  std::string number() { return fmt::format("%r{}", numbers_++); }
  std::string address() { return fmt::format("%rd{}", addresses_++); }
  std::string value() { return fmt::format("%v{}", values_++); }

  void places() { // %r10, %r11, %r12
    line("mov.u32 %r4, %ctaid.x");
    line("mov.u32 %r5, %ntid.x");
    line("mov.u32 %r6, %tid.x");
    line("mad.lo.s32 {}, %r4, %r5, %r6", by_rows ? "%r27" : "%r10");
    if (by_rows) return rows();
    if (planes != 0) line("mov.u32 %r12, %ctaid.z");
    if (!planar || sweeps) return;
    line("mov.u32 %r7, %ctaid.y");
    line("mov.u32 %r8, %ntid.y");
    line("mov.u32 %r9, %tid.y");
    line("mad.lo.s32 %r11, %r7, %r8, %r9");
  }

  // All of it, in a loop over y; and the element's number may move on with it.
  void sweep() {
    const unsigned first = rim_ == Rim::kept ? below(2) : 0;
    const std::string body = std::exchange(text_, {});
    line("mov.u32 %r900, %ctaid.x");
    line("mov.u32 %r901, %ntid.x");
    line("mov.u32 %r902, %tid.x");
    line("mad.lo.s32 %r903, %r900, %r901, %r902");
    line("mov.u32 %r11, {}", first);
    line("mad.lo.s32 %r904, {}, %r3, {}", transposed ? "%r903" : "%r11",
         transposed ? "%r11" : "%r903");
    line("sub.s32 %r905, %r2, {}", first);
    if (chance(2, 3)) {
      line("setp.ge.s32 %p16, %r11, %r905");
      line("@%p16 bra end");
    }
    text_ += "again:\n" + body;
    for (std::size_t at = 0; (at = text_.find("bra end;", text_.find("again:"))) != text_.npos;)
      text_.replace(at, 8, "bra next;");
    text_ += "next:\n";
    const bool moves = chance(1, 2);
    line("add.s32 {}, %r11, 1", moves ? "%r906" : "%r11");
    line("add.s32 %r904, %r904, {}", transposed ? "1" : "%r3");
    line("setp.lt.s32 %p17, {}, %r905", moves ? "%r906" : "%r11");
    if (moves) line("mov.u32 %r11, %r906");
    line("@%p17 bra again");
  }

  // %r27 is the thread's number.
  void rows() {
    const char* const sign = chance(2, 3) ? "s32" : "u32";
    line("mul.lo.s32 %r28, %r1, %r2");
    line("setp.ge.{} %p15, %r27, %r28", sign);
    line("@%p15 bra end");
    line("div.{} %r11, %r27, %r1", sign);
    if (chance(1, 2)) {
      line("rem.{} %r10, %r27, %r1", sign);
    } else {
      line("mul.lo.s32 %r29, %r11, %r1");
      line("sub.s32 %r10, %r27, %r29");
    }
  }

  // Rims of the reach at least, so that no row is wrapped; perhaps more on one side.
  void guard(const char* place, const char* size, unsigned n) {
    if (rim_ != Rim::kept) {
      line("setp.ge.s32 %p{}, {}, {}", 13 + n, place, size);
      line("@%p{} bra end", 13 + n);
      return;
    }
    const int first = reach + static_cast<int>(below(2)), last = reach + static_cast<int>(below(3));
    if (chance(1, 2)) {
      line("setp.lt.s32 %p{}, {}, {}", 13 + n, place, first);
      line("@%p{} bra end", 13 + n);
      line("sub.s32 %r{}, {}, {}", 20 + n, size, last);
      line("setp.ge.s32 %p{}, {}, %r{}", 2 + n, place, 20 + n);
      line("@%p{} bra end", 2 + n);
    } else {
      line("sub.s32 %r{}, {}, {}", 22 + n, place, first);
      line("sub.s32 %r{}, {}, {}", 24 + n, size, first + last);
      line("setp.lt.u32 %p{}, %r{}, %r{}", 4 + n, 22 + n, 24 + n);
      line("@!%p{} bra end", 4 + n);
    }
  }

  void guards() {
    // A row that is not there at all makes its bound negative, which is large without a sign.
    line("setp.lt.s32 %p10, %r1, 9");
    line("@%p10 bra end");
    guard("%r10", "%r1", 0);
    if (!planar) return;
    line("setp.lt.s32 %p11, %r2, 9");
    line("@%p11 bra end");
    guard("%r11", "%r2", 1);
    if (chance(1, 5)) { // a hole
      line("add.s32 %r26, %r10, %r11");
      line("setp.eq.s32 %p12, %r26, {}", below(30));
      line("@%p12 bra end");
    }
  }

  // The element of a place, in bytes: %r29 is that of the plane.
  std::string element(const std::string& x, const std::string& y) {
    const std::string index = number(), plane = number(), bytes = address();
    const std::string &across = transposed ? y : x, &along = transposed ? x : y;
    if (planar)
      line("mad.lo.s32 {}, {}, %r3, {}", index, along, across);
    else
      line("mov.u32 {}, {}", index, x);
    line("add.s32 {}, {}, {}", plane, index, planes != 0 ? "%r29" : "0");
    line("mul.wide.s32 {}, {}, {}", bytes, plane, type.bytes);
    return bytes;
  }

  void addresses() {
    if (planes != 0) {
      line("mul.lo.s32 %r28, %r3, {}", transposed ? "%r1" : "%r2");
      line("mul.lo.s32 %r29, %r28, %r12");
    }
    if (sweeps && chance(1, 2))
      line("mul.wide.s32 %rd10, %r904, {}", type.bytes);
    else
      line("mov.b64 %rd10, {}", element("%r10", "%r11"));
    line("add.s64 %rd11, %rd4, %rd10");
    line("add.s64 %rd12, %rd5, %rd10");
    line("add.s64 %rd13, %rd6, %rd10");
    line("mul.wide.s32 %rd14, %r3, {}", type.bytes);
    line("cvta.to.global.u64 %rd17, %rd7");
    line("cvta.to.global.u64 %rd18, %rd8");
    line("add.s64 %rd15, %rd17, %rd10");
    line("add.s64 %rd16, %rd18, %rd10");
  }

  // Places outside of the interior branch off.
  void copied_rim() {
    std::vector<std::string> outside;
    for (const auto& [place, size] : {std::pair("%r10", "%r1"), {"%r11", "%r2"}}) {
      if (!planar && place[3] == '1') continue;
      const std::string last = number();
      line("sub.s32 {}, {}, {}", last, size, reach);
      outside.push_back(condition());
      line("setp.lt.s32 {}, {}, {}", outside.back(), place, reach);
      outside.push_back(condition());
      line("setp.ge.s32 {}, {}, {}", outside.back(), place, last);
    }
    std::string any = outside[0];
    for (std::size_t n = 1; n < outside.size(); ++n) {
      const std::string either = condition();
      line("or.pred {}, {}, {}", either, any, outside[n]);
      any = either;
    }
    line("@{} bra copy", any);
  }

  void copy() {
    line("bra end");
    text_ += "copy:\n";
    for (unsigned n = 0; n < arrays; ++n) {
      const std::string own = value();
      line("ld.global.{} {}, [%rd{}]", type.name, own, 11 + 4 * n);
      line("st.global.{} [%rd{}], {}", type.name, 12 + 4 * n, own);
    }
  }

  // A neighbour, by way of the element at hand, or with an index of its own that a clamp keeps
  // inside.
  std::string load(unsigned array) {
    const int dx = offset(), dy = planar ? offset() : 0;
    const std::string into = value();
    if (rim_ == Rim::clamped || rim_ == Rim::around || chance(1, 6)) {
      const std::string bytes = element(clamped("%r10", "%r1", dx), clamped("%r11", "%r2", dy)),
                        at = address();
      line("add.s64 {}, %rd{}, {}", at, array == 0 ? 4 : 17, bytes);
      load(into, at, 0, array == 0 ? 11 : 15);
      return into;
    }
    const int rows = transposed ? dx : dy, columns = transposed ? dy : dx;
    const std::string far = address(), at = address();
    line("mul.lo.s64 {}, %rd14, {}", far, rows);
    line("add.s64 {}, %rd{}, {}", at, array == 0 ? 11 : 15, far);
    load(into, at, columns * static_cast<int>(type.bytes), array == 0 ? 11 : 15);
    return into;
  }

  // Of the first array. Behind it the register has something else, but for the last places.
  void store_and_reuse() {
    line("st.global.{} [%rd12], {}", type.name, sums_[0]);
    const std::string last = number(), outside = condition();
    line("sub.s32 {}, %r1, {}", last, reach + 1);
    line("setp.ge.s32 {}, %r10, {}", outside, last);
    line("@{} bra over{}", outside, overs_);
    line("ld.global.{} {}, [%rd11]", type.name, sums_[0]);
    text_ += fmt::format("over{}:\n", overs_++);
  }

  // At the address; or there or at the place's own element, or not at all, as data say.
  void load(const std::string& into, const std::string& at, int byte, int own) {
    if (!asks_data || data_() % 2 == 0) {
      line("ld.global.{} {}, [{}+{}]", type.name, into, at, byte);
      return;
    }
    const std::string asked = value(), holds = condition();
    line("ld.global.{} {}, [%rd{}]", type.name, asked, data_() % 2 == 0 ? own : 13);
    is_odd(asked, holds);
    if (data_() % 2 == 0) {
      const std::string far = address(), either = address();
      line("add.s64 {}, {}, {}", far, at, byte);
      line("selp.b64 {}, {}, %rd{}, {}", either, far, own, holds);
      line("ld.global.{} {}, [{}]", type.name, into, either);
      return;
    }
    line("mov.b{} {}, {}", bits_held(), into, asked);
    line("@{} bra over{}", holds, overs_);
    line("ld.global.{} {}, [{}+{}]", type.name, into, at, byte);
    text_ += fmt::format("over{}:\n", overs_++);
  }

  [[nodiscard]] unsigned bits_held() const {
    return static_cast<unsigned>(std::atoi(std::string_view(type.held).substr(1).data()));
  }

  // The last bit of what was loaded.
  void is_odd(const std::string& asked, const std::string& holds) {
    const std::string bits = number();
    if (bits_held() == 64) {
      const std::string wide = address();
      line("mov.b64 {}, {}", wide, asked);
      line("cvt.u32.u64 {}, {}", bits, wide);
    } else if (bits_held() == 16) {
      line("cvt.u32.u16 {}, {}", bits, asked);
    } else {
      line("mov.b32 {}, {}", bits, asked);
    }
    const std::string last = number();
    line("and.b32 {}, {}, 1", last, bits);
    line("setp.ne.s32 {}, {}, 0", holds, last);
  }

  std::string clamped(const char* place, const char* size, int offset) {
    if (!planar && place[3] == '1') return place; // there is no y
    if (rim_ == Rim::around) return around(place, size, offset);
    const std::string moved = number(), above = number(), last = number(), kept = number();
    line("add.s32 {}, {}, {}", moved, place, offset);
    line("max.s32 {}, {}, 0", above, moved);
    line("sub.s32 {}, {}, 1", last, size);
    line("min.s32 {}, {}, {}", kept, above, last);
    return kept;
  }

  // The other end's behind the last one: as a remainder, or chosen.
  std::string around(const char* place, const char* size, int offset) {
    if (offset == 0) return place;
    const std::string moved = number(), far = number(), into = number();
    line("add.s32 {}, {}, {}", moved, place, offset);
    if (chance(1, 2)) {
      line("add.s32 {}, {}, {}", far, moved, size);
      line("rem.s32 {}, {}, {}", into, far, size);
      return into;
    }
    const std::string inside = condition();
    line("setp.{}.s32 {}, {}, {}", offset < 0 ? "ge" : "lt", inside, moved,
         offset < 0 ? "0" : size);
    line("{}.s32 {}, {}, {}", offset < 0 ? "add" : "sub", far, moved, size);
    line("selp.b32 {}, {}, {}, {}", into, moved, far, inside);
    return into;
  }

  std::string combine(const std::string& a, const std::string& b) {
    const std::string into = value();
    line("{} {}, {}, {}", type.sums[below(5)], into, a, b);
    return into;
  }

  std::string values() {
    std::string sum = load(below(read_));
    const unsigned count = 1 + below(7);
    for (unsigned n = 0; n < count; ++n)
      sum = combine(sum, load(below(read_)));
    for (unsigned n = 0; n < read_; ++n) // each array is read
      if (read_ > 1) sum = combine(sum, load(n));
    if (chance(1, 3)) { // of the place
      const std::string c = value();
      // Where rows have no rim, no neighbour of an array that may be the older one of three.
      const bool beside = chance(1, 2) && (rim_ == Rim::kept || read_ == arrays);
      line("ld.global.{} {}, [%rd13+{}]", type.name, c, beside ? type.bytes : 0);
      sum = combine(sum, c);
    }
    if (chance(1, 4)) { // the same for all
      const std::string c = value();
      line("ld.global.{} {}, [%rd6+{}]", type.name, c, 2 * type.bytes);
      sum = combine(sum, c);
    }
    if (chance(1, 4)) {
      const std::string x = value();
      line("{} {}, {}", type.from_place, x, by_rows ? "%r27" : "%r10");
      sum = combine(sum, x);
    }
    return sum;
  }

  std::mt19937 random_, data_;
  std::string text_;
  std::vector<std::string> sums_;
  unsigned read_ = 1; // arrays, that are stepped
  unsigned numbers_ = 30, addresses_ = 20, values_ = 0, conditions_ = 0, overs_ = 0;
  Rim rim_ = Rim::kept;
};

StepHost host_of(const Stepped& stepped, const Stencil& stencil, std::mt19937& random) {
  const auto size = [&] { // of one block, or of several
    return 1 + static_cast<unsigned>(random() % (random() % 3 == 0 ? 70 : 35));
  };
  const unsigned nx = size(), ny = stencil.planar ? size() : 1,
                 planes = std::max(stencil.planes, 1U);
  const auto [across, along] = stencil.transposed ? std::pair(ny, nx) : std::pair(nx, ny);
  const unsigned pitch = stencil.by_rows ? across : across + static_cast<unsigned>(random() % 3);
  const std::size_t count = std::size_t{pitch} * along * planes + 4;
  StepHost host{.stepped = stepped,
                .grid = {(nx + 31) / 32, (ny + 3) / 4, planes},
                .block = {32, 4},
                .arguments = {0, 1, 2, nx, ny, pitch, 3, 4},
                .buffers = {},
                .pointers = {0, 1, 2, 6, 7}};
  if (!stencil.planar || stencil.sweeps) host.grid.y = host.block.y = 1;
  if (stencil.by_rows) {
    host.block = {96, 1};
    host.grid = {(nx * ny + 95) / 96 + static_cast<unsigned>(random() % 2)};
  }
  for (unsigned n = 0; n < 5; ++n)
    host.buffers.push_back(
        test::random_elements(count, stencil.type.bytes, stencil.type.is_float, n));
  return host;
}

// Two loops of up to so many steps leave the same, merged or not. How often launches were merged.
unsigned launches_merged(const Stepped& stepped, const Stencil& stencil, std::mt19937& random,
                         unsigned most_steps) {
  unsigned merged = 0;
  for (unsigned n = 0; n < 2; ++n) {
    const StepHost host = host_of(stepped, stencil, random);
    const unsigned steps = 1 + static_cast<unsigned>(random() % most_steps);
    if (!host.fit_error().empty()) continue; // too small to have an inside
    EXPECT_EQ(host.difference(steps, &merged), "")
        << host.arguments[3] << 'x' << host.arguments[4] << ", " << steps << " steps\n"
        << stencil.text();
    if (stepped.plan.rotation) continue; // it has a fourth array
    EXPECT_TRUE(host.loads_what_single_ones_touch(steps)) << stencil.text();
  }
  return merged;
}

unsigned number_from(const char* variable, unsigned usual) {
  const char* const text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? usual : static_cast<unsigned>(std::atoi(text));
}

// Where guards are not of one axis each.
constexpr std::string_view many_cases = "its rim has too many cases";

TEST(StepsFuzz, LeaveTheSame) {
  const unsigned count = number_from("PTXASW_STEPS_FUZZ", 25),
                 first = number_from("PTXASW_STEPS_SEED", 1);
  unsigned merged = 0, by_lanes = 0, swept = 0, asking = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const Stencil stencil(seed);
    constexpr std::array shapes{
        passes::StepShape{3, 32, 2, 16},    passes::StepShape{3, 32, 4, 8},
        passes::StepShape{5, 64, 1, 32},    passes::StepShape{3, 64, 4, 8},
        passes::StepShape{3, 32, 4, 8, 4},  passes::StepShape{3, 48, 2, 16, 2},
        passes::StepShape{3, 32, 2, 16, 4}, passes::StepShape{5, 64, 4, 12, 4}};
    const auto fits = [&](const passes::StepShape& shape) { // two wide arrays: small regions only
      return shape.width * shape.strips * shape.rows <= 2048 ||
             stencil.type.bytes * stencil.arrays <= 8;
    };
    passes::StepShape shape = shapes[random() % shapes.size()];
    if (!fits(shape)) shape = shapes[0];
    shape.lanes = random() % 8 != 0;
    if (shape.lanes) {
      const std::string refused = Stepped(stencil.text(), "k", shape).entry.refused.text;
      shape.lanes = refused.empty();
      EXPECT_TRUE(refused.empty() || refused == "rows are no part of a warp" ||
                  refused == "its guards are not of one axis each" || refused == many_cases)
          << refused;
    }
    Stepped stepped(stencil.text(), "k", shape);
    if (random() % 2 == 0) stepped.entry.contract.count = 3; // it is told
    if (stepped.entry.refused.text == many_cases) continue;
    ASSERT_EQ(stepped.entry.refused.text, "") << seed << '\n' << stencil.text();
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}", seed));
    by_lanes += shape.lanes ? 1 : 0;
    const unsigned now = launches_merged(stepped, stencil, random, 12);
    merged += now;
    if (stencil.sweeps) swept += now;
    if (stencil.asks_data) asking += now;
    if (HasFailure()) return;
  }
  EXPECT_GT(merged, count / 2);
  EXPECT_GT(swept, count / 16);
  EXPECT_GT(asking, count / 8);
  EXPECT_GE(by_lanes, std::max(1U, count / 30)); // most guards are not of one axis each
}

TEST(StepsFuzz, OfThreeArraysLeaveTheSame) {
  const unsigned count = number_from("PTXASW_STEPS_FUZZ", 25),
                 first = number_from("PTXASW_STEPS_SEED", 1);
  unsigned merged = 0, by_lanes = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const Stencil stencil(seed, true);
    constexpr std::array shapes{
        passes::StepShape{3, 32, 2, 16},   passes::StepShape{3, 32, 4, 8},
        passes::StepShape{6, 64, 1, 32},   passes::StepShape{3, 64, 4, 8, 2},
        passes::StepShape{3, 32, 4, 8, 4}, passes::StepShape{3, 48, 2, 16, 2}};
    passes::StepShape shape = shapes[random() % (stencil.type.bytes > 4 ? 2 : shapes.size())];
    shape.lanes = random() % 4 != 0;
    const auto motion = passes::Motion::rotated;
    if (shape.lanes && !Stepped(stencil.text(), "k", shape, motion).entry.refused.text.empty())
      shape.lanes = false;
    const Stepped stepped(stencil.text(), "k", shape, motion);
    if (stepped.entry.refused.text == many_cases) continue;
    ASSERT_EQ(stepped.entry.refused.text, "") << seed << '\n' << stencil.text();
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}", seed));
    by_lanes += shape.lanes ? 1 : 0;
    merged += launches_merged(stepped, stencil, random, 24);
    if (HasFailure()) return;
  }
  EXPECT_GT(merged, count / 2);
  EXPECT_GE(by_lanes, std::max(1U, count / 30));
}

// Every type, and each shape of a thread's places.
TEST(StepsFuzz, AssembleForEachType) {
  std::set<std::string> seen;
  for (unsigned seed = 1; seen.size() < element_types.size() && seed < 500; ++seed) {
    const Stencil stencil(seed);
    if (!seen.insert(fmt::format("{}_{}", stencil.type.name, stencil.type.held)).second) continue;
    const Stepped stepped(stencil.text(), "k", {3, 32, 2, 16, seen.size() % 2 == 0 ? 1U : 4U});
    ASSERT_EQ(stepped.entry.refused.text, "") << stencil.text();
    test::expect_that_ptxas_takes(*stepped.both->text, "steps_fuzz_" + *seen.rbegin());
  }
  EXPECT_EQ(seen.size(), element_types.size());
}

} // namespace
} // namespace ptxasw
