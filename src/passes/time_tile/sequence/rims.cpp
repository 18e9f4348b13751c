// Finds rows and columns, and writes the text in which they are places of two dimensions.
#include "passes/time_tile/sequence/rims.hpp"

#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/joined_guards.hpp"
#include "passes/time_tile/other_kernel/other_kernel.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "passes/time_tile/sequence/element_place.hpp"
#include "passes/time_tile/step/step_loops.hpp"
#include "ptx/written.hpp"

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
    std::array<Rim::Axis, 2> axes;
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
  // Of one thread there is none to find.
  bool find_place() {
    const Term thread = k_.trace.special(Special::tid_x),
               block = k_.trace.special(Special::ctaid_x), size = k_.trace.special(Special::ntid_x);
    if (is_known(thread)) {
      if (block.valid() != size.valid()) {
        refused = {Reason::step_thread, "its threads are not numbered along a line"};
        return false;
      }
      const Term place = c_.atom({.name = "line",
                                  .width = 32,
                                  .kind = static_cast<std::uint32_t>(emulator::AtomKind::unknown),
                                  .hi = 0x7fffffff});
      meaning_.axes.emplace(place.id, 0);
      places_.add(thread.id, block.valid() ? c_.sub(place, c_.mul(block, size)) : place, 0, place);
      knows_threads_ = true;
    } else if (block.valid() || size.valid()) {
      refused = {Reason::step_thread, "its threads are not numbered along a line"};
      return false;
    }
    reader_.emplace(k_, meaning_);
    return true;
  }
  [[nodiscard]] bool is_known(Term thread) const { return thread.valid() && !c_.value(thread); }

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
    const IntegerPolynomial &whole = element->second, own = place->offset.along(0);
    const auto at = place_of(place->offset.elsewhere() - whole.elsewhere(), whole);
    if (at && own.is_zero())
      return add(event, *at, knows_threads_ ? std::optional(0U) : std::nullopt);
    for (const unsigned along : {0U, 1U})
      if (at && own == whole.along(along) && !whole.along(1 - along).is_zero())
        return add(event, *at, along);
    refuse(event, "it stores neither a row nor a column of an array of two dimensions");
  }

  // `along`: which the threads lie; none: there is one.
  void add(const Event& event, const std::array<IntegerPolynomial, 2>& at,
           std::optional<unsigned> along) {
    const auto is_in_front = [](const IntegerPolynomial& one) {
      return one.constant() && *one.constant() < 0;
    };
    if (std::ranges::any_of(at, is_in_front))
      return refuse(event, "a row or a column in front of the first place");
    Line& made = lines.emplace_back(Line{event.inst, {}});
    for (unsigned axis = 0; axis < 2; ++axis)
      made.axes.at(axis) = {axis == along ? std::optional(0U) : std::nullopt, at.at(axis)};
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const StepPins::Elements& elements_;
  Meaning meaning_;
  StepPlaces places_;
  std::optional<IntegerPolynomialReader> reader_;
  bool knows_threads_ = false;
};

class RimWriter {
public:
  // `stores`: of those that it does.
  RimWriter(const emulator::Kernel& kernel, const std::array<Rim::Axis, 2>& axes,
            const std::set<InstId>& left_out)
      : k_(kernel), body_(kernel.body), axes_(axes), needed_(kernel, left_out),
        registers_(*body_.module, "%rim"), code_(registers_),
        label_(ptx::label_prefix(*body_.module) + "rim") {}

