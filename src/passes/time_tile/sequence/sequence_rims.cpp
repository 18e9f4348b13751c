// Numbers stages and launches, and writes down what has to hold between stages of one launch.
#include "passes/time_tile/sequence/sequence_rims.hpp"

#include "analysis/liveness.hpp"
#include "passes/time_tile/emit/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace ptxasw::passes {

using contract::Expression;
using contract::Sequence;
using contract::Token;
using ptx::InstId;
using Part = Sequence::Part;

namespace {

constexpr Number most_blocks_along_y = 65535; // along y

// --- A rim as its launch has it ------------------------------------------------------------------

Expression extent(const Rim& rim, unsigned axis) {
  if (axis > 1) return threads(axis);
  const auto& [of, at] = rim.axes.at(axis);
  return plus(expression_of(at), of ? threads(*of) : number(1));
}

// What is said of places along two axes, of the launch.
Expression as_launched(const Rim& rim, const Expression& whole) {
  Expression made;
  for (const Token& token : whole) {
    const bool is_block = token.kind == Token::Kind::block;
    if (!is_block && token.kind != Token::Kind::threads) {
      made.push_back(token);
      continue;
    }
    const auto axis = static_cast<unsigned>(token.value);
    Expression one = extent(rim, axis);
    if (is_block) {
      const std::optional<unsigned> of = axis > 1 ? std::optional(axis) : rim.axes.at(axis).of;
      one = of ? Expression{{.kind = Token::Kind::block, .value = *of}} : number(1);
    }
    made.insert(made.end(), one.begin(), one.end());
  }
  return made;
}

Box as_launched(const Rim& rim, const Box& box) {
  Box made;
  for (unsigned axis = 0; axis < 3; ++axis)
    made.at(axis) = {as_launched(rim, box.at(axis).first), as_launched(rim, box.at(axis).end)};
  return made;
}

// --- Pairs of accesses ---------------------------------------------------------------------------

// Of an array of the sequence, by the places of a stage.
struct Access {
  unsigned array = 0;
  bool stores = false;
  InstId inst = 0; // of the launch's kernel
  Offset offset{}; // of the element from the place
};

std::vector<Access> accesses_of(const SequencePlan::Stage& stage) {
  std::vector<Access> all;
  for (std::size_t n = 0; n < stage.arrays.size(); ++n) {
    const StepArray& array = stage.plan.arrays[n];
    for (const StepArray::Store& store : array.stores)
      all.push_back({stage.arrays[n], true, stage.rim->origin[store.inst], {}});
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases)
        all.push_back({stage.arrays[n], false, stage.rim->origin[load.inst], one.offset});
  }
  return all;
}

// Not negative: along some axis all elements of one lie in front of those of the other.
Expression apart(const Box& a, const Offset& by_a, const Box& b, const Offset& by_b) {
  Expression made;
  for (const unsigned axis : {0U, 1U}) {
    const auto at = [axis](const Expression& one, const Offset& by) {
      return plus(one, number(by.at(axis)));
    };
    for (const Expression& between : {minus(at(a.at(axis).first, by_a), at(b.at(axis).end, by_b)),
                                      minus(at(b.at(axis).first, by_b), at(a.at(axis).end, by_a))})
      made = made.empty() ? between : combine(Token::Kind::most, std::move(made), between);
  }
  return made;
}

// Zero: whoever touches one element of both is one thread. None: that is another one.
std::optional<Expression> one_thread(const Rim& a, const Offset& by_a, const Rim& b,
                                     const Offset& by_b) {
  if (!a.has(0) || !b.has(0)) return number(0); // it is the only one
  const unsigned u = a.axes[0].of ? 0 : 1, v = 1 - u;
  // Behind the place, the thread of an element along the line.
  const auto from = [](const Rim& rim, const Offset& by, unsigned axis) {
    return rim.axes.at(axis).at + IntegerPolynomial(by.at(axis));
  };
  if (b.axes.at(u).of) {
    if (from(a, by_a, u) != from(b, by_b, u)) return std::nullopt;
    return number(0);
  }
  // The element that both touch is at  b.at + by_b  along u, and at  a.at + by_a  along v.
  const Expression thread_a = expression_of(from(b, by_b, u) - from(a, by_a, u)),
                   thread_b = expression_of(from(a, by_a, v) - from(b, by_b, v));
  return combine(Token::Kind::least, minus(thread_a, thread_b), minus(thread_b, thread_a));
}

