// The tree of statements. What a nested block defines goes out of scope with it.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

void KernelMaker::statement(unsigned depth, bool divergent) {
  if (odd_ && w_.one_in(3)) return odd(depth, divergent);
  switch (w_.below(depth < 3 ? 20 : 12)) {
  case 0:
  case 1:
  case 2:
  case 3:
  case 4: group(); break;
  case 5:
  case 6: arithmetic(); break;
  case 7: store(); break;
  case 8: in_place(); break;
  case 9: calm_ ? slot() : synchronize(divergent); break;
  case 10: calm_ || w_.one_in(2) ? scope(depth, divergent) : atomic(); break;
  case 11: overwrite(); break;
  case 12:
  case 13:
  case 14: branch(depth, divergent); break;
  case 15:
  case 16: loop(depth, divergent); break;
  case 17: w_.one_in(2) ? march() : loop(depth, divergent); break;
  case 18:
    if (divergent || early_exit_ || (calm_ && w_.one_in(3)))
      arithmetic();
    else if (calm_ || w_.one_in(2))
      tree();
    else
      through_shared();
    break;
  default: calm_&& w_.one_in(2) ? store() : call(); break;
  }
}

void KernelMaker::block(unsigned depth, bool divergent) {
  const auto ints = ints_.size(), floats = floats_.size(), doubles = doubles_.size(),
             indices = indices_.size();
  const std::uint64_t count = 1 + w_.below(3);
  for (std::uint64_t i = 0; i < count; ++i)
    statement(depth + 1, divergent);
  ints_.resize(ints);
  floats_.resize(floats);
  doubles_.resize(doubles);
  indices_.resize(indices);
}

// A predicate, and whether lanes of a warp may disagree on it.
bool KernelMaker::condition(const std::string& p) {
  switch (w_.below(8)) {
  case 0:
  case 6: w_.line("setp.gt.s32 {}, {}, {};", p, n_, w_.between(0, 40)); return false;
  case 7: w_.line("setp.lt.u32 {}, {}, {};", p, slots_[w_.below(2)], w_.below(70)); return true;
  case 1: {
    const std::string cta = special(
                          w_.pick<std::string_view>({"ctaid.x", "ctaid.x", "ctaid.y", "ctaid.z"})),
                      bit = w_.fresh(Class::b32);
    w_.line("and.b32 {}, {}, 1;", bit, cta);
    w_.line("setp.eq.u32 {}, {}, 0;", p, bit);
    return false;
  }
  case 2: w_.line("setp.lt.{} {}, {}, {};", sign(), p, x_, w_.between(1, 40)); return true;
  case 3: w_.line("setp.ne.s32 {}, {}, {};", p, w_.pick(ints_), w_.between(0, 9)); return true;
  case 4: w_.line("setp.lt.f32 {}, {}, 0f00000000;", p, w_.pick(floats_)); return true;
  default: {
    const std::string bits = w_.fresh(Class::b32);
    w_.line("and.b32 {}, {}, {};", bits, x_, w_.between(1, 16));
    w_.line("setp.eq.u32 {}, {}, 0;", p, bits);
    return true;
  }
  }
}

void KernelMaker::branch(unsigned depth, bool divergent) {
  const std::string p = w_.fresh(Class::pred), skip = w_.label();
  bool here = condition(p);
  if (w_.one_in(4)) { // or another one: a way into the middle of what that guards
    const std::string inside = w_.label(), q = w_.fresh(Class::pred);
    w_.line("@{}{} bra {};", w_.one_in(2) ? "!" : "", p, inside);
    here |= condition(q);
    w_.line("@{}{} bra {};", w_.one_in(2) ? "!" : "", q, skip);
    w_.line("{}:", inside);
  } else {
    w_.line("@{}{} bra {};", w_.one_in(2) ? "!" : "", p, skip);
  }
  block(depth, divergent || here);
  if (w_.one_in(3)) {
    const std::string end = w_.label();
    w_.line("bra {};", end);
    w_.line("{}:", skip);
    block(depth, divergent || here);
    w_.line("{}:", end);
  } else {
    w_.line("{}:", skip);
  }
}

