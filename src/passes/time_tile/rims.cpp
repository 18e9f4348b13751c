// Finds rows and columns, and writes the text in which they are places of two dimensions.
#include "passes/time_tile/rims.hpp"

#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel.hpp"
#include "passes/time_tile/polynomial_code.hpp"
#include "passes/time_tile/step_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::InstId;
using ptx::Reg;
using ptx::Special;
using sym::Term;
using namespace ptx::words;

namespace {

constexpr std::array of_a_line{Special::tid_x, Special::ntid_x, Special::ctaid_x,
                               Special::nctaid_x};

bool is_of_a_line(Special special) {
  return std::ranges::find(of_a_line, special) != of_a_line.end();
}

// Stores with which nothing is told to other threads.
bool is_plain_store(const Event& event) {
  return event.kind == EventKind::store && event.space == ptx::Space::global && !event.ordered;
}

class RimFinder {
public:
  RimFinder(emulator::Kernel& kernel, const StepPins::Elements& elements,
            const std::map<unsigned, unsigned>& equal)
      : k_(kernel), c_(*kernel.context), elements_(elements), places_(kernel) {
    meaning_.equal = equal;
  }

  struct Line {
    InstId store = 0;
    unsigned along = 0;
    IntegerPolynomial at;
  };
  Why refused;
  std::vector<Line> lines;

  void run() {
    refused = why_not_a_plain_kernel(k_);
    if (refused.empty() && (!k_.loops.loops.empty() || k_.loops.irreducible))
      refused = {Reason::step_loop, "a loop in a kernel whose threads lie along a line"};
    if (!refused.empty() || !find_place()) return;
    for (const Event& event : k_.trace.events)
      if (is_plain_store(event) && refused.empty()) add(event);
    if (lines.empty() && refused.empty()) refused = {Reason::step_stores, "it stores nothing"};
  }

private:
  bool find_place() {
    const Term thread = k_.trace.special(Special::tid_x),
               block = k_.trace.special(Special::ctaid_x), size = k_.trace.special(Special::ntid_x);
    if (!thread.valid() || !block.valid() || !size.valid() || c_.value(thread)) {
      refused = {Reason::step_thread, "its threads are not numbered along a line"};
      return false;
    }
    const Term place = c_.atom({.name = "line",
                                .width = 32,
                                .kind = static_cast<std::uint32_t>(emulator::AtomKind::unknown),
                                .hi = 0x7fffffff});
    meaning_.axes.emplace(place.id, 0);
    places_.add(thread.id, c_.sub(place, c_.mul(block, size)), 0, place);
    reader_.emplace(k_, meaning_);
    return true;
  }

  void refuse(const Event& event, const char* why) {
    refused = at_line(k_.body, k_.body.insts[event.inst], Reason::step_index, why);
  }

  void add(const Event& event) {
    Reading reading;
    const auto place = reader_->place(places_.at(event.address, event.block), reading);
    if (!place) return refuse(event, "where it stores is not known over whole numbers");
    const auto element = elements_.find(place->parameter);
    if (element == elements_.end())
      return refuse(event, "no stage of two dimensions stores to the array of a row or a column");
    for (const unsigned along : {0U, 1U}) {
      const IntegerPolynomial stride = element->second.along(1 - along);
      if (stride.is_zero() || place->offset.along(0) != element->second.along(along)) continue;
      const IntegerPolynomial far = place->offset.elsewhere() - element->second.elsewhere();
      const auto at = far.is_zero() ? IntegerPolynomial(0) : quotient(far, stride);
      if (!at) continue;
      if (const auto constant = at->constant(); constant && *constant < 0)
        return refuse(event, "a row or a column in front of the first place");
      lines.push_back({event.inst, along, *at});
      return;
    }
    refuse(event, "it stores neither a row nor a column of an array of two dimensions");
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const StepPins::Elements& elements_;
  Meaning meaning_;
  StepPlaces places_;
  std::optional<IntegerPolynomialReader> reader_;
};

class RimWriter {
public:
  RimWriter(const emulator::Kernel& kernel, const RimFinder::Line& line)
      : k_(kernel), body_(kernel.body), line_(line), needed_(kernel, other_stores()),
        registers_(*body_.module, "%rim"), code_(registers_),
        label_(ptx::label_prefix(*body_.module) + "rim") {}

