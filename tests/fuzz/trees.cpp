// Kernels that are full of trees in shared memory and of loops that march along a column: what
// --warp-reduce and --loop-carry look for, and what looks like it and must be refused.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

namespace {

// Which threads work at a level of width w, and on which elements.
enum class Form : std::uint8_t {
  halves,     // t < w: s[t], s[t + w], w falling
  neighbours, // t % (2 * w) == 0: the same, w growing
  strided,    // k = 2 * w * t < n: s[k], s[k + w], w growing
  segments,   // t % 32 < w: s[t], s[t + w], w falling from 16 on
  scan,       // t >= w: s[t], s[t - w], w growing
};

} // namespace

// One way of making it all, for the whole tree.
struct KernelMaker::Levels {
  Form form = Form::halves;
  Class value = Class::b32;
  unsigned bytes = 4;
  std::string type; // of loads and stores
  bool rolled = false, top = false, twice = false, few = false, narrow = false, odd = false;
  bool whole = false;    // as a sum is written, for thread 0
  std::string operation; // of all rounds; empty: each its own
  std::string tid, number, size, own, far, a, b, p, width;
};

std::string KernelMaker::run_trees() {
  prologue();
  if (w_.one_in(8)) guard();
  for (std::uint64_t i = 0, count = 1 + w_.below(3); i < count; ++i) {
    if (w_.one_in(2)) arithmetic();
    if (w_.one_in(4)) group();
    if (w_.one_in(24)) leave_by_call();
    switch (early_exit_ ? 0 : w_.below(8)) {
    case 0: march(); break;
    case 1: tree(); break;
    case 2: through_shared(); break;
    default: levels(); break;
    }
    if (w_.one_in(4)) in_place();
  }
  store();
  return text();
}

void KernelMaker::levels() {
  shared_ = true;
  Levels l;
  l.form = w_.pick({Form::halves, Form::halves, Form::neighbours, Form::neighbours, Form::segments,
                    Form::strided, Form::scan});
  switch (w_.below(4)) {
  case 0: l.value = Class::f32, l.type = "f32"; break;
  case 1: l.value = Class::f64, l.type = "f64", l.bytes = 8; break;
  default: l.type = "u32"; break;
  }
  l.rolled = w_.one_in(2), l.top = w_.one_in(5), l.twice = w_.one_in(4), l.few = w_.one_in(4);
  l.narrow = w_.one_in(6), l.odd = w_.one_in(12);
  if (w_.one_in(4)) {
    l.whole = true, l.form = Form::halves, l.value = Class::b32, l.type = "u32", l.bytes = 4;
    l.top = l.twice = l.few = false;
  }
  l.tid = special("tid.x"), l.number = l.tid, l.size = special("ntid.x");
  const std::string tile = w_.fresh(Class::b32);
  w_.line("mov.u32 {}, tile;", tile);
  if (w_.one_in(3)) // a tree for each row
    w_.line("mad.lo.s32 {}, {}, {}, {};", tile, special("tid.y"), w_.pick({256, 512, 1024}), tile);
  l.own = w_.fresh(Class::b32), l.far = w_.fresh(Class::b32), l.p = w_.fresh(Class::pred);
  l.a = w_.fresh(l.value), l.b = w_.fresh(l.value), l.width = w_.fresh(Class::b32);
  w_.line("mad.lo.s32 {}, {}, {}, {};", l.own, l.tid, l.bytes, tile);
  switch (l.value) {
  case Class::f32: w_.line("cvt.rn.f32.u32 {}, {};", l.a, acc_); break;
  case Class::f64: w_.line("cvt.rn.f64.u32 {}, {};", l.a, acc_); break;
  default: w_.line("mov.b32 {}, {};", l.a, acc_); break;
  }
  w_.line("bar.sync 0;");
  w_.line("st.shared.{} [{}+16], {};", l.type, l.own, l.a);
  w_.line("st.shared.{} [{}+{}], {};", l.type, l.own, second_array, l.a);
  if (!l.top || w_.one_in(2)) w_.line("bar.sync 0;");
  if (l.whole || !w_.one_in(3)) l.operation = operation(l);
  if (l.form == Form::segments) {
    l.number = w_.fresh(Class::b32);
    w_.line("and.b32 {}, {}, 31;", l.number, l.tid);
  }
  const bool meets = w_.one_in(4);
  if (meets) meet_ahead(l);
  l.rolled ? loop_of(l, tile) : unrolled(l, tile);
  read_behind(l, tile);
  if (meets) w_.line("st.global.u32 [{}], {};", address(in_place_, linear_, 4), acc_);
}

