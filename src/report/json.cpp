// The report as JSON. SCHEMA.md describes it; a change that a reader could notice takes a new
// schema number, a new field does not.
#include "report/phrases.hpp"
#include "report/reason.hpp"
#include "report/report.hpp"

#include "target/access.hpp"

#include <nlohmann/json.hpp>

namespace ptxasw::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<Fact>& facts) {
  Json list = Json::array();
  for (const auto& fact : facts)
    list.push_back({{"kind", name(fact.kind)}, {"text", fact.text}});
  return list;
}

Json source_of(const AccessReport& access) {
  if (access.source_line == 0) return nullptr;
  return {{"file", access.source_file}, {"line", access.source_line}};
}

Json rewrite_of(const AccessReport& access) {
  if (access.outcome == Outcome::kept) return nullptr;
  return {{"delta", access.delta},
          {"from_line", access.source_ptx_line},
          {"facts", to_json(access.facts)},
          {"proof", access.proof}};
}

Json to_json(const AccessReport& access) {
  return {{"line", access.ptx_line},
          {"source", source_of(access)},
          {"kind", access.is_store ? "store" : "load"},
          {"space", access.space},
          {"qualifiers", access.qualifiers},
          {"bytes", access.bytes},
          {"address", access.address},
          {"values", access.values},
          {"lane_stride", access.lane_stride ? Json(*access.lane_stride) : Json(nullptr)},
          {"sectors", {{"least", access.sectors[0]}, {"most", access.sectors[1]}}},
          {"class", target::name(access.access)},
          {"loop_depth", access.loop_depth},
          {"outcome", name(access.outcome)},
          {"reason", access.kept.text},
          {"reason_code", code(access.kept.reason)},
          {"rewrite", rewrite_of(access)}};
}

Json to_json(const CoarsenWork& work) {
  return {{"wavefronts", work.wavefronts},     {"loads", work.loads},
          {"instructions", work.instructions}, {"repeats", work.repeats},
          {"barriers", work.barriers},         {"shared", work.shared}};
}

Json to_json(const std::optional<Usage>& usage) {
  if (!usage) return nullptr;
  const StraightPath path = usage->path.value_or(StraightPath{});
  return {{"registers", usage->registers},
          {"stack", usage->stack},
          {"spill_stores", usage->spill_stores},
          {"spill_loads", usage->spill_loads},
          {"path", path.instructions},
          {"latency", path.latency},
          {"loop_instructions", path.loop.instructions},
          {"loop_loads", path.loop.loads},
          {"loop_latency", path.loop.latency}};
}

Json to_json(const CoarsenBaseline& original) {
  return {{"work", to_json(original.work)},
          {"memory_bytes", original.memory_bytes},
          {"stored_bytes", original.stored_bytes},
          {"usage", to_json(original.usage)}};
}

Json to_json(const CoarsenCandidate& candidate) {
  const Coarsening& how = candidate.how;
  return {{"factors", how.factors},
          {"order", how.order == CoarsenOrder::copies ? "copies" : "instructions"},
          {"registers", how.registers},
          {"least_threads", how.least_threads},
          {"work", to_json(candidate.work)},
          {"usage", to_json(candidate.usage)},
          {"gain", candidate.gain},
          {"worst", candidate.worst},
          {"chosen", candidate.chosen},
          {"verdict", candidate.verdict.text},
          {"verdict_code", code(candidate.verdict.reason)}};
}

Json to_json(const std::vector<WhyNot>& reasons) {
  Json list = Json::array();
  for (const auto& why : reasons)
    list.push_back({{"rewrite", why.rewrite}, {"code", code(why.reason)}, {"text", why.text}});
  return list;
}

Json to_json(const std::vector<Hint>& hints) {
  Json list = Json::array();
  for (const Hint& hint : hints)
    list.push_back({{"what", hint.what},
                    {"text", hint.text},
                    {"predicted_gain", hint.gain > 0 ? Json(hint.gain) : Json(nullptr)}});
  return list;
}

