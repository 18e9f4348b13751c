// Finds out whether stages are a step together.
#include "passes/time_tile/sequence/sequence.hpp"

#include "passes/time_tile/sequence/element_place.hpp"
#include "passes/time_tile/sequence/sequence_rims.hpp"
#include "passes/time_tile/sequence/varying.hpp"
#include "passes/time_tile/step/step_extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::passes {
namespace {

using contract::SeenSequence;
using contract::Token;
using Part = contract::Sequence::Part;
using Equal = contract::Sequence::Equal;

class SequenceFinder {
public:
  // `written`: as StageQuestion has it.
  SequenceFinder(std::span<emulator::Kernel* const> kernels, const SeenSequence& seen,
                 std::optional<WrittenExtents> written = std::nullopt)
      : kernels_(kernels), seen_(seen), written_(std::move(written)) {}

  SequencePlan run() {
    if (!have_own_numbers(kernels_, seen_))
      return {.refused = {Reason::step_form, "what varies is no number of its own"}};
    find_equal();
    find_stores({});
    if (made_.refused.empty()) find_stages();
    if (made_.refused.empty()) find_periods();
    if (made_.refused.empty()) find_region();
    if (made_.refused.empty()) made_.tiles = shared_tiles(made_);
    made_.varying = seen_.varying;
    return std::move(made_);
  }

  using Moved = std::vector<std::shared_ptr<Rim>>; // by launch; null: it is as it is

  // Launches of kernels along a line become stages, by what the other kernels store to. Or why not.
  // `moved`: of which kernels are.
  Why find_rims(const std::vector<bool>& lines, const Moved& moved, SequenceRims& rims) {
    find_equal();
    find_stores(lines);
    for (unsigned launch = 0; launch < kernels_.size() && made_.refused.empty(); ++launch) {
      Rims found;
      if (moved[launch]) found.all = {moved[launch]};
      if (lines[launch])
        found = passes::find_rims(*kernels_[launch], elements_in(launch),
                                  questions_[launch].equal.first);
      if (!found.refused.empty()) refuse(launch, found.refused);
      rims.add(std::move(found.all));
    }
    return made_.refused;
  }

  // Kernels of two dimensions in which each place has the element of another one.
  Moved move_kernels(const std::vector<bool>& lines) {
    find_equal();
    Moved all(kernels_.size());
    for (unsigned stage = 0; stage < kernels_.size(); ++stage) {
      StageQuestion question = questions_[stage];
      question.only_stores = true;
      if (lines[stage]) continue;
      const StepPlan plan = find_stage(*kernels_[stage], question);
      if (!plan.refused.empty() || plan.arrays.empty()) continue;
      const IntegerPolynomial& element = plan.arrays[0].element;
      const auto by = place_of(element.elsewhere(), element);
      const auto is_behind = [](const IntegerPolynomial& one) { return one.constant() > 0; };
      if (by && std::ranges::any_of(*by, is_behind) && (*by)[0].constant() && (*by)[1].constant())
        all[stage] = moved(*kernels_[stage], *by);
    }
    return all;
  }

private:
  void refuse(std::size_t stage, const Why& why) {
    if (made_.refused.empty())
      made_.refused = {why.reason, fmt::format("{}: {}", seen_.kernels[stage], why.text)};
  }

  // --- Parameters --------------------------------------------------------------------------------

  [[nodiscard]] const SeenSequence::Class* class_of(const Part& part) const {
    return passes::class_of(seen_, part);
  }

  // Of a stage, the first parameter of the class.
  static std::optional<Part> of_stage(const SeenSequence::Class& one, unsigned stage) {
    const auto found = std::ranges::find(one.parts, stage, &Part::stage);
    return found == one.parts.end() ? std::nullopt : std::optional(*found);
  }

  // What has one value is read as one parameter.
  void find_equal() {
    questions_.resize(kernels_.size());
    for (StageQuestion& question : questions_)
      question.written = written_;
    for (const SeenSequence::Class& one : seen_.classes) {
      const auto as = one.bytes == 4 ? Token::Type::s32 : Token::Type::s64;
      const auto value = [&](unsigned part) {
        return contract::Expression{{.kind = Token::Kind::parameter, .as = as, .value = part}};
      };
      for (const Part& part : one.parts) {
        const Part first = *of_stage(one, part.stage);
        if (part == first || part.stage >= kernels_.size()) continue;
        EqualFields& equal = questions_[part.stage].equal;
        equal.first.emplace(part.part, first.part);
        add_equal(equal.conditions, value(part.part), value(first.part), "its sizes differ");
      }
    }
  }

