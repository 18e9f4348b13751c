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

void CopyAxes::enter(Text& text) {
  std::string groups;
  for (const unsigned axis : used_)
    groups += fmt::format(" {} along {}", axes_[axis].factor, axes_[axis].name);
  text.line("// ptxasw: one block does the work of{}", groups);
  for (const unsigned axis : used_) {
    axes_[axis].block = read(text, "%ctaid", axes_[axis]);
    axes_[axis].count = read(text, "%nctaid", axes_[axis]);
  }
  if (host_) {
    multiply_back(text);
  } else {
    leave(text);
  }
  for (const unsigned axis : used_)
    find_places(text, axes_[axis]);
}

void CopyAxes::multiply_back(Text& text) {
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    a.first = registers_.make("b32");
    text.line("mul.lo.u32 \t{}, {}, {};", a.first, a.block, a.factor);
    text.line("mul.lo.u32 \t{0}, {0}, {1};", a.count, a.factor);
  }
}

// Blocks that return do so by the first branch, behind as few instructions as can be: while they
// run they keep others from starting. (Measured on an H200 with y:4: nine more instructions in
// front of the branch made all of a stencil 12 % slower.)
void CopyAxes::leave(Text& text) {
  const std::string alone = registers_.make("pred"), other = registers_.make("pred");
  std::string rest;
  for (const unsigned axis : used_) {
    const std::string last = find_group(text, axes_[axis]);
    if (rest.empty()) {
      rest = axes_[axis].rest;
      text.line("setp.ge.u32 \t{}, {}, {};", alone, last, axes_[axis].count);
    } else {
      const std::string both = registers_.make("b32");
      text.line("or.b32 \t{}, {}, {};", both, rest, axes_[axis].rest);
      rest = both;
      text.line("setp.ge.or.u32 \t{0}, {1}, {2}, {0};", alone, last, axes_[axis].count);
    }
  }
  text.line("setp.ne.and.u32 \t{}, {}, 0, !{};", other, rest, alone);
  text.line("@{} ret;", other);
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    a.first = registers_.make("b32");
    text.line("sub.u32 \t{}, {}, {};", a.first, a.block, a.rest);
  }
  text.line("@{} bra \t{};", alone, labels_.alone);
}

// The index of the group's last block, in the grid or not.
std::string CopyAxes::find_group(Text& text, Axis& axis) {
  axis.rest = registers_.make("b32");
  std::string last = registers_.make("b32");
  if ((axis.factor & (axis.factor - 1)) == 0) {
    text.line("and.b32 \t{}, {}, {};", axis.rest, axis.block, axis.factor - 1);
    text.line("or.b32 \t{}, {}, {};", last, axis.block, axis.factor - 1);
  } else {
    text.line("rem.u32 \t{}, {}, {};", axis.rest, axis.block, axis.factor);
    text.line("sub.u32 \t{}, {}, {};", last, axis.block, axis.rest);
    text.line("add.u32 \t{0}, {0}, {1};", last, axis.factor - 1);
  }
  return last;
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
