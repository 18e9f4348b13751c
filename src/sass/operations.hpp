// What a function computes with floating-point numbers, as sets that do not depend on registers,
// order, or how often a line stands in the code.
//
// Two codes that have the same set compute the same things: every operation of the one has a
// counterpart in the other that is of the same line, is the same operation (product, sum, fused
// multiply-add or approximation of the hardware, with the same rounding), has the same signs, and
// reads values that were made by the same operations of the same lines. So they fused the same
// products and folded the same functions.
#pragma once

#include "sass/code.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::sass {

// Stands for lines whose values are equal, and for a copy's line in the text that was copied.
using LineMap = std::function<std::uint32_t(std::uint32_t)>;

// Every operation with the origins of its operands.
std::set<std::string> operations(const Code& code, const LineMap& line);

// One operation.
struct LineOperation {
  Operation operation = Operation::other;
  Format format = Format::none;
  std::string kind;    // "fma f32 0"
  std::string printed; // with its operands: arithmetic of which lines they are made by, if any
  bool scaled = false; // a product, and a second one by a power of two, rounded once
};

// What each line of the text becomes; `line` names the origins. Lines without floating-point
// arithmetic are left out.
using OperationsByLine = std::map<std::uint32_t, std::vector<LineOperation>>;
OperationsByLine operations_by_line(const Code& code, const LineMap& line);

} // namespace ptxasw::sass