  void require_equal(const Part& a, const Part& b, unsigned bytes) {
    const Equal one{std::min(a, b), std::max(a, b), bytes};
    if (a != b && std::ranges::find(made_.equal, one) == made_.equal.end())
      made_.equal.push_back(one);
  }

  // A parameter of the other stage, or a part of one that is a structure of two numbers.
  std::optional<unsigned> of_other(const Quantity& quantity, unsigned from, unsigned to) {
    const unsigned part = quantity.number;
    const unsigned bytes =
        quantity.as == Token::Type::s32 || quantity.as == Token::Type::u32 ? 4 : 8;
    for (const unsigned byte : {0U, contract::byte_of(part)}) {
      const unsigned begin =
          contract::part(contract::number_of(part), contract::byte_of(part) - byte);
      const SeenSequence::Class* const same = class_of({from, begin});
      const auto other = same == nullptr ? std::nullopt : of_stage(*same, to);
      if (!other || byte + bytes > same->bytes) continue;
      require_equal({from, begin}, *other, same->bytes);
      return contract::part(contract::number_of(other->part),
                            contract::byte_of(other->part) + byte);
    }
    return std::nullopt;
  }

  // As the other stage's parameters have it; none: it does not have them.
  std::optional<IntegerPolynomial> renamed(const IntegerPolynomial& whole, unsigned from,
                                           unsigned to) {
    if (from == to) return whole;
    IntegerPolynomial made;
    for (const auto& [product, coefficient] : whole.terms()) {
      IntegerPolynomial one(coefficient);
      for (Quantity factor : product) {
        made_.same_threads |= factor.of == Quantity::Of::threads;
        if (!factor.is_axis && factor.of == Quantity::Of::launch) {
          const auto other = of_other(factor, from, to);
          if (!other) return std::nullopt;
          factor.number = *other;
        }
        one = one * IntegerPolynomial(factor);
      }
      made = made + one;
    }
    return made;
  }

  // --- Arrays ------------------------------------------------------------------------------------

  struct Array {
    const SeenSequence::Class* pointers = nullptr; // null: one stage has it
    unsigned owner = 0;                            // the first stage that stores to it
    StepArray stored;                              // as that stage has it
  };

  [[nodiscard]] std::optional<unsigned> array_of(const Part& pointer) const {
    for (unsigned n = 0; n < arrays_.size(); ++n) {
      const Array& array = arrays_[n];
      const Part own{array.owner, array.stored.out};
      if (own == pointer || (array.pointers != nullptr && array.pointers == class_of(pointer)))
        return n;
    }
    return std::nullopt;
  }

  // Stages that store along all their axes first: what the others know of an element is told by
  // these. `without`: some that are left out.
  void find_stores(const std::vector<bool>& without) {
    stored_by_.resize(kernels_.size());
    std::vector<unsigned> later;
    for (unsigned stage = 0; stage < kernels_.size(); ++stage)
      if ((without.empty() || !without[stage]) && !find_stores_of(stage, false))
        later.push_back(stage);
    for (const unsigned stage : later)
      find_stores_of(stage, true);
  }

  // False: of some array another stage may know more.
  bool find_stores_of(unsigned stage, bool is_last) {
    StageQuestion question = questions_[stage];
    question.elements = elements_in(stage);
    question.only_stores = true;
    const StepPlan plan = find_stage(*kernels_[stage], question);
    if (!plan.refused.empty()) {
      refuse(stage, plan.refused);
      return true;
    }
    const auto may_be_pinned = [&](const StepArray& array) {
      return !array_of({stage, array.out}) &&
             std::ranges::any_of(std::array{0U, 1U, 2U}, [&](unsigned axis) {
               return plan.places.at(axis) != Place::none && array.element.along(axis).is_zero();
             });
    };
    if (!is_last && std::ranges::any_of(plan.arrays, may_be_pinned)) return false;
    for (const StepArray& array : plan.arrays)
      add_stores(stage, array);
    return true;
  }

