// Declarations hold from where they stand to the end of their block { }; of several in sight the
// one of the innermost block counts.
#include "passes/shared/bindings.hpp"

#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Mention;
using ptx::RegId;
using ptx::StatementKind;

namespace {

constexpr char mark_end = '\x02', piece_mark = '@';

std::string_view without_number(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

} // namespace

std::string marked(Binding meaning, std::string_view name) {
  return fmt::format("{}{}.{}{}{}", mark_begin, meaning.reg, meaning.copy, mark_end, name);
}

std::optional<BoundName> take_mark(std::string_view& text) {
  const std::size_t end = text.find(mark_end);
  if (!text.starts_with(mark_begin) || end == text.npos) return std::nullopt;
  const char *const first = text.data() + 1, *const last = text.data() + end;
  BoundName mark;
  if (*first == piece_mark) {
    std::from_chars(first + 1, last, mark.piece);
  } else {
    const auto dot = std::from_chars(first, last, mark.meaning.reg);
    if (dot.ptr != last) std::from_chars(dot.ptr + 1, last, mark.meaning.copy);
  }
  text.remove_prefix(end + 1);
  return mark;
}

std::string Names::mark_of(ptx::Range piece) {
  return fmt::format("{}{}{}{}", mark_begin, piece_mark, piece.begin, mark_end);
}

ptx::Range behind_guard(const ptx::Body& body, const ptx::Inst& inst) {
  return {ptx::syntax_of(body, inst).mnemonic.begin, ptx::range_of(body, inst).end};
}

Names::Names(const ptx::Body& body) : body_(body) {
  // Numbers of registers come out as they did for `body`.
  const ptx::Body again = ptx::resolve(*body.module, *body.function, &mentions_);
  first_.assign(std::max(body.registers.size(), again.registers.size()), ptx::none);
  for (const Mention& mention : mentions_) {
    if (mention.arg.kind != Arg::Kind::reg) continue;
    std::uint32_t& first = first_[mention.arg.id];
    first = std::min(first, mention.where.begin);
  }
  std::vector<std::uint32_t> open, inside; // blocks around, and the declarations in them
  std::vector<std::size_t> before;
  for (const ptx::Statement& statement : body.module->body_of(*body.function)) {
    if (open.empty() && statement.kind != StatementKind::scope_open) break; // has opened and closed
    switch (statement.kind) {
    case StatementKind::scope_open:
      if (open.empty()) body_start_ = statement.range.end;
      open.push_back(statement.range.begin);
      before.push_back(inside.size());
      break;
    case StatementKind::scope_close:
      while (inside.size() > before.back()) {
        declarations_[inside.back()].end = statement.range.begin;
        inside.pop_back();
      }
      before.pop_back();
      open.pop_back();
      break;
    case StatementKind::variable:
      for (std::uint32_t v = 0; v < statement.count; ++v) {
        inside.push_back(static_cast<std::uint32_t>(declarations_.size()));
        declare(body.module->variables[statement.index + v],
                {.at = statement.range.end, .block = open.back()});
      }
      break;
    default: break;
    }
  }
}

void Names::declare(const ptx::Variable& variable, const Declaration& declaration) {
  const auto number = static_cast<std::uint32_t>(declarations_.size());
  (variable.range == 0 ? by_name_ : by_prefix_)[variable.name].push_back(number);
  declarations_.push_back(declaration);
  declarations_.back().count = variable.range;
}

Names::Found Names::find(std::string_view name) const {
  Found found;
  if (const auto place = by_name_.find(name); place != by_name_.end()) {
    for (const std::uint32_t number : place->second)
      found.push_back(&declarations_[number]);
  }
  const std::string_view prefix = without_number(name), digits = name.substr(prefix.size());
  const auto place = by_prefix_.find(prefix);
  std::uint32_t member = 0;
  if (place == by_prefix_.end() || digits.empty() || (digits.size() > 1 && digits[0] == '0') ||
      std::from_chars(digits.data(), digits.data() + digits.size(), member).ec != std::errc{})
    return found;
  for (const std::uint32_t number : place->second) {
    if (member < declarations_[number].count) found.push_back(&declarations_[number]);
  }
  return found;
}

const Names::Declaration* Names::look_up(std::string_view name, std::uint32_t offset) const {
  const Declaration* best = nullptr;
  for (const Declaration* d : find(name)) {
    if (offset < d->at || offset >= d->end) continue;
    if (best == nullptr || std::pair(d->block, d->at) > std::pair(best->block, best->at)) best = d;
  }
  return best;
}

std::vector<Mention>::const_iterator Names::first_in(ptx::Range piece) const {
  return std::ranges::lower_bound(mentions_, piece.begin, {},
                                  [](const Mention& m) { return m.where.begin; });
}

ptx::Reg Names::reg(RegId reg, unsigned copy) const {
  const ptx::Register& own = body_.registers[reg];
  return {own.type, marked({reg, copy}, own.name)};
}

ptx::Predicate Names::guard(const ptx::Inst& inst, unsigned copy) const {
  if (inst.guard == ptx::none) return {};
  return {reg(inst.guard, copy), inst.guard_negated};
}

std::string Names::text(ptx::Range piece, unsigned copy) const {
  return copied(piece, [&](const Mention& m) {
    const std::string_view name = body_.module->slice(m.where);
    return m.arg.kind == Arg::Kind::reg ? marked({m.arg.id, copy}, name) : std::string(name);
  });
}

bool Names::known_at(RegId reg, ptx::InstId inst) const {
  if (first_[reg] == ptx::none) return false;
  const std::uint32_t there = ptx::range_of(body_, body_.insts[inst]).begin;
  const std::string& name = body_.registers[reg].name;
  const Declaration* declaration = look_up(name, first_[reg]);
  return declaration != nullptr && look_up(name, there) == declaration;
}

bool Names::unmistakable(RegId reg) const {
  const Found found = find(body_.registers[reg].name);
  return found.size() == 1 && found[0]->block + 1 == body_start_;
}

bool Names::declares(std::string_view name) const {
  return !find(name).empty();
}

} // namespace ptxasw::passes
