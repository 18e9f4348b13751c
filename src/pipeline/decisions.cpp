// The smallest doubt about a text is a reason to decide anew.
#include "pipeline/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace ptxasw::pipeline {
namespace {

constexpr unsigned least_registers = 16, most_registers = 255;

// The candidate that a line speaks of; its usage is not known.
std::optional<CoarsenCandidate> find_way(std::istringstream& line, const CoarsenChoices& ways) {
  Coarsening how;
  unsigned order = 0;
  double gain = 0;
  line >> how.factors[0] >> how.factors[1] >> how.factors[2] >> order >> how.registers >>
      how.least_threads >> gain;
  if (line.fail() || order > 1 || gain < 1) return std::nullopt;
  how.order = order == 0 ? CoarsenOrder::copies : CoarsenOrder::instructions;
  if (how.registers != 0 && (how.registers < least_registers || how.registers > most_registers))
    return std::nullopt;
  for (CoarsenCandidate way : ways.candidates) {
    way.how.registers = how.registers;
    if (way.how != how) continue;
    way.gain = gain;
    way.chosen = true;
    return way;
  }
  return std::nullopt;
}

} // namespace

std::string written(std::span<KernelJob* const> jobs) {
  std::string text;
  for (KernelJob* job : jobs) {
    const std::vector<CoarsenCandidate>& ways = job->ways().candidates;
    text += job->name();
    if (!ways.empty() && ways.front().chosen) {
      const auto& [factors, order, registers, least_threads] = ways.front().how;
      text += fmt::format(" {} {} {} {} {} {} {}", factors[0], factors[1], factors[2],
                          order == CoarsenOrder::copies ? 0 : 1, registers, least_threads,
                          ways.front().gain);
    } else {
      text += " -";
    }
    text += '\n';
  }
  return text;
}

bool take(std::string_view text, std::span<KernelJob* const> jobs) {
  std::istringstream lines{std::string(text)};
  std::vector<std::optional<CoarsenCandidate>> chosen;
  for (KernelJob* job : jobs) {
    std::string line, name, rest;
    if (!std::getline(lines, line)) return false;
    std::istringstream words(line);
    if (!(words >> name) || name != job->name()) return false;
    if (line == name + " -") {
      chosen.emplace_back();
      continue;
    }
    chosen.push_back(find_way(words, job->ways()));
    if (!chosen.back() || words >> rest) return false;
  }
  for (std::size_t n = 0; n < jobs.size(); ++n) {
    CoarsenChoices& ways = jobs[n]->ways();
    ways = {.original = ways.original,
            .why = "no way paid when that was decided before",
            .decided = true,
            .basis = "way remembered"};
    if (chosen[n]) ways.candidates.push_back(std::move(*chosen[n]));
  }
  return true;
}

} // namespace ptxasw::pipeline
