// Images that are passed over for one reason share a line of the table for people.
#include "prepare_table.hpp"

#include "target/chips.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace ptxasw::tool {
namespace {

using nlohmann::ordered_json;

struct Line {
  std::string from;
  std::size_t images = 0, kernels = 0, with_text = 0, versions = 0;
  std::string outcome;
};

// "1 version", "2 versions"
std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string outcome_of(const PreparedRow& row) {
  if (row.state == "failed") return "preparing it failed; the original is run";
  const std::string kept = row.state == "not kept" ? " (the store could not keep it)" : "";
  if (row.prepared.is_replaced())
    return (row.state == "found" ? "in the store" : "prepared") + kept;
  return row.prepared.words + kept;
}

// As the runtime's own, which every program has.
bool is_without_kernels(const PreparedRow& row) {
  return row.prepared.reason == image::Reason::no_kernels;
}

std::vector<Line> lines_of(const std::vector<PreparedRow>& rows) {
  std::vector<Line> lines;
  std::map<std::pair<std::string, std::string>, std::size_t> passed_over;
  const bool has_kernels = !std::ranges::all_of(rows, is_without_kernels);
  for (const PreparedRow& row : rows) {
    if (has_kernels && is_without_kernels(row)) continue;
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

// Threads of the least launch that is predicted to gain; nothing where the chip is not known.
std::optional<std::uint64_t> from_threads(const contract::Listed& version,
                                          const std::string& chip) {
  const numbers::Chip* const known = numbers::find_chip(chip);
  if (known == nullptr || version.from_waves == 0) return std::nullopt;
  return static_cast<std::uint64_t>(version.from_waves * known->processors * known->threads_per_sm);
}

std::string when_it_gains(const contract::Listed& version, const std::string& chip) {
  if (version.is_steps) return "for time steps";
  if (version.names[0].starts_with("thread-swap"))
    return "predicted when it is launched, by its rows";
  if (version.gain == 0) return "for ptxasw launch, which measures";
  const auto threads = from_threads(version, chip);
  return fmt::format("predicted: up to {:.2f} (blocks of {}){}", version.gain, version.threads,
                     threads ? fmt::format(", gains from {} threads on", *threads) : "");
}

std::string versions_text(const std::vector<contract::Listed>& versions, const std::string& chip) {
  std::size_t name_width = 0, what_width = 0;
  for (const contract::Listed& version : versions) {
    name_width = std::max(name_width, version.names[0].size());
    what_width = std::max(what_width, version.what.size());
  }
  std::string text;
  for (const contract::Listed& version : versions) {
    text += fmt::format("      {:{}}  {:{}}  {}\n", version.names[0], name_width, version.what,
                        what_width, when_it_gains(version, chip));
    for (std::size_t n = 1; n < version.names.size(); ++n)
      text += fmt::format("      {}\n", version.names[n]);
  }
  return text;
}

std::string_view meaning_of(image::Reason reason) {
  const auto rows = image::reason_rows();
  const auto found = std::ranges::find(rows, reason, &image::ReasonRow::reason);
  return found == rows.end() ? "no version" : found->meaning;
}

std::string kernels_text(const PreparedRow& row) {
  std::string text;
  for (const image::PreparedKernel& kernel : row.prepared.kernels) {
    if (kernel.versions == 0) {
      text += fmt::format("    {}: {}{}{}\n", kernel.name, meaning_of(kernel.reason),
                          kernel.words.empty() ? "" : ": ", kernel.words);
      continue;
    }
    text += fmt::format("    {}: {}\n", kernel.name, counted(kernel.versions, "version"));
    if (const auto found = row.versions.find(kernel.name); found != row.versions.end())
      text += versions_text(found->second, row.prepared.chip);
  }
  return text;
}

ordered_json as_json(const std::vector<contract::Listed>& versions, const std::string& chip) {
  ordered_json all = ordered_json::array();
  for (const contract::Listed& version : versions) {
    ordered_json one{{"names", version.names}, {"entry", version.entry}, {"does", version.what}};
    if (version.gain != 0) {
      one["predicted_at_most"] = version.gain;
      one["in_blocks_of"] = version.threads;
    }
    if (const auto threads = from_threads(version, chip)) one["gains_from_threads"] = *threads;
    all.push_back(std::move(one));
  }
  return all;
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
    if ((row.has_text || row.prepared.versions() != 0) && !row.prepared.kernels.empty())
      text += fmt::format("\n  {} at {:#x}\n{}", row.file, row.offset, kernels_text(row));
  text += versions == 0 ? "\nThere is nothing for ptxasw launch to choose from.\n"
                        : fmt::format("\n{}: run the program as ptxasw launch -- PROGRAM\n",
                                      counted(versions, "version"));
  return text;
}

std::string as_json(const Headline& headline, const std::vector<PreparedRow>& rows) {
  ordered_json all{{"chip", headline.chip},
                   {"ptxas", headline.assembler},
                   {"store", headline.folder},
                   {"images", ordered_json::array()}};
  for (const PreparedRow& row : rows) {
    ordered_json kernels = ordered_json::array();
    for (const image::PreparedKernel& kernel : row.prepared.kernels) {
      const auto versions = row.versions.find(kernel.name);
      kernels.push_back({{"name", kernel.name},
                         {"versions", versions == row.versions.end()
                                          ? ordered_json::array()
                                          : as_json(versions->second, row.prepared.chip)},
                         {"reason", code(kernel.reason)},
                         {"words", kernel.words}});
    }
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
