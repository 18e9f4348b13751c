// Finds offsets: how far from the stored element a load reads, in the interior and elsewhere.
#include "passes/time_tile/step/step_reads.hpp"

#include "passes/time_tile/step/step_conditions.hpp"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::passes {
namespace {

constexpr Number near = 16; // further away than any clamp moves

class OffsetFinder {
public:
  OffsetFinder(const StepRead& read, const IntegerPolynomial& element)
      : read_(read), element_(element) {}

  StepOffsets run() {
    const auto first = offset_between(read_.cases[0].place.offset, element_);
    if (!first) {
      refuse(Reason::step_index, "not at a constant offset of the element that is stored");
      return std::move(made_);
    }
    made_.offsets.assign(read_.cases.size(), *first);
    made_.turns.resize(read_.cases.size());
    // First cases that differ along one axis: others are made of these.
    for (const std::size_t axes : {1U, 2U, 3U})
      for (std::size_t n = 1; n < read_.cases.size(); ++n)
        if (made_.why.empty() && std::max<std::size_t>(1, differing(n).size()) == axes) find(n);
    return std::move(made_);
  }

private:
  void refuse(Reason reason, std::string_view why) {
    made_.against = reason;
    made_.why = why;
  }

  [[nodiscard]] std::vector<unsigned> differing(std::size_t n) const {
    std::vector<unsigned> axes;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto of = [&](const AddressCase& one) {
        std::vector<Bound> bounds;
        std::ranges::copy_if(one.where.bounds, std::back_inserter(bounds),
                             [&](const Bound& bound) { return bound.axis == axis; });
        return bounds;
      };
      if (of(read_.cases[n]) != of(read_.cases[0])) axes.push_back(axis);
    }
    return axes;
  }

  void find(std::size_t n) {
    const IntegerPolynomial far = read_.cases[n].place.offset - read_.cases[0].place.offset;
    if (far.is_zero()) return;
    const std::vector<unsigned> axes = differing(n);
    std::array<IntegerPolynomial, 3> moves;
    bool found = false;
    if (axes.size() == 1) {
      const IntegerPolynomial stride = element_.along(axes[0]);
      const auto by = stride.is_zero() ? std::nullopt : quotient(far, stride);
      if (by) {
        moves[axes[0]] = *by;
        known_[axes[0]].push_back(*by);
        found = true;
      }
    } else {
      found = combine(far, axes, 0, moves);
    }
    if (!found) return refuse(Reason::step_clamp, "at the rim it reads no element beside it");
    for (unsigned axis = 0; axis < 3; ++axis)
      move(n, axis, moves[axis]);
  }

  bool combine(const IntegerPolynomial& far, const std::vector<unsigned>& axes, std::size_t at,
               std::array<IntegerPolynomial, 3>& moves) {
    if (at == axes.size()) return far.is_zero();
    std::vector<IntegerPolynomial> choices = known_[axes[at]];
    choices.emplace_back(0);
    for (const IntegerPolynomial& move : choices) {
      moves[axes[at]] = move;
      if (combine(far - element_.along(axes[at]) * move, axes, at + 1, moves)) return true;
    }
    return false;
  }

  // A clamp reads a place nearby; the other end of a torus is a period away.
  void move(std::size_t n, unsigned axis, const IntegerPolynomial& by) {
    int& offset = made_.offsets[n][axis];
    if (const auto constant = by.constant(); constant && *constant <= near && *constant >= -near) {
      offset += static_cast<int>(*constant);
      return;
    }
    const int inside = made_.offsets[0][axis];
    if (inside == 0)
      return refuse(Reason::step_wrap, "at the rim it reads an element that is far away");
    const IntegerPolynomial period = inside < 0 ? by : IntegerPolynomial(0) - by;
    auto& known = made_.periods[axis];
    if (known && *known != period)
      return refuse(Reason::step_wrap, "along one axis it takes places modulo several sizes");
    known = period;
    made_.turns[n][axis] = inside < 0 ? 1 : -1;
  }

  const StepRead& read_;
  const IntegerPolynomial& element_;
  StepOffsets made_;
  std::array<std::vector<IntegerPolynomial>, 3>
      known_; // by axis: how far some case is from the first
};

bool has_all(const std::vector<Bound>& bounds, const std::vector<Bound>& some) {
  return std::ranges::all_of(
      some, [&](const Bound& bound) { return std::ranges::find(bounds, bound) != bounds.end(); });
}

} // namespace

