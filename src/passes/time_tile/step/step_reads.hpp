// What a step's loads read, by cases, as places beside that of the thread: for step.cpp.
#pragma once

#include "passes/time_tile/polynomial/cases.hpp"
#include "passes/time_tile/step/step.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

inline constexpr int farthest_offset = 8;

// A load with the cases that are possible; first the one that most places have.
struct StepRead {
  const emulator::Event* event = nullptr;
  unsigned parameter = 0;
  Bounded where;      // of the branches in front of it
  bool is_all = true; // what these say
  std::vector<AddressCase> cases;
  std::vector<AddressCase> impossible;       // in launches that are usual
  std::optional<unsigned> at = std::nullopt; // of a vector that register alone
  [[nodiscard]] unsigned elements() const { return at ? 1 : event->elements; }
};

// Each register of vectors by itself.
std::vector<StepRead> by_register(const ptx::Body& body, const std::vector<StepRead>& reads);

// By case the offset. On an axis with a period places are taken modulo it.
struct StepOffsets {
  Reason against = Reason::none;
  std::string_view why; // there are none
  std::vector<Offset> offsets;
  std::vector<Offset> turns; // how many periods are added to reach the element
  std::array<std::optional<IntegerPolynomial>, 3> periods;
};

// From the element that the array's step stores.
StepOffsets find_offsets(const StepArray& array, const StepRead& read);
// Why the load is none of an element that the array's step stored; empty: it is one.
Why why_unfit(const ptx::Body& body, const StepArray& array, const StepRead& read);
// Every place that stores, and is where the load's bounds say, touches that element, whatever else
// the branches in front of the load hang on: it stores to it, or does another of the loads.
bool is_touched(const StepArray& array, const StepRead& read, std::span<const StepRead> loads);
// Of two parts the one that is loaded alone, if it is.
std::optional<unsigned> part_of(const StepArray& array, const StepRead& read);
// A load of constant memory or of a parameter, from where a register says: that may be anywhere.
bool reads_table(const ptx::Body& body, const ptx::Inst& inst);
// Any load but one of a parameter by its name.
bool loads_memory(const ptx::Body& body, const ptx::Inst& inst);
// A register of the element's width, or a wider one that a small element comes from or goes to.
bool holds_element(const ptx::Body& body, const ptx::Arg& arg, unsigned bytes);

} // namespace ptxasw::passes
