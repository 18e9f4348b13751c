// A group is full or it is not for all of its blocks alike, so its blocks agree on who does what.
// Every register of the prologue that stands behind a label is set before the first jump there.
#include "rewrite/coarsen_axes.hpp"

namespace ptxasw::rewrite {

CopyAxes::CopyAxes(const reuse::BlockPlan& plan, bool host, const FrameLabels& labels,
                   Registers& registers)
    : host_(host), labels_(labels), registers_(registers), plan_(plan) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    axes_[axis].factor = plan.axes[axis].factor;
    axes_[axis].rows = plan.axes[axis].rows;
    axes_[axis].name = "xyz"[axis];
    if (axes_[axis].factor > 1) used_.push_back(axis);
  }
}

std::string CopyAxes::read(Text& text, std::string_view special, const Axis& axis) {
  std::string reg = registers_.make("b32");
  text.line("mov.u32 \t{}, {}.{};", reg, special, axis.name);
  return reg;
}

void CopyAxes::enter(Text& text, std::uint64_t least_threads) {
  std::string groups;
  for (const unsigned axis : used_)
    groups += fmt::format(" {} along {}", axes_[axis].factor, axes_[axis].name);
  text.line("// ptxasw: one block does the work of{}", groups);
  for (const unsigned axis : used_)
    find_group(text, axes_[axis]);
  if (!host_) {
    for (const unsigned axis : used_)
      leave_groups_that_hang_over(text, axes_[axis]);
    if (least_threads != 0) leave_small_grids(text, least_threads);
    for (const unsigned axis : used_) {
      const std::string other = registers_.make("pred");
      text.line("setp.ne.u32 \t{}, {}, 0;", other, axes_[axis].rest);
      text.line("@{} ret;", other);
    }
  }
  for (const unsigned axis : used_)
    find_places(text, axes_[axis]);
}

void CopyAxes::find_group(Text& text, Axis& axis) {
  axis.block = read(text, "%ctaid", axis);
  axis.count = read(text, "%nctaid", axis);
  axis.first = registers_.make("b32");
  if (host_) {
    text.line("mul.lo.u32 \t{}, {}, {};", axis.first, axis.block, axis.factor);
    text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.count, axis.factor);
    return;
  }
  axis.rest = registers_.make("b32");
  if ((axis.factor & (axis.factor - 1)) == 0) {
    text.line("and.b32 \t{}, {}, {};", axis.rest, axis.block, axis.factor - 1);
  } else {
    text.line("rem.u32 \t{}, {}, {};", axis.rest, axis.block, axis.factor);
  }
  text.line("sub.u32 \t{}, {}, {};", axis.first, axis.block, axis.rest);
}

void CopyAxes::leave_groups_that_hang_over(Text& text, const Axis& axis) {
  const std::string end = registers_.make("b32"), over = registers_.make("pred");
  text.line("add.u32 \t{}, {}, {};", end, axis.first, axis.factor);
  text.line("setp.gt.u32 \t{}, {}, {};", over, end, axis.count);
  text.line("@{} bra \t{};", over, labels_.alone);
}

// All blocks of a grid count the same threads. (A product of over 64 bits may come out small, which
// is harmless.)
void CopyAxes::leave_small_grids(Text& text, std::uint64_t least_threads) {
  std::array<std::string, 3> blocks, threads;
  for (unsigned axis = 0; axis < 3; ++axis) {
    blocks[axis] = read(text, "%nctaid", axes_[axis]);
    threads[axis] = read(text, "%ntid", axes_[axis]);
  }
  const std::string plane = registers_.make("b64"), rest = registers_.make("b64"),
                    small = registers_.make("pred");
  for (const std::string& factor : {threads[1], threads[2], blocks[2]})
    text.line("mul.lo.u32 \t{0}, {0}, {1};", threads[0], factor);
  text.line("mul.wide.u32 \t{}, {}, {};", plane, blocks[0], blocks[1]);
  text.line("cvt.u64.u32 \t{}, {};", rest, threads[0]);
  text.line("mul.lo.u64 \t{0}, {0}, {1};", plane, rest);
  text.line("setp.lt.u64 \t{}, {}, {};", small, plane, least_threads);
  text.line("@{} bra \t{};", small, labels_.alone);
}

