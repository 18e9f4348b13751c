// The smallest doubt about a text is a reason to decide anew.
#include "manager/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace ptxasw::manager {
namespace {

constexpr unsigned least_registers = 16, most_registers = 255, most_iterations = 16;

std::string text_of(const Coarsening& how) {
  return fmt::format("{} {} {} {} {} {}", how.factors[0], how.factors[1], how.factors[2],
                     how.order == CoarsenOrder::copies ? 0 : 1, how.registers, how.least_threads);
}

bool read_way(std::istringstream& line, Remembered& into) {
  Remembered::KernelDecision way;
  line >> way.kernel >> std::ws;
  if (line.peek() == '-') {
    std::string code;
    line.get();
    line >> code;
    const auto known = std::ranges::find(reason_codes(), std::string_view(code), &ReasonCode::code);
    if (known == reason_codes().end()) return false;
    way.refused = known->reason;
  } else {
    Coarsening how;
    unsigned order = 0;
    double gain = 0;
    line >> how.factors[0] >> how.factors[1] >> how.factors[2] >> order >> how.registers >>
        how.least_threads >> gain;
    if (line.fail() || order > 1 || gain < 1) return false;
    how.order = order == 0 ? CoarsenOrder::copies : CoarsenOrder::instructions;
    if (how.registers != 0 && (how.registers < least_registers || how.registers > most_registers))
      return false;
    way.chosen = {how, gain};
  }
  into.ways.push_back(std::move(way));
  return true;
}

bool read_rotation(std::istringstream& line, Remembered& into) {
  std::string kernel;
  passes::LoopCarryCandidate way;
  line >> kernel >> way.iterations >> way.registers;
  if (line.fail() || way.iterations == 0 || way.iterations > most_iterations ||
      way.registers < least_registers || way.registers > most_registers)
    return false;
  into.rotations[kernel] = way;
  return true;
}

bool read_pin(std::istringstream& line, Remembered& into) {
  std::string kernel;
  passes::Pinning::Kernel pin;
  line >> kernel >> pin.identical >> pin.choices;
  if (line.fail()) return false;
  into.pins[kernel] = std::move(pin);
  return true;
}

// The candidate that was chosen; its usage is not known.
std::optional<CoarsenCandidate> find_way(const Remembered::Choice& chosen,
                                         const passes::CoarsenChoices& ways) {
  for (CoarsenCandidate way : ways.candidates) {
    way.how.registers = chosen.how.registers;
    if (ways.run != nullptr) way.how.least_threads = chosen.how.least_threads;
    if (way.how != chosen.how) continue;
    way.gain = chosen.gain;
    way.chosen = true;
    return way;
  }
  return std::nullopt;
}

Why why_before(Reason reason) {
  const auto known = std::ranges::find(reason_codes(), reason, &ReasonCode::reason);
  return {reason,
          fmt::format("{}, as was decided before",
                      known == reason_codes().end() ? "it pays in no way" : known->meaning)};
}

} // namespace

std::string written(const Remembered& remembered) {
  std::string text;
  for (const auto& [kernel, chosen, refused] : remembered.ways)
    text += chosen ? fmt::format("way {} {} {}\n", kernel, text_of(chosen->how), chosen->gain)
                   : fmt::format("way {} - {}\n", kernel, code(refused));
  for (const auto& [kernel, way] : remembered.rotations)
    text += fmt::format("rotate {} {} {}\n", kernel, way.iterations, way.registers);
  for (const auto& [kernel, pin] : remembered.pins)
    text += fmt::format("pin {} {} {}\n", kernel, pin.identical ? 1 : 0, pin.choices);
  return text + fmt::format("kept {}\n", remembered.kept);
}

std::optional<Remembered> read_decisions(std::string_view text) {
  Remembered result;
  std::istringstream lines{std::string(text)};
  bool complete = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, rest;
    words >> what;
    bool fits = !complete;
    if (what == "way")
      fits &= read_way(words, result);
    else if (what == "rotate")
      fits &= read_rotation(words, result);
    else if (what == "pin")
      fits &= read_pin(words, result);
    else
      fits &= complete = what == "kept" && static_cast<bool>(words >> result.kept);
    if (!fits || words >> rest) return std::nullopt;
  }
  if (!complete) return std::nullopt;
  return result;
}

bool take(const Remembered& remembered, std::span<KernelJob* const> jobs) {
  if (remembered.ways.size() != jobs.size()) return false;
  std::vector<std::optional<CoarsenCandidate>> chosen;
  for (std::size_t n = 0; n < jobs.size(); ++n) {
    const auto& [kernel, choice, refused] = remembered.ways[n];
    if (kernel != jobs[n]->name()) return false;
    chosen.emplace_back();
    if (choice) chosen.back() = find_way(*choice, jobs[n]->candidates());
    if (choice && !chosen.back()) return false;
  }
  for (std::size_t n = 0; n < jobs.size(); ++n) {
    passes::CoarsenChoices& ways = jobs[n]->candidates();
    ways = {.original = ways.original,
            .run = ways.run,
            .why = why_before(remembered.ways[n].refused),
            .decided = true,
            .basis = "way remembered"};
    if (chosen[n]) ways.candidates.push_back(std::move(*chosen[n]));
  }
  return true;
}

} // namespace ptxasw::manager
