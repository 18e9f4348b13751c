// What a step's loads read, by cases, as places beside that of the thread: for step.cpp.
#pragma once

#include "passes/time_tile/cases.hpp"
#include "passes/time_tile/step.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

inline constexpr int farthest_offset = 8;

// A load with the cases that are possible; first the one that most places have.
struct StepRead {
  const emulator::Event* event = nullptr;
  unsigned parameter = 0;
  Bounded where; // of the branches in front of it
  std::vector<AddressCase> cases;
  std::vector<AddressCase> impossible; // in launches that are usual
};

// By case the offset. On an axis with a period places are taken modulo it.
struct StepOffsets {
  Reason against = Reason::none;
  std::string_view why; // there are none
  std::vector<Offset> offsets;
  std::vector<Offset> turns; // how many periods are added to reach the element
  std::array<std::optional<IntegerPolynomial>, 3> periods;
};

// With the store's element at `element`.
StepOffsets find_offsets(const StepRead& read, const IntegerPolynomial& element);

} // namespace ptxasw::passes
