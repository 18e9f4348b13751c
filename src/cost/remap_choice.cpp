// Sectors are counted on strides without index wrap, as everywhere in this folder.
#include "cost/remap_choice.hpp"

#include "cost/access.hpp"
#include "reuse/linear_index.hpp"
#include "reuse/relaxed.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace ptxasw::cost {

using emulator::Event;
using emulator::EventKind;
using ptx::Special;
using reuse::Stride;
using sym::Kind;
using sym::Term;

namespace {

constexpr std::array lane_choices{32U, 16U, 8U, 4U}; // of a thread swap
constexpr double least_gain = 2;                     // in sectors, before threads are swapped
// Matrix products of 1024, 2048 and 4096 in blocks of 128 to 1024 threads gain 1.01 to 1.34 with
// 64, 0.97 to 1.33 with 32, 1.00 to 1.35 with 128.
constexpr unsigned column_width = 64;

bool is_global(const Event& event) {
  return event.kind != EventKind::clobber &&
         (event.space == ptx::Space::global || event.space == ptx::Space::generic);
}

// Sectors of `lanes` lanes that are `stride` apart.
double sectors_along(const Stride& stride, unsigned bytes, unsigned lanes) {
  if (stride.kind != Stride::Kind::constant) return lanes;
  return sectors({.stride = stride.bytes, .bytes = bytes, .lanes = lanes}).middle();
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
  reuse::Relaxed relaxed(*kernel.context, x);
  RemapProposal proposal;
  double before = 0;
  std::array<double, lane_choices.size()> after{};
  for (const Event& event : kernel.trace.events) {
    if (!is_global(event)) continue;
    const unsigned bytes = event.element_bytes * event.elements;
    const Stride along_x = relaxed.stride(event.address),
                 along = relaxed.stride(event.address, row);
    if (along_x.kind == Stride::Kind::parametric && !proposal.lane_stride.valid() &&
        reuse::known_on_entry(*kernel.context, along_x.term))
      proposal.lane_stride = along_x.term;
    before += sectors_along(along_x, bytes, warp_lanes);
    for (std::size_t n = 0; n < lane_choices.size(); ++n) {
      const unsigned down = lane_choices[n], across = warp_lanes / down;
      after[n] += std::min(sectors_along(along, bytes, down) * across,
                           sectors_along(along_x, bytes, across) * down);
    }
  }
  const auto best = std::ranges::min_element(after);
  if (*best == 0 || before < least_gain * *best) return {};
  const auto lanes = lane_choices.at(static_cast<std::size_t>(best - after.begin()));
  proposal.remap = {.kind = RemapKind::thread_swap, .width = lanes};
  return proposal;
}

namespace {

// How an address depends on x = e % width and y = e / width.
enum class Coordinates : std::uint8_t { none, x, y, both };

class LinearAccess {
public:
  LinearAccess(emulator::Kernel& kernel, const reuse::LinearIndex& linear)
      : c_(*kernel.context), thread_(kernel.trace.special(Special::tid_x)), relaxed_(c_, thread_),
        width_(relaxed_.of(linear.width)) {}

  // The relaxed address is k*e + q*y + ..., and e - width*y is x.
  Coordinates of(Term address) {
    const Term thread = relaxed_.of(thread_), zero = c_.constant(64, 0);
    Term k = zero, q = zero, remainder = zero;
    for (const sym::Monomial& monomial : c_.poly(relaxed_.of(address)).terms) {
      Term* part = nullptr;
      Term rest = c_.constant(64, monomial.coefficient);
      for (const Term factor : monomial.factors) {
        if (part != nullptr && c_.depends_on(factor, thread_)) return Coordinates::both;
        if (factor == thread)
          part = &k;
        else if (c_.depends_on(factor, thread_))
          part = contains(factor, Kind::sdiv, Kind::udiv) ? &q : &remainder;
        else
          rest = c_.mul(rest, factor);
      }
      if (part != nullptr) *part = c_.add(*part, rest);
    }
    const bool x_of_index = k != zero && c_.add(q, c_.mul(k, width_)) == zero;
    if (k == zero && q == zero) return remainder == zero ? Coordinates::none : Coordinates::x;
    if (remainder != zero) return Coordinates::both;
    if (x_of_index) return Coordinates::x;
    return k == zero ? Coordinates::y : Coordinates::both;
  }

private:
  [[nodiscard]] bool contains(Term t, Kind a, Kind b) const {
    if (c_.kind(t) == a || c_.kind(t) == b) return true;
    return std::ranges::any_of(c_.args(t), [&](Term arg) { return contains(arg, a, b); });
  }

  sym::Context& c_;
  Term thread_;
  reuse::Relaxed relaxed_;
  Term width_;
};

} // namespace

RemapProposal propose_linear_column(emulator::Kernel& kernel) {
  const reuse::LinearIndex linear = reuse::find_linear_index(kernel);
  if (!linear.refused.empty()) return {};
  LinearAccess access(kernel, linear);
  reuse::Relaxed relaxed(*kernel.context, {});
  struct Reads {
    bool row = false, column = false;
  };
  std::vector<Reads> loops(kernel.loops.loops.size());
  for (const Event& event : kernel.trace.events) {
    if (!is_global(event) || event.kind != EventKind::load) continue;
    const std::uint32_t loop = kernel.loops.innermost[event.block];
    if (loop == ~0U) continue;
    const Stride trip = relaxed.stride(event.address, kernel.trace.trips[loop]);
    const bool far = trip.kind == Stride::Kind::parametric ||
                     (trip.kind == Stride::Kind::constant && std::abs(trip.bytes) >= line_bytes);
    const Coordinates of = access.of(event.address);
    loops[loop].row |= of == Coordinates::y && !far;
    loops[loop].column |= of == Coordinates::x && far;
  }
  if (std::ranges::none_of(loops, [](const Reads& r) { return r.row && r.column; })) return {};
  return {.remap = {.kind = RemapKind::linear_column, .width = column_width}};
}

} // namespace ptxasw::cost
