// Random kernels that may be stages of a step.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::test {

// What elements are, and the instructions that compute with them, in registers of so many bits.
struct StageElement {
  const char* name;
  unsigned held, bytes;
  std::array<const char*, 6> sums;
  bool is_pair = false; // of two registers
};
inline constexpr std::array stage_elements{
    StageElement{"f32",
                 32,
                 4,
                 {"add.rn.f32", "mul.rn.f32", "sub.f32", "min.f32", "max.ftz.f32", "add.ftz.f32"}},
    StageElement{
        "s32", 32, 4, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32", "max.u32"}},
    StageElement{
        "s16", 32, 2, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32", "sub.s32", "and.b32"}},
    StageElement{"u8", 32, 1, {"add.s32", "xor.b32", "mul.lo.s32", "min.u32", "sub.s32", "or.b32"}},
    StageElement{
        "f64", 64, 8, {"add.rn.f64", "mul.f64", "sub.rn.f64", "min.f64", "max.f64", "add.f64"}},
    StageElement{
        "u64", 64, 8, {"add.s64", "xor.b64", "mul.lo.s64", "min.u64", "sub.s64", "max.s64"}},
    StageElement{
        "b16", 16, 2, {"add.rn.f16", "mul.f16", "sub.rn.f16", "min.f16", "max.f16", "add.f16"}},
    StageElement{
        "s8", 16, 1, {"add.s16", "xor.b16", "mul.lo.s16", "min.s16", "sub.s16", "and.b16"}},
    StageElement{"f32",
                 32,
                 8,
                 {"add.rn.f32", "mul.rn.f32", "sub.f32", "min.f32", "max.f32", "add.ftz.f32"},
                 true},
};

class StageRandom {
public:
  explicit StageRandom(unsigned seed) : random_(seed) {}
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  int between(int a, int b) {
    return a + static_cast<int>(below(static_cast<std::size_t>(b - a + 1)));
  }

private:
  std::mt19937 random_;
};

struct StageSizes {
  unsigned nx = 0, ny = 0, pitch = 0, at_x = 0, at_y = 0;
};

// A parameter, and what it is given.
struct StageParameter {
  enum class Is { slot, coefficients, nx, ny, pitch, at_x, at_y, value, index } is = Is::slot;
  unsigned slot = 0;
  std::string name;
};

// kernel k(arrays, coefficients, sizes, where, a value and a number that may vary).
class StageKernel {
public:
  // `around`: axes of a torus, a bit each.
  StageKernel(StageRandom& random, unsigned number, bool planar, bool transposed,
              const std::vector<StageElement>& slots, unsigned writes, unsigned around = 0)
      : random_(random), name("k" + std::to_string(number)), planar_(planar),
        transposed_(transposed), slots_(slots), writes_(writes), around_(around) {
    for (unsigned n = 0; n < slots.size(); ++n)
      parameter(StageParameter::Is::slot, n);
    using enum StageParameter::Is;
    for (const auto is : {coefficients, nx, ny, pitch, at_x, at_y, value, index})
      parameter(is);
    places();
    guards();
    mask(number);
    own_ = element("%r10", "%r11", slots_[0].bytes);
    const bool forks = chance(1, 5);
    if (forks) fork();
    std::vector<std::string> sums;
    for (unsigned n = 0; n < writes_; ++n)
      sums.push_back(values(n));
    for (unsigned n = 0; n < writes_; ++n)
      store(n, sums[n]);
    if (!forks) return;
    line("bra end");
    text_ += "other:\n";
    sums.clear();
    for (unsigned n = 0; n < writes_; ++n)
      sums.push_back(values(n));
    for (unsigned n = 0; n < writes_; ++n)
      store(n, sums[n]);
  }

  [[nodiscard]] std::string text() const {
    std::string all;
    for (const StageParameter& one : parameters)
      all += fmt::format("{}.param .{} {}", all.empty() ? "" : ", ", type_of(one), one.name);
    return fmt::format(".visible .entry {}({})\n{{\n.reg .pred %p<199>;\n.reg .b16 %h<299>;\n"
                       ".reg .b32 %r<999>;\n.reg .b64 %rd<999>;\n{}end: ret;\n}}\n",
                       name, all, text_);
  }
  [[nodiscard]] unsigned held() const { return slots_[0].held; }

  StageRandom& random_;
  std::string name;
  std::vector<StageParameter> parameters;

private:
  [[nodiscard]] std::string type_of(const StageParameter& one) const {
    if (one.is == StageParameter::Is::slot || one.is == StageParameter::Is::coefficients)
      return "u64";
    if (one.is == StageParameter::Is::value && slots_[0].held == 64) return "u64";
    return "u32";
  }
  void parameter(StageParameter::Is is, unsigned slot = 0) {
    parameters.push_back({is, slot, fmt::format("{}_param_{}", name, parameters.size())});
  }
  [[nodiscard]] const std::string& name_of(StageParameter::Is is, unsigned slot = 0) const {
    return std::ranges::find_if(
               parameters, [&](const StageParameter& p) { return p.is == is && p.slot == slot; })
        ->name;
  }
  bool chance(unsigned n, unsigned of) { return random_.chance(n, of); }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }
  std::string condition() { return fmt::format("%p{}", conditions_++); }
  std::string number() { return fmt::format("%r{}", numbers_++); }
  std::string address() { return fmt::format("%rd{}", addresses_++); }
  std::string value() {
    return held() == 64 ? address() : held() == 32 ? number() : fmt::format("%h{}", halves_++);
  }

  void places() {
    // Of a line, which may lie along y.
    const auto [across, along] =
        transposed_ && !planar_ ? std::pair('y', 'x') : std::pair('x', 'y');
    line("mov.u32 %r1, %ctaid.{}", across);
    line("mov.u32 %r2, %ntid.{}", across);
    line("mov.u32 %r3, %tid.{}", across);
    const bool moves = chance(1, 8); // threads of places behind the first one
    line("mad.lo.s32 %r{}, %r1, %r2, %r3", moves ? 7 : 10);
    if (moves) line("add.s32 %r10, %r7, {}", 1 + random_.below(2));
    knows_row_ = planar_ || chance(1, 3);
    if (knows_row_) {
      line("mov.u32 %r4, %ctaid.{}", along);
      line("mov.u32 %r5, %ntid.{}", along);
      line("mov.u32 %r6, %tid.{}", along);
      const bool too = moves && chance(3, 4);
      line("mad.lo.s32 %r{}, %r4, %r5, %r6", too ? 8 : 11);
      if (too) line("add.s32 %r11, %r8, 1");
    } else {
      line("mov.u32 %r11, 0");
    }
    using enum StageParameter::Is;
    int n = 20;
    for (const auto is : {nx, ny, pitch, at_x, at_y, value, index})
      if (is != value) line("ld.param.u32 %r{}, [{}]", n++, name_of(is));
    // %r20 nx, %r21 ny, %r22 pitch, %r23 at_x, %r24 at_y, %r25 index
    if (held() == 64)
      line("ld.param.u64 %rd1, [{}]", name_of(value));
    else
      line("ld.param.u32 %r26, [{}]", name_of(value));
  }

  void leave(const std::string& condition, bool holds = true) {
    line("@{}{} {}", holds ? "" : "!", condition, chance(1, 6) ? "ret" : "bra end");
  }

  void pin(const char* place, const char* at) {
    const std::string p = condition();
    line("setp.{}.s32 {}, {}, {}", chance(1, 2) ? "ne" : "eq", p, place, at);
    leave(p,
          text_.rfind("setp.ne") > text_.rfind("setp.eq") || text_.rfind("setp.eq") == text_.npos);
    (place[3] == '0' ? pinned_x_ : pinned_y_) = at;
  }

  void bound(const char* place, const char* size) {
    const int first = random_.between(0, 2), last = random_.between(0, 2);
    const std::string p = condition(), q = condition(), n = number(), m = number();
    const bool all = is_around(place) && chance(3, 4);
    switch (all ? 0 : random_.below(5)) {
    case 0:
      line("setp.ge.s32 {}, {}, {}", p, place, size);
      leave(p);
      break;
    case 1:
      line("setp.lt.s32 {}, {}, {}", p, place, first);
      leave(p);
      line("sub.s32 {}, {}, {}", n, size, last);
      line("setp.ge.s32 {}, {}, {}", q, place, n);
      leave(q);
      break;
    case 2:
      line("add.s32 {}, {}, {}", m, place, -first);
      line("add.s32 {}, {}, {}", n, size, -first - last);
      line("setp.lt.u32 {}, {}, {}", p, m, n);
      leave(p, false);
      break;
    case 3:
      line("setp.ge.u32 {}, {}, {}", p, place, size);
      leave(p);
      line("setp.eq.s32 {}, {}, 0", q, place);
      if (chance(1, 2)) leave(q);
      break;
    default:
      line("setp.lt.s32 {}, {}, {}", p, place, first);
      line("add.s32 {}, {}, {}", n, size, -last);
      line("setp.ge.s32 {}, {}, {}", q, place, n);
      const std::string any = condition();
      line("or.pred {}, {}, {}", any, p, q);
      leave(any);
    }
  }

  void guards() {
    const unsigned kind = random_.below(12);
    if (knows_row_ && !planar_ && chance(1, 2)) { // of the only row
      const std::string bit = number(), p = condition();
      line("and.b32 {}, %r11, {}", bit, 1 + random_.below(2));
      line("setp.{}.s32 {}, {}, 0", chance(1, 2) ? "ne" : "eq", p, bit);
      leave(p);
    }
    // One that holds nowhere in particular.
    if (kind == 0) { // a hole
      const std::string sum = number(), p = condition();
      line("add.s32 {}, %r10, %r11", sum);
      line("setp.eq.s32 {}, {}, {}", p, sum, random_.below(20));
      leave(p);
    } else if (kind == 1) { // every other one
      const std::string bit = number(), p = condition(), sum = number();
      if (chance(1, 2))
        line("add.s32 {}, %r10, %r11", sum);
      else
        line("mov.u32 {}, {}", sum, knows_row_ && chance(1, 2) ? "%r11" : "%r10");
      line("and.b32 {}, {}, 1", bit, sum);
      line("setp.eq.s32 {}, {}, {}", p, bit, random_.below(2));
      leave(p);
    } else if (kind == 2) { // a slope
      const std::string p = condition();
      line("setp.gt.s32 {}, %r10, {}", p, planar_ ? "%r11" : "%r23");
      leave(p);
    } else if (kind == 3 && planar_) { // the rim
      std::string all;
      for (const auto& [place, size] : {std::pair("%r10", "%r20"), {"%r11", "%r21"}}) {
        const std::string last = number(), p = condition(), q = condition();
        line("add.s32 {}, {}, -1", last, size);
        line("setp.ne.s32 {}, {}, 0", p, place);
        line("setp.ne.s32 {}, {}, {}", q, place, last);
        for (const std::string& one : {p, q}) {
          if (all.empty()) {
            all = one;
            continue;
          }
          const std::string both = condition();
          line("and.pred {}, {}, {}", both, all, one);
          all = both;
        }
      }
      leave(all);
    }
    axis("%r10", "%r20", "%r23");
    if (planar_) axis("%r11", "%r21", "%r24");
  }

  // In memory: by a random number of its own.
  void mask(unsigned seed) {
    std::mt19937 random(seed + static_cast<unsigned>(text_.size()));
    if (random() % 5 != 0) return;
    const std::string raw = address(), base = address(), where = address(), bits = number(),
                      last = number(), p = condition();
    line("ld.param.u64 {}, [{}]", raw, name_of(StageParameter::Is::coefficients));
    line("cvta.to.global.u64 {}, {}", base, raw);
    line("add.s64 {}, {}, {}", where, base, element("%r10", "%r11", 4));
    line("ld.global.u32 {}, [{}]", bits, where);
    line("and.b32 {}, {}, 3", last, bits);
    line("setp.eq.s32 {}, {}, {}", p, last, random() % 4);
    line("@{} bra end", p);
  }

  void axis(const char* place, const char* size, const char* at) {
    const unsigned kind = random_.below(10);
    if (kind == 0) return pin(place, at);
    if (kind == 1) {
      bound(place, size);
      return pin(place, at);
    }
    if (kind == 2) { // one column, behind or in front of the others
      const std::string n = number();
      line("add.s32 {}, {}, {}", n, size, random_.between(-2, 1));
      const std::string p = condition();
      line("setp.ne.s32 {}, {}, {}", p, place, n);
      return leave(p);
    }
    if (kind == 3) { // from somewhere on
      const std::string p = condition();
      line("setp.lt.s32 {}, {}, {}", p, place, at);
      leave(p);
      if (chance(1, 2)) return;
    }
    bound(place, size);
  }

  // Of an element, its bytes.
  std::string element(const std::string& x, const std::string& y, unsigned bytes) {
    const std::string index = number(), offset = address();
    const std::string &across = transposed_ ? y : x, &along = transposed_ ? x : y;
    if (planar_ && chance(1, 4)) { // in 64 bits
      const std::string wide = address(), more = address(), sum = address();
      line("mul.wide.s32 {}, {}, %r22", wide, along);
      line("cvt.s64.s32 {}, {}", more, across);
      line("add.s64 {}, {}, {}", sum, wide, more);
      line("mul.lo.s64 {}, {}, {}", offset, sum, bytes);
      return offset;
    }
    if (planar_)
      line("mad.lo.s32 {}, {}, %r22, {}", index, along, across);
    else
      line("mov.u32 {}, {}", index, x);
    line("mul.wide.s32 {}, {}, {}", offset, index, bytes);
    return offset;
  }

  std::string array(unsigned slot) {
    const std::string raw = address(), made = address();
    line("ld.param.u64 {}, [{}]", raw, name_of(StageParameter::Is::slot, slot));
    line("cvta.to.global.u64 {}, {}", made, raw);
    return made;
  }

  [[nodiscard]] bool is_around(const std::string& place) const {
    return place.ends_with("10") ? (around_ & 1U) != 0 : (around_ & 2U) != 0;
  }
  std::string turned(const std::string& place, const std::string& size, int by) {
    const std::string near = number(), far = number(), into = number();
    if (chance(1, 2)) {
      line("add.s32 {}, {}, {}", near, place, size);
      line("add.s32 {}, {}, {}", far, near, by);
      line("rem.{}32 {}, {}, {}", chance(1, 2) ? 's' : 'u', into, far, size);
      return into;
    }
    const std::string p = condition(), end = number();
    line("add.s32 {}, {}, {}", near, place, by);
    line("{}.s32 {}, {}, {}", by < 0 ? "add" : "sub", far, near, size);
    if (by < 0) {
      line("setp.{}.s32 {}, {}, 0", chance(1, 2) ? "eq" : "le", p, place);
    } else {
      line("add.s32 {}, {}, -1", end, size);
      line("setp.{} {}, {}, {}", chance(1, 2) ? "ge.s32" : "eq.s32", p, place, end);
    }
    line("selp.b32 {}, {}, {}, {}", into, far, near, p);
    return into;
  }

  std::string at(unsigned slot, int dx, int dy, bool clamps) {
    std::string x = "%r10", y = "%r11";
    if (!pinned_x_.empty() && (mixes_ ? chance(1, 2) : knows_x_)) x = pinned_x_;
    if (!pinned_y_.empty() && (mixes_ ? chance(1, 2) : knows_y_)) y = pinned_y_;
    const auto moved = [&](std::string& place, const char* size, int by) {
      if (by == 0 && !clamps) return;
      if (!clamps && place.starts_with("%r1") && is_around(place) && chance(7, 8)) {
        place = turned(place, size, by);
        return;
      }
      const std::string made = number();
      line("add.s32 {}, {}, {}", made, place, by);
      place = made;
      if (!clamps) return;
      const std::string above = number(), last = number(), kept = number();
      line("max.s32 {}, {}, 0", above, made);
      line("sub.s32 {}, {}, 1", last, size);
      line("min.s32 {}, {}, {}", kept, above, last);
      place = kept;
    };
    moved(x, "%r20", dx);
    if (planar_) moved(y, "%r21", dy);
    const std::string offset = element(x, y, slots_[slot].bytes), base = array(slot),
                      made = address();
    line("add.s64 {}, {}, {}", made, base, offset);
    return made;
  }

  std::string load(std::size_t number) {
    const auto slot = static_cast<unsigned>(number);
    const bool own = slot < writes_;
    const int dx = own ? 0 : random_.between(-1, 1),
              dy = own || !planar_ ? 0 : random_.between(-1, 1);
    const std::string where = at(slot, dx, dy, !own && chance(1, 8)), into = value();
    if (slots_[slot].is_pair && chance(1, 2)) return load_pair(slot, where, into);
    // An element is loaded whole, so the first word has to be read as well.
    const bool is_second = slots_[slot].is_pair && chance(1, 2);
    line("ld.global.{} {}, [{}+{}]", slots_[slot].name, into, where, is_second ? 4 : 0);
    return is_second ? load_pair(slot, where, value()) : into;
  }

  std::string load_pair(unsigned slot, const std::string& where, const std::string& into) {
    if (chance(1, 3)) {
      const bool is_first = chance(1, 2);
      line("ld.global.v2.f32 {{{}, {}}}, [{}]", is_first ? into : "_", is_first ? "_" : into,
           where);
      return into;
    }
    const std::string other = value();
    line("ld.global.v2.f32 {{{}, {}}}, [{}]", into, other, where);
    return combine(into, other, slot);
  }

  void store(unsigned slot, const std::string& sum) {
    const std::string where = at(slot, 0, 0, false), type = slots_[slot].name;
    if (slots_[slot].is_pair) {
      const std::string other = value();
      line("xor.b32 {}, {}, 65", other, sum);
      line("st.global.v2.f32 [{}], {{{}, {}}}", where, sum, other);
    } else if (chance(1, 12)) {
      line("st.global.{} [{}], {}", type, where,
           type == "f32"   ? "0f3F800000"
           : type == "f64" ? "0d3FF8000000000000"
                           : "101");
    } else {
      line("st.global.{} [{}], {}", type, where, sum);
    }
  }

  std::string combine(const std::string& a, const std::string& b, unsigned slot) {
    const std::string into = value();
    line("{} {}, {}, {}", slots_[slot].sums[random_.below(6)], into, a, b);
    return into;
  }

  void fork() {
    const std::string p = condition();
    switch (random_.below(4)) {
    case 0: line("setp.lt.s32 {}, %r10, {}", p, random_.below(3)); break;
    case 1: line("setp.lt.s32 {}, %r25, {}", p, random_.below(3)); break;
    case 2: {
      const std::string bit = number();
      line("and.b32 {}, %r25, 1", bit);
      line("setp.eq.s32 {}, {}, 1", p, bit);
      break;
    }
    default: {
      const std::string v = load(random_.below(slots_.size()));
      if (held() == 64)
        line("setp.gt.s64 {}, {}, 0", p, v);
      else if (held() == 32)
        line("setp.gt.s32 {}, {}, 0", p, v);
      else
        line("setp.gt.s16 {}, {}, 0", p, v);
    }
    }
    line("@{} bra other", p);
  }

  std::string values(unsigned slot) {
    std::string sum = load(chance(1, 2) ? slot : random_.below(slots_.size()));
    if (chance(1, 2)) sum = combine(sum, load(slots_.size() - 1), slot);
    const unsigned count = random_.below(5);
    for (unsigned n = 0; n < count; ++n)
      sum = combine(sum, load(random_.below(slots_.size())), slot);
    if (chance(1, 3)) { // of a place; or the same for all, or of the pass
      const std::string raw = address(), base = address(), where = address(), c = value();
      line("ld.param.u64 {}, [{}]", raw, name_of(StageParameter::Is::coefficients));
      line("cvta.to.global.u64 {}, {}", base, raw);
      if (chance(1, 3)) {
        line("add.s64 {}, {}, {}", where, base, element("%r10", "%r11", slots_[0].bytes));
      } else {
        const std::string offset = address();
        line("mul.wide.s32 {}, %r25, {}", offset, slots_[0].bytes);
        line("add.s64 {}, {}, {}", where, base, offset);
      }
      line("ld.global.{} {}, [{}]", slots_[0].name, c, where);
      sum = combine(sum, c, slot);
    }
    if (chance(1, 3)) {
      if (held() == 64) {
        sum = combine(sum, "%rd1", slot);
      } else if (held() == 32) {
        sum = combine(sum, "%r26", slot);
      } else {
        const std::string half = value();
        line("cvt.u16.u32 {}, %r26", half);
        sum = combine(sum, half, slot);
      }
    }
    if (chance(1, 6)) {
      const std::string place = value();
      const char* const from = knows_row_ && chance(1, 2) ? "%r11" : "%r10";
      if (held() == 64)
        line("cvt.u64.u32 {}, {}", place, from);
      else if (held() == 32)
        line("mov.b32 {}, {}", place, from);
      else
        line("cvt.u16.u32 {}, {}", place, from);
      sum = combine(sum, place, slot);
    }
    return sum;
  }

  bool planar_, transposed_, knows_row_ = true;
  std::vector<StageElement> slots_;
  unsigned writes_, around_;
  std::string text_, own_, pinned_x_, pinned_y_;
  bool mixes_ = chance(1, 5), knows_x_ = chance(1, 2), knows_y_ = knows_x_ || chance(1, 4);
  unsigned conditions_ = 0, numbers_ = 40, addresses_ = 10, halves_ = 0;
};

} // namespace ptxasw::test
