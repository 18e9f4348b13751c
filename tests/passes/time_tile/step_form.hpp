// A random step, which often is none: branches, values that are kept from one way to another,
// stores on some ways, loads that data or places choose, guards of any form.
#pragma once

#include "passes/time_tile/form_places.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw::step_forms {

// k(in, out, nx, ny, other, in2, out2, c, told).
class StepForm : public FormPlaces {
public:
  explicit StepForm(unsigned seed) : FormPlaces(seed) {
    planar = chance(3, 4);
    by_rows = planar && chance(1, 5);
    walks = chance(1, 12);
    sweeps = planar && !by_rows && !walks && chance(1, 8);
    deep = planar && !by_rows && !walks && !sweeps && chance(1, 10);
    const bool is_plain = !by_rows && !walks && !sweeps && !deep;
    by_block = planar && is_plain && chance(1, 8);
    asks = is_plain && chance(1, by_block ? 2 : 8);
    wide_ = any("s32", "s32", "u32");
    arrays = chance(1, 4) ? 2 : 1;
    if (arrays == 2 && !deep) layout = static_cast<Layout>(below(3));
    type = form_types[chance(1, 2) ? 0 : 1 + below(4)];
    reach_ = chance(1, 4) ? 2 : 1;
    rim_ = static_cast<Rim>(below(5));
    if (rim_ == Rim::own && type.is_float()) rim_ = Rim::clamped;
    small = rim_ == Rim::own || (!type.is_float() && chance(1, 2));
    few_ = chance(1, 3);
    places();
    const bool carries = !(by_rows && walks) && chance(1, walks || sweeps ? 4 : 8);
    if (carries) set_values(2);
    if (walks || sweeps) begin_loop();
    guards();
    if (!carries) set_values(4);
    statements(2 + below(4), 0);
    finish();
    if (walks || sweeps) end_loop();
  }

  [[nodiscard]] bool has_mask() const { return rim_ == Rim::masked; }
  [[nodiscard]] bool has_rim_of_zeros() const { return rim_ == Rim::masked || rim_ == Rim::own; }
  [[nodiscard]] unsigned reach() const { return static_cast<unsigned>(reach_); }

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b32 table[8] = {{5, 2, 7, 1, 0, 6, 3, 4}};
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 nx, .param .u32 ny,
                  .param .u64 other, .param .u64 in2, .param .u64 out2, .param .{0} c,
                  .param .align 4 .b8 told[32])
{{
.reg .pred %p<999>;
.reg .b32 %r<2999>;
.reg .b64 %rd<2999>;
.reg .{1} %v<999>, %k<4>;
ld.param.u64 %rd11, [in];
ld.param.u64 %rd12, [out];
ld.param.u64 %rd13, [other];
ld.param.u64 %rd14, [in2];
ld.param.u64 %rd15, [out2];
{4}ld.param.{0} %v0, [c];
cvta.to.global.u64 %rd1, %rd11;
cvta.to.global.u64 %rd2, %rd12;
cvta.to.global.u64 %rd3, %rd13;
{3}mov.u64 %rd6, table;
mov.b64 %rd7, told;
{2}end: ret;
}}
)",
                       type.name, type.held, text_, other_arrays(), sizes());
  }

