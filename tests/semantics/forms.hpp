// Every instruction form that has semantics, as data: for the property test, and for comparing the
// interpreter with a GPU.
//
// A form is an instruction in PTX whose register operands are letters for their widths: h 16, r 32,
// d 64, q 128 bits, p a predicate. [a|b] stands for either. Results are the operands before the
// first comma; a form of several instructions separates them by "; " (the carry flag links them).
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::forms {

struct Pattern {
  std::string_view text;
  unsigned sm = 70; // least target
};

inline constexpr std::string_view integer_compare = "[eq|ne|lt|le|gt|ge]";

inline constexpr std::array patterns{
    // Integer arithmetic
    Pattern{"[add|sub].[u16|s16] h, h, h"},
    Pattern{"[add|sub].[u32|s32] r, r, r"},
    Pattern{"[add|sub].[u64|s64] d, d, d"},
    Pattern{"[add|sub].sat.s32 r, r, r"},
    Pattern{"add.[u16x2|s16x2] r, r, r", 90},
    Pattern{"mul.[lo|hi].[u16|s16] h, h, h"},
    Pattern{"mul.[lo|hi].[u32|s32] r, r, r"},
    Pattern{"mul.[lo|hi].[u64|s64] d, d, d"},
    Pattern{"mul.wide.[u16|s16] r, h, h"},
    Pattern{"mul.wide.[u32|s32] d, r, r"},
    Pattern{"mad.[lo|hi].[u16|s16] h, h, h, h"},
    Pattern{"mad.[lo|hi].[u32|s32] r, r, r, r"},
    Pattern{"mad.[lo|hi].[u64|s64] d, d, d, d"},
    Pattern{"mad.wide.[u16|s16] r, h, h, r"},
    Pattern{"mad.wide.[u32|s32] d, r, r, d"},
    Pattern{"mad.hi.sat.s32 r, r, r, r"},
    Pattern{"mul24.[lo|hi].[u32|s32] r, r, r"},
    Pattern{"mad24.[lo|hi].[u32|s32] r, r, r, r"},
    Pattern{"mad24.hi.sat.s32 r, r, r, r"},
    Pattern{"sad.[u16|s16] h, h, h, h"},
    Pattern{"sad.[u32|s32] r, r, r, r"},
    Pattern{"sad.[u64|s64] d, d, d, d"},
    Pattern{"[div|rem].[u16|s16] h, h, h"},
    Pattern{"[div|rem].[u32|s32] r, r, r"},
    Pattern{"[div|rem].[u64|s64] d, d, d"},
    Pattern{"[abs|neg].s16 h, h"},
    Pattern{"[abs|neg].s32 r, r"},
    Pattern{"[abs|neg].s64 d, d"},
    Pattern{"[min|max].[u16|s16] h, h, h"},
    Pattern{"[min|max].[u32|s32|relu.s32] r, r, r", 90},
    Pattern{"[min|max].[u64|s64] d, d, d"},
    Pattern{"[min|max].[u16x2|s16x2|relu.s16x2] r, r, r", 90},
    Pattern{"dp4a.[u32|s32].[u32|s32] r, r, r, r"},
    Pattern{"dp2a.[lo|hi].[u32|s32].[u32|s32] r, r, r, r"},
    // Extended precision
    Pattern{"[add|sub].cc.[u32|s32] r, r, r; [addc|subc].[u32|s32] r, r, r"},
    Pattern{"[add|sub].cc.[u64|s64] d, d, d; [addc|subc].[u64|s64] d, d, d"},
    Pattern{"add.cc.u32 r, r, r; addc.cc.u32 r, r, r; addc.u32 r, r, r"},
    Pattern{"sub.cc.u32 r, r, r; subc.cc.u32 r, r, r; subc.u32 r, r, r"},
    Pattern{"mad.[lo|hi].cc.[u32|s32] r, r, r, r; madc.[lo|hi].[u32|s32] r, r, r, r"},
    Pattern{"mad.[lo|hi].cc.[u64|s64] d, d, d, d; madc.[lo|hi].[u64|s64] d, d, d, d"},
    Pattern{"add.cc.u32 r, r, r; madc.[lo|hi].cc.u32 r, r, r, r; addc.u32 r, r, r"},
    // Bits
    Pattern{"[and|or|xor].b16 h, h, h"},
    Pattern{"[and|or|xor].b32 r, r, r"},
    Pattern{"[and|or|xor].b64 d, d, d"},
    Pattern{"[and|or|xor].pred p, p, p"},
    Pattern{"[not|cnot].b16 h, h"},
    Pattern{"[not|cnot].b32 r, r"},
    Pattern{"[not|cnot].b64 d, d"},
    Pattern{"not.pred p, p"},
    Pattern{"[shl.b16|shr.b16|shr.u16|shr.s16] h, h, r"},
    Pattern{"[shl.b32|shr.b32|shr.u32|shr.s32] r, r, r"},
    Pattern{"[shl.b64|shr.b64|shr.u64|shr.s64] d, d, r"},
    Pattern{"shf.[l|r].[wrap|clamp].b32 r, r, r, r"},
    Pattern{
        "lop3.b32 r, r, r, r, [0x80|0xfe|0x40|0x1a|0x96|0xe8|0x00|0xff|0xca|0xf8|0x17|0x4d|0x69]"},
    Pattern{"lop3.[or|and].b32 r|p, r, r, r, [0x80|0x3f], p"},
    Pattern{"[popc|clz].b32 r, r"},
    Pattern{"[popc|clz].b64 r, d"},
    Pattern{"brev.b32 r, r"},
    Pattern{"brev.b64 d, d"},
    Pattern{"bfind.[u32|s32|shiftamt.u32|shiftamt.s32] r, r"},
    Pattern{"bfind.[u64|s64|shiftamt.u64|shiftamt.s64] r, d"},
    Pattern{"bfe.[u32|s32] r, r, r, r"},
    Pattern{"bfe.[u64|s64] d, d, r, r"},
    Pattern{"bfi.b32 r, r, r, r, r"},
    Pattern{"bfi.b64 d, d, d, r, r"},
    Pattern{"szext.[wrap|clamp].[u32|s32] r, r, r"},
    Pattern{"bmsk.[wrap|clamp].b32 r, r, r"},
    Pattern{"prmt.b32[|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16] r, r, r, r"},
    Pattern{"fns.b32 r, r, [0|7|31], r"},
    // Comparison and selection
    Pattern{"setp.[eq|ne|lt|le|gt|ge].[u16|s16] p, h, h"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge].[u32|s32] p, r, r"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge].[u64|s64] p, d, d"},
    Pattern{"setp.[lo|ls|hi|hs].u16 p, h, h"},
    Pattern{"setp.[lo|ls|hi|hs].u32 p, r, r"},
    Pattern{"setp.[lo|ls|hi|hs].u64 p, d, d"},
    Pattern{"setp.[eq|ne].b16 p, h, h"},
    Pattern{"setp.[eq|ne].b32 p, r, r"},
    Pattern{"setp.[eq|ne].b64 p, d, d"},
    Pattern{"setp.[lt|ne].s32 p|p, r, r"},
    Pattern{"setp.[lt|eq].[and|or|xor].[s32|u32] p|p, r, r, p"},
    Pattern{"setp.[ge|lo].[and|or|xor].u32 p, r, r, !p"},
    Pattern{"set.[eq|lt|ge].[u32|s32|f32].[u32|s32] r, r, r"},
    Pattern{"set.[ne|gt|le].[u32|f32].[u16|s16] r, h, h"},
    Pattern{"set.[ne|gt|le].[u32|f32].[u64|s64] r, d, d"},
    Pattern{"set.lt.[and|or|xor].u32.s32 r, r, r, p"},
    Pattern{"selp.[b16|u16|s16] h, h, h, p"},
    Pattern{"selp.[b32|u32|s32|f32] r, r, r, p"},
    Pattern{"selp.[b64|u64|s64|f64] d, d, d, p"},
    Pattern{"slct.[b16|u16|s16].[s32|f32] h, h, h, r"},
    Pattern{"slct.[b32|u32|s32|f32].[s32|f32] r, r, r, r"},
    Pattern{"slct.[b64|u64|s64|f64].[s32|f32] d, d, d, r"},
    Pattern{"slct.ftz.b32.f32 r, r, r, r"},
    // Moves, packing, addresses
    Pattern{"mov.[b16|u16|s16] h, h"},
    Pattern{"mov.[b32|u32|s32|f32] r, r"},
    Pattern{"mov.[b64|u64|s64|f64] d, d"},
    Pattern{"mov.pred p, p"},
    Pattern{"mov.b32 r, {h, h}"},
    Pattern{"mov.b64 d, {r, r}"},
    Pattern{"mov.b64 d, {h, h, h, h}"},
    Pattern{"mov.b32 {h, h}, r"},
    Pattern{"mov.b64 {r, r}, d"},
    Pattern{"mov.b64 {h, h, h, h}, d"},
    Pattern{"mov.b128 q, {d, d}; mov.b128 {d, d}, q"},
    Pattern{"mov.v2.[b32|f32] {r, r}, {r, r}"},
    Pattern{"mov.v2.[u64|f64] {d, d}, {d, d}"},
    Pattern{"mov.v4.[b32|u32] {r, r, r, r}, {r, r, r, r}"},
    Pattern{"cvta.global.u64 d, d"},
    Pattern{"cvta.to.global.u64 d, d"},
    // Integer conversion
    Pattern{"cvt.[u8|s8|u16|s16].[u8|s8|u16|s16] h, h"},
    Pattern{"cvt.[u8|s8|u16|s16].[u32|s32] h, r"},
    Pattern{"cvt.[u8|s8|u16|s16].[u64|s64] h, d"},
    Pattern{"cvt.[u8|s8|u16|s16|u32|s32].[u8|s8|u16|s16] r, h"},
    Pattern{"cvt.[u8|s8|u16|s16|u32|s32].[u8|s8|u16|s16|u32|s32] r, r"},
    Pattern{"cvt.[u8|s8|u16|s16|u32|s32].[u64|s64] r, d"},
    Pattern{"cvt.[u64|s64].[u8|s8|u16|s16] d, h"},
    Pattern{"cvt.[u64|s64].[u32|s32] d, r"},
    Pattern{"cvt.[u64|s64].[u64|s64] d, d"},
    Pattern{"cvt.sat.[u8|s8].[u16|s16] h, h"},
    Pattern{"cvt.sat.[u8|s8|u16|s16].[u32|s32] r, r"},
    Pattern{"cvt.sat.[u8|s8|u16|s16|u32|s32].[u64|s64] r, d"},
    Pattern{"cvt.sat.[u32.s32|s32.u32|u16.s16|u8.s8] r, r"},
    Pattern{"cvt.sat.[u64.s32|u64.s16] d, r"},
    Pattern{"cvt.sat.[u64.s64|s64.u64] d, d"},
    Pattern{"cvt.pack.sat.[u16|s16].s32 r, r, r"},
    Pattern{"cvt.pack.sat.[u8|s8].s32.b32 r, r, r, r"},
    // Floating-point arithmetic
    Pattern{"[add|sub|mul][|.rn|.rz|.rm|.rp][|.ftz][|.sat].f32 r, r, r"},
    Pattern{"[add|sub|mul][|.rn|.rz|.rm|.rp].f64 d, d, d"},
    Pattern{"[fma|mad].[rn|rz|rm|rp][|.ftz][|.sat].f32 r, r, r, r"},
    Pattern{"[fma|mad].[rn|rz|rm|rp].f64 d, d, d, d"},
    Pattern{"div.[rn|rz|rm|rp][|.ftz].f32 r, r, r"},
    Pattern{"div.[rn|rz|rm|rp].f64 d, d, d"},
    Pattern{"[rcp|sqrt].[rn|rz|rm|rp][|.ftz].f32 r, r"},
    Pattern{"[rcp|sqrt].[rn|rz|rm|rp].f64 d, d"},
    Pattern{"[abs|neg][|.ftz].f32 r, r"},
    Pattern{"[abs|neg].f64 d, d"},
    Pattern{"[min|max][|.ftz][|.NaN][|.xorsign.abs].f32 r, r, r", 86},
    Pattern{"[min|max].f64 d, d, d"},
    Pattern{"[min|max][|.NaN].f32 r, r, r, r", 100},
    Pattern{"copysign.f32 r, r, r"},
    Pattern{"copysign.f64 d, d, d"},
    Pattern{"testp.[finite|infinite|number|notanumber|normal|subnormal].f32 p, r"},
    Pattern{"testp.[finite|infinite|number|notanumber|normal|subnormal].f64 p, d"},
    Pattern{"[add|sub|mul][|.rn][|.ftz][|.sat].f16 h, h, h"},
    Pattern{"[add|sub|mul][|.rn][|.ftz][|.sat].f16x2 r, r, r"},
    Pattern{"[add|sub|mul][|.rn].bf16 h, h, h", 90},
    Pattern{"[add|sub|mul][|.rn].bf16x2 r, r, r", 90},
    Pattern{"fma.rn[|.ftz][|.sat|.relu].f16 h, h, h, h", 80},
    Pattern{"fma.rn[|.ftz][|.sat|.relu].f16x2 r, r, r, r", 80},
    Pattern{"fma.rn[|.relu].bf16 h, h, h, h", 80},
    Pattern{"fma.rn[|.relu].bf16x2 r, r, r, r", 80},
    Pattern{"[abs|neg][|.ftz].f16 h, h"},
    Pattern{"[abs|neg][|.ftz].f16x2 r, r"},
    Pattern{"[abs|neg].bf16 h, h", 80},
    Pattern{"[abs|neg].bf16x2 r, r", 80},
    Pattern{"[min|max][|.ftz][|.NaN][|.xorsign.abs].f16 h, h, h", 86},
    Pattern{"[min|max][|.ftz][|.NaN][|.xorsign.abs].f16x2 r, r, r", 86},
    Pattern{"[min|max][|.NaN][|.xorsign.abs].bf16 h, h, h", 86},
    Pattern{"[min|max][|.NaN][|.xorsign.abs].bf16x2 r, r, r", 86},
    Pattern{"[add|sub|mul].[rn|rz|rm|rp][|.ftz].f32x2 d, d, d", 100},
    Pattern{"fma.[rn|rz|rm|rp][|.ftz].f32x2 d, d, d, d", 100},
    // Floating-point comparison
    Pattern{"setp.[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan][|.ftz].f32 p, r, r"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan].f64 p, d, d"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan][|.ftz].f16 p, h, h"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan][|.ftz].f16x2 p|p, r, r"},
    Pattern{"setp.[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan].bf16 p, h, h", 90},
    Pattern{"setp.[eq|lt|geu|nan].bf16x2 p|p, r, r", 90},
    Pattern{"setp.[lt|neu].[and|or|xor].f32 p|p, r, r, p"},
    Pattern{"set.[lt|geu|nan][|.ftz].[u32|s32|f32].f32 r, r, r"},
    Pattern{"set.[lt|geu|nan].[u32|s32|f32].f64 r, d, d"},
    Pattern{"set.[lt|geu|nan].[f16|u16|s16].f16 h, h, h"},
    Pattern{"set.[lt|geu|nan].[u32|s32].f16 r, h, h"},
    Pattern{"set.[lt|geu|nan].f16x2.f16x2 r, r, r"},
    Pattern{"set.[lt|geu|nan].[u32|s32].f16x2 r, r, r"},
    Pattern{"set.[lt|geu|nan].[bf16|u16|s16].bf16 h, h, h", 90},
    Pattern{"set.[lt|geu|nan].[u32|s32].bf16 r, h, h", 90},
    Pattern{"set.[lt|geu|nan].[bf16x2|u32|s32].bf16x2 r, r, r", 90},
    Pattern{"set.[lt|neu].[and|or|xor].f16.f32 h, r, r, p"},
    Pattern{"set.[eq|ne].f16.[b32|s32|u32] h, r, r"},
    Pattern{"set.[eq|ne].[u32|f32].b32 r, r, r"},
    // Floating-point conversion
    Pattern{"cvt.[rni|rzi|rmi|rpi][|.ftz][|.sat].[u32|s32].f32 r, r"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u8|s8|u16|s16].f32 r, r"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u64|s64].f32 d, r"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u8|s8|u16|s16|u32|s32].f64 r, d"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u64|s64].f64 d, d"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u8|s8|u16|s16].f16 h, h"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u32|s32].f16 r, h"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u64|s64].f16 d, h"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u16|s16].bf16 h, h", 90},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u32|s32].bf16 r, h", 90},
    Pattern{"cvt.[rni|rzi|rmi|rpi].[u64|s64].bf16 d, h", 90},
    Pattern{"cvt.[rn|rz|rm|rp].f32.[u8|s8|u16|s16] r, h"},
    Pattern{"cvt.[rn|rz|rm|rp][|.sat].f32.[u32|s32] r, r"},
    Pattern{"cvt.[rn|rz|rm|rp].f32.[u64|s64] r, d"},
    Pattern{"cvt.[rn|rz|rm|rp].f64.[u8|s8|u16|s16|u32|s32] d, r"},
    Pattern{"cvt.[rn|rz|rm|rp].f64.[u64|s64] d, d"},
    Pattern{"cvt.[rn|rz|rm|rp].f16.[u8|s8|u16|s16] h, h"},
    Pattern{"cvt.[rn|rz|rm|rp].f16.[u32|s32] h, r"},
    Pattern{"cvt.[rn|rz|rm|rp].f16.[u64|s64] h, d"},
    Pattern{"cvt.[rn|rz|rm|rp].bf16.[u16|s16] h, h", 90},
    Pattern{"cvt.[rn|rz|rm|rp].bf16.[u32|s32] h, r", 90},
    Pattern{"cvt.[rn|rz|rm|rp].bf16.[u64|s64] h, d", 90},
    Pattern{"cvt[|.ftz][|.sat].f64.f32 d, r"},
    Pattern{"cvt.[rn|rz|rm|rp][|.ftz][|.sat].f32.f64 r, d"},
    Pattern{"cvt[|.ftz][|.sat].f32.f32 r, r"},
    Pattern{"cvt[|.sat].f64.f64 d, d"},
    Pattern{"cvt.[rni|rzi|rmi|rpi][|.ftz][|.sat].f32.f32 r, r"},
    Pattern{"cvt.[rni|rzi|rmi|rpi][|.sat].f64.f64 d, d"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].f16.f16 h, h"},
    Pattern{"cvt.[rni|rzi|rmi|rpi].bf16.bf16 h, h", 90},
    Pattern{"cvt[|.ftz][|.sat].f32.f16 r, h"},
    Pattern{"cvt[|.ftz].f32.bf16 r, h", 90},
    Pattern{"cvt.f64.[f16|bf16] d, h", 90},
    Pattern{"cvt.[rn|rz|rm|rp][|.ftz][|.sat].f16.f32 h, r"},
    Pattern{"cvt.[rn|rz|rm|rp].f16.f64 h, d"},
    Pattern{"cvt.[rn|rz|rm|rp].bf16.f64 h, d", 90},
    Pattern{"cvt.[rn|rz|rm|rp].bf16.f16 h, h", 90},
    Pattern{"cvt.[rn|rz|rm|rp].f16.bf16 h, h", 90},
    Pattern{"cvt.[rn|rz][|.relu][|.satfinite].f16.f32 h, r", 80},
    Pattern{"cvt.[rn|rz][|.relu][|.satfinite].bf16.f32 h, r", 80},
    Pattern{"cvt.[rn|rz][|.relu][|.satfinite].[f16x2|bf16x2].f32 r, r, r", 80},
    Pattern{"cvt.rna.tf32.f32 r, r", 80},
    Pattern{"cvt.[rn|rz][|.relu].tf32.f32 r, r", 90},
    Pattern{"cvt.rn.satfinite[|.relu].[e4m3x2|e5m2x2].f32 h, r, r", 90},
    Pattern{"cvt.rn.satfinite[|.relu].[e4m3x2|e5m2x2].f16x2 h, r", 90},
    Pattern{"cvt.rn[|.relu].f16x2.[e4m3x2|e5m2x2] r, h", 90},
    // Video
    Pattern{"[vadd|vsub|vabsdiff|vmin|vmax].[u32|s32].[u32|s32].[u32|s32] r, r, r"},
    Pattern{"[vadd|vsub|vabsdiff|vmin|vmax].s32.[u32|s32].s32 r, r.[b0|b3|h1], r.[h0|b2]"},
    Pattern{"[vadd|vsub|vabsdiff|vmin|vmax].[u32|s32].u32.s32.add r, r, r.b1, r"},
    Pattern{"[vshl|vshr].[u32|s32].[u32|s32].u32.[clamp|wrap] r, r[|.b1|.h1], r"},
    Pattern{"[vshl|vshr].[u32|s32].s32.u32.wrap.add r, r, r.b1, r"},
    Pattern{"vmad.[u32.u32.u32|s32.u32.s32|s32.s32.u32|s32.s32.s32][|.po] r, r[|.h1|.b0], "
            "r.[h0|b2], r"},
    Pattern{"vset.[u32|s32].[u32|s32].[eq|ne|lt|le|gt|ge] r, r.[b1|h1], r[|.h0]"},
    Pattern{"vset.[u32|s32].s32.lt.add r, r, r, r"},
    Pattern{"[vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2].[u32.u32.u32|s32.s32.s32|s32.u32.s32]"
            "[|.sat|.add] r, r, r, r"},
    Pattern{"[vadd2|vavrg2|vmax2].[u32|s32].s32.s32[|.sat] r[.h0|.h1], r.h20, r.h13, r"},
    Pattern{"vset2.[u32|s32].[u32|s32].[eq|ne|lt|le|gt|ge][|.add] r, r, r, r"},
    Pattern{"[vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4].[u32.u32.u32|s32.s32.s32|s32.u32.s32]"
            "[|.sat|.add] r, r, r, r"},
    Pattern{"[vadd4|vavrg4|vmax4].[u32|s32].s32.s32[|.sat] r[.b0|.b31|.b210], r.b7140, r.b2266, r"},
    Pattern{"vset4.[u32|s32].[u32|s32].[eq|ne|lt|le|gt|ge][|.add] r, r, r, r"},
};