void KernelMaker::loop(unsigned depth, bool divergent) {
  const std::string i = w_.fresh(Class::b32), limit = w_.fresh(Class::b32),
                    p = w_.fresh(Class::pred), head = w_.label(), end = w_.label();
  bool here = false;
  switch (w_.below(4)) {
  case 0: w_.line("and.b32 {}, {}, 3;", limit, n_); break; // may be zero
  case 1:
    w_.line("and.b32 {}, {}, 3;", limit, x_);
    here = true;
    break;
  default: w_.line("mov.u32 {}, {};", limit, w_.between(1, 3)); break;
  }
  w_.line("mov.u32 {}, 0;", i);
  // An index that the loop moves: by one, or by a row.
  const std::string moving = w_.fresh(Class::b32);
  w_.line("mov.u32 {}, {};", moving, w_.pick(indices_));
  const bool tested_first = w_.one_in(2);
  w_.line("{}:", head);
  if (tested_first) {
    w_.line("setp.ge.u32 {}, {}, {};", p, i, limit);
    w_.line("@{} bra {};", p, end);
  }
  indices_.push_back(moving);
  ints_.push_back(i);
  block(depth, divergent || here);
  ints_.pop_back();
  indices_.pop_back();
  w_.line("add.s32 {}, {}, {};", moving, moving, w_.one_in(2) ? std::string("1") : n_);
  w_.line("add.u32 {}, {}, 1;", i, i);
  if (tested_first) {
    w_.line("bra {};", head);
  } else {
    w_.line("setp.lt.u32 {}, {}, {};", p, i, limit);
    w_.line("@{} bra {};", p, head);
  }
  w_.line("{}:", end);
}

void KernelMaker::arithmetic() {
  const std::string r = w_.fresh(Class::b32);
  const std::string a = w_.pick(ints_), b = w_.pick(ints_);
  switch (w_.below(9)) {
  case 0: w_.line("add.s32 {}, {}, {};", r, a, b); break;
  case 1: w_.line("sub.u32 {}, {}, {};", r, a, b); break;
  case 2: w_.line("xor.b32 {}, {}, {};", r, a, b); break;
  case 3: w_.line("shr.{} {}, {}, {};", sign(), r, a, w_.below(33)); break;
  case 4: w_.line("min.{} {}, {}, {};", sign(), r, a, b); break;
  case 5: w_.line("mul.hi.{} {}, {}, {};", sign(), r, a, b); break;
  case 6: w_.line("mul24.lo.s32 {}, {}, {};", r, a, b); break;
  case 7: {
    const std::string p = w_.fresh(Class::pred);
    condition(p);
    w_.line("selp.b32 {}, {}, {}, {};", r, a, b, p);
    break;
  }
  default: {
    const std::string f = w_.fresh(Class::f32);
    w_.line("add.f32 {}, {}, {};", f, w_.pick(floats_), w_.pick(floats_));
    floats_.push_back(f);
    w_.line("mov.b32 {}, {};", r, f);
    break;
  }
  }
  ints_.push_back(r);
  w_.line("add.s32 {}, {}, {};", acc_, acc_, r);
}

// Destroys a loaded value that a later shuffle may want to send.
void KernelMaker::overwrite() {
  if (floats_.size() < 2) return arithmetic();
  const std::string victim = w_.pick(floats_);
  w_.line("mul.f32 {}, {}, 0f3F400000;", victim, victim);
  w_.line("add.f32 {}, {}, {};", facc_, facc_, victim);
}

// Writes and reads a register that others write and read, too.
void KernelMaker::slot() {
  const std::size_t which = w_.below(2);
  const std::string& to = slots_[which];
  const auto use = [&](const std::string& r) {
    w_.line("mad.lo.s32 {}, {}, 31, {};", acc_, acc_, r);
  };
  if (w_.one_in(2)) use(to);
  switch (w_.below(which == 0 ? 4 : 6)) {
  case 0: w_.line("mov.u32 {}, {};", to, w_.below(100)); break;
  case 1: w_.line("add.u32 {}, {}, {};", to, to, n_); break;
  case 2: w_.line("xor.b32 {}, {}, {};", to, slots_[0], x_); break;
  case 3: {
    // Beside a value that is written in some other way elsewhere.
    const std::string at = address(w_.pick(inputs_), x_, 8);
    w_.line("ld.global.v2.u32 {{{}, {}}}, [{}];", to, w_.one_in(2) ? slots_[1 - which] : acc_, at);
    break;
  }
  case 4: w_.line("add.u32 {}, {}, {};", to, w_.pick(ints_), slots_[0]); break;
  default: w_.line("{}mov.u32 {}, {};", predicated(), to, w_.pick(ints_)); break;
  }
  use(slots_[w_.below(2)]);
}