Json decisions_of(const KernelReport& kernel) {
  Json all = Json::object();
  for (const auto& [rewrite, decision] : decisions(kernel))
    all[std::string(rewrite)] = {{"status", name(decision->status)},
                                 {"code", code(decision->reason)}};
  return all;
}

Json to_json(const StepTile& tile) {
  if (tile.count == 0) return nullptr;
  return {{"count", tile.count},
          {"width", tile.width},
          {"beside_centre", {tile.before, tile.behind}},
          {"step_reads", {tile.reads_before, tile.reads_behind}}};
}

Json to_json(const KernelReport& kernel) {
  const CoarsenCandidate* way = best_way(kernel);
  const std::optional<double> gain = predicted_gain(kernel);
  Json accesses = Json::array(), candidates = Json::array();
  for (const auto& candidate : kernel.weighed.ways)
    candidates.push_back(to_json(candidate));
  for (const auto& access : kernel.accesses)
    accesses.push_back(to_json(access));
  return {{"name", kernel.name},
          {"demangled", demangled(kernel.name)},
          {"line", kernel.ptx_line},
          {"analyzed", kernel.analyzed},
          {"changed", kernel.changed},
          {"verdict", verdict(kernel)},
          {"would_help", would_help(kernel)},
          {"hints", to_json(kernel.hints)},
          {"hints_sought", kernel.hints_sought},
          {"entries", kernel.entries},
          {"reason", kernel.left_alone.text},
          {"reason_code", code(kernel.left_alone.reason)},
          {"why_unchanged", to_json(why_unchanged(kernel))},
          {"way", way != nullptr ? Json(to_string(way->how)) : Json(nullptr)},
          {"predicted_gain", gain ? Json(*gain) : Json(nullptr)},
          {"decisions", decisions_of(kernel)},
          {"coarsening", kernel.coarsening.text},
          {"grid_divided_by", kernel.grid_divided_by},
          {"grid_rest_by_itself", kernel.grid_rest_by_itself},
          {"remapping", kernel.remapping.text},
          {"steps", kernel.steps.text},
          {"step_tile", to_json(kernel.step_tile)},
          {"rotation", kernel.rotation.text},
          {"rounds", kernel.rounds.text},
          {"coarsen",
           {{"original", to_json(kernel.weighed.as_it_is)}, {"candidates", std::move(candidates)}}},
          {"fusable", kernel.fusable},
          {"foldable", kernel.foldable},
          {"pinned", kernel.pinned},
          {"pinned_bytes", kernel.pinned_bytes},
          {"loads", kernel.loads},
          {"covered", kernel.covered},
          {"shuffles", kernel.shuffles},
          {"moves", kernel.moves},
          {"mean_delta", kernel.mean_delta},
          {"milliseconds", kernel.milliseconds},
          {"queries", {{"total", kernel.solver_queries}, {"z3", kernel.z3_queries}}},
          {"accesses", std::move(accesses)}};
}

} // namespace

std::string to_json(const Report& report, int indent) {
  Json kernels = Json::array(), messages = Json::array();
  for (const auto& kernel : report.kernels)
    kernels.push_back(to_json(kernel));
  for (const auto& message : report.messages)
    messages.push_back(
        {{"line", message.line}, {"column", message.column}, {"text", message.text}});
  const Json document = {
      {"schema", "ptxasw-report/1"},
      {"file", report.file},
      {"bytes", {{"total", report.bytes}, {"opaque", report.opaque_bytes}}},
      {"statements", {{"total", report.statements}, {"opaque", report.opaque_statements}}},
      {"milliseconds",
       {{"parse", report.parse_ms},
        {"analyze", report.analyze_ms},
        {"print", report.print_ms},
        {"search", report.search_ms}}},
      {"trials", report.trials},
      {"calls", report.calls},
      {"unasked", report.unmemoized},
      {"promise", promise(report)},
      {"messages", std::move(messages)},
      {"kernels", std::move(kernels)}};
  // Names come from the input and need not be UTF-8; replacing keeps dump() from throwing.
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ptxasw::report
