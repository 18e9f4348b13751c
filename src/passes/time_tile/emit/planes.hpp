// The text of an entry for T steps of a stencil with neighbours along three axes: blocks march
// through planes. For steps.cpp; planes.cpp writes where threads are and which elements they need,
// plane_march.cpp what they do at a position.
//
// A block has a region of a plane, wider than what it writes by what T steps read around it, and
// goes from plane to plane. At position z it loads plane z of the array, an image of level 0, and
// makes of the images of level t - 1 that of plane z - t*far of level t; plane z - T*far of the
// last one is stored. Of each level the last planes are kept in registers, as many as a step reads.
// Arrays that nobody stores to are loaded from anew for each level, by the kernel's own loads.
#pragma once

#include "passes/time_tile/emit/frame.hpp"
#include "passes/time_tile/emit/plane_layout.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ptxasw::passes {

class PlaneWriter : private StepFrame {
public:
  PlaneWriter(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
              std::string name);

  StepEntry run();

private:
  using Column = std::vector<ptx::Reg>; // by place of a thread in a plane: row by row
  using Known = std::map<std::tuple<int, int, int>, ptx::Reg>; // by plane, column, row

  // --- Where threads are, and what they need (planes.cpp) ---

  [[nodiscard]] Why why_not();
  void find_thread();
  void find_places();
  void find_stretch();
  void find_elements();
  [[nodiscard]] ptx::Reg is_aligned();
  // All guards that depend on this axis hold at the coordinate, and it is in the grid.
  ptx::Reg inside(unsigned axis, const ptx::Reg& coordinate);
  void find_kinds();
  void find_masks();
  // Of places that store, so far away: those within the bounds, as far as these are of the axis.
  using Bounds = std::vector<Bound>;
  ptx::Reg columns_where(const std::function<ptx::Reg(unsigned column)>& is);
  ptx::Reg rows_where(const std::function<ptx::Reg(unsigned row)>& is);
  ptx::Reg columns_inside(int far, const Bounds& bounds);
  ptx::Reg rows_inside(int far, const Bounds& bounds);
  ptx::Reg within_along(unsigned axis, const ptx::Reg& coordinate, const Bounds& bounds,
                        ptx::Reg all);
  ptx::Reg needed_behind(unsigned level);
  void find_first_planes();
  // The word, or nothing where the plane that was seen so long ago is not of the kind.
  ptx::Reg where_seen(const ptx::Reg& mask, unsigned ago, std::size_t kind = 0);
  ptx::Reg readers(unsigned ago);
  [[nodiscard]] unsigned full() const;
  ptx::Reg bit_of(const ptx::Reg& mask, unsigned cell);

  // --- The march (plane_march.cpp) ---

  void make_images();
  void march();
  void position(unsigned n);
  void see_plane();
  void pass_on(unsigned level, unsigned n);
  void step(unsigned level, unsigned n);
  void step_rim(unsigned level, unsigned n, const Column& into, Known& known, const ptx::Reg& rim);
  ptx::Reg rim_of(unsigned level);
  // What the place stores at the level: as in the interior, or with all cases and branches.
  // `does`: places that load from other arrays; empty: there are none.
  void compute(unsigned level, unsigned cell, const StepBody::OnChip& on_chip, const Column& into,
               bool inner, const ptx::Reg& does);
  [[nodiscard]] StepBody::Place place_of(unsigned level, unsigned cell);
  ptx::Reg element(unsigned level, unsigned n, const Offset& offset, unsigned cell, Known& known);
  void ask_for_kept(unsigned level);
  void keep(unsigned level, unsigned n);
  void load_plane(const Column& into, const ptx::Reg& needed);
  void load_masked(const ptx::Reg& at, const Column& into, const ptx::Reg& mask);
  void store_plane(const Column& from);
  [[nodiscard]] Column& image(unsigned level, int plane);
  [[nodiscard]] ptx::Memory in_tile(unsigned level, int plane, int column, int row) const;
  [[nodiscard]] unsigned row_of(unsigned cell) const { return cell / at_.columns(); }
  [[nodiscard]] unsigned column_of(unsigned cell) const { return cell % at_.columns(); }
  [[nodiscard]] unsigned vector() const;
  [[nodiscard]] unsigned bytes() const { return plan_.arrays[0].bytes; }
  [[nodiscard]] ptx::Type type() const { return ptx::bits(bytes() * 8); }
  // Planes behind the newest one whose guards are known to the plane that a level computes.
  [[nodiscard]] unsigned ago(unsigned level) const { return at_.far + 1 + level * at_.far; }
  std::string label(std::string_view what);

  PlaneLayout at_;
  ptx::Reg lane_, strip_, column_, first_row_; // in the block; its first place in the region
  StepBody::Place place_, limit_; // of the thread's first place; along w of plane 0 of the march
  ptx::Reg positions_;            // of the march
  ptx::Reg position_;             // the number of the one at hand
  ptx::Reg plane_;                // the coordinate of what it loads
  ptx::Reg in_, out_; // the thread's first element: of the next plane to load, of that to store
  ptx::Reg row_stride_, plane_stride_, aligned_;
  ptx::Reg mine_; // in the first tile
  // Planes that store, within bounds along w: what is read, and how, may hang on these. The first
  // kind has no bounds, `inner_` is that of planes in the interior.
  struct Kind {
    Bounds bounds;
    ptx::Reg seen; // a bit for each of the last planes
  };
  std::vector<Kind> kinds_;
  std::size_t inner_ = 0;
  std::size_t kind_of(const Bounds& bounds); // as far as they are along w
  [[nodiscard]] bool is_inside(const Kind& kind) const;
  [[nodiscard]] bool is_outside(const Kind& kind) const;
  // Words with a bit for each place of the thread: columns and rows store; are not in the interior;
  // store, and the centre hangs on them behind a level; elements that places so many planes away
  // read, if these are of a kind.
  ptx::Reg stores_, rim_;
  Column does_; // by level; of the last one: the centre
  struct Readers {
    int plane = 0;
    std::size_t kind = 0;
    ptx::Reg mask;
  };
  std::vector<Readers> readers_;
  // Where a case of a load holds that is not the interior's: places, in planes of a kind.
  struct Other {
    Bounds bounds;
    std::size_t kind = 0;
    ptx::Reg mask;
  };
  std::vector<Other> others_;
  ptx::Reg read_,
      kept_; // where all planes around are inside: elements that are read; that no place stores to
  ptx::Reg needed_;
  Column keeps_;                            // by level
  std::vector<std::vector<Column>> images_; // by level and plane
  Column last_; // of the last level; before that, elements that a level keeps
  ptx::Reg bit_;
  unsigned labels_made_ = 0, copies_ = 0;
};

} // namespace ptxasw::passes
