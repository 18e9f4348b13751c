// Stable names for the reasons why something was left as it was. The wording of a reason is for
// people and may change with any version; its code is for programs that read logs and reports, and
// does not. One table (reason.cpp, documented in SCHEMA.md) says which wording has which code; a
// test holds every reason that the kernels of the repository give against it.
#pragma once

#include "ptxasw/report.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::report {

struct Reason {
  std::string_view code;    // "barrier"
  std::string_view phrase;  // that occurs in the wording
  std::string_view meaning; // for SCHEMA.md
};

// In the order in which they are looked for. A code may have several phrases.
std::span<const Reason> reasons();

// "" for an empty text, "other" for one that no phrase fits.
std::string_view reason_code(std::string_view wording);

// Of KernelReport::coarsening, ::remapping and ::rotation, which also say what was done.
bool is_refusal(std::string_view outcome);

// Why a kernel that was not changed was not, in the order of what was tried: of the kernel as a
// whole, of coarsening, of remapping, of rotation, of its loads (the most frequent). Never empty
// for a kernel that was not changed.
struct WhyNot {
  std::string_view rewrite; // "all", "coarsening", "remapping", "rotation", "rounds", "shuffles"
  std::string_view code;
  std::string text;
};
std::vector<WhyNot> why_unchanged(const KernelReport& kernel);

// The way that was chosen or, where none was, the best that was considered; null: none was.
const CoarsenCandidate* best_way(const KernelReport& kernel);

} // namespace ptxasw::report
