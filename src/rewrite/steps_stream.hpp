// The text of an entry for T steps whose warps stream along the rows: for steps.cpp.
//
// A warp has a region as wide as its lanes' columns and as high as its share of the grid, and walks
// down it row by row. Of each time level it holds as many rows as a step reads, in registers: a row
// of `in` comes, and each level computes the row behind it from the level before. So the halo above
// and below is computed once for a share, not once for a region that fits on chip; neighbours'
// columns come by shuffles, nothing waits at a barrier, and there is no shared memory. What this
// computes is what a region in registers would (STEPS.md); the host may divide the rows among as
// many blocks as it likes.
#pragma once

#include "rewrite/steps_base.hpp"
#include "rewrite/steps_layout.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::rewrite {

class StreamWriter : private StepBase {
public:
  StreamWriter(const emulator::Kernel& kernel, const reuse::StepPlan& plan, const StepShape& shape,
               std::string name);

  StepEntry run();

private:
  using Row = std::vector<std::string>; // registers, by column of a thread

  [[nodiscard]] unsigned columns() const { return shape_.columns; }
  [[nodiscard]] unsigned width() const { return 32 * columns(); }
  [[nodiscard]] unsigned centre() const { return width() - halo_.both(); }
  [[nodiscard]] int far_rows(unsigned levels) const { return static_cast<int>(levels * reach_); }
  // Rows that are on their way from memory: one, or as many as a level holds.
  [[nodiscard]] unsigned ahead() const { return shape_.far_ahead ? ring_ : 1; }
  // Elements that one access to global memory may have, of so many bytes each.
  [[nodiscard]] unsigned vector_of(unsigned bytes) const {
    return std::min({columns(), 4U, 16 / bytes});
  }
  [[nodiscard]] unsigned slot(int row) const;
  [[nodiscard]] unsigned array_of(const reuse::StepArray& array) const;

  // --- Where threads are ---

  void prologue();
  void find_rows(unsigned axis);
  StepBody::Place place_of(unsigned column, const std::string& row);

  // --- A path: columns without a rim, or any ---

  void write_path(bool inner);
  void start();
  void round(unsigned levels);
  void take_row(unsigned k);
  void load_ahead(unsigned number, const std::string& guard);
  void step(unsigned k, unsigned level);
  void pass_halos(unsigned k, unsigned level);
  void pass_halos(unsigned n, unsigned k, unsigned level);
  std::string shuffled(const std::string& value, unsigned bits, int lanes);
  void store(unsigned n, const Row& values, const Row& inside);
  void next_row();

  // --- Along rims ---

  void load_needed(unsigned k);
  std::string inside_word(const std::string& row);
  std::string bit_of(const std::string& word, unsigned bit);
  std::string any_inside();

  // Of a level's row: level 0 is `in`, -1 is `out` as it was.
  Row& row_of(unsigned n, int level, int row);
  std::string& halo_of(unsigned n, int level, int row, int column);

  StepAxes axes_;
  Margin halo_;        // of the region along u, in whole threads
  unsigned reach_ = 0; // of a step along v, to either side
  unsigned ring_ = 1;  // rows of a level that are held
  // Columns of lanes to the left and right that a step reads.
  unsigned lanes_before_ = 0, lanes_behind_ = 0;

  std::string lane_, rows_, count_; // of the centre; that are taken in
  StepBody::Place corner_, place_;
  bool inner_ = true;
  std::string row_, taken_;                             // of level 0: its coordinate, its number
  std::vector<std::string> in_, out_, out_of_, stride_; // by array: where the rows are
  std::vector<std::string> in_aligned_, out_aligned_;
  std::map<std::pair<unsigned, unsigned>, Row> ahead_; // by array: rows that are on their way
  std::string in_centre_;
  std::map<std::tuple<unsigned, int, unsigned>, Row> images_;
  std::map<std::tuple<unsigned, int, unsigned, int>, std::string> halos_;
  Row words_; // by slot: which places of a row are inside
};

} // namespace ptxasw::rewrite