  void add_stores(unsigned stage, const StepArray& array) {
    stored_by_[stage].push_back(array.out);
    const auto known = array_of({stage, array.out});
    if (!known) {
      arrays_.push_back({class_of({stage, array.out}), stage, array});
      return;
    }
    const StepArray& first = arrays_[*known].stored;
    const auto element = renamed(first.element, arrays_[*known].owner, stage);
    if (!element || *element != array.element || first.bytes != array.bytes ||
        first.parts != array.parts)
      refuse(stage, {Reason::step_several_arrays,
                     "its elements are not those of the stage that stores to them, too"});
  }

  // By the stage's pointer: those that other stages store to.
  std::map<unsigned, IntegerPolynomial> elements_in(unsigned stage) {
    std::map<unsigned, IntegerPolynomial> all;
    for (const Array& array : arrays_) {
      if (array.pointers == nullptr || array.owner == stage) continue;
      for (const Part& pointer : array.pointers->parts)
        if (pointer.stage == stage)
          if (const auto element = renamed(array.stored.element, array.owner, stage))
            all.emplace(pointer.part, *element);
    }
    return all;
  }

  // Arrays of other stages that this one has a pointer to.
  std::vector<StepArray> foreign_of(unsigned stage) {
    std::vector<StepArray> all;
    for (const Array& array : arrays_) {
      if (array.pointers == nullptr || array.owner == stage) continue;
      for (const Part& pointer : array.pointers->parts) {
        if (pointer.stage != stage || stores_to(stage, pointer)) continue;
        StepArray& made = all.emplace_back(array.stored);
        made.foreign = true;
        made.in = made.out = pointer.part;
        made.stores.clear();
        made.element = renamed(array.stored.element, array.owner, stage)
                           .value_or(IntegerPolynomial()); // at no constant offset of that
      }
    }
    return all;
  }

  [[nodiscard]] bool stores_to(unsigned stage, const Part& pointer) const {
    return std::ranges::any_of(stored_by_[stage], [&](unsigned out) {
      const auto one = array_of({stage, out});
      return one && one == array_of(pointer);
    });
  }

  void find_stages() {
    for (unsigned stage = 0; stage < kernels_.size(); ++stage) {
      StageQuestion question = questions_[stage];
      question.foreign = foreign_of(stage);
      question.elements = elements_in(stage);
      SequencePlan::Stage& made = made_.stages.emplace_back();
      made.launch = stage;
      made.plan = find_stage(*kernels_[stage], question);
      StepPlan& plan = made.plan;
      if (!plan.refused.empty()) return refuse(stage, plan.refused);
      if (std::ranges::any_of(plan.walks, [](const auto& walk) { return walk.has_value(); }))
        return refuse(stage, {Reason::step_loop, "its threads go from place to place"});
      if (!plan.variables.empty())
        return refuse(stage, {Reason::step_form, "a coefficient is in a variable of the module"});
      for (const StepArray& array : plan.arrays) {
        const auto number = array_of({stage, array.in});
        if (!number || std::ranges::find(made.arrays, *number) != made.arrays.end())
          return refuse(stage, {Reason::step_several_arrays, "it has an array twice"});
        made.arrays.push_back(*number);
        const Array& own = arrays_[*number];
        require_equal({own.owner, own.stored.out}, {stage, array.in}, 8);
      }
      if (has_alias(stage, plan)) return;
      if (hangs_on_varying({kernels_[stage]->body, seen_.varying, stage}, plan))
        return refuse(stage, {Reason::step_form,
                              "a place or a guard hangs on what varies from pass to pass"});
    }
  }

  // Through no other pointer than those that were found is an array touched that is stepped.
  bool has_alias(unsigned stage, const StepPlan& plan) {
    for (const contract::Touched& touched : plan.touched)
      if (array_of({stage, touched.parameter}) &&
          std::ranges::find(plan.arrays, touched.parameter, &StepArray::in) == plan.arrays.end()) {
        refuse(stage, {Reason::step_several_arrays, "it has an array twice"});
        return true;
      }
    return false;
  }

  // --- Tori --------------------------------------------------------------------------------------

