// The frame of a coarsened kernel: which copies a thread runs, and what %ctaid is in each.
#pragma once

#include "passes/coarsen/find/block.hpp"
#include "ptx/build.hpp"
#include "ptxasw/options.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::passes {

// Labels of the frame.
struct FrameLabels {
  explicit FrameLabels(const std::string& start)
      : prefix(start), small(start + "small"), large(start + "large"), merged(start + "merged"),
        partial(start + "partial"), sequential(start + "sequential"), run(start + "run"),
        next(start + "next") {}
  std::string prefix, small, large, merged, partial, sequential, run, next;
};

class CopyAxes {
public:
  // `grid`: who sees to it that only the first block of a group works. `original_grid` names the
  // parameter with the three sizes of the original grid, where the launcher does.
  CopyAxes(const BlockPlan& plan, CoarsenGrid grid, std::string original_grid,
           const FrameLabels& labels);

  // Of a grid that is not divided: a predicate that holds where each block does its own work only,
  // which is where `small` holds (a predicate; empty: never), and in a group that hangs over the
  // end of the grid. It hangs on %ctaid and %nctaid: the threads of a block, and the blocks of a
  // group, have one answer.
  ptx::Reg alone(ptx::Code& code, const ptx::Reg& small);
  // Of whole blocks in a grid that the launcher divides along one axis: those of the groups come
  // first, and behind them, one by one, the blocks of the original grid that fill no group. A
  // predicate that holds for the latter, whose %ctaid in_loop() gives.
  ptx::Reg rest(ptx::Code& code);
  // Behind that, for those that do not: blocks that are not the first of their group return. In a
  // divided grid there are no others: a group that hangs over goes to the sequential form, as far
  // as it is in the grid.
  void enter(ptx::Code& code);
  // The loops of the sequential form around the body that is written between the two calls. `meet`:
  // what all threads do between two copies.
  void open_loops(ptx::Code& code);
  void close_loops(ptx::Code& code, std::string_view meet);

  // What stands for a special register in a copy of the lockstep form, and in the sequential one;
  // nothing if the register itself does.
  [[nodiscard]] std::optional<ptx::Reg> in_copy(ptx::Special special, unsigned copy) const;
  [[nodiscard]] std::optional<ptx::Reg> in_loop(ptx::Special special) const;

  // %ctaid of the group's first block, and the place of copy 0 along the axis: the same, or the row
  // in the group.
  [[nodiscard]] const ptx::Reg& first(unsigned axis) const { return axes_[axis].first; }
  [[nodiscard]] const ptx::Reg& place(unsigned axis) const { return axes_[axis].places[0]; }

private:
  struct Axis {
    unsigned number = 0, factor = 1;
    bool rows = false;
    ptx::Reg block, first, count; // %ctaid, that of the group, %nctaid of the original grid
    ptx::Reg rest;                // %ctaid - first
    std::vector<ptx::Reg> places; // by offset along the axis
    ptx::Reg current, end;        // the place in the sequential form, and where it ends

    [[nodiscard]] ptx::Special special(ptx::Special x) const { return ptx::along(x, number); }
  };

  void leave_to_first(ptx::Code& code);
  void read_block(ptx::Code& code, Axis& axis);
  void count_blocks(ptx::Code& code, Axis& axis);
  void find_end_of_grid(ptx::Code& code);
  void find_ends(ptx::Code& code);
  static void stay_in_grid(ptx::Code& code, const Axis& axis);
  static void find_places(ptx::Code& code, Axis& axis);
  [[nodiscard]] std::string again(const Axis& axis) const;
  template <class Place>
  [[nodiscard]] std::optional<ptx::Reg> find(ptx::Special special, const Place& place) const;

  CoarsenGrid grid_;
  std::string original_grid_;
  FrameLabels labels_;
  std::array<Axis, 3> axes_;
  std::vector<unsigned> used_; // axes with several copies
  const BlockPlan& plan_;
};

} // namespace ptxasw::passes