// Names that mean something else outside.
void KernelMaker::scope(unsigned depth, bool divergent) {
  if (w_.one_in(2)) return hiding_scope(depth, divergent);
  w_.line("{{");
  w_.line(".reg .b32 %t;");
  w_.line("add.s32 %t, {}, {};", w_.pick(ints_), slots_[0]);
  block(depth, divergent);
  w_.line("add.s32 {}, {}, %t;", acc_, acc_);
  w_.line("}}");
}

// One of the loaded values has its name taken from it, alone or with all that came before it; the
// other way round, too: what is loaded inside has a name that outside means something else.
void KernelMaker::hiding_scope(unsigned depth, bool divergent) {
  const std::string hidden = w_.pick(floats_);
  const std::vector<std::string> outside = floats_;
  std::erase(floats_, hidden);
  w_.line("{{");
  w_.line(".reg .f32 {};", hidden);
  w_.line("mov.f32 {}, {};", hidden, floats_.empty() ? facc_ : w_.pick(floats_));
  floats_.push_back(hidden);
  group();
  block(depth, divergent);
  w_.line("fma.rn.f32 {}, {}, 0f3FA00000, {};", facc_, facc_, hidden);
  w_.line("}}");
  floats_ = outside;
  w_.line("fma.rn.f32 {}, {}, 0f3FA00000, {};", facc_, facc_, hidden);
}

// To a slice of `out` that nobody else writes.
void KernelMaker::store() {
  const std::string at = w_.fresh(Class::b32);
  w_.line("mad.lo.s32 {}, {}, {}, {};", at, total_, w_.below(4), linear_);
  const std::string where = address(out_, at, 4);
  const std::string prefix = predicated();
  switch (w_.below(3)) {
  case 0: w_.line("{}st.global.u32 [{}], {};", prefix, where, acc_); break;
  case 1: w_.line("{}st.global.f32 [{}], {};", prefix, where, facc_); break;
  default: {
    const std::string both = w_.fresh(Class::f32), d = w_.fresh(Class::f32),
                      i = w_.fresh(Class::f32);
    w_.line("cvt.rn.f32.f64 {}, {};", d, dacc_);
    w_.line("cvt.rn.f32.s32 {}, {};", i, acc_);
    w_.line("add.f32 {}, {}, {};", both, facc_, d);
    w_.line("add.f32 {}, {}, {};", both, both, i);
    w_.line("{}st.global{}.f32 [{}], {};", prefix, !calm_ && w_.one_in(6) ? ".wt" : "", where,
            both);
  }
  }
}

std::string KernelMaker::predicated() {
  if (!w_.one_in(6)) return "";
  const std::string p = w_.fresh(Class::pred);
  condition(p);
  return fmt::format("@{} ", p);
}

// Reads and writes this thread's own word of `c`; now and then a word of an input array, which
// races with the neighbours (the comparison leaves those out when it matters).
void KernelMaker::in_place() {
  const bool wild = w_.one_in(10);
  const std::string at =
      wild ? address(w_.pick(inputs_), base_index_, 4) : address(in_place_, linear_, 4);
  if (w_.one_in(2)) {
    const std::string r = w_.fresh(Class::b32);
    w_.line("ld.global.u32 {}, [{}];", r, at);
    consume(r, Class::b32);
  }
  w_.line("{}st.global.u32 [{}], {};", predicated(), at, acc_);
}

void KernelMaker::synchronize(bool divergent) {
  switch (w_.below(divergent ? 2 : 4)) {
  case 0: w_.line("membar.gl;"); break;
  case 1: w_.line("fence.acq_rel.gpu;"); break;
  default: w_.line("bar.sync 0;"); break;
  }
}

