// Loads that a place does, or does not, as data say (StepWriter). An element that some place stores
// to is in the region's image. One that nobody stores to is loaded by the place itself, as it comes
// to the load: behind the kernel's own branches, and only where what they ask is right.
#include "passes/time_tile/emit/writer.hpp"

#include <algorithm>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

bool StepWriter::has_late_loads() const {
  return !plan_.late.empty() || std::ranges::any_of(plan_.arrays, [](const StepArray& array) {
    return std::ranges::any_of(array.loads, &StepArray::Load::late);
  });
}

// Places so far from which another one stores.
StepWriter::Mask StepWriter::stores_beside(const Offset& away) {
  const auto columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  const int u = offset_u(away), v = offset_v(away);
  Mask mask = no_places();
  if (separable()) {
    const Reg bits = column_bits({}, u, u + columns, true);
    for (int row = 0; row < rows; ++row)
      add_row(mask, row, bits, row_within({}, row + v, true));
    return mask;
  }
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    StepBody::Place place = place_;
    place[at_.axes.u] = coordinate(at_.axes.u, static_cast<int>(column_of(cell)) + u);
    if (at_.has_strips())
      place[at_.axes.v] = coordinate(at_.axes.v, static_cast<int>(row_of(cell)) + v);
    add_bits(mask[cell / word], 1U << cell % word, inside(place));
  }
  return mask;
}

// Ahead of all steps, since which places store does not change.
void StepWriter::find_late() {
  late_.clear();
  late_shifts_.clear();
  const auto columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  for (const StepArray& array : plan_.arrays)
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases) {
        if (!load.late || one.offset == Offset{}) continue;
        std::vector<Bound> bounds = load.where;
        bounds.insert(bounds.end(), one.bounds.begin(), one.bounds.end());
        const Mask stored = stores_beside(one.offset);
        const Reg bits = column_bits(bounds, 0, columns, false);
        Mask mask = no_places();
        for (int row = 0; row < rows; ++row)
          add_row(mask, row, bits, row_within(bounds, row, false));
        for (unsigned i = 0; i < mask.size(); ++i) {
          const Reg kept = code_.not_(b32, stored[i]);
          mask[i] = code_.and_(b32, code_.and_(b32, mask[i], mask_[i]), kept);
        }
        late_.emplace(&one, std::move(mask));
        for (int column = 0; column < columns; ++column)
          find_late_shifts(at_.axes.u, column + offset_u(one.offset));
        for (int row = 0; row < rows && at_.has_strips(); ++row)
          find_late_shifts(at_.axes.v, row + offset_v(one.offset));
      }
}

// Any element that some place stores to may be read.
void StepWriter::add_late_readers(std::vector<Mask>& needed) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    if (std::ranges::any_of(plan_.arrays[n].loads, &StepArray::Load::late))
      for (unsigned i = 0; i < mask_.size(); ++i)
        needed[n][i] = code_.or_(b32, needed[n][i], mask_[i]);
}

void StepWriter::find_late_shifts(unsigned axis, int far) {
  if (!plan_.periods[axis]) return;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    Reg& shift = late_shifts_[{n, {axis, far}}];
    if (!shift.empty()) continue;
    const Reg next = plus(place_[axis], far), turned = coordinate(axis, far),
              stride = number(plan_.arrays[n].element.along(axis));
    shift = code_.mul(s64, widened(code_.sub(s32, turned, next)), stride);
  }
}

// What is right of a region narrows by what a step reads.
void StepWriter::begin_late_step() {
  code_.into(done_).add(u32, done_, 1);
  const auto narrow = [&](unsigned n, unsigned axis, unsigned size) {
    const auto before = static_cast<unsigned>(-plan_.least[axis]),
               behind = static_cast<unsigned>(plan_.most[axis]);
    right_from_[n] = code_.mul(u32, done_, before);
    const Reg lost = code_.mul(u32, done_, before + behind);
    right_size_[n] = code_.sub(u32, code_.mov(u32, size), lost);
  };
  narrow(0, at_.axes.u, shape_.width);
  if (at_.has_strips()) narrow(1, at_.axes.v, at_.height());
}

// Behind the step at hand. What is in front of the first right place is a large number.
Reg StepWriter::is_right(unsigned cell) {
  const Reg u = code_.sub(u32, plus(column_, column_of(cell)), right_from_[0]);
  const Reg across = code_.setp(lt, u32, u, right_size_[0]);
  if (!at_.has_strips()) return across;
  const Reg v = code_.sub(u32, plus(first_row_, row_of(cell)), right_from_[1]);
  return code_.setp(lt, u32, v, right_size_[1], and_, across);
}

Reg StepWriter::late_load(unsigned n, const StepArray::Load& load, const Reg& held, unsigned cell,
                          const Reg& right, const Reg& buffer) {
  const unsigned bits = plan_.arrays[n].bytes * 8;
  Reg value = held;
  for (const StepArray::Case& one : load.cases) {
    const auto late = late_.find(&one);
    if (late == late_.end()) continue; // the place's own element
    if (value.name == held.name) code_.move(value = code_.make(held.type), held);
    const Reg does = code_.and_(pred, bit_of(late->second, cell), right);
    const auto at =
        late_address(n, buffer, static_cast<int>(column_of(cell)) + offset_u(one.offset),
                     static_cast<int>(row_of(cell)) + offset_v(one.offset));
    code_.when(does).into(value).ld(ptx::Space::global, ptx::bits(bits), at);
  }
  return value;
}

ptx::Memory StepWriter::late_address(unsigned n, const Reg& buffer, int column, int row) {
  Reg at = row == 0 ? buffer : code_.mad(s64, row_stride_[n], row, buffer);
  for (const auto& [axis, far] : {std::pair(at_.axes.u, column), std::pair(at_.axes.v, row)}) {
    const auto shift = late_shifts_.find({n, {axis, far}});
    if (shift != late_shifts_.end()) at = added(at, shift->second);
  }
  return {at, column * static_cast<int>(at_.spacing(plan_.arrays[n]))};
}

} // namespace ptxasw::passes
