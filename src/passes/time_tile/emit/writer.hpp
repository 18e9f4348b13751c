// The text of an entry for T steps: for steps.cpp, which writes where threads are,
// passes/time_tile/emit/time_levels.cpp, which writes what they hold, and
// passes/time_tile/emit/halo.cpp.
#pragma once

#include "passes/time_tile/emit/frame.hpp"
#include "passes/time_tile/emit/layout.hpp"
#include "passes/time_tile/emit/steps.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::passes {

class StepWriter : private StepFrame {
public:
  using StepFrame::threads_parameter, StepFrame::arrays_parameter, StepFrame::tile_name;

  StepWriter(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
             std::string name);

  StepEntry run();

private:
  using Column = std::vector<ptx::Reg>; // by place of a thread: row by row
  using Image = std::vector<Column>;    // by array
  using Mask = Column;                  // words with a bit for each place

  // --- Where threads are (steps.cpp) ---

  void find_begins(unsigned n);
  void find_serialized_blocks();
  void prologue();
  void find_thread();
  void find_place(unsigned axis);
  void find_elements(unsigned n);
  ptx::Reg inside(const StepBody::Place& place);
  ptx::Reg inside(const StepBody::Place& place, bool along_u);
  ptx::Reg in_grid(const StepBody::Place& place, unsigned axis, const ptx::Reg& all);
  [[nodiscard]] bool separable() const;
  ptx::Reg is_aligned(unsigned n, const ptx::Reg& address);
  void finish();

  // --- What they hold (passes/time_tile/emit/time_levels.cpp) ---

  [[nodiscard]] int offset_u(const Offset& offset) const { return offset[at_.axes.u]; }
  [[nodiscard]] int offset_v(const Offset& offset) const {
    return at_.has_strips() ? offset[at_.axes.v] : 0;
  }
  [[nodiscard]] unsigned row_of(unsigned cell) const { return cell / at_.columns(); }
  [[nodiscard]] unsigned column_of(unsigned cell) const { return cell % at_.columns(); }
  StepBody::Place place_of(unsigned cell);
  // Of the place so far from this thread's first one. On a path with a rim, along an axis with a
  // period, modulo that.
  ptx::Reg coordinate(unsigned axis, int far);
  // All that a load may read: from the first case to the last.
  [[nodiscard]] static std::set<Offset> offsets_of(const StepArray& array);
  void make_images();
  void load_inside();
  void load_with_rim();
  void load_needed(const std::vector<Mask>& needed);
  // A path: regions without a rim, or any. Or one for both, where their steps are alike.
  void write_path(bool inner);
  [[nodiscard]] bool steps_alike() const;
  void write_one_path();
  [[nodiscard]] ptx::Memory in_tile(unsigned n, unsigned buffer, int column, int row) const;
  [[nodiscard]] unsigned flag_bits() const { return std::min(32U, plan_.arrays[0].bytes * 8); }
  void load(unsigned n, const ptx::Reg& first, const Column& into);
  // Whose place another thread reads.
  [[nodiscard]] std::vector<bool> passed_on(const StepArray& array) const;
  [[nodiscard]] bool by_lanes(int row) const;
  void from_lane(unsigned n, int column, int row, const ptx::Reg& into);
  enum class Regions : std::uint8_t { inside, with_rim, any };
  void loop(Regions regions);
  void keep_less();
  // `buffers`: by array, where the elements lie that a step reads; of regions with a rim.
  void step(unsigned half, const Column& buffers);
  void store_centre();
  void store_row(unsigned n, unsigned row, const ptx::Reg& at, const ptx::Reg& in_centre);

  // --- Regions with a rim (passes/time_tile/emit/halo.cpp) ---