  std::string run() {
    needed_.add_edits(edits_, label_ + "_");
    if (line_.along != 0) turn();
    const std::string out = label_ + "out";
    const auto code = body_.module->body_of(*body_.function);
    const std::uint32_t begin = range(0).begin, end = code.back().range.begin;
    edits_.push_back({{begin, begin}, pin(out)});
    edits_.push_back({{end, end}, out + ":\n\tret;\n"});
    edits_.push_back(registers_.declared_at(code.front().range.end));
    return edited_text(body_, std::move(edits_));
  }

  // Of the kernel that was read from the text. Empty: it is another one.
  [[nodiscard]] std::vector<InstId> origin(const ptx::Body& made) const {
    std::vector<InstId> kept;
    for (InstId id = 0; id < body_.insts.size(); ++id)
      if (needed_.is_needed(id) || needed_.is_branch(id)) kept.push_back(id);
    if (made.insts.size() < kept.size() + 1) return {};
    std::vector<InstId> all(made.insts.size() - kept.size() - 1, ptx::none); // in front
    all.insert(all.end(), kept.begin(), kept.end());
    all.push_back(ptx::none); // the end
    for (InstId id = 0; id < all.size(); ++id)
      if (all[id] != ptx::none && made.insts[id].op != body_.insts[all[id]].op) return {};
    return all;
  }

private:
  [[nodiscard]] ptx::Range range(InstId id) const {
    return body_.module->statements[body_.insts[id].statement].range;
  }

  [[nodiscard]] std::set<InstId> other_stores() const {
    std::set<InstId> all;
    for (const Event& event : k_.trace.events)
      if (is_plain_store(event) && event.inst != line_.store) all.insert(event.inst);
    return all;
  }

  std::string pin(const std::string& out) {
    const Reg place = code_.special(ptx::along(Special::ctaid_x, 1 - line_.along)),
              wide = code_.cvt(u64, u32, place);
    PolynomialCode numbers(code_, ParameterNames(body_), [&](unsigned) { return wide; });
    code_.when(code_.setp(ne, s64, wide, numbers.number(line_.at))).bra(out);
    return code_.in_place() + "\n\t";
  }

  // What it knows along x it knows along y.
  void turn() {
    const Names names(body_);
    for (InstId id = 0; id < body_.insts.size(); ++id)
      for (const ptx::Mention& mention : names.mentions())
        if (needed_.is_needed(id) && mention.arg.kind == Arg::Kind::special &&
            mention.where.begin >= range(id).begin && mention.where.end <= range(id).end)
          edits_.push_back(
              {mention.where, std::string(ptx::info(ptx::along(mention.arg.special, 1)).name)});
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const RimFinder::Line& line_;
  const LeftOut needed_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  const std::string label_;
  std::vector<ptx::Edit> edits_;
};

Why why_not_turned(const ptx::Function& function) {
  if (std::ranges::any_of(function.reqntid, [](std::uint32_t size) { return size != 0; }))
    return {Reason::step_form, "a column by a kernel that says how large its blocks are"};
  return {};
}

} // namespace

bool is_along_a_line(const ptx::Body& body) {
  const auto is_other = [](const Arg& arg) {
    return arg.kind == Arg::Kind::special && !is_of_a_line(arg.special);
  };
  return std::ranges::none_of(body.args, is_other) && ptx::reads_special(body, Special::tid_x) &&
         ptx::reads_special(body, Special::ctaid_x);
}

Rims find_rims(emulator::Kernel& kernel, const StepPins::Elements& elements,
               const std::map<unsigned, unsigned>& equal, const emulator::Budget& budget) {
  try {
    RimFinder finder(kernel, elements, equal);
    finder.run();
    Rims made{finder.refused, {}};
    for (const RimFinder::Line& line : finder.lines) {
      if (made.refused.empty() && line.along != 0)
        made.refused = why_not_turned(*kernel.body.function);
      if (!made.refused.empty()) break;
      RimWriter writer(kernel, line);
      OtherKernel other =
          emulate_text(writer.run(), kernel.body, budget, {}, emulator::Follow::addresses);
      made.refused = std::move(other.refused);
      if (!made.refused.empty()) break;
      const auto rim = made.all.emplace_back(std::make_shared<Rim>());
      rim->origin = writer.origin(other.kernel.body);
      if (rim->origin.empty()) made.refused = {Reason::step_form, "its text could not be read"};
      rim->module = std::move(other.module);
      rim->kernel = std::move(other.kernel);
      rim->along = line.along;
      rim->at = line.at;
    }
    return made;
  } catch (const sym::BudgetSpent& spent) {
    return {{emulator::reason_of(spent), spent.what()}, {}};
  }
}

} // namespace ptxasw::passes
