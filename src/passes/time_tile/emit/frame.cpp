// What all entries for several time steps have.
#include "passes/time_tile/emit/frame.hpp"

#include "contract/steps.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"
#include "ptx/chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

StepFrame::StepFrame(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
                     std::string name)
    : module_(*kernel.body.module), kernel_(kernel), plan_(plan), shape_(shape),
      name_(std::move(name)), registers_(ptx::FreshRegisters::brief(module_)), code_(registers_),
      numbers_(code_, ParameterNames(kernel.body), {}, {std::string(threads_parameter)}),
      body_(kernel, plan, code_), labels_(label_prefix(module_)) {}

bool may_begin_early(const ptx::Module& module) {
  constexpr unsigned first_chip = 90;
  const std::pair version(module.version_major, module.version_minor);
  return ptx::chip_of(module) >= first_chip && version >= std::pair(7U, 8U);
}

Reg StepFrame::plus(const Reg& a, long n) {
  return n == 0 ? a : code_.add(s32, a, n);
}

Reg StepFrame::widened(const Reg& a) {
  return code_.cvt(s64, s32, a);
}

Reg StepFrame::added(const Reg& a, const Reg& b) {
  return code_.add(s64, a, b);
}

const Reg& StepFrame::end_of(const Bound& bound) {
  Reg& end = ends_[contract::to_word(expression_of(bound.at))];
  if (end.empty()) end = number(bound.at);
  return end;
}

Reg StepFrame::holds(const Bound& bound, const Reg& coordinate) {
  const Reg& end = end_of(bound);
  return code_.setp(bound.below ? lt : ge, s64, widened(coordinate), end);
}

Reg StepFrame::within(const std::vector<Bound>& bounds, const StepBody::Place& place, unsigned axis,
                      bool along, Reg all) {
  for (const Bound& bound : bounds) {
    if ((bound.axis == axis) != along) continue;
    const Reg one = holds(bound, place[bound.axis]);
    all = all.empty() ? one : code_.and_(pred, all, one);
  }
  return all;
}

Reg StepFrame::begin_at(const ptx::Memory& place) {
  return code_.cvta_to(ptx::Space::global, u64, code_.ld(ptx::Space::param, u64, place));
}

void StepFrame::from_lane(const Reg& value, unsigned bytes, int far, const Reg& into) {
  const auto pass = [&](const ptx::Emitter& emitter, const Reg& from) {
    return emitter.shfl(far < 0 ? ptx::Sub::up : ptx::Sub::down, from, std::abs(far),
                        far < 0 ? 0 : 31, -1);
  };
  if (bytes == 4) {
    pass(code_.into(into), value);
    return;
  }
  const Reg low = code_.make(b32), high = code_.make(b32);
  code_.unpack(b64, low, high, value);
  const Reg low_there = pass(code_, low), high_there = pass(code_, high);
  code_.into(into).pack(b64, low_there, high_there);
}

std::string StepFrame::parameters_behind() const {
  std::string all = fmt::format(".param .align 4 .b8 {}[16]", threads_parameter);
  if (plan_.rotation)
    all += fmt::format(",\n\t.param .align 8 .b8 {}[{}]", arrays_parameter,
                       sizeof(contract::StepArrays));
  return all;
}

namespace {

// Without those blanks that nobody needs: of thousands of lines.
std::string without_blanks(std::string_view text) {
  std::string all;
  all.reserve(text.size());
  for (const char c : text)
    if ((c != ' ' && c != '\t') ||
        (!all.empty() && std::string_view("\n\t ,;").find(all.back()) == std::string_view::npos))
      all += c == '\t' ? ' ' : c;
  return all;
}

} // namespace

std::string function_text(std::string_view header, const StepShape& shape, unsigned threads,
                          unsigned shared, const ptx::FreshRegisters& registers,
                          const ptx::Code& code) {
  const std::string resident =
      shape.resident == 0 ? "" : fmt::format(".minnctapersm {}\n", shape.resident);
  return fmt::format("{}.maxntid {}\n{}{{\n{}\t.shared .align 16 .b8 {}[{}];\n{}\n}}", header,
                     threads, resident, registers.declarations(), StepFrame::tile_name, shared,
                     without_blanks(code.all));
}

std::string with_tile_of_module(std::string text, std::string_view entry) {
  const std::string declared = fmt::format("\t.shared .align 16 .b8 {}[", StepFrame::tile_name);
  const std::size_t begin = text.find(declared), end = text.find("];\n", begin);
  if (!text.starts_with(".weak") || begin == text.npos || end == text.npos) return text;
  const std::size_t digits = begin + declared.size();
  const std::string bytes = text.substr(digits, end - digits);
  text.erase(begin, end + 3 - begin);
  // Files may have the entry with regions of other sizes.
  const std::string own = fmt::format("{}_tile{}", entry, bytes);
  for (std::size_t at = 0; (at = text.find(StepFrame::tile_name, at)) != text.npos;
       at += own.size())
    text.replace(at, StepFrame::tile_name.size(), own);
  return fmt::format(".weak .shared .align 16 .b8 {}[{}];\n\n{}", own, bytes, text);
}

std::string own_parameters(const ptx::Module& module, const ptx::Function& kernel) {
  const std::uint32_t end = append_parameter(module, kernel, "").where.begin;
  const auto name = static_cast<std::uint32_t>(kernel.name.data() - module.text->data());
  const std::string_view header = module.slice({name, end});
  return std::string(header.substr(header.find('(') + 1));
}

std::string StepFrame::whole_function(unsigned threads, unsigned shared) const {
  const ptx::Function& function = *kernel_.body.function;
  const ptx::Edit more = append_parameter(module_, function, parameters_behind());
  const std::uint32_t begin = module_.statements[function.statement].range.begin;
  std::string header(module_.slice({begin, more.where.begin}));
  const auto name = static_cast<std::size_t>(function.name.data() - module_.text->data()) - begin;
  header.replace(name, function.name.size(), name_);
  return function_text(header + more.text + ")\n", shape_, threads, shared, registers_, code_);
}

contract::Steps StepFrame::made_contract() const {
  contract::Steps made;
  made.entry = name_;
  made.count = shape_.count;
  made.rotation = plan_.rotation;
  made.by_block = plan_.by_block;
  made.in_line = plan_.in_line;
  if (!plan_.rotation)
    for (const StepArray& array : plan_.arrays)
      if (plan_.is_first_field(array)) made.swaps.push_back({array.in, array.out});
  if (plan_.rows)
    made.extents = {expression_of(plan_.rows->length), expression_of(plan_.rows->count),
                    passes::number(1)};
  else if (std::ranges::any_of(plan_.walks, [](const auto& walk) { return walk.has_value(); }))
    for (unsigned axis = 0; axis < 3; ++axis)
      made.extents.at(axis) =
          plan_.walks[axis] ? expression_of(plan_.walks[axis]->end) : passes::threads(axis);
  made.conditions = plan_.conditions;
  made.touched = plan_.touched;
  if (!plan_.rotation) made.stored = plan_.stored;
  made.variables = plan_.variables;
  made.waits = may_wait();
  return made;
}

} // namespace ptxasw::passes
