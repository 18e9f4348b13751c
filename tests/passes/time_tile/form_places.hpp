// How random steps (step_form.hpp) know their places, and which places store.
#pragma once

#include "passes/time_tile/form_text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::step_forms {

class FormPlaces : public FormText {
protected:
  using FormText::FormText;

  // --- Places

  // Of the thread along an axis.
  void along(const char* axis, const std::string& into) {
    const std::string block = number(), thread = number();
    std::string threads = number();
    const bool is_x = axis[0] == 'x';
    line("mov.u32 {}, %ctaid.{}", block, axis);
    line("mov.u32 {}, %ntid.{}", threads, axis);
    line("mov.u32 {}, %tid.{}", thread, axis);
    if (is_x && chance(1, 12)) threads = "32";
    if (!is_x && chance(1, 8)) {
      row_blocks = true;
      return line("mov.u32 {}, {}", into, block);
    }
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const std::string first = number();
      line("mul.lo.s32 {}, {}, {}", first, block, threads);
      line("add.s32 {}, {}, {}", into, first, thread);
      break;
    }
    case 4: {
      const std::string first = number();
      line("mul24.lo.{} {}, {}, {}", any("s32", "u32"), first, block, threads);
      line("add.s32 {}, {}, {}", into, first, thread);
      break;
    }
    default: line("mad.lo.s32 {}, {}, {}, {}", into, block, threads, thread);
    }
  }

  void places() {
    const bool few = std::exchange(few_, false);
    if (by_block) {
      line("mov.u32 %r10, %tid.x");
      line("mov.u32 %r11, %ctaid.x");
      few_ = few;
      return;
    }
    const bool moves = !by_rows && !walks && chance(1, 12); // the first place has no thread
    along("x", by_rows || moves ? "%r12" : "%r10");
    if (moves) line("add.s32 %r10, %r12, 1");
    if (by_rows) line("mul.lo.s32 %r23, %r1, %r2");
    if (planar && !by_rows && !sweeps) along("y", "%r11");
    if (!planar || sweeps) line("mov.u32 %r11, 0");
    if (deep) {
      line("mov.u32 %r13, %ctaid.z");
      line("mul.lo.s32 %r25, %r1, %r2");
      line("mul.lo.s32 %r24, %r25, %r13");
    }
    few_ = few;
    if (by_rows && !walks) {
      demand_row();
      find_row();
    }
  }

  void demand_row() {
    const std::string holds = condition();
    line("setp.ge.{} {}, %r12, %r23", any("s32", "u32"), holds);
    if (!chance(1, 4)) return line("@{} bra end", holds);
    const std::string few = condition(), either = condition(); // and sizes
    line("setp.{} {}, %r{}, {}", any("lt.s32", "lt.u32", "gt.s32"), few, 1 + below(2), below(9));
    line("or.pred {}, {}, {}", either, holds, few);
    line("@{} bra end", either);
  }

  void find_row() {
    const char* const sign = any("s32", "u32");
    line("div.{} %r11, %r12, %r1", sign);
    if (chance(1, 2)) return line("rem.{} %r10, %r12, %r1", sign);
    const std::string first = number();
    line("mul.lo.s32 {}, %r11, %r1", first);
    line("sub.s32 %r10, %r12, {}", first);
  }

  // Over places along x, of rows one behind the other, or along y.
  void begin_loop() {
    const std::string beyond = condition();
    if (walks) {
      line("mov.u32 %r20, %nctaid.x");
      line("mov.u32 %r21, %ntid.x");
    }
    if (walks || chance(2, 3)) {
      line("setp.ge.s32 {}, {}", beyond, ends());
      line("@{} bra over", beyond);
    }
    if (walks) line("mul.lo.s32 %r22, %r20, %r21");
    text_ += "again:\n";
    if (by_rows) find_row();
  }
  [[nodiscard]] const char* ends() const {
    return sweeps ? "%r11, %r2" : by_rows ? "%r12, %r23" : "%r10, %r1";
  }

  void end_loop() {
    for (std::size_t at = 0; (at = text_.find("bra end;", text_.find("again:"))) != text_.npos;)
      text_.replace(at, 8, "bra next;");
    text_ += "next:\n";
    line("add.s32 {}", sweeps    ? "%r11, %r11, 1"
                       : by_rows ? "%r12, %r12, %r22"
                                 : "%r10, %r10, %r22");
    line("setp.lt.s32 %p900, {}", ends());
    line("@%p900 bra again");
    text_ += "over:\n";
  }

  // --- Guards

  // A predicate that is true where the place is at least `rim` from either end.
  std::vector<std::string> inside(const std::string& place, const char* size, int rim) {
    if (chance(1, 3)) { // without a sign; or around
      const std::string from = number(), width = number(), holds = condition();
      line("sub.s32 {}, {}, {}", from, place, rim);
      line("sub.s32 {}, {}, {}", width, size, 2 * rim);
      line("setp.lt.u32 {}, {}, {}", holds, from, width);
      if (rim == 0) return {holds};
      const std::string some = condition();
      line("setp.gt.s32 {}, {}, {}", some, size, 2 * rim);
      return {some, holds};
    }
    if (chance(1, 8)) { // in 64 bits
      const std::string x = address(), n = address(), last = address(), from = condition(),
                        to = condition();
      line("cvt.{} {}, {}", extended(), x, place);
      line("cvt.{} {}, {}", extended(), n, size);
      line("sub.s64 {}, {}, {}", last, n, rim);
      line("setp.ge.s64 {}, {}, {}", from, x, rim);
      line("setp.lt.s64 {}, {}, {}", to, x, last);
      return {from, to};
    }
    std::vector<std::string> made;
    if (rim > 0 || chance(1, 4)) {
      made.push_back(condition());
      if (chance(1, 2))
        line("setp.ge.s32 {}, {}, {}", made.back(), place, rim);
      else
        line("setp.gt.s32 {}, {}, {}", made.back(), place, rim - 1);
    }
    made.push_back(condition());
    const std::string other = number();
    switch (below(4)) {
    case 0: // moved to the other side
      line("add.s32 {}, {}, {}", other, place, rim);
      line("setp.lt.s32 {}, {}, {}", made.back(), other, size);
      break;
    case 1:
      line("sub.s32 {}, {}, {}", other, size, place);
      line("setp.gt.s32 {}, {}, {}", made.back(), other, rim);
      break;
    case 2:
      line("sub.s32 {}, {}, {}", other, size, rim + 1);
      if (made.size() == 2) {
        line("setp.le.and.s32 {}, {}, {}, {}", made[1], place, other, made[0]);
        return {made[1]};
      }
      line("setp.le.s32 {}, {}, {}", made.back(), place, other);
      break;
    default:
      line("sub.s32 {}, {}, {}", other, size, rim);
      line("setp.lt.s32 {}, {}, {}", made.back(), place, other);
    }
    return made;
  }

  // Who has it not is done.
  void demand(std::string holds) {
    const std::string none = condition();
    if (chance(1, 12)) return line("@!{} {}", holds, any("ret", "exit"));
    switch (below(6)) {
    case 0:
      line("not.pred {}, {}", none, holds);
      line("@{} bra end", none);
      break;
    case 1: {
      const std::string over = label();
      line("@{} bra {}", holds, over);
      line("bra end");
      text_ += over + ":\n";
      break;
    }
    case 2: {
      const std::string word = number();
      line("selp.s32 {}, 1, 0, {}", word, holds);
      line("setp.eq.s32 {}, {}, 0", none, word);
      line("@{} bra end", none);
      break;
    }
    case 3: { // 1 or 0
      const std::string word = number(), other = number();
      line("selp.u32 {}, 1, 0, {}", word, holds);
      line("set.ne.u32.u32 {}, {}, 1", other, word);
      line("setp.ne.u32 {}, {}, 0", none, other);
      line("@{} bra end", none);
      break;
    }
    default: line("@!{} bra end", holds);
    }
  }

  void guards() {
    const bool few = std::exchange(few_, false);
    const int rim = rim_ == Rim::kept ? reach_ : 0;
    std::vector<std::string> all = inside("%r10", "%r1", rim);
    if (planar) {
      const auto more = inside("%r11", "%r2", rim);
      all.insert(all.end(), more.begin(), more.end());
    }
    if (chance(1, 6)) all.push_back(asked_of_sizes());
    if (chance(1, 8)) all.push_back(asked_of_places());
    if (chance(1, 3)) std::ranges::shuffle(all, random_);
    while (!all.empty()) { // some together: all of them hold, or none of their
                           // opposites
      const bool opposite = chance(1, 2);
      const auto next = [&] {
        std::string holds = all.front();
        all.erase(all.begin());
        if (!opposite) return holds;
        const std::string none = condition();
        line("not.pred {}, {}", none, holds);
        return none;
      };
      std::string holds = next();
      while (!all.empty() && chance(2, 3)) {
        const std::string other = next(), both = condition();
        line("{}.pred {}, {}, {}", opposite ? "or" : "and", both, holds, other);
        holds = both;
      }
      if (opposite)
        line("@{} bra end", holds);
      else
        demand(holds);
    }
    few_ = few;
    if (chance(3, 4)) keep_registers();
    if (chance(1, 10)) demand(asked_of_mask()); // the last one
  }

  std::string asked_of_mask() {
    const std::string holds = condition(), mask = load("%rd3", own());
    line("setp.gt.{} {}, {}, {}", type.compared, holds, mask, type.some);
    return holds;
  }
};

} // namespace ptxasw::step_forms
