// Kernels whose threads store to shared memory and load their own words again: what --forward looks
// for, and what looks like it and must be refused.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

// One way of making it all, for the whole tile.
struct KernelMaker::Words {
  Class value = Class::b32;
  int bytes = 4; // of a word
  std::string type;
  std::string tid, row, size, own;
  int pitch = 0;      // of rows, in bytes
  bool whole = false; // no thread is elsewhere, so that all may wait
};

std::string KernelMaker::run_tiles() {
  prologue();
  if (w_.one_in(8)) guard();
  for (std::uint64_t i = 0, count = 1 + w_.below(2); i < count; ++i) {
    if (w_.one_in(2)) arithmetic();
    if (w_.one_in(4)) group();
    tile_of_words();
    if (w_.one_in(4)) through_shared();
    if (w_.one_in(4)) in_place();
  }
  store();
  return text();
}

// Whose word is whose: by the number of the thread, in rows, or of all rows in one.
void KernelMaker::place_words(Words& t) {
  const std::string tile = w_.fresh(Class::b32);
  t.tid = special("tid.x"), t.row = special("tid.y"), t.size = special("ntid.x");
  t.own = w_.fresh(Class::b32);
  w_.line("mov.u32 {}, tile;", tile);
  switch (w_.below(7)) {
  case 0:
  case 1: { // x + ntid.x * y, or wrongly x + ntid.y * y
    const std::string number = w_.fresh(Class::b32);
    const std::string by = w_.one_in(8) ? special("ntid.y") : t.size;
    w_.line("mad.lo.s32 {}, {}, {}, {};", number, t.row, by, t.tid);
    if (w_.one_in(2)) {
      const std::string plane = w_.fresh(Class::b32), depth = special("tid.z"),
                        rows = special("ntid.y");
      w_.line("mul.lo.s32 {}, {}, {};", plane, rows, t.size);
      w_.line("mad.lo.s32 {}, {}, {}, {};", number, depth, plane, number);
    }
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, number, t.bytes, tile);
    break;
  }
  case 2:
  case 3: // rows with a rim, perhaps too narrow for the block
    t.pitch = t.bytes * w_.pick({34, 34, 66, 20, 32});
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, t.row, t.pitch, tile);
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, t.tid, t.bytes, t.own);
    break;
  case 5: { // a row for each warp
    const std::string warp = w_.fresh(Class::b32), lane = w_.fresh(Class::b32);
    w_.line("shr.u32 {}, {}, {};", warp, t.tid, w_.one_in(6) ? 4 : 5);
    w_.line("and.b32 {}, {}, {};", lane, t.tid, w_.one_in(6) ? 15 : 31);
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, warp, t.bytes * w_.pick({33, 32, 31}), tile);
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, lane, t.bytes, t.own);
    break;
  }
  case 4: { // the other way round
    const std::string last = w_.fresh(Class::b32);
    w_.line("sub.u32 {}, {}, {};", last, t.size, t.tid);
    w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, last, t.bytes, tile);
    break;
  }
  default: w_.line("mad.lo.s32 {}, {}, {}, {};", t.own, t.tid, t.bytes, tile); break;
  }
}

// Another store: of some threads at the rim, of the own word again, of a part of it, or of
// somebody else's.
void KernelMaker::further_store(const Words& t, const std::string& value) {
  const std::string p = w_.fresh(Class::pred), far = w_.fresh(Class::b32);
  const int far_off = 4096, step = t.pitch != 0 && w_.one_in(2) ? t.pitch : t.bytes;
  switch (w_.below(9)) {
  case 0:
    w_.line("setp.eq.u32 {}, {}, 0;", p, t.tid);
    w_.line("@{} st.shared.{} [{}+{}], {};", p, t.type, t.own, 256 - step, value);
    break;
  case 1: {
    const std::string last = w_.fresh(Class::b32);
    w_.line("add.s32 {}, {}, -1;", last, t.size);
    w_.line("setp.eq.u32 {}, {}, {};", p, t.tid, w_.one_in(2) ? last : "31");
    w_.line("@{} st.shared.{} [{}+{}], {};", p, t.type, t.own, 256 + t.bytes, value);
    break;
  }
  case 2:
    w_.line("setp.lt.u32 {}, {}, {};", p, w_.one_in(2) ? t.tid : t.row, w_.between(1, 5));
    w_.line("@{} st.shared.{} [{}+{}], {};", p, t.type, t.own, w_.pick({64, 128, 256, 384}), value);
    break;
  case 3: w_.line("st.shared.{} [{}+{}], {};", t.type, t.own, 256, value); break;
  case 4:
    condition(p);
    w_.line("@{} st.shared.{} [{}+256], {};", p, t.type, t.own, value);
    break;
  case 5: w_.line("st.shared.u8 [{}+{}], {};", t.own, 256 + w_.between(-1, 4), acc_); break;
  case 6:
    w_.line("and.b32 {}, {}, {};", far, acc_, w_.pick({8, 56, 120}));
    w_.line("add.u32 {}, {}, {};", far, far, t.own);
    w_.line("st.shared.u32 [{}+{}], {};", far, w_.one_in(2) ? far_off : 256, acc_);
    break;
  case 7: w_.line("red.shared.add.u32 [{}+{}], 1;", t.own, far_off); break;
  default: w_.line("st.shared.{} [{}+{}], {};", t.type, t.own, far_off, value); break;
  }
}