  std::string run() {
    needed_.add_edits(edits_, label_ + "_");
    const std::string out = label_ + "out";
    for (const unsigned axis : {0U, 1U})
      begin(axis, out);
    turn();
    const auto code = body_.module->body_of(*body_.function);
    const std::uint32_t begin = ptx::range_of(body_, 0).begin, end = code.back().range.begin;
    edits_.push_back({{begin, begin}, code_.in_place() + "\n\t"});
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
      if (all[id] != ptx::none && !numbered_.contains(all[id]) &&
          made.insts[id].op != body_.insts[all[id]].op)
        return {};
    return all;
  }

private:
  // Who goes on along an axis, and as which thread.
  void begin(unsigned axis, const std::string& out) {
    const auto& [of, at] = axes_.at(axis);
    if (axes_.at(axis).is_as_launched(axis)) return;
    for (const Special one : of_a_line)
      if (of)
        turned_.emplace(ptx::along(one, *of), std::string(ptx::info(ptx::along(one, axis)).name));
    if (of && at.is_zero()) return;
    const Reg block = code_.special(ptx::along(Special::ctaid_x, axis)),
              thread = of ? code_.special(ptx::along(Special::tid_x, axis)) : Reg{},
              place = of ? code_.mad(s32, block, code_.special(ptx::along(Special::ntid_x, axis)),
                                     thread)
                         : block,
              wide = code_.cvt(u64, u32, place);
    PolynomialCode numbers(code_, ParameterNames(body_), [&](unsigned) { return wide; });
    const Reg from = numbers.number(at);
    code_.when(code_.setp(of ? lt : ne, s64, wide, from)).bra(out);
    if (!of) return;
    const Reg low = code_.cvt(u32, u64, from), number = code_.sub(s32, place, low);
    const bool knows_blocks = ptx::reads_special(body_, ptx::along(Special::ctaid_x, *of));
    turned_[ptx::along(Special::tid_x, *of)] =
        knows_blocks ? code_.sub(s32, thread, low).name : number.name;
    if (knows_blocks) number_threads(*of, number);
  }

  // Where the kernel computes the thread's number it is told that: what it makes of it hangs on the
  // place then, and not on where the thread is in its block.
  void number_threads(unsigned of, const Reg& number) {
    const auto special = [&](Special one) { return k_.trace.special(ptx::along(one, of)); };
    const Term thread = special(Special::tid_x), block = special(Special::ctaid_x),
               size = special(Special::ntid_x);
    if (!thread.valid() || !block.valid() || !size.valid()) return;
    const Term whole = k_.context->add(k_.context->mul(block, size), thread);
    for (const emulator::Definition& one : k_.trace.definitions) {
      if (one.at_entry || one.value != whole || !needed_.is_needed(one.inst)) continue;
      const ptx::Inst& inst = body_.insts[one.inst];
      const auto dst = body_.dst(inst);
      if (inst.guard != ptx::none || inst.opaque || dst.size() != 1 ||
          ptx::group(inst.op) != ptx::Group::pure)
        continue;
      numbered_.insert(one.inst);
      edits_.push_back(
          {ptx::range_of(body_, one.inst),
           fmt::format("mov.b32 \t{}, {};", body_.registers[one.reg].name, number.name)});
    }
  }

  // What it knows along one axis it knows along another one, or of another place.
  void turn() {
    const Names names(body_);
    for (InstId id = 0; id < body_.insts.size(); ++id)
      for (const ptx::Mention& mention : names.mentions())
        if (needed_.is_needed(id) && !numbered_.contains(id) &&
            mention.arg.kind == Arg::Kind::special &&
            mention.where.begin >= ptx::range_of(body_, id).begin &&
            mention.where.end <= ptx::range_of(body_, id).end)
          if (const auto by = turned_.find(mention.arg.special); by != turned_.end())
            edits_.push_back({mention.where, by->second});
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const std::array<Rim::Axis, 2>& axes_;
  const LeftOut needed_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  const std::string label_;
  std::vector<ptx::Edit> edits_;
  std::map<Special, std::string> turned_; // what stands for it
  std::set<InstId> numbered_;             // that compute the thread's number
};

// Blocks are as large as the launch's along the axis that they had, and there are others of them.
Why why_not_placed(const ptx::Body& body, const std::array<Rim::Axis, 2>& axes) {
  const auto is_turned = [&](unsigned axis) {
    return axes.at(axis).of && axes.at(axis).of != axis;
  };
  if ((is_turned(0) || is_turned(1)) &&
      std::ranges::any_of(body.function->reqntid, [](std::uint32_t size) { return size != 0; }))
    return {Reason::step_form, "a column by a kernel that says how large its blocks are"};
  for (const auto& [of, at] : axes)
    if (of && !at.is_zero() && ptx::reads_special(body, ptx::along(Special::nctaid_x, *of)))
      return {Reason::step_thread, "it knows how many blocks there are"};
  return {};
}

} // namespace

