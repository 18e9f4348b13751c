// What random steps (step_form.hpp) are made of: registers, conditions of many kinds, elements.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace ptxasw::step_forms {

struct FormType {
  const char *name, *held, *compared; // of loads and stores, of registers, as numbers
  unsigned bytes, bits;               // of an element, of a register
  const char *to_word, *of_word;
  std::array<const char*, 5> sums;
  const char *literal, *some, *none; // what is stored, compared with, and zero
  [[nodiscard]] bool is_float() const { return held[0] == 'f'; }
};

constexpr std::array<const char*, 5> word_sums{"add.s32", "xor.b32", "sub.s32", "min.s32",
                                               "max.s32"};
constexpr std::array<FormType, 5> form_types{{
    {"s32", "b32", "s32", 4, 32, "mov.b32", "mov.b32", word_sums, "11", "0", "0"},
    {"f32",
     "f32",
     "f32",
     4,
     32,
     "cvt.rzi.s32.f32",
     "cvt.rn.f32.s32",
     {"add.rn.f32", "mul.rn.f32", "sub.rn.f32", "min.f32", "max.f32"},
     "0f3e800000",
     "0f3e000000",
     "0f00000000"},
    {"f64",
     "f64",
     "f64",
     8,
     64,
     "cvt.rzi.s32.f64",
     "cvt.rn.f64.s32",
     {"add.rn.f64", "mul.rn.f64", "sub.rn.f64", "min.f64", "max.f64"},
     "0d3fd0000000000000",
     "0d3fc0000000000000",
     "0d0000000000000000"},
    {"s16", "b32", "s32", 2, 32, "mov.b32", "mov.b32", word_sums, "7", "0", "0"},
    {"u8", "b32", "u32", 1, 32, "mov.b32", "mov.b32", word_sums, "5", "90", "0"},
}};

