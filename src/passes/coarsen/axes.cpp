// The first block of a group does the work of all of them. Every register of the prologue that
// stands behind a label is set before the first jump there.
#include "passes/coarsen/axes.hpp"

#include <utility>

namespace ptxasw::passes {

CopyAxes::CopyAxes(const passes::BlockPlan& plan, CoarsenGrid grid, std::string original_grid,
                   const FrameLabels& labels, Registers& registers)
    : grid_(grid), original_grid_(std::move(original_grid)), labels_(labels), registers_(registers),
      plan_(plan) {
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
  if (grid_ == CoarsenGrid::kernel) {
    leave_to_first(text);
  } else {
    for (const unsigned axis : used_) {
      Axis& a = axes_[axis];
      if (a.block.empty()) read_block(text, a);
      a.first = registers_.make("b32");
      text.line("mul.lo.u32 \t{}, {}, {};", a.first, a.block, a.factor);
    }
  }
  for (const unsigned axis : used_)
    find_places(text, axes_[axis]);
  if (grid_ == CoarsenGrid::launcher && !plan_.uniform) find_end_of_grid(text);
}

void CopyAxes::read_block(Text& text, Axis& axis) {
  axis.block = read(text, "%ctaid", axis);
  count_blocks(text, axis);
}

// Of the original grid.
void CopyAxes::count_blocks(Text& text, Axis& axis) {
  if (grid_ == CoarsenGrid::launcher) {
    axis.count = registers_.make("b32");
    text.line("ld.param.u32 \t{}, [{}+{}];", axis.count, original_grid_, 4 * (axis.name - 'x'));
    return;
  }
  axis.count = read(text, "%nctaid", axis);
  if (grid_ == CoarsenGrid::host) text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.count, axis.factor);
}

// A group that hangs over the end of the grid has fewer blocks to do the work of.
void CopyAxes::find_end_of_grid(Text& text) {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    const std::string end = registers_.make("b32"), over = registers_.make("pred");
    text.line("add.u32 \t{}, {}, {};", end, a.first, a.factor);
    text.line("setp.gt.u32 \t{}, {}, {};", over, end, a.count);
    text.line("@{} bra \t{};", over, labels_.partial);
  }
}

std::string CopyAxes::alone(Text& text, const std::string& small) {
  std::string alone = small;
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    read_block(text, a);
    a.rest = registers_.make("b32");
    const std::string last = registers_.make("b32"); // of the group
    if ((a.factor & (a.factor - 1)) == 0) {
      text.line("or.b32 \t{}, {}, {};", last, a.block, a.factor - 1);
      text.line("and.b32 \t{}, {}, {};", a.rest, a.block, a.factor - 1);
    } else {
      text.line("rem.u32 \t{}, {}, {};", a.rest, a.block, a.factor);
      text.line("sub.u32 \t{}, {}, {};", last, a.block, a.rest);
      text.line("add.u32 \t{0}, {0}, {1};", last, a.factor - 1);
    }
    const std::string hangs_over = registers_.make("pred");
    if (alone.empty()) {
      text.line("setp.ge.u32 \t{}, {}, {};", hangs_over, last, a.count);
    } else {
      text.line("setp.ge.or.u32 \t{}, {}, {}, {};", hangs_over, last, a.count, alone);
    }
    alone = hangs_over;
  }
  return alone;
}

// With G groups the first G blocks of the launch are theirs, and block b >= G of it is block
// b + G * (C - 1) of the original grid.
std::string CopyAxes::rest(Text& text) {
  Axis& a = axes_[used_.front()];
  read_block(text, a);
  const std::string groups = registers_.make("b32"), alone = registers_.make("pred");
  a.current = registers_.make("b32");
  text.line("div.u32 \t{}, {}, {};", groups, a.count, a.factor);
  text.line("setp.ge.u32 \t{}, {}, {};", alone, a.block, groups);
  text.line("mad.lo.u32 \t{}, {}, {}, {};", a.current, groups, a.factor - 1, a.block);
  return alone;
}

// Blocks that return do so behind as few instructions as can be: while they run they keep others
// from starting. What is left is the first block of the group, and still its index is computed:
// ptxas takes up to 8 registers more where it sees that it is %ctaid.
void CopyAxes::leave_to_first(Text& text) {
  std::string others;
  for (const unsigned axis : used_) {
    const std::string& rest = axes_[axis].rest;
    if (others.empty()) {
      others = rest;
      continue;
    }
    const std::string both = registers_.make("b32");
    text.line("or.b32 \t{}, {}, {};", both, rest, others);
    others = both;
  }
  const std::string other = registers_.make("pred");
  text.line("setp.ne.u32 \t{}, {}, 0;", other, others);
  text.line("@{} ret;", other);
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    a.first = registers_.make("b32");
    text.line("sub.u32 \t{}, {}, {};", a.first, a.block, a.rest);
  }
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
  text.label(labels_.sequential);
  text.line("// ptxasw: copy by copy");
  for (const unsigned axis : used_)
    axes_[axis].end = registers_.make("b32");
  find_ends(text);
  if (grid_ == CoarsenGrid::launcher && !plan_.uniform) {
    text.line("bra \t{};", labels_.run);
    text.label(labels_.partial);
    text.line("// ptxasw: those that are in the grid");
    find_ends(text);
    for (const unsigned axis : used_)
      stay_in_grid(text, axes_[axis]);
    text.label(labels_.run);
  }
  for (std::size_t n = used_.size(); n-- > 0;) {
    Axis& axis = axes_[used_[n]];
    axis.current = registers_.make("b32");
    text.line("mov.u32 \t{}, {};", axis.current, axis.places[0]);
    text.label(again(axis));
    // Nobody waits for this form; unrolled it is as large as all others together, and its straight
    // way looks like that of the lockstep form (passes/coarsen/straight_path.hpp).
    text.line(".pragma \t\"nounroll\";");
  }
}

void CopyAxes::find_ends(Text& text) {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    text.line("add.u32 \t{}, {}, {};", a.end, a.places[0], a.factor);
  }
}

// Of rows there may be none left for a thread.
void CopyAxes::stay_in_grid(Text& text, const Axis& axis) {
  std::string limit = axis.count;
  if (axis.rows) {
    limit = registers_.make("b32");
    text.line("sub.u32 \t{}, {}, {};", limit, axis.count, axis.first);
    text.line("mul.lo.u32 \t{0}, {0}, {1};", limit, read(text, "%ntid", axis));
  }
  text.line("min.u32 \t{0}, {0}, {1};", axis.end, limit);
  if (!axis.rows) return;
  const std::string none = registers_.make("pred");
  text.line("setp.ge.u32 \t{}, {}, {};", none, axis.places[0], axis.end);
  text.line("@{} ret;", none);
}

void CopyAxes::close_loops(Text& text, std::string_view meet) {
  text.label(labels_.next);
  if (!meet.empty()) text.line("{}", meet);
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    const std::string more = registers_.make("pred");
    text.line("add.u32 \t{0}, {0}, 1;", a.current);
    text.line("setp.lt.u32 \t{}, {}, {};", more, a.current, a.end);
    text.line("@{} bra \t{};", more, again(a));
  }
  text.line("ret;");
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

} // namespace ptxasw::passes
