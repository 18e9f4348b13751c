// Why a kernel was left as it was, out of what its report says of it; and the names of decisions.
#pragma once

#include "ptxasw/report.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::report {

// "not-asked", "done", "refused"
std::string_view name(Status status);

// Each rewrite with what came of it, in the order in which they are served.
std::array<std::pair<std::string_view, const Decision*>, 6> decisions(const KernelReport& kernel);

// What the option is called that asks for a rewrite: "warp-reduce" for "rounds".
std::string_view option_of(std::string_view rewrite);

// Why a kernel that was not changed was not, in the order of what was tried: of the kernel as a
// whole, of coarsening, of remapping, of rotation, of its loads (the most frequent). Never empty
// for a kernel that was not changed.
struct WhyNot {
  std::string_view rewrite; // "all", "coarsening", "remapping", "rotation", "rounds", "shuffles"
  Reason reason;
  std::string text;
};
std::vector<WhyNot> why_unchanged(const KernelReport& kernel);

// The way that was chosen or, where none was, the best that was considered; null: none was.
const CoarsenCandidate* best_way(const KernelReport& kernel);
// Time before over time after of a kernel that was coarsened, by the model. None where it was not:
// what other rewrites gain is not predicted.
std::optional<double> predicted_gain(const KernelReport& kernel);

// "--coarsen=large, if most launches fill the GPU: predicted to run 1.13 times as fast"
std::string to_string(const Hint& hint);

// All hints in a row. Empty where none is known, or none was sought.
std::string would_help(const KernelReport& kernel);

// In one line: by which rewrites, with what predicted gain; or that it was left as it is, and the
// code of the first reason.
std::string verdict(const KernelReport& kernel);

} // namespace ptxasw::report