  void find_periods() {
    for (std::size_t stage = 0; stage < made_.stages.size(); ++stage)
      for (unsigned axis = 0; axis < 3; ++axis)
        if (const auto& size = made_.stages[stage].plan.periods[axis]; size && !made_.periods[axis])
          made_.periods[axis] = {stage, *size};
    for (unsigned axis = 0; axis < 3; ++axis)
      for (unsigned stage = 0; stage < made_.stages.size(); ++stage)
        if (made_.periods[axis]) turn(stage, axis, *made_.periods[axis]);
  }

  // One that knows nothing of the torus stores and reads within it: beside a place is then what is
  // so for stages that read around it, too.
  void turn(unsigned stage, unsigned axis, const SequencePlan::Period& period) {
    StepPlan& plan = made_.stages[stage].plan;
    const auto size = renamed(period.size, static_cast<unsigned>(period.stage), stage);
    if (!size || (plan.periods[axis].has_value() && *plan.periods[axis] != *size))
      return refuse(stage, {Reason::step_wrap, "another stage takes places modulo another size"});
    if (plan.periods[axis].has_value()) return;
    const Span& span = plan.around[axis];
    plan.conditions.push_back({span.first, "a place is outside a torus"});
    plan.conditions.push_back(
        {minus(expression_of(*size), span.end), "a place is outside a torus"});
  }

  // --- The region --------------------------------------------------------------------------------

  // What stages read beside one line, the farthest of all on either side. Around a torus a region
  // has a line several times, and each stage and pass may narrow what is right.
  void add_lines(unsigned axis) {
    struct Line {
      unsigned stage = 0;
      int least = 0, most = 0;
    };
    const bool again = made_.periods[axis].has_value();
    std::vector<Line> lines;
    const auto line_of = [&](unsigned stage) { return made_.stages[stage].plan.line[axis]; };
    for (unsigned stage = 0; stage < made_.stages.size(); ++stage) {
      const StepPlan& plan = made_.stages[stage].plan;
      if (plan.once_least[axis] == 0 && plan.once_most[axis] == 0) continue;
      const auto is_same = [&](const Line& line) {
        const auto there = renamed(*line_of(line.stage), line.stage, stage);
        return !again && there && *there == *line_of(stage);
      };
      auto found = std::ranges::find_if(lines, is_same);
      if (found == lines.end()) found = lines.insert(found, Line{stage});
      found->least = std::min(found->least, plan.once_least[axis]);
      found->most = std::max(found->most, plan.once_most[axis]);
    }
    for (const Line& line : lines) {
      (again ? made_.region.least : made_.region.once_least)[axis] += line.least;
      (again ? made_.region.most : made_.region.once_most)[axis] += line.most;
    }
  }

  void find_region() {
    StepPlan& all = made_.region;
    bool any = false;
    for (const Array& array : arrays_) {
      StepArray& made = all.arrays.emplace_back(array.stored);
      made.loads.clear();
      made.carried = true; // it needs no tile, if nobody reads neighbours
      made_.pointers.push_back({array.owner, array.stored.out});
    }
    for (const SequencePlan::Stage& stage : made_.stages) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        all.least[axis] += stage.plan.least[axis];
        all.most[axis] += stage.plan.most[axis];
        if (stage.plan.places[axis] != Place::none) all.places[axis] = Place::threads;
        any |= stage.plan.reads_beside(axis);
      }
      for (std::size_t n = 0; n < stage.arrays.size(); ++n)
        for (const StepArray::Load& load : stage.plan.arrays[n].loads)
          all.arrays[stage.arrays[n]].loads.push_back(load);
    }
    for (unsigned axis = 0; axis < 3; ++axis)
      add_lines(axis);
    const bool is_late = std::ranges::any_of(
        made_.stages, [](const SequencePlan::Stage& stage) { return !stage.plan.late.empty(); });
    if (is_late && (all.once_least != Offset{} || all.once_most != Offset{}))
      made_.refused = {Reason::step_guard, "beside rows or columns that are read, data decide what "
                                           "is loaded"};
    if (!made_.refused.empty()) return;
    if (!any)
      made_.refused = {Reason::step_no_array, "no stage reads what is beside a place"};
    else if (all.places[2] != Place::none)
      made_.refused = {Reason::step_in_space, "several kernels, whose places lie along three axes"};
  }

  const std::span<emulator::Kernel* const> kernels_;
  const SeenSequence& seen_;
  const std::optional<WrittenExtents> written_;
  std::vector<StageQuestion> questions_;
  std::vector<Array> arrays_;
  std::vector<std::vector<unsigned>> stored_by_; // by stage: pointers
  SequencePlan made_;
};

