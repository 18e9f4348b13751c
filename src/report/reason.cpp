// Codes are in the order in which SCHEMA.md lists them.
#include "report/reason.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace ptxasw {
namespace {

constexpr auto codes = std::to_array<ReasonCode>({
#define PTXASW_REASON(name, code, meaning) {Reason::name, code, meaning},
#include "ptxasw/reasons.def"
#undef PTXASW_REASON
    {Reason::other, "other", "a reason without a code of its own"},
});

} // namespace

std::string_view code(Reason reason) {
  const auto found = std::ranges::find(codes, reason, &ReasonCode::reason);
  return found == codes.end() ? "" : found->code;
}

std::span<const ReasonCode> reason_codes() {
  return codes;
}

} // namespace ptxasw

namespace ptxasw::report {
namespace {

// The most frequent reason of the loads that were kept; the first of several.
const Why* loads_reason(const KernelReport& kernel) {
  std::map<std::string_view, unsigned> counts;
  const Why* most = nullptr;
  for (const AccessReport& access : kernel.accesses) {
    if (access.is_store || access.outcome != Outcome::kept || access.kept.empty()) continue;
    if (++counts[access.kept.text] > (most == nullptr ? 0 : counts[most->text]))
      most = &access.kept;
  }
  return most;
}

} // namespace

std::string_view name(Status status) {
  switch (status) {
  case Status::not_asked: return "not-asked";
  case Status::done: return "done";
  case Status::refused: return "refused";
  }
  return "";
}

std::string_view option_of(std::string_view rewrite) {
  if (rewrite == "rotation") return "loop-carry";
  if (rewrite == "rounds") return "warp-reduce";
  return rewrite;
}

std::array<std::pair<std::string_view, const Decision*>, 6> decisions(const KernelReport& kernel) {
  return {{{"coarsening", &kernel.coarsening},
           {"remapping", &kernel.remapping},
           {"rotation", &kernel.rotation},
           {"rounds", &kernel.rounds},
           {"shuffles", &kernel.shuffling},
           {"steps", &kernel.steps}}};
}

std::vector<WhyNot> why_unchanged(const KernelReport& kernel) {
  std::vector<WhyNot> result;
  if (kernel.changed) return result;
  const auto say = [&](std::string_view rewrite, const Why& why) {
    if (!why.empty()) result.push_back({rewrite, why.reason, why.text});
  };
  say("all", kernel.left_alone);
  for (const auto& [rewrite, decision] : decisions(kernel)) {
    if (rewrite == "shuffles" || rewrite == "steps") continue;
    if (decision->status == Status::refused) say(rewrite, {decision->reason, decision->text});
  }
  if (const Why* why = loads_reason(kernel)) say("shuffles", *why);
  if (result.empty())
    say("all", kernel.loads == 0 ? Why{Reason::no_loads, "it loads nothing that could be shared"}
                                 : Why{Reason::nothing_found, "nothing to gain was found"});
  return result;
}

const CoarsenCandidate* best_way(const KernelReport& kernel) {
  const auto chosen = std::ranges::find_if(kernel.weighed.ways, &CoarsenCandidate::chosen);
  if (chosen != kernel.weighed.ways.end()) return &*chosen;
  const auto best = std::ranges::max_element(kernel.weighed.ways, {}, &CoarsenCandidate::gain);
  return best == kernel.weighed.ways.end() ? nullptr : &*best;
}

std::optional<double> predicted_gain(const KernelReport& kernel) {
  if (kernel.coarsening.status != Status::done) return std::nullopt;
  const CoarsenCandidate* way = best_way(kernel);
  if (way == nullptr || !way->chosen || way->gain <= 0) return std::nullopt;
  return way->gain;
}

std::string to_string(const Hint& hint) {
  if (hint.text.empty()) return hint.what;
  const bool goes_on = hint.text.starts_with("if ") || hint.text.starts_with("which ");
  return fmt::format("{}{} {}", hint.what, goes_on ? "," : ":", hint.text);
}

std::string would_help(const KernelReport& kernel) {
  std::vector<std::string> all;
  for (const Hint& hint : kernel.hints)
    all.push_back(to_string(hint));
  return fmt::format("{}", fmt::join(all, "; or "));
}

std::string verdict(const KernelReport& kernel) {
  if (!kernel.changed) {
    const std::vector<WhyNot> why = why_unchanged(kernel);
    return why.empty() ? "left as it is"
                       : fmt::format("left as it is [{}]", code(why.front().reason));
  }
  std::vector<std::string_view> done;
  for (const auto& [rewrite, decision] : decisions(kernel))
    if (decision->status == Status::done) done.push_back(option_of(rewrite));
  std::string text = fmt::format("rewritten by {}", fmt::join(done, ", "));
  const auto chosen = std::ranges::find_if(kernel.weighed.ways, &CoarsenCandidate::chosen);
  if (chosen != kernel.weighed.ways.end() && kernel.coarsening.status == Status::done)
    text += fmt::format("; predicted to run {:.2f} times as fast", chosen->gain);
  return text;
}

} // namespace ptxasw::report
