// The text of an entry for T steps: for steps.cpp, which writes where threads are, and
// steps_images.cpp, which writes what they hold.
#pragma once

#include "rewrite/steps_base.hpp"
#include "rewrite/steps_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::rewrite {

class StepWriter : private StepBase {
public:
  StepWriter(const emulator::Kernel& kernel, const reuse::StepPlan& plan, const StepShape& shape,
             std::string name)
      : StepBase(kernel, plan, shape, std::move(name)), at_(plan, shape) {}

  StepEntry run();

private:
  using Column = std::vector<std::string>; // registers, by place of a thread: row by row
  using Image = std::vector<Column>;       // by array
  using Mask = Column;                     // words with a bit for each place

  // --- Where threads are (steps.cpp) ---

  void prologue();
  void find_thread();
  void find_place(unsigned axis);
  void find_elements(unsigned n);

  // --- What they hold (steps_images.cpp) ---

  [[nodiscard]] int offset_u(const reuse::Offset& offset) const { return offset[at_.axes.u]; }
  [[nodiscard]] int offset_v(const reuse::Offset& offset) const {
    return at_.has_strips() ? offset[at_.axes.v] : 0;
  }
  [[nodiscard]] unsigned row_of(unsigned cell) const { return cell / at_.columns(); }
  [[nodiscard]] unsigned column_of(unsigned cell) const { return cell % at_.columns(); }
  StepBody::Place place_of(unsigned cell);
  // A path: regions without a rim, or any.
  void write_path(bool inner);
  Mask find_mask();
  std::string bit_of(const Mask& mask, unsigned cell);
  std::string any_of(const Mask& mask);
  void barrier() { text_.line("bar.sync \t0;"); }
  [[nodiscard]] std::string in_tile(unsigned n, unsigned buffer, int column, int row) const;
  [[nodiscard]] unsigned flag_bits() const { return std::min(32U, plan_.arrays[0].bytes * 8); }
  void load_images();
  Mask find_needed(unsigned n);
  void clear_tiles();
  void load(unsigned n, const std::string& first, const Column& into);
  void load(unsigned n, const std::string& first, const Column& into, const Mask& mask);
  // Whose place another thread reads.
  [[nodiscard]] std::vector<bool> passed_on(const reuse::StepArray& array) const;
  void step(unsigned t);
  void store_centre();
  void store_row(unsigned n, unsigned row, const std::string& at, const std::string& in_centre);

  StepLayout at_;
  std::string thread_, column_, first_row_; // in the block; the thread's first place in the region
  StepBody::Place corner_, place_;
  std::vector<std::string> in_, out_, row_stride_, mine_; // by array
  std::vector<std::string> in_aligned_, out_aligned_;     // by array, with several columns
  bool inner_ = true;
  Mask mask_;
  Image read_, write_;
};

} // namespace ptxasw::rewrite
