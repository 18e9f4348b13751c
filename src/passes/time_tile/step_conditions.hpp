// What has to hold of the sizes of a launch for a kernel to be a step: for step.cpp alone.
#pragma once

#include "passes/time_tile/step.hpp"

#include <optional>
#include <vector>

namespace ptxasw::passes {

// The offset with load = store + offset * strides, over whole numbers.
std::optional<Offset> offset_between(const Whole& load, const Whole& store);

// Collects what the guards say about the box of places that store, and writes the conditions and
// the touched ranges into the plan.
class StepSizes {
public:
  StepSizes(emulator::Kernel& kernel, StepPlan& plan, WholeReader reader);

  void add_guard(sym::Term fact);
  // Has to hold at every place that stores.
  void add_range(InRange range) { ranges_.push_back(std::move(range)); }
  void add_load(const WholeReader::Place& place, unsigned bytes);
  void finish();

private:
  // With the coordinate of one axis and something that is the same for all: axis + offset.
  struct Coordinate {
    unsigned axis = 0;
    Whole offset;
    std::vector<InRange> ranges; // that this rests on
  };

  bool add_comparison(sym::Term t, bool holds);
  bool add_not_first(sym::Term t);
  [[nodiscard]] std::optional<Coordinate> coordinate(sym::Term t) const;
  void require(contract::Expression value, std::string otherwise);
  void require_in_range(const Box& box, const InRange& range, const std::string& otherwise);
  void require_apart(const StepArray& array);
  void touch(unsigned parameter, bool written, const Box& box, const Whole& offset, unsigned bytes);
  [[nodiscard]] bool can_hold(std::string& why) const;

  const emulator::Kernel& k_;
  sym::Context& c_;
  StepPlan& plan_;
  WholeReader reader_;
  Box box_, around_; // of the places that store; with those that they read
  Box grid_;         // of all places
  std::vector<InRange> ranges_;
  struct Load {
    WholeReader::Place place;
    unsigned bytes = 0;
  };
  std::vector<Load> loads_;
};

} // namespace ptxasw::passes
