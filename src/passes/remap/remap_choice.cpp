// Sectors are counted on strides without index wrap, as everywhere in this folder.
#include "passes/remap/remap_choice.hpp"

#include "passes/remap/linear_loads.hpp"
#include "passes/shared/accesses.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "target/access.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ptxasw::passes {

using emulator::Event;
using ptx::Special;
using sym::Kind;
using sym::Term;

namespace {

constexpr std::array lane_choices{32U, 16U, 8U, 4U}; // of a thread swap

// Sectors of `lanes` lanes that are `stride` apart.
double sectors_along(const Stride& stride, unsigned bytes, unsigned lanes) {
  if (stride.kind != Stride::Kind::constant) return lanes;
  return target::sectors({.stride = stride.bytes, .bytes = bytes, .lanes = lanes}).middle();
}

// The variable in which rows are counted along y, or z where there is no y.
Term row_variable(const emulator::Kernel& kernel) {
  for (const Special special :
       {Special::tid_y, Special::ctaid_y, Special::tid_z, Special::ctaid_z}) {
    const Term term = kernel.trace.special(special);
    if (term.valid() && kernel.context->kind(term) == Kind::atom) return term;
  }
  return {};
}

} // namespace

RemapProposal propose_thread_swap(emulator::Kernel& kernel) {
  const Term x = kernel.trace.special(Special::tid_x), row = row_variable(kernel);
  if (!x.valid() || !row.valid()) return {};
  AxisPolynomial relaxed(*kernel.context, x);
  RemapProposal proposal;
  double before = 0;
  std::array<double, lane_choices.size()> after{};
  for (const Event& event : kernel.trace.events) {
    if (!is_global(event)) continue;
    const unsigned bytes = event.element_bytes * event.elements;
    const Stride along_x = relaxed.stride(event.address),
                 along = relaxed.stride(event.address, row);
    if (along_x.kind == Stride::Kind::parametric && !proposal.lane_stride.valid() &&
        known_on_entry(*kernel.context, along_x.term))
      proposal.lane_stride = along_x.term;
    before += sectors_along(along_x, bytes, target::warp_lanes);
    for (std::size_t n = 0; n < lane_choices.size(); ++n) {
      const unsigned down = lane_choices[n], across = target::warp_lanes / down;
      after[n] += std::min(sectors_along(along, bytes, down) * across,
                           sectors_along(along_x, bytes, across) * down);
    }
  }
  const auto best = std::ranges::min_element(after);
  if (*best == 0 || before < numbers::remap::least_sectors * *best) return {};
  const auto lanes = lane_choices.at(static_cast<std::size_t>(best - after.begin()));
  proposal.remap = {.kind = RemapKind::thread_swap, .width = lanes};
  proposal.why =
      fmt::format("a warp's accesses touch {:.0f} sectors, and would touch {:.0f}", before, *best);
  return proposal;
}

RemapProposal propose_linear_column(emulator::Kernel& kernel, const target::Profile& profile,
                                    unsigned threads) {
  const LinearIndex linear = find_linear_index(kernel);
  if (!linear.refused.empty()) return {};
  const ColumnProposal columns = propose_columns(profile, linear_loads(kernel, linear), threads);
  if (columns.width == 0) return {.why = columns.reason, .against = columns.against};
  return {.remap = {.kind = RemapKind::linear_column, .width = columns.width},
          .why = columns.reason};
}

} // namespace ptxasw::passes