void KernelMaker::atomic() {
  if (w_.one_in(2)) return ordered();
  const std::string at = address(in_place_, linear_, 4), r = w_.fresh(Class::b32);
  if (w_.one_in(2)) {
    w_.line("red.global.add.u32 [{}], {};", at, acc_);
  } else {
    w_.line("atom.global.xor.b32 {}, [{}], {};", r, at, acc_);
    consume(r, Class::b32);
  }
}

// Writes a word of the tile, waits, reads a neighbour's.
void KernelMaker::through_shared() {
  if (w_.one_in(3)) return count_in_shared();
  shared_ = true;
  const std::string tid = special("tid.x"), tile = w_.fresh(Class::b32), at = w_.fresh(Class::b32),
                    ty = special("tid.y"), size = special("ntid.x"), tz = special("tid.z"),
                    rows = special("ntid.y"), row = w_.fresh(Class::b32),
                    number = w_.fresh(Class::b32);
  w_.line("mad.lo.s32 {}, {}, {}, {};", row, tz, rows, ty);
  w_.line("mad.lo.s32 {}, {}, {}, {};", number, row, size, tid);
  w_.line("mov.u32 {}, tile;", tile);
  w_.line("mad.lo.s32 {}, {}, 4, {};", at, number, tile);
  w_.line("bar.sync 0;");
  w_.line("st.shared.u32 [{}+16], {};", at, acc_);
  w_.line("bar.sync 0;");
  const std::uint64_t count = 1 + w_.below(3);
  // Only words that some thread has written are read: the own one, by way of its neighbours'
  // guard.
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t k = w_.between(-1, 2);
    const std::string other = w_.fresh(Class::b32), p = w_.fresh(Class::pred),
                      r = w_.fresh(Class::b32), threads = w_.fresh(Class::b32);
    w_.line("add.s32 {}, {}, {};", other, number, k);
    const std::string depth = special("ntid.z");
    w_.line("mul.lo.s32 {}, {}, {};", threads, size, rows);
    w_.line("mul.lo.s32 {}, {}, {};", threads, threads, depth);
    w_.line("setp.lt.u32 {}, {}, {};", p, other, threads);
    w_.line("mov.u32 {}, 3;", r);
    w_.line("@{} ld.shared.u32 {}, [{}+{}];", p, r, at, 16 + 4 * k);
    consume(r, Class::b32);
  }
}

// A tree over the threads of a block of one row; in others the rows race, or have one each. As a
// loop, or unrolled.
void KernelMaker::tree() {
  shared_ = true;
  const std::string tid = special("tid.x"), tile = w_.fresh(Class::b32), at = w_.fresh(Class::b32),
                    a = w_.fresh(Class::b32), b = w_.fresh(Class::b32), p = w_.fresh(Class::pred),
                    width = w_.fresh(Class::b32), far = w_.fresh(Class::b32),
                    all = w_.fresh(Class::b32);
  w_.line("mov.u32 {}, tile;", tile);
  if (w_.one_in(3)) w_.line("mad.lo.s32 {}, {}, 256, {};", tile, special("tid.y"), tile);
  w_.line("mad.lo.s32 {}, {}, 4, {};", at, tid, tile);
  w_.line("bar.sync 0;");
  w_.line("st.shared.u32 [{}+16], {};", at, acc_);
  w_.line("st.shared.u32 [{}+4112], {};", at, tid);
  w_.line("bar.sync 0;");
  const bool grows = w_.one_in(8), early = w_.one_in(8); // or it reads what is not there any more
  const bool few = w_.one_in(3);
  const auto round = [&](const std::string& distance, const std::string& next) {
    w_.line("setp.ge.u32 {}, {}, {};", p, tid, distance);
    w_.line("@{} bra {};", p, next);
    w_.line("mad.lo.s32 {}, {}, 4, {};", far, distance, at);
    w_.line("ld.shared.u32 {}, [{}+16];", a, at);
    w_.line("ld.shared.u32 {}, [{}+{}];", b, far, early ? 12 : 16);
    if (few) { // only where it is larger, as with the largest and its index
      const std::string less = w_.fresh(Class::pred);
      w_.line("setp.lt.u32 {}, {}, {};", less, a, b);
      w_.line("@!{} bra {};", less, next);
    }
    w_.line("{} {}, {}, {};", w_.pick<std::string_view>({"add.u32", "max.u32", "xor.b32"}), a, a,
            b);
    w_.line("st.shared.u32 [{}+16], {};", at, a);
    if (few) {
      w_.line("ld.shared.u32 {}, [{}+4112];", b, far);
      w_.line("st.shared.u32 [{}+4112], {};", at, b);
    }
    w_.line("{}: bar.sync 0;", next);
  };
  if (w_.one_in(2)) {
    w_.line("mov.u32 {}, {};", width, special("ntid.x"));
    w_.line("shr.u32 {}, {}, 1;", width, width);
    const std::string head = w_.label(), end = w_.label(), next = w_.label();
    w_.line("setp.eq.u32 {}, {}, 0;", p, width);
    w_.line("@{} bra {};", p, end);
    w_.line("{}:", head);
    round(width, next);
    if (grows)
      w_.line("sub.u32 {}, {}, 1;", width, width);
    else
      w_.line("shr.u32 {}, {}, 1;", width, width);
    w_.line("setp.ne.u32 {}, {}, 0;", p, width);
    w_.line("@{} bra {};", p, head);
    w_.line("{}:", end);
  } else {
    for (unsigned w = 16; w != 0; w /= 2) {
      const std::string next = w_.label();
      round(std::to_string(w), next);
    }
  }
  w_.line("ld.shared.u32 {}, [{}+{}];", all, tile, few ? 4112 : 16);
  consume(all, Class::b32);
}

