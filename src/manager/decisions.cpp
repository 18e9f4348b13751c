// The smallest doubt about a text is a reason to decide anew.
#include "manager/decisions.hpp"

#include "contract/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ptxasw::manager {
namespace {

constexpr unsigned least_registers = 16, most_registers = 255, most_iterations = 16;

constexpr std::array<std::string_view, 2> orders{"copies", "instructions"};

Json json_of(const Remembered::KernelDecision& decision) {
  if (!decision.chosen) return {{"kernel", decision.kernel}, {"refused", code(decision.refused)}};
  const auto& [how, gain] = *decision.chosen;
  return {{"kernel", decision.kernel},
          {"factors", how.factors},
          {"order", orders.at(how.order == CoarsenOrder::copies ? 0 : 1)},
          {"registers", how.registers},
          {"least_threads", how.least_threads},
          {"gain", gain}};
}

class Reader {
public:
  std::optional<Remembered> run(const Json& from) {
    Remembered made{.kept = read_.hash(from, "kept")};
    for (const Json& kernel : read_.list(from, "coarsening"))
      made.ways.push_back(coarsening(kernel));
    for (const auto& [kernel, how] : read_.object(from, "loop_carry").items())
      made.rotations[kernel] = {
          .iterations = read_.between(read_.member(how, "iterations"), 1U, most_iterations),
          .registers = registers(how)};
    for (const auto& [kernel, pin] : read_.object(from, "pin_fma").items()) {
      const Json& identical = read_.member(pin, "identical");
      read_.require(identical.is_boolean());
      passes::Pinning::Kernel& kept = made.pins[kernel];
      kept.identical = identical == true;
      kept.choices = read_.text(pin, "choices");
    }
    if (read_.is_broken()) return std::nullopt;
    return made;
  }

private:
  Remembered::KernelDecision coarsening(const Json& from) {
    Remembered::KernelDecision made{.kernel = read_.text(from, "kernel")};
    if (!JsonReader::has(from, "refused")) {
      made.chosen = chosen(from);
      return made;
    }
    const auto known =
        std::ranges::find(reason_codes(), read_.text(from, "refused"), &ReasonCode::code);
    read_.require(known != reason_codes().end());
    if (known != reason_codes().end()) made.refused = known->reason;
    return made;
  }

  Remembered::Choice chosen(const Json& from) {
    Remembered::Choice made{
        .how = {.factors = read_.sizes(from, "factors"),
                .least_threads = read_.number<std::uint64_t>(from, "least_threads")},
        .gain = read_.real(from, "gain")};
    const std::string order = read_.text(from, "order");
    read_.require(std::ranges::find(orders, order) != orders.end() && made.gain >= 1);
    if (order == orders[1]) made.how.order = CoarsenOrder::instructions;
    if (read_.member(from, "registers") != 0) made.how.registers = registers(from);
    return made;
  }

  unsigned registers(const Json& from) {
    return read_.between(read_.member(from, "registers"), least_registers, most_registers);
  }

  JsonReader read_;
};

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
  Json made{{"coarsening", Json::array()},
            {"loop_carry", Json::object()},
            {"pin_fma", Json::object()},
            {"kept", hexadecimal(remembered.kept)}};
  for (const Remembered::KernelDecision& decision : remembered.ways)
    made["coarsening"].push_back(json_of(decision));
  for (const auto& [kernel, how] : remembered.rotations)
    made["loop_carry"][kernel] = {{"iterations", how.iterations}, {"registers", how.registers}};
  for (const auto& [kernel, pin] : remembered.pins)
    made["pin_fma"][kernel] = {{"identical", pin.identical}, {"choices", pin.choices}};
  return to_line(made);
}

std::optional<Remembered> read_decisions(std::string_view text) {
  return Reader().run(Json::parse(text, nullptr, false));
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
