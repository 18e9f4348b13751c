// Random stencils with neighbours along three axes, their guards and rims, and other arrays that
// they read, as PTX.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::test {

// What elements are, and what computes with them.
struct PlaneElement {
  const char *name, *held;
  unsigned bytes;
  bool is_float;
  std::array<const char*, 4> sums;
  const char* from_place; // conversion of a coordinate
};

inline constexpr std::array<PlaneElement, 4> plane_elements{{
    {"f32",
     "f32",
     4,
     true,
     {"add.rn.f32", "mul.rn.f32", "sub.rn.f32", "max.f32"},
     "cvt.rn.f32.s32"},
    {"f64",
     "f64",
     8,
     true,
     {"add.rn.f64", "mul.rn.f64", "sub.rn.f64", "min.f64"},
     "cvt.rn.f64.s32"},
    {"u32", "b32", 4, false, {"add.s32", "xor.b32", "mul.lo.s32", "min.s32"}, "mov.b32"},
    {"s64", "b64", 8, false, {"add.s64", "xor.b64", "mul.lo.s64", "sub.s64"}, "cvt.u64.u32"},
}};

using SpaceOffset = std::array<int, 3>;

// kernel k(in, out, nx, ny, nz, pitch, height, c): a place's element is (z*height + y)*pitch + x.
class SpaceStencil {
public:
  explicit SpaceStencil(unsigned seed) : random_(seed) {
    type = plane_elements[below(plane_elements.size())];
    by_block = chance(1, 2);
    has_rims = chance(1, 2);
    has_others = chance(1, 2);
    for (auto& sides : rims_)
      for (Rim& rim : sides)
        rim = has_rims ? static_cast<Rim>(below(3)) : Rim::left_out;
    choose_offsets();
    for (const SpaceOffset& offset : offsets)
      for (const int far : offset)
        reach = std::max({reach, far, -far});
    write();
  }

  PlaneElement type{};
  bool by_block = false;   // z is the block's place alone
  bool has_rims = false;   // that are not left out
  bool has_others = false; // reads c, too
  int reach = 1;
  std::vector<SpaceOffset> offsets;

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny, .param .u32 nz,
                  .param .u32 pitch, .param .u32 height, .param .u64 c)
{{
.reg .pred %p<40>;
.reg .b32 %r<400>;
.reg .b64 %rd<199>;
.reg .{} %v<199>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [nx];
ld.param.u32 %r2, [ny];
ld.param.u32 %r3, [nz];
ld.param.u32 %r4, [pitch];
ld.param.u32 %r5, [height];
ld.param.u64 %rd11, [c];
cvta.to.global.u64 %rd12, %rd11;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
{}
end: ret;
}}
)",
                       type.held, text_);
  }

