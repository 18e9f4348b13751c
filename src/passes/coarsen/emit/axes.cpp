// The first block of a group does the work of all of them. Every register of the prologue that
// stands behind a label is set before the first jump there.
#include "passes/coarsen/emit/axes.hpp"

#include <bit>
#include <utility>

namespace ptxasw::passes {

using ptx::Code;
using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

CopyAxes::CopyAxes(const BlockPlan& plan, CoarsenGrid grid, std::string original_grid,
                   const FrameLabels& labels)
    : grid_(grid), original_grid_(std::move(original_grid)), labels_(labels), plan_(plan) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    axes_[axis].number = axis;
    axes_[axis].factor = plan.axes[axis].factor;
    axes_[axis].rows = plan.axes[axis].rows;
    if (axes_[axis].factor > 1) used_.push_back(axis);
  }
}

void CopyAxes::enter(Code& code) {
  if (grid_ == CoarsenGrid::kernel) {
    leave_to_first(code);
  } else {
    for (const unsigned axis : used_) {
      Axis& a = axes_[axis];
      if (a.block.empty()) read_block(code, a);
      a.first = code.mul(u32, a.block, a.factor);
    }
  }
  for (const unsigned axis : used_)
    find_places(code, axes_[axis]);
  if (grid_ == CoarsenGrid::launcher && !plan_.uniform) find_end_of_grid(code);
}

void CopyAxes::read_block(Code& code, Axis& axis) {
  axis.block = code.special(axis.special(Special::ctaid_x));
  count_blocks(code, axis);
}

// Of the original grid.
void CopyAxes::count_blocks(Code& code, Axis& axis) {
  if (grid_ == CoarsenGrid::launcher) {
    axis.count = code.ld(ptx::Space::param, u32, {original_grid_, std::int64_t{4} * axis.number});
    return;
  }
  axis.count = code.special(axis.special(Special::nctaid_x));
  if (grid_ == CoarsenGrid::host) code.into(axis.count).mul(u32, axis.count, axis.factor);
}

// A group that hangs over the end of the grid has fewer blocks to do the work of.
void CopyAxes::find_end_of_grid(Code& code) {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    const Reg end = code.add(u32, a.first, a.factor);
    code.when(code.setp(gt, u32, end, a.count)).bra(labels_.partial);
  }
}

Reg CopyAxes::alone(Code& code, const Reg& small) {
  Reg alone = small;
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    read_block(code, a);
    a.rest = code.make(b32);
    Reg last; // of the group
    if (std::has_single_bit(a.factor)) {
      last = code.or_(b32, a.block, a.factor - 1);
      code.into(a.rest).and_(b32, a.block, a.factor - 1);
    } else {
      code.into(a.rest).rem(u32, a.block, a.factor);
      last = code.sub(u32, a.block, a.rest);
      code.into(last).add(u32, last, a.factor - 1);
    }
    alone = code.setp(ge, u32, last, a.count, or_, alone);
  }
  return alone;
}

// With G groups the first G blocks of the launch are theirs, and block b >= G of it is block
// b + G * (C - 1) of the original grid.
Reg CopyAxes::rest(Code& code) {
  Axis& a = axes_[used_.front()];
  read_block(code, a);
  const Reg groups = code.div(u32, a.count, a.factor);
  const Reg alone = code.setp(ge, u32, a.block, groups);
  a.current = code.mad(u32, groups, a.factor - 1, a.block);
  return alone;
}

// Blocks that return do so behind as few instructions as can be: while they run they keep others
// from starting. What is left is the first block of the group, and still its index is computed:
// ptxas takes up to 8 registers more where it sees that it is %ctaid.
void CopyAxes::leave_to_first(Code& code) {
  Reg others;
  for (const unsigned axis : used_) {
    const Reg& rest = axes_[axis].rest;
    others = others.empty() ? rest : code.or_(b32, rest, others);
  }
  code.when(code.setp(ne, u32, others, 0)).ret();
  for (const unsigned axis : used_) {
    Axis& a = axes_[axis];
    a.first = code.sub(u32, a.block, a.rest);
  }
}

// Of the rows of a group each thread does some that follow each other.
void CopyAxes::find_places(Code& code, Axis& axis) {
  Reg place = axis.first;
  if (axis.rows) {
    place = code.special(axis.special(Special::tid_x));
    code.into(place).mul(u32, place, axis.factor);
  }
  axis.places.push_back(place);
  for (unsigned c = 1; c < axis.factor; ++c)
    axis.places.push_back(code.add(u32, place, c));
}

std::string CopyAxes::again(const Axis& axis) const {
  return labels_.prefix + "again_" + "xyz"[axis.number];
}

void CopyAxes::open_loops(Code& code) {
  code.label(labels_.sequential);
  code.comment("ptxasw: copy by copy");
  for (const unsigned axis : used_)
    axes_[axis].end = code.make(b32);
  find_ends(code);
  if (grid_ == CoarsenGrid::launcher && !plan_.uniform) {
    code.bra(labels_.run);
    code.label(labels_.partial);
    code.comment("ptxasw: those that are in the grid");
    find_ends(code);
    for (const unsigned axis : used_)
      stay_in_grid(code, axes_[axis]);
    code.label(labels_.run);
  }
  for (std::size_t n = used_.size(); n-- > 0;) {
    Axis& axis = axes_[used_[n]];
    axis.current = code.mov(u32, axis.places[0]);
    code.label(again(axis));
    // Nobody waits for this form; unrolled it is as large as all others together, and its straight
    // way looks like that of the lockstep form (oracle/straight_path.hpp).
    code.statement(".pragma \t\"nounroll\";");
  }
}

void CopyAxes::find_ends(Code& code) {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    code.into(a.end).add(u32, a.places[0], a.factor);
  }
}

// Of rows there may be none left for a thread.
void CopyAxes::stay_in_grid(Code& code, const Axis& axis) {
  Reg limit = axis.count;
  if (axis.rows) {
    limit = code.sub(u32, axis.count, axis.first);
    code.into(limit).mul(u32, limit, code.special(axis.special(Special::ntid_x)));
  }
  code.into(axis.end).min(u32, axis.end, limit);
  if (axis.rows) code.when(code.setp(ge, u32, axis.places[0], axis.end)).ret();
}

void CopyAxes::close_loops(Code& code, std::string_view meet) {
  code.label(labels_.next);
  if (!meet.empty()) code.statement(meet);
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    code.into(a.current).add(u32, a.current, 1);
    code.when(code.setp(lt, u32, a.current, a.end)).bra(again(a));
  }
  code.ret();
}

// %ctaid (of rows: %tid) moves from copy to copy. Along rows %ctaid is that of the first block, and
// %nctaid is that of the original grid, for all copies.
template <class Place>
std::optional<Reg> CopyAxes::find(Special special, const Place& place) const {
  for (const unsigned axis : used_) {
    const Axis& a = axes_[axis];
    if (special == a.special(a.rows ? Special::tid_x : Special::ctaid_x)) return place(axis);
    if (special == a.special(Special::ctaid_x)) return a.first;
    if (special == a.special(Special::nctaid_x)) return a.count;
  }
  return std::nullopt;
}

std::optional<Reg> CopyAxes::in_copy(Special special, unsigned copy) const {
  return find(special, [&](unsigned axis) { return axes_[axis].places[plan_.copies[copy][axis]]; });
}

std::optional<Reg> CopyAxes::in_loop(Special special) const {
  return find(special, [&](unsigned axis) { return axes_[axis].current; });
}

} // namespace ptxasw::passes
