// Reports for people and programs: the data of ptxasw/report.hpp as text, JSON and HTML.
//
// Nothing here looks at PTX semantics; what to say was decided by the passes. All functions are
// pure and accept any report, also one that is empty or says nonsense.
#pragma once

#include "ptxasw/report.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::report {

struct TextStyle {
  unsigned width = 120; // columns; long cells wrap
  bool color = false;   // ANSI colours, for a terminal
  bool details = true;  // or a verdict on each kernel, and its accesses by families
};

// One block per kernel: a headline, then a row per access with its address, lane stride, sectors
// and what became of it. Without any rewrite the last column only appears where it has something
// to say, so the same text serves `ptxasw analyze`.
std::string to_text(const Report& report, const TextStyle& style = {});

// The schema "ptxasw-report/1", described in SCHEMA.md beside this header; without an indent, one
// line.
std::string to_json(const Report& report, int indent = 2);

// One self-contained page: the kernels by gain, each with its reason, its loads as lanes over
// addresses, the table of accesses, and its PTX before and after side by side.
std::string to_html(const Report& report, std::string_view original_text,
                    std::string_view rewritten_text);

// A line for every kernel of every report, with its verdict and what would help, and the totals.
std::string table2(std::span<const Report> reports);

// All that is known of the accesses at this line of the PTX or, when it has none, of the source.
std::string explain(const Report& report, std::uint32_t line, const TextStyle& style = {});

} // namespace ptxasw::report
