// What became of the launches: a table of kernels and shapes, as text or JSON. Before it, where
// images were loaded, what became of these. The page of a browser is drawn from that JSON by
// `ptxasw launch` (src/report/page).
#pragma once

#include "launch/images/image_table.hpp"
#include "launch/report/advice.hpp"
#include "launch/text.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::launch {

// Of launches of all kernels.
struct Totals {
  std::uint64_t with_attributes = 0;     // of the program's own: they stay as they are
  std::uint64_t batched = 0, graphs = 0; // launches that went out together, in so many graphs
  std::uint64_t passes = 0, entries = 0; // passes through sequences, by so many launches
  std::vector<ImageRow> images;
};

// Times are those of the launches that were timed, so gains are measured, not predicted. As the
// file's name asks for it.
[[nodiscard]] std::string report(const std::vector<std::shared_ptr<Shapes>>& kernels,
                                 const Totals& totals, const Settings& settings);

// To a file, or where that has no name to standard error; by calls of the system alone, since it is
// written as the program ends.
void write_report_to(const std::string& name, std::string_view text);

} // namespace ptxasw::launch