// All forms of a pattern.
inline std::vector<std::string> expand(std::string_view pattern) {
  const std::size_t open = pattern.find('[');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const std::size_t close = pattern.find(']', open);
  const std::string head(pattern.substr(0, open));
  std::string_view choices = pattern.substr(open + 1, close - open - 1);
  const std::vector<std::string> tails = expand(pattern.substr(close + 1));
  std::vector<std::string> all;
  while (true) {
    const std::size_t bar = choices.find('|');
    for (const std::string& tail : tails)
      all.push_back(head + std::string(choices.substr(0, bar)) + tail);
    if (bar == std::string_view::npos) return all;
    choices.remove_prefix(bar + 1);
  }
}

// A form with its letters replaced by registers: results %o0, %o1, ..., sources %i0, %i1, ...; both
// are given by their letters. A result that a later instruction reads again keeps its number.
struct Instance {
  std::string text; // "add.s32 %o0, %i0, %i1;"
  std::string results, sources;
};
inline Instance instantiate(std::string_view form) {
  Instance out;
  std::size_t at = 0;
  while (at < form.size()) {
    // One instruction: the mnemonic, then operands; results end at the first comma outside braces.
    const std::size_t end = std::min(form.find("; ", at), form.size());
    std::size_t i = std::min(form.find(' ', at), end);
    out.text += form.substr(at, i - at);
    bool results = true;
    int depth = 0;
    for (; i < end; ++i) {
      const char c = form[i];
      depth += c == '{' ? 1 : (c == '}' ? -1 : 0);
      if (c == ',' && depth == 0) results = false;
      const bool letter = std::string_view("hrdqp").find(c) != std::string_view::npos &&
                          std::isalnum(static_cast<unsigned char>(form[i - 1])) == 0 &&
                          (i + 1 == end || !std::isalnum(static_cast<unsigned char>(form[i + 1])));
      if (!letter) {
        out.text += c;
        continue;
      }
      std::string& list = results ? out.results : out.sources;
      if (c == 'q' && !results) { // a 128-bit source is the last 128-bit result
        out.text += "%o" + std::to_string(out.results.rfind('q'));
        continue;
      }
      out.text += (results ? "%o" : "%i") + std::to_string(list.size());
      list += c;
    }
    out.text += "; ";
    at = end == form.size() ? end : end + 2;
  }
  return out;
}

inline unsigned width_of(char letter) {
  switch (letter) {
  case 'p': return 1;
  case 'h': return 16;
  case 'r': return 32;
  case 'd': return 64;
  default: return 128;
  }
}

} // namespace ptxasw::forms
