// The elements that a stretch of rounds is about (find.hpp): which there are, whose each access
// is, and whether they are sure to exist.
#pragma once

#include "passes/shared/axis_polynomial.hpp"
#include "passes/warp_reduce/find.hpp"
#include "passes/warp_reduce/tree_view.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxasw::passes {

// It is to memory as usual, of one element, and the element is a whole register.
bool is_of_a_register(const emulator::Kernel& kernel, const emulator::Event& access);

// Blocks have no more threads than that; false if not even a warp.
bool limit(TreeReduction& rounds, std::uint64_t elements);

class TreeElements : public TreeView {
public:
  TreeElements(emulator::Kernel& kernel, sym::Solver& solver, AxisPolynomial& relaxed,
               std::uint32_t loop)
      : TreeView(kernel), solver_(solver), relaxed_(relaxed), loop_(loop) {}

  // Cells and accesses of the stretch into `rounds`, whose begin and end are known; and its width.
  // False: it is none, and why() tells the reason.
  bool find(TreeReduction& rounds);

  [[nodiscard]] const std::vector<std::size_t>& events() const { return events_; }
  [[nodiscard]] sym::Term width() const { return width_; }

  // Elements of different cells never meet; of rounds in all warps, if the block is not too large.
  bool apart(TreeReduction& rounds);
  // All elements up to twice the width lie in a variable whose size is known: they can be read, and
  // what was read can be written back, whether the original does or not. Of rounds in all warps,
  // those of all threads of a block that is not too large.
  [[nodiscard]] bool exist(TreeReduction& rounds, std::size_t cell);
  // It loads the thread's own element, outside of the stretch.
  [[nodiscard]] bool is_own(const TreeReduction& rounds, ptx::InstId inst);

private:
  [[nodiscard]] sym::Term address(std::size_t e);
  [[nodiscard]] bool is_fixed(const TreeReduction& r, sym::Term t) const;
  bool find_cells(TreeReduction& r);
  bool add_cell(TreeReduction& r, std::size_t e);
  [[nodiscard]] sym::Term take_rows(TreeReduction& r, std::size_t e, sym::Term base);
  [[nodiscard]] bool lies_apart(std::int64_t bytes, std::int64_t length) const;
  [[nodiscard]] bool entered_with(const TreeReduction& r, std::size_t e) const;
  [[nodiscard]] std::uint32_t variable(sym::Term t) const;
  bool place(TreeReduction& r);
  bool whose(const TreeReduction& r, TreeAccess& access);
  [[nodiscard]] sym::Term where_done(std::size_t e, sym::Term address) const;
  bool is_at(sym::Term here, sym::Term own, std::size_t cell, sym::Term distance);
  bool by_register(const TreeReduction& r, TreeAccess& access, sym::Term here, sym::Term own);

  sym::Solver& solver_;
  AxisPolynomial& relaxed_;
  std::uint32_t loop_;
  sym::Term width_, width_term_;
  std::vector<std::size_t> events_; // accesses of the stretch
  std::vector<unsigned> strides_;   // by cell
  std::int64_t row_ = 0;            // bytes from row to row; 0: all rows have one base
};

} // namespace ptxasw::passes