bool is_along_a_line(const ptx::Body& body) {
  const auto is_other = [](const Arg& arg) {
    return arg.kind == Arg::Kind::special && !is_of_a_line(arg.special);
  };
  return std::ranges::none_of(body.args, is_other);
}

namespace {

// In the place of the kernel. `rim`: with its axes.
Why write(const emulator::Kernel& kernel, Rim& rim, const std::set<InstId>& left_out,
          const emulator::Budget& budget) {
  RimWriter writer(kernel, rim.axes, left_out);
  OtherKernel other =
      emulate_text(writer.run(), kernel.body, budget, {}, emulator::Follow::addresses);
  if (!other.refused.empty()) return std::move(other.refused);
  rim.origin = writer.origin(other.kernel.body);
  rim.one_block = rim.has(0) && !ptx::reads_special(kernel.body, Special::ctaid_x);
  rim.module = std::move(other.module);
  rim.kernel = std::move(other.kernel);
  return rim.origin.empty() ? Why{Reason::step_form, "its text could not be read"} : Why{};
}

std::set<InstId> other_stores(const emulator::Kernel& kernel, InstId store) {
  std::set<InstId> all;
  for (const Event& event : kernel.trace.events)
    if (is_plain_store(event) && event.inst != store) all.insert(event.inst);
  return all;
}

} // namespace

Rims find_rims(emulator::Kernel& kernel, const StepPins::Elements& elements,
               const std::map<unsigned, unsigned>& equal, const emulator::Budget& budget) {
  try {
    RimFinder finder(kernel, elements, equal);
    finder.run();
    Rims made{finder.refused, {}};
    for (const RimFinder::Line& line : finder.lines) {
      if (!made.refused.empty()) break;
      const auto rim = made.all.emplace_back(std::make_shared<Rim>());
      rim->axes = line.axes;
      made.refused = why_not_placed(kernel.body, line.axes);
      if (made.refused.empty())
        made.refused = write(kernel, *rim, other_stores(kernel, line.store), budget);
    }
    return made;
  } catch (const sym::BudgetSpent& spent) {
    return {{emulator::reason_of(spent), spent.what()}, {}};
  }
}

std::shared_ptr<Rim> moved(const emulator::Kernel& kernel,
                           const std::array<IntegerPolynomial, 2>& by,
                           const emulator::Budget& budget) {
  try {
    const auto rim = std::make_shared<Rim>();
    for (const unsigned axis : {0U, 1U}) {
      rim->axes.at(axis) = {axis, by.at(axis)};
      if (!by.at(axis).is_zero() &&
          !ptx::reads_special(kernel.body, ptx::along(Special::ctaid_x, axis)))
        return nullptr; // threads of one block
    }
    if (!why_not_placed(kernel.body, rim->axes).empty() || !write(kernel, *rim, {}, budget).empty())
      return nullptr;
    return rim;
  } catch (const sym::BudgetSpent&) {
    return nullptr;
  }
}

std::shared_ptr<Rim> joined(const emulator::Kernel& kernel, const emulator::Budget& budget) {
  try {
    auto guards = join_guards(kernel, budget);
    if (!guards) return nullptr;
    const auto rim = std::make_shared<Rim>();
    for (const unsigned axis : {0U, 1U})
      rim->axes.at(axis) = {axis, {}};
    rim->one_block = !ptx::reads_special(kernel.body, Special::ctaid_x);
    rim->origin = std::move(guards->origin);
    rim->module = std::move(guards->other.module);
    rim->kernel = std::move(guards->other.kernel);
    return rim;
  } catch (const sym::BudgetSpent&) {
    return nullptr;
  }
}

} // namespace ptxasw::passes