// Of the rows of a group each thread does some that follow each other.
void CopyAxes::find_places(Text& text, Axis& axis) {
  axis.places.push_back(axis.rows ? read(text, "%tid", axis) : axis.first);
  if (axis.rows) text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.places[0], axis.factor);
  for (unsigned c = 1; c < axis.factor; ++c) {
    axis.places.push_back(registers_.make("b32"));
    text.line("add.u32 \t{}, {}, {};", axis.places.back(), axis.places[0], c);
  }
}

std::string CopyAxes::again(const Axis& axis) const {
  return fmt::format("{}again_{}", labels_.prefix, axis.name);
}

void CopyAxes::open_loops(Text& text) {
  std::vector<std::string> begins;
  for (const unsigned axis : used_) {
    begins.push_back(registers_.make("b32"));
    axes_[axis].current = registers_.make("b32");
    axes_[axis].end = registers_.make("b32");
  }
  text.label(labels_.sequential);
  text.line("// ptxasw: copy by copy");
  for (std::size_t n = 0; n < used_.size(); ++n) {
    const Axis& axis = axes_[used_[n]];
    text.line("mov.u32 \t{}, {};", begins[n], axis.places[0]);
    text.line("add.u32 \t{}, {}, {};", axis.end, begins[n], axis.factor);
  }
  if (!host_) {
    text.line("bra \t{};", labels_.run);
    text.label(labels_.alone);
    text.line("// ptxasw: this block's own work");
    for (std::size_t n = 0; n < used_.size(); ++n) {
      const Axis& axis = axes_[used_[n]];
      if (axis.rows) {
        const std::string rows = read(text, "%ntid", axis), row = read(text, "%tid", axis);
        text.line("mad.lo.u32 \t{}, {}, {}, {};", begins[n], axis.rest, rows, row);
      } else {
        text.line("mov.u32 \t{}, {};", begins[n], axis.block);
      }
      text.line("add.u32 \t{}, {}, 1;", axis.end, begins[n]);
    }
    text.label(labels_.run);
  }
  for (std::size_t n = used_.size(); n-- > 0;) {
    text.line("mov.u32 \t{}, {};", axes_[used_[n]].current, begins[n]);
    text.label(again(axes_[used_[n]]));
  }
}

void CopyAxes::close_loops(Text& text) {
  text.label(labels_.next);
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    const std::string more = registers_.make("pred");
    text.line("add.u32 \t{0}, {0}, 1;", a.current);
    text.line("setp.lt.u32 \t{}, {}, {};", more, a.current, a.end);
    text.line("@{} bra \t{};", more, again(a));
  }
  text.line("ret;\n");
}

// %ctaid (of rows: %tid) moves from copy to copy. Along rows %ctaid is that of the first block, and
// %nctaid is that of the original grid, for all copies.
template <class Place>
std::optional<std::string> CopyAxes::find(std::string_view special, const Place& place) const {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    if (special.empty() || special.back() != a.name) continue;
    if (special.starts_with(a.rows ? "%tid." : "%ctaid.")) return place(axis);
    if (special.starts_with("%ctaid.")) return a.first;
    if (special.starts_with("%nctaid.")) return a.count;
  }
  return std::nullopt;
}

std::optional<std::string> CopyAxes::in_copy(std::string_view special, unsigned copy) const {
  return find(special, [&](unsigned axis) { return axes_[axis].places[plan_.copies[copy][axis]]; });
}

std::optional<std::string> CopyAxes::in_loop(std::string_view special) const {
  return find(special, [&](unsigned axis) { return axes_[axis].current; });
}

} // namespace ptxasw::rewrite
