// Strides of every access along each axis of threads; accesses alike are counted together.
#include "passes/shared/accesses.hpp"

#include "passes/shared/axis_polynomial.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::passes {

using emulator::Event;
using ptx::Special;

namespace {

// The variable that counts threads along an axis, of the whole launch: blocks of one thread are
// counted by their own index.
sym::Term variable_of(const emulator::Kernel& kernel, std::size_t axis) {
  constexpr std::array threads{Special::tid_x, Special::tid_y, Special::tid_z};
  constexpr std::array blocks{Special::ctaid_x, Special::ctaid_y, Special::ctaid_z};
  for (const Special special : {threads.at(axis), blocks.at(axis)}) {
    const sym::Term term = kernel.trace.special(special);
    if (term.valid() && kernel.context->kind(term) == sym::Kind::atom) return term;
  }
  return {};
}

std::int64_t distance(const Stride& stride) {
  if (stride.kind != Stride::Kind::constant) return contract::far_apart;
  using contract::farthest;
  return stride.bytes < -farthest || stride.bytes > farthest ? contract::far_apart : stride.bytes;
}

// What a load gave, or what is not known, may differ between threads however near they are. The
// trips of a loop are those of all.
bool is_anywhere(const sym::Context& context, sym::Term address) {
  using emulator::AtomKind;
  return std::ranges::any_of(context.atoms(address), [&](sym::Term atom) {
    const auto kind = static_cast<AtomKind>(context.atom_info(atom).kind);
    return kind == AtomKind::loaded || kind == AtomKind::unknown || kind == AtomKind::undefined ||
           kind == AtomKind::carried || kind == AtomKind::merged;
  });
}

} // namespace

bool is_global(const Event& event) {
  return event.kind != emulator::EventKind::clobber &&
         (event.space == ptx::Space::global || event.space == ptx::Space::generic);
}

std::vector<contract::Access> accesses_of(emulator::Kernel& kernel) {
  std::array<sym::Term, 3> axes;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    axes.at(axis) = variable_of(kernel, axis);
  AxisPolynomial relaxed(*kernel.context, axes[0]);
  std::vector<contract::Access> all;
  for (const Event& event : kernel.trace.events) {
    if (!is_global(event)) continue;
    contract::Access access{
        .bytes = std::clamp(event.element_bytes * event.elements, 1U, contract::widest_access)};
    const bool anywhere = is_anywhere(*kernel.context, event.address);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (anywhere)
        access.along.at(axis) = contract::far_apart;
      else if (axes.at(axis).valid())
        access.along.at(axis) = distance(relaxed.stride(event.address, axes.at(axis)));
    const auto same = std::ranges::find_if(all, [&](const contract::Access& other) {
      return other.bytes == access.bytes && other.along == access.along;
    });
    if (same == all.end())
      all.push_back(access);
    else
      same->count = std::min(same->count + 1, contract::most_alike);
  }
  if (all.size() > contract::most_accesses) all.clear();
  return all;
}

} // namespace ptxasw::passes