// A window that moves along a column, by 64-bit addresses.
void KernelMaker::march() {
  const std::string at = w_.fresh(Class::b64), step = w_.fresh(Class::b64),
                    limit = w_.fresh(Class::b32), i = w_.fresh(Class::b32),
                    p = w_.fresh(Class::pred), head = w_.label(), end = w_.label();
  w_.line("mov.u64 {}, {};", at, address(w_.pick(inputs_), x_, 4));
  if (w_.one_in(2))
    w_.line("mul.wide.s32 {}, {}, 4;", step, n_);
  else
    w_.line("mov.u64 {}, 32;", step);
  w_.line("and.b32 {}, {}, 7;", limit, w_.one_in(2) ? n_ : x_);
  w_.line("mov.u32 {}, 0;", i);
  w_.line("setp.eq.u32 {}, {}, 0;", p, limit);
  w_.line("@{} bra {};", p, end);
  w_.line("{}:", head);
  const bool writes = w_.one_in(4);
  std::string here = at;
  for (std::uint64_t k = 0, count = 2 + w_.below(4); k < count; ++k) {
    const std::string value = w_.fresh(Class::b32);
    w_.line("ld.global{}.u32 {}, [{}+{}];", writes || w_.one_in(2) ? "" : ".nc", value, here,
            w_.one_in(3) ? 4 : 0);
    w_.line("mad.lo.u32 {}, {}, 31, {};", acc_, acc_, value);
    if (writes && w_.one_in(3)) w_.line("st.global.u32 [{}], {};", address(out_, linear_, 4), acc_);
    const std::string next = w_.fresh(Class::b64);
    w_.line("add.s64 {}, {}, {};", next, here, step);
    here = next;
  }
  w_.line("add.s64 {}, {}, {};", at, at, step);
  w_.line("add.u32 {}, {}, 1;", i, i);
  w_.line("setp.lt.u32 {}, {}, {};", p, i, limit);
  w_.line("@{} bra {};", p, head);
  w_.line("{}:", end);
}

void KernelMaker::call() {
  function_ = true;
  const std::string r = w_.fresh(Class::b32), label = w_.label();
  const bool loads = w_.one_in(2);
  const std::string from = loads ? address(w_.pick(inputs_), w_.pick(indices_), 4) : w_.pick(ints_);
  const int bits = loads ? 64 : 32;
  w_.line("{{ .param .b{0} x{1}; .param .b32 r{1}; st.param.b{0} [x{1}], {2};", bits, label, from);
  w_.line("call{0} (r{1}), {2}, (x{1}); ld.param.b32 {3}, [r{1}]; }}", calm_ ? "" : ".uni", label,
          loads ? "fetch" : "twist", r);
  consume(r, Class::b32);
}

} // namespace ptxasw::fuzz