  void find_wrapped();
  void find_shifts(unsigned axis, unsigned count, std::vector<Column>& shifts);
  // An address in this row, or in this column, of a torus.
  ptx::Reg turned_row(unsigned n, unsigned row, const ptx::Reg& at);
  ptx::Reg turned_column(unsigned n, unsigned column, const ptx::Reg& at);
  std::vector<Mask> find_halo();
  void find_case_masks();
  void find_own();
  [[nodiscard]] const Mask& case_mask(const std::vector<Bound>& bounds) const;
  // A bit for each column between the bounds, from so far on; rows between them.
  ptx::Reg column_bits(const std::vector<Bound>& bounds, int first, int end, bool stores);
  ptx::Reg row_within(const std::vector<Bound>& bounds, int row, bool stores);
  static constexpr unsigned word = 32; // bits of a mask's
  Mask no_places();
  // All bits of the word with this place.
  [[nodiscard]] std::uint64_t full_word(unsigned cell) const {
    return ~std::uint32_t{0} >> (word - std::min(word, at_.places() - cell / word * word));
  }
  void add_row(Mask& mask, int row, const ptx::Reg& bits, const ptx::Reg& in);
  Mask find_mask();
  ptx::Reg bit_of(const Mask& mask, unsigned cell);
  ptx::Reg any_of(const Mask& mask);
  // Bounds between which some load is done, or some case holds; first none.
  [[nodiscard]] std::vector<std::vector<Bound>> all_bounds() const;
  std::vector<Mask> find_stretches();
  void add_bits(ptx::Reg& to, const ptx::Source& bits, const ptx::Reg& in);
  std::vector<Mask> find_flags();
  Mask needed_by_flags(unsigned n);
  void clear_tiles();
  void load(unsigned n, const ptx::Reg& first, const Column& into, const Mask& mask);
  void load_kept(const Column& from);
  void load_older(unsigned n, const Mask& needed);
  void add_older_readers(std::vector<Mask>& needed);

  // --- Loads that hang on data (passes/time_tile/emit/late_loads.cpp) ---

  [[nodiscard]] bool has_late_loads() const;
  Mask stores_beside(const Offset& away);
  void find_late();
  void add_late_readers(std::vector<Mask>& needed);
  void find_late_shifts(unsigned axis, int far);
  void begin_late_step();
  ptx::Reg is_right(unsigned cell);
  ptx::Reg late_load(unsigned n, const StepArray::Load& load, const ptx::Reg& held, unsigned cell,
                     const ptx::Reg& right, const ptx::Reg& buffer);
  ptx::Memory late_address(unsigned n, const ptx::Reg& buffer, int column, int row);

  StepEntry entry_;
  StepLayout at_;
  ptx::Reg thread_, strip_, column_, first_row_; // in the block; its first place in the region
  StepBody::Place corner_, place_, limit_;
  ptx::Reg inside_; // the region has no rim
  ptx::Reg left_;   // steps
  // By array. Of arrays in rotation `in` and `out` are where the entry reads and writes places that
  // store; all that others have is in the program's own arrays old, now and next: turns_.
  Column in_, out_, row_stride_, mine_;
  Column elements_;                 // this thread's first behind an array's begin
  Column turns_;                    // on a path with a rim
  Column in_aligned_, out_aligned_; // by array, with several columns
  bool inner_ = true;
  unsigned copies_ = 0; // of the body
  Mask mask_;           // places that store
  ptx::Reg bit_;        // of one of them, as it is asked for
  Mask own_;            // of a torus: of these, those that are not around it
  std::vector<std::pair<std::vector<Bound>, Mask>> case_masks_;
  std::map<std::pair<unsigned, int>, ptx::Reg> wrapped_; // by axis and how far from the first
  // By array, from a place's address to where it is on a torus.
  std::vector<Column> column_shift_, row_shift_;
  std::vector<Mask> kept_;        // by array: elements that are read and that nobody stores to
  std::vector<Mask> kept_behind_; // of kept_ that has, at first, what is needed
  unsigned kept_labels_ = 0;
  Image read_, write_;
  // Of each case of such a load: places that store, are where the case holds, and read an element
  // that nobody stores to.
  std::map<const StepArray::Case*, Mask> late_;
  // By array, axis and how far from the first: from a place's address to where it is on a torus.
  std::map<std::pair<unsigned, std::pair<unsigned, int>>, ptx::Reg> late_shifts_;
  ptx::Reg done_; // steps, with the one at hand
  // How far from the region's begin values are right behind it, and in how many places.
  std::array<ptx::Reg, 2> right_from_, right_size_;
};

} // namespace ptxasw::passes
