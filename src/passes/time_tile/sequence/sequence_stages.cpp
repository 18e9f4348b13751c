// Emits what one stage of a pass does in each place.
#include "passes/time_tile/sequence/sequence_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

bool SequenceWriter::has_late_loads() const {
  return std::ranges::any_of(stages_,
                             [](const Stage& stage) { return !stage.found.plan.late.empty(); });
}

// Each stage narrows what is right by what it reads, in each pass. (Of what is read beside a line
// nothing is known so simply: find_region.)
void SequenceWriter::find_right(const Stage& stage) {
  const auto narrow = [&](unsigned n, unsigned axis, unsigned size) {
    unsigned before = 0, both = 0; // of the stages up to this one
    for (const Stage& other : stages_) {
      const StepPlan& plan = other.found.plan;
      const int least = plan.least[axis] + (is_around(axis) ? plan.once_least[axis] : 0),
                most = plan.most[axis] + (is_around(axis) ? plan.once_most[axis] : 0);
      before += static_cast<unsigned>(-least);
      both += static_cast<unsigned>(most - least);
      if (&other == &stage) break;
    }
    const int all_before = -plan_.region.least[axis],
              all = plan_.region.most[axis] + all_before; // of a pass
    right_from_.at(n) = code_.mad(u32, done_, all_before, code_.mov(u32, before));
    const Reg lost = code_.mad(u32, done_, all, code_.mov(u32, both));
    right_size_.at(n) = code_.sub(u32, code_.mov(u32, size), lost);
  };
  narrow(0, at_.axes.u, shape_.width);
  if (at_.has_strips()) narrow(1, at_.axes.v, at_.height());
}

// What is in front of the first right place is a large number.
Reg SequenceWriter::is_right(unsigned row) {
  const Reg u = code_.sub(u32, column_, right_from_[0]);
  const Reg across = code_.setp(lt, u32, u, right_size_[0]);
  if (!at_.has_strips()) return across;
  const Reg v = code_.sub(u32, plus(first_row_, row), right_from_[1]);
  return code_.setp(lt, u32, v, right_size_[1], and_, across);
}

// New values go to registers of their own first: of several arrays one may be computed from what
// another one was.
void SequenceWriter::step(Stage& stage) {
  const StepPlan& plan = stage.found.plan;
  std::map<std::tuple<unsigned, int, int>, Reg> known;
  const bool is_late = !plan.late.empty();
  if (is_late) find_right(stage);
  for (unsigned row = 0; row < at_.rows(); ++row) {
    const auto on_chip = [&](const StepArray& array, const StepArray::Load* load) {
      const unsigned n = stage.found.arrays[static_cast<std::size_t>(&array - plan.arrays.data())];
      Reg value = element(n, row, load->offset(), known);
      if (inner_) return value;
      for (const StepArray::Case& other : std::span(load->cases).subspan(1)) {
        const Reg there = element(n, row, other.offset, known);
        const Reg here = bit_of(mask(stage, {}, other.bounds, false), row);
        value = code_.selp(ptx::bits(held_bits(array)), there, value, here);
      }
      return value;
    };
    StepBody::Place place = place_;
    if (!inner_) place[at_.axes.u] = coordinate(at_.axes.u, 0);
    if (at_.has_strips())
      place[at_.axes.v] = inner_ ? plus(place_[at_.axes.v], row) : coordinate(at_.axes.v, row);
    const Reg guard = inner_ ? Reg{} : bit_of(stage.stores, row);
    StepBody::Late late{.guard = is_late ? is_right(row) : Reg{}, .load = {}};
    if (is_late && !inner_) late.guard = code_.and_(pred, late.guard, guard);
    Column into;
    for (const StepArray& array : plan.arrays)
      into.push_back(code_.make(ptx::bits(held_bits(array))));
    const auto results = stage.body.values(place, on_chip, into, guard, inner_,
                                           fmt::format("{}copy{}", labels_, copies_++), late);
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (plan.arrays[n].foreign) continue;
      if (results[n].text() != into[n].name)
        code_.into(into[n]).mov(move_type(stage.kernel.body, plan.arrays[n]), results[n]);
    }
    for (std::size_t n = 0; n < results.size(); ++n) {
      if (plan.arrays[n].foreign) continue;
      const Reg& held = image_[stage.found.arrays[n]][row];
      if (inner_)
        code_.move(held, into[n]);
      else
        code_.into(held).selp(ptx::bits(held_bits(plan.arrays[n])), into[n], held,
                              bit_of(stage.stores, row));
    }
  }
}

} // namespace ptxasw::passes
