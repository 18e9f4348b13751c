// Images that are passed over for one reason share a line of the table for people.
#include "prepare_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace ptxasw::tool {
namespace {

using nlohmann::ordered_json;

struct Line {
  std::string from;
  std::size_t images = 0, kernels = 0, with_text = 0, versions = 0;
  std::string outcome;
};

std::string outcome_of(const PreparedRow& row) {
  if (row.state == "failed") return "preparing it failed; the original is run";
  const std::string kept = row.state == "not kept" ? " (the store could not keep it)" : "";
  if (row.prepared.is_replaced())
    return (row.state == "found" ? "in the store" : "prepared") + kept;
  return row.prepared.words + kept;
}

std::vector<Line> lines_of(const std::vector<PreparedRow>& rows) {
  std::vector<Line> lines;
  std::map<std::pair<std::string, std::string>, std::size_t> passed_over;
  for (const PreparedRow& row : rows) {
    const std::string outcome = outcome_of(row);
    std::size_t at = lines.size();
    if (row.state.empty()) at = passed_over.try_emplace({row.file, outcome}, at).first->second;
    if (at == lines.size()) lines.push_back({.from = row.file, .outcome = outcome});
    Line& line = lines[at];
    ++line.images;
    line.kernels += row.prepared.kernels.size();
    line.with_text += row.has_text ? row.prepared.kernels.size() : 0;
    line.versions += row.prepared.versions();
  }
  return lines;
}

std::string kernels_text(const image::Prepared& prepared) {
  std::string text;
  for (const image::PreparedKernel& kernel : prepared.kernels) {
    text += fmt::format("    {}: {}", kernel.name,
                        kernel.versions == 0 ? image::words(kernel.reason, prepared.chip)
                                             : fmt::format("{} versions", kernel.versions));
    text += kernel.words.empty() ? "\n" : fmt::format(" ({})\n", kernel.words);
  }
  return text;
}

} // namespace

std::string as_text(const Headline& headline, const std::vector<PreparedRow>& rows) {
  std::string text =
      fmt::format("For {}{}, with {}, into {}\n\n", headline.chip,
                  headline.was_chosen ? " (--chip=CHIP for another one)" : "",
                  headline.assembler.empty() ? "no ptxas" : "ptxas " + headline.assembler,
                  headline.folder.empty() ? "no store (HOME is not set)" : headline.folder);
  const std::vector<Line> lines = lines_of(rows);
  std::size_t width = 4;
  for (const Line& line : lines)
    width = std::max(width, line.from.size());
  text += fmt::format("{:{}}  images  kernels  with PTX  versions\n", "from", width);
  std::size_t versions = 0;
  for (const Line& line : lines) {
    text += fmt::format("{:{}}  {:6}  {:7}  {:8}  {:8}  {}\n", line.from, width, line.images,
                        line.kernels, line.with_text, line.versions, line.outcome);
    versions += line.versions;
  }
  if (rows.empty()) text += "(no fat binaries were found)\n";
  for (const PreparedRow& row : rows)
    if (row.has_text && !row.prepared.kernels.empty())
      text += fmt::format("\n  {} at {:#x}\n{}", row.file, row.offset, kernels_text(row.prepared));
  text +=
      versions == 0
          ? "\nThere is nothing for ptxasw launch to choose from.\n"
          : fmt::format("\n{} versions: run the program as ptxasw launch -- PROGRAM\n", versions);
  return text;
}

std::string as_json(const Headline& headline, const std::vector<PreparedRow>& rows) {
  ordered_json all{{"chip", headline.chip},
                   {"ptxas", headline.assembler},
                   {"store", headline.folder},
                   {"images", ordered_json::array()}};
  for (const PreparedRow& row : rows) {
    ordered_json kernels = ordered_json::array();
    for (const image::PreparedKernel& kernel : row.prepared.kernels)
      kernels.push_back({{"name", kernel.name},
                         {"versions", kernel.versions},
                         {"reason", code(kernel.reason)},
                         {"words", kernel.words}});
    all["images"].push_back(
        {{"file", row.file},
         {"offset", row.offset},
         {"bytes", row.bytes},
         {"has_ptx", row.has_text},
         {"state", row.state.empty() ? "passed over" : row.state},
         {"replaced", row.prepared.is_replaced() && !row.state.empty() && row.state != "failed"},
         {"reason", code(row.prepared.reason)},
         {"words", row.prepared.words},
         {"versions", row.prepared.versions()},
         {"kernels", std::move(kernels)}});
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

} // namespace ptxasw::tool
