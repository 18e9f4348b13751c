// A .loc holds until the next one, so copies that are written elsewhere need it again.
#include "passes/coarsen/emit/leading_trivia.hpp"

#include "ptx/written.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

using ptx::StatementKind;

Leads::Leads(const ptx::Body& body, std::span<const ptx::Statement> inside, ptx::Code& code)
    : module_(*body.module), inside_(inside), code_(code) {
  std::uint32_t done = ptx::brace_of(body).end;
  const ptx::Statement* location = nullptr;
  std::vector<const ptx::Statement*> stated;
  for (const ptx::Statement& statement : inside_) {
    if (statement.kind == StatementKind::location) {
      location = &statement;
      stated.push_back(location);
      continue;
    }
    if (statement.kind == StatementKind::instruction)
      leads_.push_back({module_.slice({done, statement.range.begin}), stated, location});
    stated.clear();
    done = statement.range.end;
  }
}

void Leads::write(ptx::InstId inst, bool is_first, bool code) {
  const Lead& lead = leads_[inst];
  if (is_first) {
    for (const ptx::Statement* location : lead.stated)
      state_callers(*location);
    code_.all += lead.text;
    if (lead.text.find(".loc") != std::string_view::npos) location_ = lead.location;
  } else if (code && !code_.all.ends_with("\n\t")) {
    code_.all += "\n\t";
  }
  if (!code || lead.location == location_) return;
  if (lead.location != nullptr) state_callers(*lead.location);
  location_ = lead.location;
  if (location_ != nullptr) code_.all += fmt::format("{}\n\t", module_.slice(location_->range));
}

// ptxas takes `inlined_at` only of a place that an earlier .loc names; the one that did may have
// stood where no copy of it is written, or comes later.
void Leads::state_callers(const ptx::Statement& statement) {
  const ptx::Location& location = module_.locations[statement.index];
  const SourceLocation caller = location.inlined_at;
  if (caller != SourceLocation{} && !stated_.contains(caller)) {
    for (const ptx::Statement& other : inside_) {
      if (&other == &statement) break;
      if (other.kind != StatementKind::location) continue;
      if (place_of(module_.locations[other.index]) != caller) continue;
      state_callers(other);
      if (!code_.all.ends_with("\n\t")) code_.all += "\n\t";
      code_.all += fmt::format("{}\n\t", module_.slice(other.range));
      location_ = &other;
      break;
    }
  }
  stated_.insert(place_of(location));
}

} // namespace ptxasw::passes