// Reads the word that the thread 32 ahead of it in its row writes behind the tree; or an element
// that the first round may leave alone.
void KernelMaker::meet_ahead(const Levels& l) {
  const std::string r = w_.fresh(Class::b32);
  if (l.bytes == 4 && w_.one_in(4)) {
    w_.line("ld.shared.u32 {}, [{}+{}];", r, l.own, w_.pick({16, 16, 12}));
  } else {
    const std::string ahead = w_.fresh(Class::b32), back = w_.fresh(Class::b32);
    w_.line("min.s32 {}, {}, 32;", back, l.tid);
    w_.line("sub.s32 {}, {}, {};", ahead, linear_, back);
    w_.line("ld.global.u32 {}, [{}];", r, address(in_place_, ahead, 4));
  }
  consume(r, Class::b32);
}

void KernelMaker::loop_of(Levels& l, const std::string& tile) {
  const bool falls = l.form == Form::halves || l.form == Form::segments;
  if (!falls)
    w_.line("mov.u32 {}, {};", l.width, w_.one_in(10) ? 2 : 1);
  else if (l.form == Form::segments || w_.one_in(3))
    w_.line("mov.u32 {}, 16;", l.width);
  else
    w_.line("shr.u32 {}, {}, 1;", l.width, l.size);
  const std::string head = w_.label(), end = w_.label(), next = w_.label(),
                    q = w_.fresh(Class::pred);
  if (falls)
    w_.line("setp.eq.u32 {}, {}, 0;", q, l.width);
  else
    w_.line("setp.ge.u32 {}, {}, {};", q, l.width, l.size);
  w_.line("@{} bra {};", q, end);
  w_.line("{}:", head);
  level(l, tile, l.width, next);
  const bool other = w_.one_in(16);
  if (falls)
    w_.line("{}", other ? fmt::format("sub.u32 {0}, {0}, 1;", l.width)
                        : fmt::format("shr.u32 {0}, {0}, 1;", l.width));
  else
    w_.line("{}", other ? fmt::format("mul.lo.u32 {0}, {0}, 3;", l.width)
                        : fmt::format("shl.b32 {0}, {0}, 1;", l.width));
  if (falls)
    w_.line("setp.ne.u32 {}, {}, 0;", q, l.width);
  else
    w_.line("setp.lt.u32 {}, {}, {};", q, l.width, w_.one_in(4) ? "32" : l.size);
  w_.line("@{} bra {};", q, head);
  w_.line("{}:", end);
}

void KernelMaker::unrolled(Levels& l, const std::string& tile) {
  const bool falls = l.form == Form::halves || l.form == Form::segments;
  unsigned width = falls ? w_.pick({16U, 16U, 8U, 32U}) : 1;
  const unsigned last = falls ? 1 : w_.pick({16U, 16U, 8U, 32U});
  if (l.form == Form::segments) width = 16;
  for (;; width = falls ? width / 2 : width * 2) {
    level(l, tile, std::to_string(width), w_.label());
    if (width == last) break;
  }
}

std::string KernelMaker::operation(const Levels& l) {
  const auto arithmetic = w_.pick<std::string_view>({"add", "max", "min"});
  if (l.value == Class::b32 && w_.one_in(3))
    return fmt::format("{}.b32", w_.pick<std::string_view>({"and", "or", "xor"}));
  return fmt::format("{}.{}", arithmetic, l.value == Class::b32 && w_.one_in(2) ? "s32" : l.type);
}

// Mostly the usual one. The others are that, too, or wait for some threads alone, or do more.
std::string KernelMaker::barrier(const std::string& p) {
  if (!w_.one_in(16)) return "bar.sync 0;";
  const std::string q = w_.fresh(Class::pred), r = w_.fresh(Class::b32);
  switch (w_.below(10)) {
  case 0: return "barrier.sync.aligned 0;";
  case 1: return "barrier.cta.sync 0;";
  case 2: return fmt::format("bar.sync {};", w_.between(1, 3));
  case 3: return "bar.warp.sync -1;";
  case 4: return fmt::format("bar.red.popc.u32 {}, 0, {};", r, p);
  case 5: return fmt::format("bar.red.or.pred {}, 0, {};", q, p);
  case 6: return "fence.acq_rel.cta; bar.sync 0;";
  case 7: return "bar.sync 0; membar.gl;";
  case 8: return "cp.async.wait_all; bar.sync 0;";
  default: return "bar.sync 0; bar.sync 0;";
  }
}