// What is stored, if it is the same for all threads and not loaded: a literal of some form, or a
// parameter, from a register of some width.
using Value = std::tuple<unsigned, std::optional<unsigned>, ptx::Arg::Literal, std::uint64_t>;

std::optional<Value> value_of(const ptx::Body& body, InstId store) {
  const auto src = body.src(body.insts[store]);
  if (src.size() != 1 || src[0].kind != ptx::Arg::Kind::reg || !src[0].selector.empty())
    return std::nullopt;
  const auto written = analysis::definitions(body)[src[0].id];
  if (written.size() != 1) return std::nullopt;
  const ptx::Inst& by = body.insts[written[0]];
  if (by.guard != ptx::none || by.opaque || body.dst(by).size() != 1) return std::nullopt;
  const unsigned width = ptx::bit_width(by.mods.type);
  const auto from = body.src(by);
  if (by.op == ptx::Op::mov && from[0].kind == ptx::Arg::Kind::imm)
    return Value{width, std::nullopt, from[0].literal, from[0].value};
  const bool is_parameter =
      ptx::group(by.op) == ptx::Group::load && by.mods.space == ptx::Space::param;
  const auto part = is_parameter ? parameter_read(body, by) : std::nullopt;
  return part ? std::optional(Value{width, part, {}, 0}) : std::nullopt;
}

bool store_one_value(const ptx::Body& body, InstId a, InstId b) {
  const auto value = value_of(body, a);
  return value && value == value_of(body, b) &&
         ptx::bit_width(body.insts[a].mods.type) == ptx::bit_width(body.insts[b].mods.type);
}

// Of arrays whose sides are equally long, or are not. Only so that what never holds is told at
// once.
bool may_hold(const std::vector<contract::Condition>& conditions) {
  return std::ranges::any_of(std::array{0U, 7U}, [&](unsigned apart) {
    contract::Quantities launch{.threads = {1U << 20U, 1, 1}};
    launch.parameter = [apart](unsigned part) -> std::optional<std::uint64_t> {
      return 100 + apart * contract::number_of(part);
    };
    return std::ranges::all_of(conditions, [&](const contract::Condition& condition) {
      return contract::evaluate(condition.value, launch).value_or(0) >= 0;
    });
  });
}

// On each way that does both.
bool comes_before(const emulator::Kernel& kernel, InstId a, InstId b) {
  const auto place = [&](InstId inst) {
    return std::ranges::find(kernel.trace.events, inst, &emulator::Event::inst);
  };
  return place(a) < place(b);
}

} // namespace

// --- Stages and launches -------------------------------------------------------------------------

SequenceRims::SequenceRims(std::span<emulator::Kernel* const> kernels,
                           const contract::SeenSequence& seen)
    : launches_(kernels), seen_(seen) {}

void SequenceRims::add(std::vector<std::shared_ptr<Rim>> rims) {
  const unsigned launch = stages_.empty() ? 0 : launch_of_.back() + 1;
  if (rims.empty()) rims.emplace_back();
  for (std::shared_ptr<Rim>& rim : rims) {
    stages_.push_back(rim ? &rim->kernel : launches_[launch]);
    rims_.push_back(std::move(rim));
    launch_of_.push_back(launch);
    made_.kernels.push_back(seen_.kernels[launch]);
  }
  if (launch + 1 == launches_.size()) add_classes();
}

// A launch has one value of a parameter, in all of its stages.
void SequenceRims::add_classes() {
  const auto parts_of = [&](const std::vector<Part>& parts) {
    std::vector<Part> all;
    for (unsigned stage = 0; stage < stages_.size(); ++stage)
      for (const Part& part : parts)
        if (part.stage == launch_of_[stage]) all.push_back({stage, part.part});
    return all;
  };
  for (const auto& [bytes, parts] : seen_.classes)
    made_.classes.push_back({bytes, parts_of(parts)});
  made_.varying = parts_of(seen_.varying);
  for (unsigned launch = 0; launch < launches_.size(); ++launch)
    for (const ptx::Symbol& symbol : launches_[launch]->body.symbols) {
      const Part own{launch, contract::part(symbol.index, 0)};
      const auto has = [&](const std::vector<Part>& parts) {
        return std::ranges::find(parts, own) != parts.end();
      };
      if (symbol.kind != ptx::Symbol::Kind::parameter || !contract::is_one_value(symbol.size) ||
          has(seen_.varying) ||
          std::ranges::any_of(seen_.classes, [&](const auto& one) { return has(one.parts); }))
        continue;
      contract::SeenSequence::Class one{static_cast<unsigned>(symbol.size), parts_of({own})};
      if (one.parts.size() > 1 && std::ranges::find(made_.classes, one) == made_.classes.end())
        made_.classes.push_back(std::move(one));
    }
}