private:
  enum class Rim : std::uint8_t { left_out, clamped, copied };

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }

  void choose_offsets() {
    const unsigned kind = below(4);
    const int far = kind == 1 ? 2 : 1;
    if (kind <= 1) { // stars, of 7 points or 13, or without some of them
      offsets.push_back({0, 0, 0});
      for (unsigned axis = 0; axis < 3; ++axis)
        for (int away = -far; away <= far; ++away) {
          SpaceOffset offset{};
          offset[axis] = away;
          if (away != 0 && (away == 1 || chance(4, 5))) offsets.push_back(offset);
        }
      return;
    }
    std::set<SpaceOffset> some; // a box, or some of it
    while (!reaches(some) || (kind == 2 && some.size() < 27))
      some.insert({static_cast<int>(below(3)) - 1, static_cast<int>(below(3)) - 1,
                   static_cast<int>(below(3)) - 1});
    offsets.assign(some.begin(), some.end());
  }

  static bool reaches(const std::set<SpaceOffset>& some) {
    return std::ranges::all_of(std::array{0, 1, 2}, [&](int axis) {
      return std::ranges::any_of(some, [&](const SpaceOffset& offset) {
        return offset[static_cast<unsigned>(axis)] != 0;
      });
    });
  }

  void write() {
    for (const auto& [n, axis] : {std::pair(0, "x"), {1, "y"}, {2, "z"}}) {
      if (n == 2 && by_block) {
        line("mov.u32 %r12, %ctaid.z");
        break;
      }
      line("mov.u32 %r{}, %ctaid.{}", 40 + n, axis);
      line("mov.u32 %r{}, %ntid.{}", 43 + n, axis);
      line("mov.u32 %r{}, %tid.{}", 46 + n, axis);
      line("mad.lo.s32 %r{}, %r{}, %r{}, %r{}", 10 + n, 40 + n, 43 + n, 46 + n);
    }
    guards();
    line("mad.lo.s32 %r22, %r12, %r5, %r11");
    line("mad.lo.s32 %r23, %r22, %r4, %r10");
    line("mul.wide.s32 %rd5, %r23, {}", type.bytes);
    line("add.s64 %rd6, %rd3, %rd5");
    line("add.s64 %rd7, %rd4, %rd5");
    line("mul.wide.s32 %rd8, %r4, {}", type.bytes);
    line("cvt.s64.s32 %rd10, %r5");
    line("mul.lo.s64 %rd9, %rd8, %rd10");
    if (has_rims) leave_for_copy();
    loads();
    std::string sum = "%v0";
    unsigned made = 100;
    const auto combine = [&](const std::string& more) {
      line("{} %v{}, {}, {}", type.sums[below(4)], made, sum, more);
      sum = fmt::format("%v{}", made++);
    };
    for (std::size_t n = 1; n < offsets.size(); ++n)
      combine(fmt::format("%v{}", n));
    if (has_others) read_others(sum);
    if (chance(1, 4)) { // of the place
      line("{} %v99, %r{}", type.from_place, 10 + below(3));
      combine("%v99");
    }
    line("st.global.{} [%rd7], {}", type.name, sum);
    if (!has_rims) return;
    line("bra end");
    text_ += "copy:\n";
    line("ld.global.{} %v98, [%rd6]", type.name);
    if (has_others && chance(1, 2)) {
      line("add.s64 %rd13, %rd12, %rd5");
      line("ld.global.{} %v97, [%rd13]", type.name);
      line("{} %v98, %v98, %v97", type.sums[below(4)]);
    }
    if (chance(1, 2)) line("{} %v98, %v98, %v98", type.sums[below(4)]);
    line("st.global.{} [%rd7], %v98", type.name);
  }

  // Elements of c that there are at all places that store; some only where data say so.
  void read_others(std::string& sum) {
    line("add.s64 %rd13, %rd12, %rd5");
    for (unsigned n = 0; n <= below(3); ++n) {
      const auto [x, y, z] = has_rims ? SpaceOffset{} : offsets[below(offsets.size())];
      line("mul.lo.s64 %rd14, %rd8, {}", y);
      line("mul.lo.s64 %rd15, %rd9, {}", z);
      line("add.s64 %rd16, %rd14, %rd15");
      line("add.s64 %rd17, %rd13, %rd16");
      line("mov.{} %v96, {}", type.held, sum);
      const bool is_gated = chance(1, 3);
      if (is_gated) {
        line("setp.lt.{} %p35, {}, %v0", type.name, sum);
        line("@%p35 bra gate{}", n);
      }
      line("ld.global{}.{} %v97, [%rd17+{}]", chance(1, 2) ? ".nc" : "", type.name,
           x * static_cast<int>(type.bytes));
      line("{} %v96, {}, %v97", type.sums[below(4)], sum);
      if (is_gated) text_ += fmt::format("gate{}:\n", n);
      line("mov.{} %v{}, %v96", type.held, 90 + n);
      sum = fmt::format("%v{}", 90 + n);
    }
  }

  // Where a rim is copied.
  void leave_for_copy() {
    line("setp.ne.s32 %p31, %r1, %r1");
    for (unsigned n = 0; n < 3; ++n)
      for (const unsigned side : {0U, 1U}) {
        if (rims_[n][side] != Rim::copied) continue;
        const unsigned wide = static_cast<unsigned>(reach) + below(2);
        if (side == 0) {
          line("setp.lt.s32 %p32, %r{}, {}", 10 + n, wide);
        } else {
          line("sub.s32 %r51, %r{}, {}", 1 + n, wide);
          line("setp.ge.s32 %p32, %r{}, %r51", 10 + n);
        }
        line("or.pred %p31, %p31, %p32");
      }
    line("@%p31 bra copy");
  }

  [[nodiscard]] bool is_clamped(const SpaceOffset& offset) const {
    for (unsigned n = 0; n < 3; ++n)
      if (offset[n] != 0 && rims_[n][offset[n] < 0 ? 0 : 1] == Rim::clamped) return true;
    return false;
  }

  void load_clamped(std::size_t number, const SpaceOffset& offset) {
    const std::size_t to = 60 + 10 * number;
    for (unsigned n = 0; n < 3; ++n) {
      line("add.s32 %r{}, %r{}, {}", to + n, 10 + n, offset[n]);
      if (offset[n] < 0 && rims_[n][0] == Rim::clamped) line("max.s32 %r{0}, %r{0}, 0", to + n);
      if (offset[n] > 0 && rims_[n][1] == Rim::clamped) {
        line("sub.s32 %r{}, %r{}, 1", to + 3 + n, 1 + n);
        line("min.s32 %r{0}, %r{0}, %r{1}", to + n, to + 3 + n);
      }
    }
    line("mad.lo.s32 %r{}, %r{}, %r5, %r{}", to + 6, to + 2, to + 1);
    line("mad.lo.s32 %r{}, %r{}, %r4, %r{}", to + 7, to + 6, to);
    const std::size_t at = 20 + 4 * number;
    line("mul.wide.s32 %rd{}, %r{}, {}", at, to + 7, type.bytes);
    line("add.s64 %rd{}, %rd{}, %rd3", at + 3, at);
    line("ld.global.{} %v{}, [%rd{}]", type.name, number, at + 3);
  }

  void loads() {
    std::shuffle(offsets.begin(), offsets.end(), random_);
    for (std::size_t n = 0; n < offsets.size(); ++n) {
      if (is_clamped(offsets[n])) {
        load_clamped(n, offsets[n]);
        continue;
      }
      const auto [x, y, z] = offsets[n];
      const std::size_t at = 20 + 4 * n;
      line("mul.lo.s64 %rd{}, %rd8, {}", at, y);
      line("mul.lo.s64 %rd{}, %rd9, {}", at + 1, z);
      line("add.s64 %rd{}, %rd{}, %rd{}", at + 2, at, at + 1);
      line("add.s64 %rd{}, %rd{}, %rd6", at + 3, at + 2);
      line("ld.global.{} %v{}, [%rd{}+{}]", type.name, n, at + 3, x * static_cast<int>(type.bytes));
    }
  }

  // Rims as wide as the reach at least, and of another width on either side.
  void guards() {
    std::vector<std::string> outside;
    const auto leave = [&](unsigned p) { line("@%p{} bra end", p); };
    line("setp.lt.s32 %p20, %r1, {}", 2 * reach + 5);
    leave(20);
    if (!has_rims && chance(1, 4)) { // holes
      line("and.b32 %r50, %r{}, 3", 10 + below(3));
      line("setp.eq.s32 %p30, %r50, 1");
      leave(30);
    }
    for (unsigned n = 0; n < 3; ++n) {
      const int first = reach + static_cast<int>(below(2)),
                last = reach + static_cast<int>(below(3));
      if (has_rims) {
        guard_with_rims(n, first, last);
        continue;
      }
      if (n == 0 && chance(1, 3)) {
        line("sub.s32 %r30, %r10, {}", first);
        line("sub.s32 %r31, %r1, {}", first + last);
        line("setp.ge.u32 %p0, %r30, %r31");
        leave(0);
        continue;
      }
      line("setp.lt.s32 %p{}, %r{}, {}", 2 * n, 10 + n, first);
      line("sub.s32 %r{}, %r{}, {}", 32 + n, 1 + n, last);
      line("setp.ge.s32 %p{}, %r{}, %r{}", 2 * n + 1, 10 + n, 32 + n);
      if (chance(1, 2)) {
        leave(2 * n);
        leave(2 * n + 1);
      } else {
        line("or.pred %p{}, %p{}, %p{}", 10 + n, 2 * n, 2 * n + 1);
        leave(10 + n);
      }
    }
  }

  void guard_with_rims(unsigned n, int first, int last) {
    if (rims_[n][0] == Rim::left_out) {
      line("setp.lt.s32 %p{}, %r{}, {}", 2 * n, 10 + n, first);
      line("@%p{} bra end", 2 * n);
    }
    line("sub.s32 %r{}, %r{}, {}", 32 + n, 1 + n, rims_[n][1] == Rim::left_out ? last : 0);
    line("setp.ge.s32 %p{}, %r{}, %r{}", 2 * n + 1, 10 + n, 32 + n);
    line("@%p{} bra end", 2 * n + 1);
  }

  std::mt19937 random_;
  std::string text_;
  std::array<std::array<Rim, 2>, 3> rims_{};
};

} // namespace ptxasw::test