// One round: its test, its accesses, its barrier.
void KernelMaker::level(Levels& l, const std::string& tile, const std::string& width,
                        const std::string& next) {
  if (l.top) {
    w_.line("setp.eq.u32 {}, {}, 0;", l.p, l.tid);
    w_.line("{}", barrier(l.p));
  }
  std::string own = l.own;
  const std::string twice = w_.fresh(Class::b32), rest = w_.fresh(Class::b32);
  switch (l.form) {
  case Form::halves:
  case Form::segments: w_.line("setp.ge.{} {}, {}, {};", sign(), l.p, l.number, width); break;
  case Form::neighbours:
    w_.line("mul.lo.u32 {}, {}, {};", twice, width, l.odd ? 1 : 2);
    w_.line("rem.u32 {}, {}, {};", rest, l.tid, twice);
    w_.line("setp.ne.u32 {}, {}, 0;", l.p, rest);
    break;
  case Form::strided:
    w_.line("mul.lo.u32 {}, {}, 2;", twice, width);
    w_.line("mul.lo.u32 {}, {}, {};", rest, twice, l.tid);
    w_.line("setp.ge.u32 {}, {}, {};", l.p, rest, l.size);
    own = w_.fresh(Class::b32);
    w_.line("mad.lo.s32 {}, {}, {}, {};", own, rest, l.bytes, tile);
    break;
  case Form::scan: w_.line("setp.lt.u32 {}, {}, {};", l.p, l.tid, width); break;
  }
  if (l.narrow) w_.line("setp.gt.or.u32 {0}, {1}, 40, {0};", l.p, acc_);
  w_.line("@{} bra {};", l.p, next);
  if (l.form == Form::scan)
    w_.line("mad.lo.s32 {}, {}, -{}, {};", l.far, width, l.bytes, own);
  else
    w_.line("mad.lo.s32 {}, {}, {}, {};", l.far, width, l.bytes, own);
  const std::string_view how = w_.one_in(32) ? ".volatile" : w_.one_in(64) ? ".relaxed.cta" : "";
  w_.line("ld{}.shared.{} {}, [{}+16];", how, l.type, l.a, own);
  w_.line("ld{}.shared.{} {}, [{}+{}];", how, l.type, l.b, l.far, l.odd && w_.one_in(2) ? 12 : 16);
  if (l.few) {
    w_.line("setp.lt.{} {}, {}, {};", l.type, l.p, l.a, l.b);
    w_.line("@!{} bra {};", l.p, next);
  }
  w_.line("{} {}, {}, {};", l.operation.empty() ? operation(l) : l.operation, l.a, l.a, l.b);
  w_.line("st.shared.{} [{}+16], {};", l.type, own, l.a);
  if (l.twice) {
    w_.line("ld.shared.{} {}, [{}+{}];", l.type, l.b, l.far, second_array);
    w_.line("st.shared.{} [{}+{}], {};", l.type, own, second_array, l.b);
  }
  w_.line("{}:", next);
  if (!l.top) w_.line("{}", barrier(l.p));
}

void KernelMaker::read_by_call(const Levels& l, const std::string& at, int offset) {
  function_ = true;
  const std::string place = w_.fresh(Class::b32), r = w_.fresh(Class::b32), label = w_.label();
  w_.line("add.s32 {}, {}, {};", place, at, offset);
  w_.line("{{ .param .b32 x{0}; .param .b32 r{0}; st.param.b32 [x{0}], {1};", label, place);
  w_.line("call (r{0}), word, (x{0}); ld.param.b32 {1}, [r{0}]; }}", label, r);
  w_.line("mov.b32 {}, {};", l.a, r);
}

// Some threads end in what is called.
void KernelMaker::leave_by_call() {
  function_ = true;
  const std::string label = w_.label();
  w_.line("{{ .param .b32 x{0}; st.param.b32 [x{0}], {1}; call leave, (x{0}); }}", label,
          w_.pick(ints_));
}

// What the tree has left: to all threads, to the first one, to each its own; or a part of it.
void KernelMaker::read_behind(Levels& l, const std::string& tile) {
  if (l.top && !w_.one_in(6)) w_.line("bar.sync 0;");
  const std::uint64_t kind = l.whole && !w_.one_in(6) ? 5 : w_.below(6);
  const std::string at = kind == 1 || kind == 2 ? l.own : tile;
  const int offset = kind == 3 ? 16 + static_cast<int>(l.bytes) : l.twice ? second_array : 16;
  std::string guard;
  if (kind == 5) { // and nothing else of the tree goes on
    l.a = w_.fresh(l.value);
    w_.line("mov.b{} {}, 0;", 8 * l.bytes, l.a);
  }
  if (kind == 0 || kind == 2 || kind == 5) {
    w_.line("setp.eq.u32 {}, {}, 0;", l.p, l.tid);
    guard = fmt::format("@{} ", l.p);
  }
  if (l.bytes == 4 && guard.empty() && w_.one_in(4))
    read_by_call(l, at, offset);
  else
    w_.line("{}ld.shared.{} {}, [{}+{}];", guard, l.type, l.a, at, offset);
  const std::string r = w_.fresh(Class::b32);
  switch (l.value) {
  case Class::f32: w_.line("mov.b32 {}, {};", r, l.a); break;
  case Class::f64: w_.line("cvt.rzi.u32.f64 {}, {};", r, l.a); break;
  default: w_.line("mov.b32 {}, {};", r, l.a); break;
  }
  consume(r, Class::b32);
}

std::string generate_trees(std::uint64_t seed) {
  return KernelMaker(seed).run_trees();
}

} // namespace ptxasw::fuzz