std::vector<StepRead> by_register(const ptx::Body& body, const std::vector<StepRead>& reads) {
  std::vector<StepRead> all;
  for (const StepRead& read : reads) {
    const auto registers = body.dst(body.insts[read.event->inst]);
    for (unsigned at = 0; at < read.event->elements; ++at) {
      if (registers[at].kind == ptx::Arg::Kind::sink) continue;
      StepRead& one = all.emplace_back(read);
      one.at = at;
      for (auto* cases : {&one.cases, &one.impossible})
        for (AddressCase& each : *cases)
          each.place.offset = each.place.offset + IntegerPolynomial(at * read.event->element_bytes);
    }
  }
  return all;
}

std::optional<unsigned> part_of(const StepArray& array, const StepRead& read) {
  if (array.parts == 1 || read.elements() != 1) return std::nullopt;
  const IntegerPolynomial far = read.cases[0].place.offset - array.element;
  const auto bytes = far.terms().find({});
  return bytes != far.terms().end() && bytes->second % array.bytes != 0 ? 1U : 0U;
}

StepOffsets find_offsets(const StepArray& array, const StepRead& read) {
  const auto part = part_of(array, read);
  if (!part || *part == 0) return OffsetFinder(read, array.element).run();
  StepRead begin = read; // of the element
  for (AddressCase& one : begin.cases)
    one.place.offset = one.place.offset - IntegerPolynomial(array.bytes / array.parts);
  return OffsetFinder(begin, array.element).run();
}

bool reads_table(const ptx::Body& body, const ptx::Inst& inst) {
  const auto addresses = body.addr(inst);
  return ptx::group(inst.op) == ptx::Group::load &&
         (inst.mods.space == ptx::Space::const_ || inst.mods.space == ptx::Space::param) &&
         !addresses.empty() && addresses[0].base.kind == ptx::Arg::Kind::reg;
}

bool loads_memory(const ptx::Body& body, const ptx::Inst& inst) {
  return ptx::group(inst.op) == ptx::Group::load &&
         (inst.mods.space != ptx::Space::param || reads_table(body, inst));
}

bool holds_element(const ptx::Body& body, const ptx::Arg& arg, unsigned bytes) {
  if (arg.kind != ptx::Arg::Kind::reg || !arg.selector.empty()) return false;
  const unsigned width = ptx::bit_width(body.registers[arg.id].type);
  return width == bytes * 8 || (bytes < 4 && width >= 16) || (bytes == 4 && width == 64);
}

Why why_unfit(const ptx::Body& body, const StepArray& array, const StepRead& read) {
  const ptx::Inst& inst = body.insts[read.event->inst];
  const StepOffsets found = find_offsets(array, read);
  if (!found.why.empty()) return {found.against, std::string(found.why)};
  for (const Offset& offset : found.offsets)
    if (std::ranges::any_of(offset, [](int d) { return std::abs(d) > farthest_offset; }))
      return {Reason::step_index, "far from the element that is stored"};
  if (read.event->element_bytes * array.parts != array.bytes || read.elements() > array.parts)
    return {Reason::step_element, "not as wide as the element that is stored"};
  if (inst.guard != ptx::none) return {Reason::step_form, "it is guarded by itself"};
  const auto registers = body.dst(inst);
  for (const ptx::Arg& dst : read.at ? registers.subspan(*read.at, 1) : registers)
    if (!holds_element(body, dst, read.event->element_bytes) &&
        (dst.kind != ptx::Arg::Kind::sink || array.parts == 1))
      return {Reason::step_element, "into a register of another width"};
  return {};
}

bool is_touched(const StepArray& array, const StepRead& read, std::span<const StepRead> loads) {
  if (read.is_all) return true;
  const StepOffsets found = find_offsets(array, read);
  for (std::size_t n = 0; n < found.offsets.size(); ++n) {
    if (!array.foreign && found.offsets[n] == Offset{} && found.turns[n] == Offset{}) continue;
    const std::vector<Bound> where = both(read.where, read.cases[n].where).bounds;
    const auto is_same = [&](const StepRead& other) {
      if (!other.is_all || other.parameter != read.parameter) return false;
      const StepOffsets others = find_offsets(array, other);
      for (std::size_t m = 0; m < others.offsets.size(); ++m)
        if (others.offsets[m] == found.offsets[n] && others.turns[m] == found.turns[n] &&
            has_all(where, both(other.where, other.cases[m].where).bounds))
          return true;
      return false;
    };
    if (std::ranges::none_of(loads, is_same)) return false;
  }
  return true;
}

} // namespace ptxasw::passes