// Store, perhaps wait, perhaps something else, load.
void KernelMaker::store_and_load(Words& t) {
  const std::string value = w_.fresh(t.value), again = w_.fresh(t.value);
  switch (t.value) {
  case Class::f32: w_.line("cvt.rn.f32.u32 {}, {};", value, acc_); break;
  case Class::f64: w_.line("cvt.rn.f64.u32 {}, {};", value, acc_); break;
  default: w_.line("xor.b32 {}, {}, {};", value, acc_, x_); break;
  }
  std::string guard, other = guard;
  if (w_.one_in(4)) {
    const std::string p = w_.fresh(Class::pred), q = w_.fresh(Class::pred);
    const auto width = w_.between(1, 40);
    w_.line("setp.lt.u32 {}, {}, {};", p, t.tid, width);
    w_.line("setp.lt.u32 {}, {}, {};", q, t.tid, w_.one_in(4) ? width + 1 : w_.between(0, width));
    guard = fmt::format("@{} ", p), other = w_.one_in(2) ? guard : fmt::format("@{} ", q);
  }
  const bool wide = t.value == Class::b32 && t.pitch == 0 && w_.one_in(8);
  const auto access = [&](std::string_view what, const std::string& r, const std::string& s) {
    return what == "st" ? fmt::format("st.shared.v2.u32 [{}+256], {{{}, {}}};", t.own, r, s)
                        : fmt::format("ld.shared.v2.u32 {{{}, {}}}, [{}+256];", r, s, t.own);
  };
  const std::string second = w_.fresh(t.value);
  const std::string how = w_.one_in(16) ? ".volatile" : "";
  zero(again, t.value);
  if (wide)
    w_.line("{}", guard + access("st", value, acc_));
  else
    w_.line("{}st{}.shared.{} [{}+256], {};", guard, how, t.type, t.own, value);
  if (w_.one_in(3) && t.value == Class::b32) w_.line("add.u32 {}, {}, 7;", value, value);
  if (t.whole && !w_.one_in(8)) w_.line("bar.sync 0;");
  if (w_.one_in(3)) further_store(t, value);
  if (t.whole && w_.one_in(2)) w_.line("bar.sync 0;");
  if (wide) {
    zero(second, t.value);
    w_.line("{}", other + access("ld", again, second));
    consume(second, t.value);
  } else {
    w_.line("{}ld{}.shared.{} {}, [{}+256];", other, w_.one_in(16) ? ".volatile" : "", t.type,
            again, t.own);
  }
  consume(again, t.value);
  if (w_.one_in(3)) { // and once more, or a neighbour's
    const std::string third = w_.fresh(t.value);
    zero(third, t.value);
    w_.line("{}ld.shared.{} {}, [{}+{}];", other, t.type, third, t.own,
            w_.one_in(2) || !t.whole ? 256 : 256 - t.bytes);
    consume(third, t.value);
  }
  if (t.whole && w_.one_in(2)) w_.line("bar.sync 0;");
  if (w_.one_in(3)) further_store(t, value);
  if (t.whole) w_.line("bar.sync 0;");
}

void KernelMaker::tile_of_words() {
  shared_ = true;
  Words t;
  switch (w_.below(5)) {
  case 0: t.value = Class::f32, t.type = "f32"; break;
  case 1: t.value = Class::f64, t.type = "f64", t.bytes = 8; break;
  default: t.type = "u32"; break;
  }
  if (t.bytes == 4 && w_.one_in(4)) t.bytes = 8; // apart
  place_words(t);
  t.whole = !early_exit_;
  if (t.whole) w_.line("bar.sync 0;");
  const std::uint64_t kind = w_.below(6);
  if (kind > 2) return store_and_load(t);
  const std::string i = w_.fresh(Class::b32), limit = w_.fresh(Class::b32),
                    p = w_.fresh(Class::pred), head = w_.label(), r = w_.fresh(Class::b32);
  const bool ahead = t.value == Class::b32 && kind == 2;
  if (kind == 0) {
    w_.line("and.b32 {}, {}, 3;", limit, x_);
    t.whole = false; // threads are in different trips
  } else {
    w_.line("mov.u32 {}, {};", limit, w_.between(1, 3));
  }
  w_.line("mov.u32 {}, 0;", i);
  w_.line("mov.u32 {}, {};", r, acc_);
  if (ahead) w_.line("st.shared.u32 [{}+256], {};", t.own, r);
  w_.line("{}:", head);
  if (ahead) {
    const std::string value = w_.fresh(Class::b32);
    if (w_.one_in(3)) w_.line("xor.b32 {}, {}, 9;", r, r);
    if (t.whole) w_.line("bar.sync 0;");
    w_.line("ld.shared.u32 {}, [{}+256];", value, t.own);
    consume(value, Class::b32);
    if (w_.one_in(3)) further_store(t, value);
  } else {
    store_and_load(t);
  }
  w_.line("add.u32 {}, {}, 1;", i, i);
  w_.line("setp.lt.u32 {}, {}, {};", p, i, limit);
  w_.line("@{} bra {};", p, head);
}

std::string generate_tiles(std::uint64_t seed) {
  return KernelMaker(seed).run_tiles();
}

} // namespace ptxasw::fuzz