SequencePlan find_as_they_are(std::span<emulator::Kernel* const> kernels,
                              const SeenSequence& seen) {
  SequencePlan plan = SequenceFinder(kernels, seen, WrittenExtents()).run();
  if (plan.refused.empty()) return plan;
  std::set<WrittenExtents> tried;
  for (emulator::Kernel* const kernel : kernels)
    for (const WrittenExtents& written : guess_extents(*kernel)) {
      if (!tried.insert(written).second) continue;
      SequencePlan other = SequenceFinder(kernels, seen, written).run();
      if (other.refused.empty()) return other;
    }
  return plan;
}

SequencePlan find_as(std::span<emulator::Kernel* const> kernels, const SeenSequence& seen,
                     const std::vector<bool>& lines, const SequenceFinder::Moved& moved) {
  std::vector<emulator::Kernel*> placed(kernels.begin(), kernels.end());
  bool are_others = std::ranges::count(lines, true) != 0;
  for (std::size_t n = 0; n < placed.size(); ++n) {
    if (moved[n]) placed[n] = &moved[n]->kernel;
    are_others |= moved[n] != nullptr;
  }
  if (!are_others) return find_as_they_are(kernels, seen);
  SequenceRims rims(kernels, seen);
  if (Why why = SequenceFinder(placed, seen).find_rims(lines, moved, rims); !why.empty())
    return {.refused = std::move(why)};
  SequencePlan plan = SequenceFinder(rims.kernels(), rims.seen()).run();
  rims.give_back(plan);
  return plan;
}

// Kernels of two dimensions with guards of several ways; none: there are none.
std::optional<SequenceFinder::Moved> join_guards_of(std::span<emulator::Kernel* const> kernels,
                                                    const std::vector<bool>& lines) {
  SequenceFinder::Moved all(kernels.size());
  std::map<const emulator::Kernel*, std::shared_ptr<Rim>> known;
  bool any = false;
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    if (lines[n]) continue;
    const auto [made, missing] = known.try_emplace(kernels[n]);
    if (missing) made->second = joined(*kernels[n]);
    all[n] = made->second;
    any |= all[n] != nullptr;
  }
  return any ? std::optional(std::move(all)) : std::nullopt;
}

} // namespace

bool SequencePlan::Stage::stores(unsigned array) const {
  const auto found = std::ranges::find(arrays, array);
  return found != arrays.end() &&
         !plan.arrays[static_cast<std::size_t>(found - arrays.begin())].foreign;
}

std::size_t SequencePlan::stage_of(unsigned launch) const {
  return static_cast<std::size_t>(std::ranges::find(stages, launch, &Stage::launch) -
                                  stages.begin());
}

SequencePlan find_sequence(std::span<emulator::Kernel* const> kernels,
                           const contract::SeenSequence& seen) {
  if (kernels.size() != seen.kernels.size() || kernels.size() < 2)
    return {.refused = {Reason::step_form, "its kernels are not there"}};
  std::vector<bool> lines;
  for (const emulator::Kernel* const kernel : kernels)
    lines.push_back(is_along_a_line(kernel->body));
  if (std::ranges::count(lines, true) == std::ssize(lines)) lines.assign(lines.size(), false);
  SequencePlan plan = find_as(kernels, seen, lines, SequenceFinder::Moved(kernels.size()));
  if (plan.refused.empty()) return plan;
  if (const auto joined = join_guards_of(kernels, lines))
    return find_as(kernels, seen, lines, *joined);
  const SequenceFinder::Moved moved = SequenceFinder(kernels, seen).move_kernels(lines);
  if (std::ranges::all_of(moved, [](const auto& one) { return one == nullptr; })) return plan;
  return find_as(kernels, seen, lines, moved);
}

} // namespace ptxasw::passes
