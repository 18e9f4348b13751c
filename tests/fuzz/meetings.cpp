// Where threads meet without waiting for each other: counters, ordered accesses, a histogram of the
// block, a barrier that counts.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

// Of the thread's own word, or of one that all add to and nobody reads: behind the words of all
// threads.
void KernelMaker::ordered() {
  const std::string at = address(in_place_, linear_, 4), r = w_.fresh(Class::b32);
  switch (w_.below(6)) {
  case 0: w_.line("red.global.add.u32 [{}+60000], 1;", in_place_); break;
  case 1: w_.line("atom.global.add.u32 {}, [{}+60004], {};", r, in_place_, acc_); break;
  case 2:
    w_.line("ld.volatile.global.u32 {}, [{}];", r, at);
    w_.line("st.volatile.global.u32 [{}], {};", at, acc_);
    consume(r, Class::b32);
    break;
  case 3:
    w_.line("st.release.gpu.global.u32 [{}], {};", at, acc_);
    w_.line("ld.acquire.gpu.global.u32 {}, [{}];", r, at);
    consume(r, Class::b32);
    break;
  case 4:
    w_.line("ld.relaxed.gpu.global.u32 {}, [{}];", r, at);
    consume(r, Class::b32);
    break;
  default:
    w_.line("atom.global.exch.b32 {}, [{}], {};", r, at, acc_);
    consume(r, Class::b32);
    break;
  }
}

// Each thread counts in the word of a thread that is not behind it: one that has been cleared.
void KernelMaker::count_in_shared() {
  shared_ = true;
  const std::string tid = special("tid.x"), tile = w_.fresh(Class::b32), at = w_.fresh(Class::b32),
                    ty = special("tid.y"), size = special("ntid.x"), tz = special("tid.z"),
                    rows = special("ntid.y"), row = w_.fresh(Class::b32),
                    number = w_.fresh(Class::b32), bin = w_.fresh(Class::b32),
                    r = w_.fresh(Class::b32), p = w_.fresh(Class::pred);
  w_.line("mad.lo.s32 {}, {}, {}, {};", row, tz, rows, ty);
  w_.line("mad.lo.s32 {}, {}, {}, {};", number, row, size, tid);
  w_.line("mov.u32 {}, tile;", tile);
  w_.line("mad.lo.s32 {}, {}, 4, {};", at, number, tile);
  w_.line("bar.sync 0;");
  w_.line("st{}.shared.u32 [{}+16], 0;", w_.one_in(3) ? ".volatile" : "", at);
  w_.line("bar.sync 0;");
  w_.line("and.b32 {}, {}, {};", bin, number, w_.one_in(2) ? acc_ : w_.pick(ints_));
  w_.line("mad.lo.s32 {}, {}, 4, {};", bin, bin, tile);
  if (w_.one_in(2))
    w_.line("red.shared.add.u32 [{}+16], 1;", bin);
  else
    w_.line("atom.shared.max.u32 {}, [{}+16], {};", r, bin, acc_);
  w_.line("bar.sync 0;");
  w_.line("ld.shared.u32 {}, [{}+16];", r, at);
  consume(r, Class::b32);
  if (w_.one_in(2)) return;
  w_.line("setp.lt.u32 {}, {}, {};", p, acc_, w_.below(1U << 20));
  w_.line("bar.red.popc.u32 {}, 0, {};", r, p);
  consume(r, Class::b32);
}

} // namespace ptxasw::fuzz
