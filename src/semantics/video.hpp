// Video instructions (PTX ISA 9.7.18, 9.7.19): arithmetic on bytes, half-words or words picked from
// the operands, as a scalar or on two or four lanes side by side. Which parts are picked is known
// when the instruction is (Operation::video); the arithmetic is done at a width that nothing
// overflows.
//
// Recent GPUs have no such instructions; ptxas writes them out, and of the scalar ones not always
// as the ISA's pseudo code says: for sm_90 the sum of vadd.u32.u32.u32.sat wraps around, and
// vadd.s32.s32.s32 d.h1 writes the upper half of the sum. Scalar forms that saturate, scale, merge,
// or accumulate by .min or .max have no meaning here therefore.
#pragma once

#include "semantics/word.hpp"

#include <optional>

namespace ptxasw::sem {

// nullopt: not a form of a video instruction that has a meaning here.
std::optional<Video> video_parts(const ptx::Body& body, const ptx::Inst& inst);

namespace rules {

template <class D> class VideoUnit {
public:
  using Value = typename D::Value;
  using Wide = Word<D, 128>; // a product and its sign, a word shifted by 32
  using Half = Word<D, 32>;

  VideoUnit(D& d, const Operation& op, std::span<const Value> src)
      : d_(d), v_(op.video), mods_(op.inst->mods), frame_{d, op, src, {}} {}

  Half result() const {
    const Word<D, 64> pair = concat(frame_.u32(1), frame_.u32(0));
    Half merged = v_.accumulates || v_.merges ? frame_.u32(2) : Half{&d_, d_.constant(32, 0)};
    for (unsigned i = 0; i < v_.lanes; ++i) {
      if ((v_.written >> i & 1U) == 0) continue;
      const Wide t = finished(
          computed(picked(pair, v_.a[i], v_.a_signed), picked(pair, v_.b[i], v_.b_signed)));
      merged = v_.accumulates ? merged + trunc<32>(t) : placed(t, merged, v_.d[i]);
    }
    return merged;
  }

private:
  Wide picked(Word<D, 64> from, Video::Part part, bool is_signed) const {
    const Value raw = d_.extract(64, from.value, part.low, part.width);
    return {&d_, is_signed ? d_.sext(part.width, raw, 128) : d_.zext(part.width, raw, 128)};
  }
  Wide number(Bits n) const { return {&d_, d_.constant(128, n)}; }

  Wide computed(Wide a, Wide b) const {
    switch (v_.op) {
    case ptx::Op::vadd: return a + b;
    case ptx::Op::vsub: return a - b;
    case ptx::Op::vabsdiff: return ite(a.slt(b), b - a, a - b);
    case ptx::Op::vmin: return ite(b.slt(a), b, a);
    case ptx::Op::vmax: return ite(a.slt(b), b, a);
    case ptx::Op::vavrg2: return average(a + b);
    case ptx::Op::vshl: return a.shl(amount(b));
    case ptx::Op::vshr: return a.ashr(amount(b));
    case ptx::Op::vmad: return a * b + sext<128>(frame_.u32(2)) + number(v_.plus_one ? 1 : 0);
    default: return compared(a, b);
    }
  }
  // Halves go away from zero.
  Wide average(Wide sum) const {
    return (sum + ite(sum.slt(number(0)), number(0), number(1))).ashr(number(1));
  }
  Wide amount(Wide b) const {
    if (v_.wraps) return b & number(31);
    return ite(b.ult(number(32)), b, number(32));
  }
  Wide compared(Wide a, Wide b) const {
    const auto holds = [&] {
      switch (mods_.compare) {
      case ptx::Compare::eq: return a.eq(b);
      case ptx::Compare::ne: return ~a.eq(b);
      case ptx::Compare::lt: return a.slt(b);
      case ptx::Compare::le: return ~b.slt(a);
      case ptx::Compare::gt: return b.slt(a);
      default: return ~a.slt(b);
      }
    };
    return zext<128>(holds());
  }

  // Saturated to the part of the destination.
  Wide finished(Wide t) const {
    if (!mods_.sat) return t;
    const unsigned w = v_.d[0].width;
    const Bits top = Bits{1} << (w - (v_.d_signed ? 1 : 0));
    const Wide most = number(top - 1), least = number(v_.d_signed ? 0 - top : 0);
    return ite(t.slt(least), least, ite(most.slt(t), most, t));
  }
  Half placed(Wide t, Half into, Video::Part part) const {
    if (part.width == 32) return trunc<32>(t);
    const Bits ones = ((Bits{1} << part.width) - 1) << part.low;
    const Half moved = trunc<32>(t).shl(into.number(part.low));
    return (into & into.number(~ones)) | (moved & into.number(ones));
  }

  D& d_;
  const Video& v_;
  const ptx::Modifiers& mods_;
  Frame<D, 32, false> frame_;
};

} // namespace rules

template <class D>
void video_step(D& d, const Operation& op, std::span<const typename D::Value> src,
                std::span<typename D::Value> dst) {
  const Frame<D, 32, false> frame{d, op, src, dst};
  frame.out(rules::VideoUnit<D>(d, op, src).result());
}

} // namespace ptxasw::sem
