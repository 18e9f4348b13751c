// Every register of the prologue that the sequential form needs is set before the first jump to it.
#include "rewrite/coarsen_axes.hpp"

#include <ranges>

namespace ptxasw::rewrite {

CopyAxes::CopyAxes(const reuse::BlockPlan& plan, bool host, const FrameLabels& labels,
                   Registers& registers)
    : plan_(plan), host_(host), labels_(labels), registers_(registers) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    axes_[axis].factor = plan.axes[axis].factor;
    axes_[axis].rows = plan.axes[axis].rows;
    axes_[axis].name = "xyz"[axis];
  }
}

std::string CopyAxes::read(Text& text, std::string_view special, const Axis& axis) {
  std::string reg = registers_.make("b32");
  text.line("mov.u32 \t{}, {}.{};", reg, special, axis.name);
  return reg;
}

void CopyAxes::enter(Text& text) {
  std::string groups;
  for (const Axis& axis : axes_) {
    if (axis.factor > 1) groups += fmt::format(" {} along {}", axis.factor, axis.name);
  }
  text.line("// ptxasw: one block does the work of{}", groups);
  for (Axis& axis : axes_) {
    if (axis.factor > 1) find_first(text, axis);
  }
  for (Axis& axis : axes_) {
    if (axis.factor > 1) find_end(text, axis);
  }
  for (const Axis& axis : axes_) {
    if (axis.factor > 1 && !host_) check_end(text, axis);
  }
  for (Axis& axis : axes_) {
    for (unsigned c = 1; c < axis.factor; ++c) {
      axis.places.push_back(registers_.make("b32"));
      text.line("add.u32 \t{}, {}, {};", axis.places.back(), axis.places[0], c);
    }
  }
}

// Blocks that are not the first of their group have nothing to do.
void CopyAxes::find_first(Text& text, Axis& axis) {
  axis.first = read(text, "%ctaid", axis);
  if (host_) {
    text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.first, axis.factor);
    return;
  }
  const std::string rest = registers_.make("b32"), other = registers_.make("pred");
  if ((axis.factor & (axis.factor - 1)) == 0) {
    text.line("and.b32 \t{}, {}, {};", rest, axis.first, axis.factor - 1);
  } else {
    text.line("rem.u32 \t{}, {}, {};", rest, axis.first, axis.factor);
  }
  text.line("setp.ne.u32 \t{}, {}, 0;", other, rest);
  text.line("@{} ret;", other);
}

void CopyAxes::find_end(Text& text, Axis& axis) {
  axis.count = read(text, "%nctaid", axis);
  if (host_) text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.count, axis.factor);
  axis.end = registers_.make("b32");
  text.line("add.u32 \t{}, {}, {};", axis.end, axis.first, axis.factor);
  // Row 0 of this thread in the group; the rows of one thread follow each other.
  axis.places.push_back(axis.rows ? read(text, "%tid", axis) : axis.first);
  if (axis.rows) text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.places[0], axis.factor);
}

void CopyAxes::check_end(Text& text, const Axis& axis) {
  const std::string over = registers_.make("pred");
  text.line("setp.gt.u32 \t{}, {}, {};", over, axis.end, axis.count);
  text.line("@{} bra \t{};", over, labels_.sequential);
}

std::string CopyAxes::again(const Axis& axis) const {
  return fmt::format("{}again_{}", labels_.prefix, axis.name);
}

void CopyAxes::open_loops(Text& text) {
  text.label(labels_.sequential);
  text.line("// ptxasw: copy by copy");
  for (Axis& axis : axes_) {
    if (axis.factor > 1) limit(text, axis);
  }
  for (const Axis& axis : axes_ | std::views::reverse) {
    if (axis.factor == 1) continue;
    text.line("mov.u32 \t{}, {};", axis.current, axis.places[0]);
    text.label(again(axis));
  }
}

// Where this thread's copies end. Beyond the grid there are none.
void CopyAxes::limit(Text& text, Axis& axis) {
  axis.current = registers_.make("b32");
  if (!host_) text.line("min.u32 \t{0}, {0}, {1};", axis.end, axis.count);
  if (!axis.rows) return;
  const std::string rows = read(text, "%ntid", axis), last = registers_.make("b32"),
                    none = registers_.make("pred");
  text.line("sub.u32 \t{0}, {0}, {1};", axis.end, axis.first);
  text.line("mul.lo.u32 \t{0}, {0}, {1};", axis.end, rows);
  text.line("add.u32 \t{}, {}, {};", last, axis.places[0], axis.factor);
  text.line("min.u32 \t{0}, {0}, {1};", axis.end, last);
  text.line("setp.ge.u32 \t{}, {}, {};", none, axis.places[0], axis.end);
  text.line("@{} ret;", none);
}

void CopyAxes::close_loops(Text& text) {
  text.label(labels_.next);
  for (const Axis& axis : axes_) {
    if (axis.factor == 1) continue;
    const std::string more = registers_.make("pred");
    text.line("add.u32 \t{0}, {0}, 1;", axis.current);
    text.line("setp.lt.u32 \t{}, {}, {};", more, axis.current, axis.end);
    text.line("@{} bra \t{};", more, again(axis));
  }
  text.line("ret;\n");
}

// The same in all copies: where the grid is not what the kernel takes it for.
std::optional<std::string> CopyAxes::fixed(std::string_view special) const {
  for (const Axis& axis : axes_) {
    if (axis.factor == 1 || !host_ || special.empty() || special.back() != axis.name) continue;
    if (special.starts_with("%ctaid.")) return axis.first;
    if (special.starts_with("%nctaid.")) return axis.count;
  }
  return std::nullopt;
}

template <class Place>
std::optional<std::string> CopyAxes::find(std::string_view special, const Place& place) const {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Axis& a = axes_[axis];
    if (a.factor == 1 || special.empty() || special.back() != a.name) continue;
    if (special.starts_with(a.rows ? "%tid." : "%ctaid.")) return place(axis);
  }
  return fixed(special);
}

std::optional<std::string> CopyAxes::in_copy(std::string_view special, unsigned copy) const {
  return find(special, [&](unsigned axis) { return axes_[axis].places[plan_.copies[copy][axis]]; });
}

std::optional<std::string> CopyAxes::in_loop(std::string_view special) const {
  return find(special, [&](unsigned axis) { return axes_[axis].current; });
}

} // namespace ptxasw::rewrite
