// What has to hold of the sizes of a launch for a kernel to be a step: for step.cpp.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::passes {

// The offset with load = store + offset * strides, over whole numbers.
std::optional<Offset> offset_between(const IntegerPolynomial& load, const IntegerPolynomial& store);

// Collects what the guards say about the box of places that store, and writes the conditions and
// the touched ranges into the plan.
class StepSizes {
public:
  StepSizes(emulator::Kernel& kernel, StepPlan& plan, const IntegerPolynomialReader& reader);

  void add_guard(sym::Term fact);
  // Behind the last guard.
  void close_guards();
  // How many places of the box are within the bounds, in the usual launches: none, a stretch, all.
  [[nodiscard]] double usual_places(const Bounded& where) const;
  // Along an axis, if it is the same in all usual launches.
  [[nodiscard]] std::optional<unsigned> usual_width(unsigned axis, const Bounded& where) const;
  // Has to hold of where a case holds.
  void add_bounded(const Bounded& where);
  // An address is read so at places within the bounds; or, as it is impossible there, at none.
  void add_case(const AddressCase& one, const Bounded& where);
  void add_impossible(const Bounded& one, const Bounded& where = {});
  // Has to hold at every place that stores and is within the bounds.
  void add_ranges(const std::vector<InRange>& ranges, const Bounded& where);
  // The element at so far from a place within the bounds is read.
  // `turns`: periods added to it, along axes that have one.
  void add_read(const Offset& offset, const Offset& turns, const Bounded& where);
  // Along this axis places are taken modulo a size.
  void add_period(unsigned axis, const IntegerPolynomial& period);
  void add_load(const IntegerPolynomialReader::Place& place, unsigned bytes, const Bounded& where);
  void finish();

private:
  // With the coordinate of one axis and something that is the same for all: axis + offset.
  struct Coordinate {
    unsigned axis = 0;
    IntegerPolynomial offset;
    std::vector<InRange> ranges; // that this rests on
  };

  void add_rows(const StepRows& rows);
  void add_walk(unsigned axis, const StepPlan::Walk& walk);
  bool add_comparison(sym::Term t, bool holds);
  bool add_bounds(sym::Term fact);
  [[nodiscard]] std::optional<Coordinate> coordinate(sym::Term t) const;
  void require(contract::Expression value, std::string otherwise);
  // No place of the box is.
  void require_none(const Bounded& where);
  void require_in_range(const Box& box, const InRange& range, const std::string& otherwise);
  [[nodiscard]] Box within(const Bounded& where) const;
  void narrow(Box& box, const Bound& bound) const;
  void widen(unsigned axis, const contract::Expression& first, const contract::Expression& end);
  struct Structure {
    IntegerPolynomial begin;
    Number bytes = 0;
  };
  [[nodiscard]] std::vector<Structure> structures(const StepArray& array) const;
  void require_apart(const StepArray& array);
  void add_buffer(const StepArray& array);
  [[nodiscard]] contract::Elements stored(const StepArray& array) const;
  void touch(unsigned parameter, bool written, const Box& box, const IntegerPolynomial& offset,
             unsigned bytes);
  [[nodiscard]] bool has_one_thread(unsigned axis) const;
  [[nodiscard]] contract::Quantities
  covering_launch(const std::function<std::uint64_t()>& threads) const;
  void add_rows_of(contract::Quantities& launch) const;
  [[nodiscard]] std::optional<Number> usual_length(const Span& span, std::uint64_t size) const;
  [[nodiscard]] bool can_hold(std::string& why) const;

  sym::Context& c_;
  StepPlan& plan_;
  const IntegerPolynomialReader& reader_;
  Box box_, around_;        // of the places that store; with those that they read
  Box grid_;                // of all places
  std::vector<Edge> edges_; // of the guards
  std::array<std::set<std::string>, 3> widened_;
};

} // namespace ptxasw::passes