// %rd1 to %rd5 = arrays, %rd6 and %rd7 = tables, %r1 = nx, %r2 = ny, %r10 = x, %r11 = y, %v0 = a
// parameter. %k0 to %k3 = values, %p901, %r30 and %r33 = what is kept to be asked later.
class FormText {
public:
  FormType type{};
  bool planar = true, by_rows = false;
  bool walks = false, sweeps = false; // a thread takes some places along x, or all along y
  bool small = false;                 // elements are 0 to 7, so that a table has as many
  bool deep = false;                  // there are planes, of which %r13 is one and %r24 its begin
  bool row_blocks = false;            // a block has one row
  bool by_block = false;              // a block is a row
  bool asks = false;                  // the launch for its sizes
  unsigned arrays = 1;
  // Two arrays are the fields of structures, or lie one behind the other in one buffer.
  enum class Layout : std::uint8_t { apart, structures, planes } layout = Layout::apart;
  [[nodiscard]] unsigned fields() const { return layout == Layout::apart ? 1 : arrays; }

protected:
  // Neighbours: the guards leave a rim; or they are the nearest places inside, or those at the
  // other end; or they are read where an array that stays says so, or the element itself.
  enum class Rim : std::uint8_t { kept, clamped, around, masked, own };

  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  template <class... T> const char* any(T... of) {
    const std::array<const char*, sizeof...(T)> all{of...};
    return all.at(below(all.size()));
  }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }
  // Registers of a kind. Of few ones, behind those that are kept, each has another use later.
  struct Registers {
    const char* kind;
    unsigned first, few, made = 0, kept = 0;
  };
  std::string named(Registers& of) const {
    const unsigned n = of.made++;
    return fmt::format("%{}{}", of.kind,
                       of.first + (few_ && n >= of.kept ? of.kept + (n - of.kept) % of.few : n));
  }
  std::string condition() { return named(predicates_); }
  std::string number() { return named(numbers_); }
  std::string address() { return named(addresses_); }
  std::string value() { return named(values_); }
  void keep_registers() {
    for (Registers* const of : {&predicates_, &numbers_, &addresses_, &values_})
      of->kept = of->made;
  }
  std::string kept() { return fmt::format("%k{}", below(4)); }
  std::string label() { return fmt::format("way{}", labels_++); }

  explicit FormText(unsigned seed) : random_(seed) {}

  // --- Conditions

  std::string asked_of_sizes() {
    const std::string holds = condition(), word = number();
    if (chance(1, 40)) {
      line("mov.u32 {}, %ctaid.x", word);
      line("setp.ne.s32 {}, {}, 1", holds, word);
      return holds;
    }
    if (chance(1, 8)) {
      line("setp.{}.{} {}, %v0, {}", any("gt", "lt"), type.compared, holds, type.some);
      return holds;
    }
    switch (below(4)) {
    case 0: line("setp.{}.s32 {}, %r1, %r2", any("lt", "ge", "ne"), holds); break;
    case 1:
      line("and.b32 {}, %r{}, 1", word, 1 + below(2));
      line("setp.{}.s32 {}, {}, 0", any("eq", "ne"), holds, word);
      break;
    case 2:
      line("setp.gt.{} {}, %r{}, {}", any("s32", "u32"), holds, 1 + below(2), below(9));
      break;
    default:
      line("mul.lo.s32 {}, %r1, %r2", word);
      line("setp.{}.s32 {}, {}, {}", any("gt", "lt"), holds, word, 20 + below(3000));
    }
    return holds;
  }

  std::string asked_of_places() {
    const std::string holds = condition(), word = number();
    const char* const place = planar ? any("%r10", "%r11") : "%r10";
    const char* const size = place[3] == '0' ? "%r1" : "%r2";
    const char *const compare = any("lt", "ge", "gt", "le", "eq", "ne"),
                      *sign = any("s32", "s32", "u32");
    if (deep && chance(1, 6)) {
      line("setp.{}.{} {}, %r13, {}", compare, sign, holds, below(3));
      return holds;
    }
    switch (below(9)) {
    case 0: line("setp.{}.{} {}, {}, {}", compare, sign, holds, place, below(6)); break;
    case 1:
      line("sub.s32 {}, {}, {}", word, size, 1 + below(4));
      line("setp.{}.{} {}, {}, {}", compare, sign, holds, place, word);
      break;
    case 2:
      line("shr.u32 {}, {}, 1", word, size);
      line("setp.{}.{} {}, {}, {}", compare, sign, holds, place, word);
      break;
    case 3: line("setp.{}.{} {}, %r10, %r11", compare, sign, holds); break;
    case 4:
      line("add.s32 {}, %r10, %r11", word);
      line("setp.{}.{} {}, {}, {}", compare, sign, holds, word,
           planar ? any("%r1", "%r2", "9") : "9");
      break;
    case 5:
      line("and.b32 {}, {}, {}", word, place, 1 + below(3));
      line("setp.{}.s32 {}, {}, 0", any("eq", "ne"), holds, word);
      break;
    case 6:
      line("rem.u32 {}, {}, {}", word, place, 2 + below(4));
      line("setp.eq.s32 {}, {}, {}", holds, word, below(3));
      break;
    case 7: {
      const std::string both = condition();
      line("setp.{}.{} {}|{}, {}, {}", compare, sign, both, holds, place, below(5));
      break;
    }
    default:
      line("sub.s32 {}, {}, {}", word, place, 1 + below(4));
      line("setp.lt.u32 {}, {}, {}", holds, word, 1 + below(5));
    }
    return holds;
  }

  std::string asked_of_data() {
    const std::string holds = condition(), word = number();
    const std::string asked = chance(1, 2) ? kept() : load(array(), own());
    if (!type.is_float() && chance(1, 2)) {
      line("and.b32 {}, {}, {}", word, asked, 1 + below(3));
      line("setp.{}.s32 {}, {}, 0", any("eq", "ne"), holds, word);
    } else {
      line("setp.{}.{} {}, {}, {}", any("lt", "gt"), type.compared, holds, asked,
           chance(1, 2) ? type.some : kept());
    }
    return holds;
  }

  // Or one that was kept.
  std::string asked() {
    const auto one = [&] {
      const unsigned kind = below(12);
      if (kind == 0) return asked_of_sizes();
      if (kind == 1) {
        const std::string holds = condition();
        line("setp.gt.s32 {}, %r33, {}", holds, below(4));
        return holds;
      }
      if (kind == 2) {
        const std::string holds = condition();
        line("setp.ne.s32 {}, %r30, 0", holds);
        return holds;
      }
      if (kind == 3) return std::string("%p901");
      return kind < 7 ? asked_of_places() : asked_of_data();
    };
    std::string holds = one();
    if (chance(1, 4)) {
      const std::string other = one(), both = condition();
      line("{}.pred {}, {}, {}", any("and", "or", "xor"), both, holds, other);
      holds = both;
    }
    return holds;
  }

  // --- Elements

  struct Neighbour {
    std::string x = "%r10", y = "%r11";
    int further = 0; // columns
  };
  static Neighbour own() { return {}; }

  std::string array() {
    const unsigned kind = below(8);
    if (kind == 0) return "%rd3";
    return arrays == 2 && kind < 4 ? "%rd4" : "%rd1";
  }

  const char* sign() { return chance(1, 20) ? any("s32", "u32") : wide_; }
  const char* extended() { return sign()[0] == 's' ? "s64.s32" : "u64.u32"; }

  // From an element of an array to the next one.
  [[nodiscard]] unsigned stride(const std::string& array) const {
    return layout == Layout::structures && array != "%rd3" ? arrays * type.bytes : type.bytes;
  }

  // In bytes from an array's begin.
  std::string element(const Neighbour& at, unsigned stride) {
    const std::string index = number(), bytes = address(), wide = address(), row = address(),
                      column = address();
    const auto shift = static_cast<unsigned>(std::countr_zero(stride));
    const unsigned kind = planar ? below(deep ? 3 : 6) : 6;
    switch (kind) {
    case 0:
    case 1: line("mad.lo.s32 {}, {}, %r1, {}", index, at.y, at.x); break;
    case 2:
      line("mul.lo.s32 {}, %r1, {}", index, at.y);
      line("add.s32 {}, {}, {}", index, index, at.x);
      break;
    case 3:
      line("cvt.{} {}, {}", extended(), column, at.x);
      line("mul.wide.{} {}, {}, %r1", sign(), row, at.y);
      line("add.s64 {}, {}, {}", wide, row, column);
      line("shl.b64 {}, {}, {}", bytes, wide, shift);
      return bytes;
    case 4:
      line("cvt.s64.s32 {}, {}", column, at.x);
      line("cvt.s64.s32 {}, {}", row, at.y);
      line("cvt.s64.s32 {}, %r1", wide);
      line("mad.lo.s64 {}, {}, {}, {}", wide, row, wide, column);
      line("mul.lo.s64 {}, {}, {}", bytes, wide, stride);
      return bytes;
    case 5:
      line("mad.lo.s32 {}, {}, %r1, {}", index, at.y, at.x);
      line("shl.b32 {}, {}, {}", index, index, shift);
      line("cvt.{} {}, {}", extended(), bytes, index);
      return bytes;
    default: line("mov.b32 {}, {}", index, at.x);
    }
    if (deep) line("add.s32 {0}, {0}, %r24", index);
    if (chance(1, 2)) {
      line("mul.wide.{} {}, {}, {}", sign(), bytes, index, stride);
    } else {
      line("cvt.{} {}, {}", extended(), wide, index);
      line("shl.b64 {}, {}, {}", bytes, wide, shift);
    }
    return bytes;
  }

  std::string far(const std::string& array, const Neighbour& at) {
    const std::string bytes = element(at, stride(array)), there = address();
    line("add.s64 {}, {}, {}", there, array, bytes);
    return there;
  }

  std::string load(const std::string& array, const Neighbour& at) {
    if (chance(1, 4) && stride(array) != type.bytes) return load_structure(array, at);
    const std::string there = far(array, at), into = value();
    line("ld.global{}.{} {}, [{}+{}]", any("", "", ".nc"), type.name, into, there,
         at.further * static_cast<int>(stride(array)));
    return into;
  }

  // Both fields at once, one of which is used.
  std::string load_structure(const std::string& array, const Neighbour& at) {
    const std::string there = far("%rd1", at), first = value(), second = value();
    line("ld.global{}.v2.{} {{{}, {}}}, [{}+{}]", any("", ".nc"), type.name, first, second, there,
         at.further * static_cast<int>(stride(array)));
    return array == "%rd1" ? first : second;
  }

  std::string moved(const std::string& place, int by) {
    if (by == 0) return place;
    const std::string into = number();
    if (chance(1, 2))
      line("add.s32 {}, {}, {}", into, place, by);
    else
      line("sub.s32 {}, {}, {}", into, place, -by);
    return into;
  }

  // The nearest place inside; or as far inside as it is outside.
  std::string clamped(const char* place, const char* size, int by) {
    if (by == 0) return place;
    const std::string there = moved(place, by), last = number(), into = number(), at = number(),
                      holds = condition();
    line("sub.s32 {}, {}, 1", last, size);
    switch (below(by == 1 || by == -1 ? 5 : 2)) {
    case 0:
      line("max.s32 {}, {}, 0", at, there);
      line("min.s32 {}, {}, {}", into, at, last);
      break;
    case 1:
      line("min.s32 {}, {}, {}", at, last, there);
      line("max.s32 {}, {}, 0", into, at);
      break;
    case 2: // stays
      line("setp.{}.s32 {}, {}, {}", by < 0 ? "gt" : "lt", holds, place, by < 0 ? "0" : last);
      line("selp.b32 {}, {}, {}, {}", into, there, place, holds);
      break;
    case 3: { // by way of a branch
      const std::string over = label();
      line("mov.u32 {}, {}", into, place);
      line("setp.{}.s32 {}, {}, {}", by < 0 ? "lt" : "ge", holds, place, by < 0 ? "1" : last);
      line("@{} bra {}", holds, over);
      line("mov.u32 {}, {}", into, there);
      text_ += over + ":\n";
      break;
    }
    default: // mirrored, if there are two
      line("setp.eq.s32 {}, {}, {}", holds, place, by < 0 ? "0" : last);
      line("sub.s32 {}, {}, {}", at, place, by);
      line("selp.b32 {}, {}, {}, {}", into, at, there, holds);
    }
    return into;
  }

  std::string around(const char* place, const char* size, int by) {
    if (by == 0) return place;
    const std::string there = moved(place, by), far = number(), into = number(),
                      holds = condition();
    if (chance(1, 2)) {
      line("add.s32 {}, {}, {}", far, there, size);
      line("rem.{} {}, {}, {}", any("s32", "u32"), into, far, size);
      return into;
    }
    if (by < 0)
      line("setp.lt.s32 {}, {}, 0", holds, there);
    else
      line("setp.ge.s32 {}, {}, {}", holds, there, size);
    line("{}.s32 {}, {}, {}", by < 0 ? "add" : "sub", far, there, size);
    line("selp.b32 {}, {}, {}, {}", into, far, there, holds);
    return into;
  }

  int offset() { return static_cast<int>(below(2 * static_cast<unsigned>(reach_) + 1)) - reach_; }

  // Where neighbours may be read, a neighbour.
  Neighbour neighbour() {
    const int dx = offset(), dy = planar && chance(2, 3) ? offset() : 0;
    if (rim_ == Rim::clamped) return {clamped("%r10", "%r1", dx), clamped("%r11", "%r2", dy)};
    if (rim_ == Rim::around) return {around("%r10", "%r1", dx), around("%r11", "%r2", dy)};
    if (rim_ != Rim::kept && !in_mask_) return own();
    if (rim_ == Rim::kept && chance(1, 12))
      return {clamped("%r10", "%r1", dx), clamped("%r11", "%r2", dy)};
    return {"%r10", moved("%r11", dy), dx};
  }

  // An element; or one of two.
  std::string tap() {
    const std::string from = array();
    if (chance(1, 12)) return of_all();
    if (!chance(1, 8)) return load(from, neighbour());
    const bool few = std::exchange(few_, few_ && chance(1, 4));
    const Neighbour one = neighbour(), other = neighbour();
    std::string into;
    if (chance(1, 3)) {
      const std::string x = number(), left = moved(one.x, one.further),
                        right = moved(other.x, other.further);
      line("selp.b32 {}, {}, {}, {}", x, left, right, asked());
      into = load(from, {x, one.y});
    } else {
      const int step = static_cast<int>(stride(from));
      into =
          load_of_two(far(from, one), one.further * step, far(from, other), other.further * step);
    }
    few_ = few;
    return into;
  }

  // What the same row or column has, or the same for all.
  std::string of_all() {
    const std::string there = address(), into = value(), word = number();
    const unsigned kind = below(5);
    if (kind < 2) {
      line("ld.{} {}, [{}+{}]", kind == 0 ? "param.u32" : "const.u32", word,
           kind == 0 ? "told" : "table", 4 * below(8));
      line("{} {}, {}", type.of_word, into, word);
      return into;
    }
    const bool along_y = planar && chance(1, 2), whole = planar && chance(1, 3);
    line("mov.u32 {}, {}", word, along_y ? "%r11" : any("%r10", "%r10", "1"));
    if (chance(1, 3)) { // from the end
      line("sub.s32 {}, {}, {}", word, along_y ? "%r2" : "%r1", along_y ? "%r11" : "%r10");
      line("sub.s32 {}, {}, 1", word, word);
    }
    if (whole && along_y)
      line("mad.lo.s32 {}, {}, %r1, %r10", word, word);
    else if (whole)
      line("mad.lo.s32 {}, %r11, %r1, {}", word, word);
    line("mul.wide.{} {}, {}, {}", sign(), there, word, type.bytes);
    line("add.s64 {}, {}, %rd3", there, there);
    line("ld.global.{} {}, [{}]", type.name, into, there);
    return into;
  }

  std::string load_of_two(const std::string& a, int further_a, const std::string& b,
                          int further_b) {
    const std::string left = address(), right = address(), at = address(), into = value();
    line("add.s64 {}, {}, {}", left, a, further_a);
    line("add.s64 {}, {}, {}", right, b, further_b);
    const std::string holds = asked();
    if (chance(1, 4)) {
      const std::string over = label();
      line("mov.b64 {}, {}", at, left);
      line("@{} bra {}", holds, over);
      line("mov.b64 {}, {}", at, right);
      text_ += over + ":\n";
    } else {
      line("selp.b64 {}, {}, {}, {}", at, left, right, holds);
    }
    line("ld.global.{} {}, [{}]", type.name, into, at);
    return into;
  }

  void combine(const std::string& into, const std::string& a, const std::string& b) {
    line("{} {}, {}, {}", type.sums.at(below(5)), into, a, b);
  }

  std::mt19937 random_;
  std::string text_;
  const char* wide_ = "s32"; // whether most products and conversions have a sign
  int reach_ = 1;
  Rim rim_ = Rim::kept;
  bool few_ = false;     // registers
  bool in_mask_ = false; // where neighbours may be read
  unsigned labels_ = 0;
  Registers predicates_{"p", 1, 14}, numbers_{"r", 40, 28}, addresses_{"rd", 20, 26},
      values_{"v", 1, 12};
};

} // namespace ptxasw::step_forms