private:
  [[nodiscard]] std::string sizes() const {
    if (asks && by_block) return "mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %nctaid.x;\n";
    std::string all;
    const auto add = [&](const char* name, char axis, char of) {
      all += asks && (axis == 'x' || planar)
                 ? fmt::format("mov.u32 %r990, %nctaid.{0};\nmov.u32 %r991, %ntid.{0};\n"
                               "mul.lo.s32 %r{1}, %r990, %r991;\n",
                               axis, of)
                 : fmt::format("ld.param.u32 %r{}, [{}];\n", of, name);
    };
    add("nx", 'x', '1');
    add("ny", 'y', '2');
    return all;
  }

  [[nodiscard]] std::string other_arrays() const {
    if (layout == Layout::apart)
      return "cvta.to.global.u64 %rd4, %rd14;\ncvta.to.global.u64 %rd5, %rd15;\n";
    if (layout == Layout::structures)
      return fmt::format("add.s64 %rd4, %rd1, {0};\nadd.s64 %rd5, %rd2, {0};\n", type.bytes);
    return fmt::format("mul.lo.s32 %r26, %r1, %r2;\nmul.wide.s32 %rd8, %r26, {};\n"
                       "add.s64 %rd4, %rd1, %rd8;\nadd.s64 %rd5, %rd2, %rd8;\n",
                       type.bytes);
  }

  // --- Statements

  void set_values(unsigned kinds) {
    line("and.b32 %r30, {}, 1", any("%r1", "%r2", "%r10", "%r10"));
    line("and.b32 %r33, {}, {}", any("%r1", "%r11", "%r10", "3"), 1 + below(3));
    line("setp.lt.s32 %p901, %r10, {}", below(9));
    for (unsigned n = 0; n < 4; ++n) {
      const std::string into = fmt::format("%k{}", n);
      const unsigned kind = below(kinds);
      if (kind == 0) {
        line("mov.b{} {}, %v0", type.bits, into);
      } else if (kind == 1) {
        line("{} {}, {}", type.of_word, into, any("%r10", "%r11", "%r1"));
      } else {
        line("mov.b{} {}, {}", type.bits, into, kind == 2 ? load("%rd1", own()) : tap());
      }
    }
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned n = 0; n < count; ++n) {
      statement(depth);
      if (depth == 0 && chance(1, 2)) meet();
    }
  }

  // Ways that left for it from wherever they were.
  void meet() {
    for (const auto& [there, stored] : ahead_) {
      text_ += there + ":\n";
      stored_ &= stored;
    }
    ahead_.clear();
  }

  void statement(unsigned depth) {
    const unsigned kind = below(24);
    if (kind < 7) return combine(kept(), kept(), tap());
    if (kind < 8) return line("mov.b{} {}, {}", type.bits, kept(), tap());
    if (kind < 9) return combine(kept(), kept(), kept());
    if (rim_ == Rim::clamped && chance(1, 8)) return beside();
    if (kind < 10)
      return line("selp.b{} {}, {}, {}, {}", type.bits, kept(), kept(), kept(), asked());
    if (kind < 14) return depth < 3 ? branch(depth) : combine(kept(), tap(), tap());
    if (kind < 15) return look_up();
    if (kind < 16) return taps();
    if (kind < 18) return keep();
    if (depth == 0 && stored_ == 0 && chance(1, 20)) return demand_more();
    if (kind < 20) return store(below(arrays));
    if (kind < 21 && has_stored()) return line("@{} {}", asked(), any("bra end", "bra end", "ret"));
    if (kind == 21 && !in_loop_) {
      ahead_.emplace_back(label(), stored_);
      return line("@{}{} bra {}", any("", "!"), asked(), ahead_.back().first);
    }
    if (kind == 22 && chance(1, 6)) return guarded_instruction();
    if (rim_ == Rim::masked || rim_ == Rim::own) return under_mask(depth);
    combine(kept(), tap(), kept());
  }

  void branch(unsigned depth) {
    const std::string other = label(), meet = label();
    const bool both = chance(1, 2);
    const unsigned stored = stored_;
    line("@{}{} bra {}", any("", "!"), asked(), other);
    statements(1 + below(3), depth + 1);
    const unsigned first = std::exchange(stored_, stored);
    if (both) line("bra {}", meet);
    text_ += other + ":\n";
    if (both) statements(1 + below(3), depth + 1);
    stored_ &= first;
    if (both) text_ += meet + ":\n";
  }

  // A neighbour, if there is one.
  void beside() {
    const std::string over = label(), holds = condition(), last = number(), sum = kept();
    const bool along_y = planar && chance(1, 2), before = chance(1, 2);
    const char* const place = along_y ? "%r11" : "%r10";
    line("sub.s32 {}, {}, 1", last, along_y ? "%r2" : "%r1");
    if (chance(1, 2))
      line("setp.{}.s32 {}, {}, {}", before ? "lt" : "ge", holds, place, before ? "1" : last);
    else
      line("setp.eq.s32 {}, {}, {}", holds, place, before ? "0" : last);
    line("@{} bra {}", holds, over);
    const std::string there = moved(place, before ? -1 : 1);
    combine(sum, sum, load(array(), along_y ? Neighbour{"%r10", there} : Neighbour{there, "%r11"}));
    text_ += over + ":\n";
  }

  void under_mask(unsigned depth) {
    const std::string over = label(), holds = condition(),
                      mask = load(has_mask() ? "%rd3" : "%rd1", own());
    const unsigned stored = stored_;
    const bool before = std::exchange(in_mask_, true);
    line("setp.eq.{} {}, {}, {}", type.compared, holds, mask, type.none);
    line("@{} bra {}", holds, over);
    statements(1 + below(3), depth + 1);
    text_ += over + ":\n";
    in_mask_ = before;
    stored_ = stored;
  }

  // A table, at an index that data are.
  void look_up() {
    const bool is_element = small && chance(2, 3);
    const std::string asked = is_element ? tap() : kept(), index = number(), bytes = address(),
                      at = address(), found = number(), into = kept();
    line("{} {}, {}", type.to_word, index, asked);
    if (!is_element) line("and.b32 {}, {}, 7", index, index);
    line("mul.wide.u32 {}, {}, 4", bytes, index);
    const bool told = chance(1, 2);
    line("add.s64 {}, %rd{}, {}", at, told ? 7 : 6, bytes);
    line("ld.{}.u32 {}, [{}]", told ? "param" : "const", found, at);
    const std::string made = value();
    line("{} {}, {}", type.of_word, made, found);
    combine(into, into, made);
  }

  // A loop over neighbours along a row.
  void taps() {
    if ((rim_ != Rim::kept && !in_mask_) || std::exchange(in_loop_, true))
      return combine(kept(), kept(), tap());
    const std::string again = label(), sum = kept(), from = array();
    const bool by_column = !planar || chance(1, 2), from_place = chance(1, 3);
    const char* const place = by_column ? "%r10" : "%r11";
    if (from_place) {
      line("sub.s32 %r32, {}, {}", place, reach_);
      line("add.s32 %r31, {}, {}", place, reach_);
    } else {
      line("mov.u32 %r31, {}", -reach_);
    }
    text_ += again + ":\n";
    if (!from_place) line("add.s32 %r32, {}, %r31", place);
    combine(sum, sum,
            load(from, by_column ? Neighbour{"%r32", "%r11"} : Neighbour{"%r10", "%r32"}));
    if (chance(1, 2)) statements(1 + below(2), 2);
    line("add.s32 %r3{0}, %r3{0}, 1", from_place ? 2 : 1);
    line("setp.le.s32 %p902, {}", from_place ? "%r32, %r31" : fmt::format("%r31, {}", reach_));
    line("@%p902 bra {}", again);
    in_loop_ = false;
  }

  // What is asked again later.
  void keep() {
    const unsigned kind = below(5);
    if (kind < 2) {
      line("mov.pred %p901, {}", asked());
    } else if (kind == 2) {
      line("add.s32 %r33, %r33, {}", 1 + below(2));
    } else if (kind == 3) {
      const std::string count = value();
      line("{} {}, %r33", type.of_word, count);
      combine(kept(), kept(), count);
    } else {
      line("xor.b32 %r30, %r30, 1");
    }
  }

  // Elements stay what the other places may rest on.
  std::string to_store() {
    if (!small && chance(1, 12)) return type.literal;
    if (!small && type.bits == 32 && !type.is_float() && chance(1, 16)) return any("%r10", "%r11");
    const std::string from = chance(1, 6) ? tap() : kept();
    if (!small) return from;
    const std::string word = value();
    line("and.b32 {}, {}, 7", word, from);
    if (rim_ != Rim::own) return word;
    const std::string holds = condition(), own_value = load("%rd1", own()), some = value(),
                      into = value();
    line("or.b32 {}, {}, 1", some, word);
    line("setp.ne.s32 {}, {}, 0", holds, own_value);
    line("selp.b32 {}, {}, 0, {}", into, some, holds);
    return into;
  }

  void store(unsigned array, const std::string& guard = "") {
    const std::string from = to_store(), there = far(array == 0 ? "%rd2" : "%rd5", own());
    line("{}st.global.{} [{}], {}", guard, type.name, there, from);
    if (guard.empty()) stored_ |= 1U << array;
    if (chance(1, 4)) combine(kept(), kept(), kept());
  }

  void store_all() {
    if (layout == Layout::structures && chance(1, 3)) {
      const std::string one = to_store(), other = to_store();
      line("st.global.v2.{} [{}], {{{}, {}}}", type.name, far("%rd2", own()), one, other);
      stored_ = 3;
      return;
    }
    for (unsigned n = 0; n < arrays; ++n)
      store(n);
  }
  [[nodiscard]] bool has_stored() const { return stored_ + 1 == 1U << arrays; }

  void guarded_instruction() {
    const std::string holds = asked();
    if (chance(1, 3)) return store(below(arrays), fmt::format("@{} ", holds));
    line("@{} mov.b{} {}, {}", holds, type.bits, kept(), kept());
  }

  void demand_more() {
    switch (below(4)) {
    case 0: return demand(asked_of_sizes());
    case 1: return demand(asked_of_places());
    case 2: return demand(asked());
    default: demand(asked_of_mask());
    }
  }

  // On each way that has not stored.
  void finish() {
    meet();
    if (stored_ == 0 && chance(1, 8)) demand_more();
    if (has_stored() && chance(1, 2)) return;
    if (!chance(1, 4)) return store_all();
    const std::string other = label();
    line("@{} bra {}", asked(), other);
    store_all();
    line("bra end");
    text_ += other + ":\n";
    store_all();
  }

  bool in_loop_ = false;
  unsigned stored_ = 0; // arrays, by bit
  // Labels that ways lead to, with what these have stored.
  std::vector<std::pair<std::string, unsigned>> ahead_;
};

} // namespace ptxasw::step_forms