void SequenceRims::give_back(SequencePlan& plan) {
  if (!plan.refused.empty()) return;
  for (std::size_t n = 0; n < plan.stages.size(); ++n) {
    plan.stages[n].launch = launch_of_[n];
    plan.stages[n].rim = rims_[n];
  }
  const auto launched = [&](const Part& part) { return Part{launch_of_[part.stage], part.part}; };
  for (Part& pointer : plan.pointers)
    pointer = launched(pointer);
  plan.varying = seen_.varying;
  for (const auto& [a, b, bytes] : std::exchange(plan.equal, {})) {
    const Part x = launched(a), y = launched(b);
    const Sequence::Equal one{std::min(x, y), std::max(x, y), bytes};
    if (x != y && std::ranges::find(plan.equal, one) == plan.equal.end()) plan.equal.push_back(one);
  }
  add_to_launch(plan);
}

void SequenceRims::add_to_launch(SequencePlan& plan) const {
  for (unsigned launch = 0; launch < launches_.size(); ++launch)
    if (std::ranges::count(launch_of_, launch) > static_cast<long>(contract::most_boxes))
      plan.refused = {Reason::step_form,
                      fmt::format("{}: too many rows and columns", seen_.kernels[launch])};
  for (SequencePlan::Stage& stage : plan.stages) {
    if (!stage.rim) continue;
    const Rim& rim = *stage.rim;
    StepPlan& own = stage.plan;
    for (contract::Condition& condition : own.conditions)
      condition.value = as_launched(rim, condition.value);
    for (contract::Touched& touched : own.touched) {
      touched.begin = as_launched(rim, touched.begin);
      touched.end = as_launched(rim, touched.end);
    }
    own.box = as_launched(rim, own.box);
    own.around = as_launched(rim, own.around);
    for (unsigned axis = 0; axis < 3; ++axis)
      stage.extents.at(axis) = extent(rim, axis);
    const auto require = [&](const Expression& most, const Expression& value, const char* why) {
      own.conditions.push_back({minus(most, value), why});
    };
    for (const unsigned axis : {0U, 1U}) {
      if (!rim.has(axis)) require(number(1), threads(axis), "several threads store to one element");
      const auto& [of, at] = rim.axes.at(axis);
      if (rim.axes.at(axis).is_as_launched(axis)) continue;
      require(expression_of(at), number(0), "a place is in front of the first one");
      // Of %ctaid.y.
      require(number(most_blocks_along_y - 1), expression_of(at), "it is too large");
      if (of != axis && of)
        require(number(most_blocks_along_y), extent(rim, axis), "it is too large");
    }
    if (rim.one_block)
      require({{.kind = Token::Kind::block, .value = 0}}, threads(0),
              "several threads store to one element");
  }
  for (std::size_t second = 0; second < plan.stages.size(); ++second)
    for (std::size_t first = 0; first < second; ++first)
      if (plan.stages[second].rim && plan.stages[first].launch == plan.stages[second].launch)
        order(plan, first, second);
}

// What the first stage does for all threads ahead of the second one.
void SequenceRims::order(SequencePlan& plan, std::size_t first, std::size_t second) const {
  const SequencePlan::Stage &a = plan.stages[first], &b = plan.stages[second];
  const emulator::Kernel& kernel = *launches_[a.launch];
  std::vector<contract::Condition> made;
  for (const Access& one : accesses_of(a))
    for (const Access& other : accesses_of(b)) {
      if (one.array != other.array || (!one.stores && !other.stores)) continue;
      if (one.stores && other.stores && store_one_value(kernel.body, one.inst, other.inst))
        continue;
      Expression holds = apart(a.plan.box, one.offset, b.plan.box, other.offset);
      if (comes_before(kernel, one.inst, other.inst))
        if (const auto same = one_thread(*a.rim, one.offset, *b.rim, other.offset))
          holds = combine(Token::Kind::most, std::move(holds), *same);
      const contract::Condition condition{std::move(holds),
                                          "threads of a rim store to one element, or read it"};
      if (std::ranges::find(made, condition) == made.end()) made.push_back(condition);
    }
  if (!may_hold(made) && plan.refused.empty())
    plan.refused = {Reason::step_rim,
                    fmt::format("{}: {}", seen_.kernels[a.launch], made[0].otherwise)};
  auto& all = plan.stages[second].plan.conditions;
  all.insert(all.end(), made.begin(), made.end());
}

} // namespace ptxasw::passes
