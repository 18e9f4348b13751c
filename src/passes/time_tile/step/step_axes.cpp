// Reads the places off the registers that a thread has of itself.
#include "passes/time_tile/step/step_axes.hpp"

#include "passes/time_tile/step/block_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace ptxasw::passes {

using emulator::AtomKind;
using ptx::Special;
using sym::Term;

namespace {

// How far a thread has gone, in threads.
Term walked(emulator::Kernel& kernel, const StepLoops& loops, unsigned axis) {
  sym::Context& context = *kernel.context;
  const StepLoop* const loop = loops.along(axis);
  if (loop == nullptr) return context.constant(32, 0);
  return context.mul(context.extract(loop->iteration, 0, 32), threads_along(kernel, axis));
}

// How many bits of the block's number the kernel uses, with a sign, as __mul24 does; 0: all.
unsigned bits_of_number(emulator::Kernel& kernel, Term block) {
  const sym::Context& context = *kernel.context;
  for (const emulator::Definition& definition : kernel.trace.definitions) {
    if (context.kind(definition.value) != sym::Kind::sext) continue;
    const Term low = context.args(definition.value)[0];
    if (context.kind(low) == sym::Kind::extract && context.low(low) == 0 &&
        context.args(low)[0] == block)
      return context.width(low);
  }
  return 0;
}

// The number of a block where there are so few that `bits` hold it, with a sign: a condition.
Term with_few_blocks(sym::Context& context, Term block, unsigned axis, unsigned bits,
                     std::vector<contract::Condition>& conditions) {
  const std::int64_t most = std::int64_t{1} << (bits - 1);
  conditions.push_back(
      {minus(times(contract::Expression{{.kind = contract::Token::Kind::block, .value = axis}},
                   number(most)),
             threads(axis)),
       "it has too many blocks"});
  sym::Atom few = context.atom_info(block);
  few.hi = std::min(few.hi, static_cast<sym::Bits>(most - 1));
  return context.atom(few);
}

Term coordinate(sym::Context& context, unsigned axis) {
  return context.atom({.name = std::string(1, "xyz"[axis]),
                       .width = 32,
                       .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                       .hi = 0x7fffffff});
}

} // namespace

FoundAxes find_axes(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                    StepPlaces& places) {
  using enum Special;
  sym::Context& context = *kernel.context;
  FoundAxes made;
  std::optional<BlockShape> strides;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Term thread = kernel.trace.special(ptx::along(tid_x, axis));
    Term block = kernel.trace.special(ptx::along(ctaid_x, axis));
    Term size = kernel.trace.special(ptx::along(ntid_x, axis));
    const bool has_thread = thread.valid() && !context.value(thread),
               has_block = block.valid() && !context.value(block);
    if (!has_thread && !has_block) continue;
    const Term place = coordinate(context, axis);
    meaning.axes.emplace(place.id, axis);
    if (!has_thread || !has_block) {
      made.places[axis] = has_thread ? Place::thread : Place::block;
      places.add((has_thread ? thread : block).id, context.sub(place, walked(kernel, loops, axis)),
                 axis, place);
      continue;
    }
    if (!size.valid()) { // a number is written in the program
      if (!strides) strides = block_strides(kernel);
      const std::uint32_t stride = (*strides)[axis];
      if (stride == 0 || loops.along(axis) != nullptr)
        return {
            .refused = {Reason::step_thread, fmt::format("%tid.{} counts by itself", "xyz"[axis])}};
      size = context.constant(32, stride);
      meaning.sizes.emplace(axis, stride);
      require_size(made.shape, axis, stride, "it is for blocks of another shape");
    }
    made.places[axis] = Place::threads;
    if (const unsigned bits = bits_of_number(kernel, block); bits != 0) {
      const Term few = with_few_blocks(context, block, axis, bits, made.shape);
      places.add(block.id, few, axis, place);
      block = few;
    }
    places.add(
        thread.id,
        context.sub(place, context.add(context.mul(block, size), walked(kernel, loops, axis))),
        axis, place);
  }
  return made;
}

FoundAxes find_rows_of_blocks(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                              StepPlaces& places) {
  using enum Special;
  sym::Context& context = *kernel.context;
  const auto known = [&](Special special) { return read_special(kernel, special); };
  const std::array<Term, 2> of_axis{known(tid_x), known(ctaid_x)};
  const bool has_others = std::ranges::any_of(std::array{tid_y, tid_z, ctaid_y, ctaid_z},
                                              [&](Special one) { return known(one).valid(); });
  if (!of_axis[0].valid() || !of_axis[1].valid() || has_others || !loops.loops.empty())
    return {.refused = {Reason::step_thread, "its blocks are no rows"}};
  FoundAxes made{.places = {Place::threads, Place::threads, Place::none}};
  for (const unsigned axis : {0U, 1U}) {
    const Term place = coordinate(context, axis);
    meaning.axes.emplace(place.id, axis);
    places.add(of_axis.at(axis).id, place, axis, place);
    using Of = Quantity::Of;
    const Quantity asked{.number = 0, .of = axis == 0 ? Of::block_size : Of::blocks},
        places_along{.number = axis, .of = Of::threads};
    meaning.extents.push_back({IntegerPolynomial(asked), IntegerPolynomial(places_along), axis});
  }
  return made;
}

namespace {

// A number of one of several things along x and y, each with the number of those.
struct Numbered {
  Term number, all;
  Term last; // what counts by one in it
};

class LineFinder {
public:
  explicit LineFinder(emulator::Kernel& kernel) : k_(kernel), c_(*kernel.context) {}

  Term number; // of the thread; not valid: it has none
  Term last;   // what counts by one in it

  // That some register holds.
  void run() {
    for (const Numbered& block : numbered(Special::ctaid_x, Special::nctaid_x))
      for (const Numbered& thread : numbered(Special::tid_x, Special::ntid_x)) {
        if (!thread.all.valid()) continue;
        const Term made = c_.add(c_.mul(block.number, thread.all), thread.number);
        const auto holds = [&](const emulator::Definition& one) { return one.value == made; };
        if (std::ranges::none_of(k_.trace.definitions, holds)) continue;
        number = made;
        last = thread.last;
        return;
      }
  }

  [[nodiscard]] Term known(Special special) const { return read_special(k_, special); }

private:
  // By rows, and by columns.
  [[nodiscard]] std::vector<Numbered> numbered(Special of, Special count) const {
    const std::array at{known(of), known(ptx::along(of, 1))};
    const std::array counts{known(count), known(ptx::along(count, 1))};
    if (!at[0].valid()) return {};
    if (!at[1].valid()) return {{at[0], counts[0], at[0]}};
    std::vector<Numbered> made;
    for (const unsigned n : {0U, 1U})
      if (counts.at(n).valid())
        made.push_back({c_.add(c_.mul(at.at(1 - n), counts.at(n)), at.at(n)),
                        counts.at(1 - n).valid() ? c_.mul(counts[0], counts[1]) : Term{},
                        at.at(n)});
    return made;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
};

} // namespace

FoundAxes find_line_of_threads(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                               StepPlaces& places) {
  using enum Special;
  sym::Context& context = *kernel.context;
  LineFinder line(kernel);
  FoundAxes made{.places = {Place::threads, Place::none, Place::none}};
  made.in_line = {.blocks = line.known(ctaid_y).valid(), .threads = line.known(tid_y).valid()};
  const bool has_others = line.known(ctaid_z).valid() || line.known(tid_z).valid();
  if (made.in_line.any() && !has_others && loops.loops.empty()) line.run();
  if (!line.number.valid())
    return {.refused = {Reason::step_thread, "its threads are numbered along no line"}};
  const Term place = coordinate(context, 0);
  meaning.axes.emplace(place.id, 0);
  meaning.in_line = true;
  places.add(line.last.id, context.sub(place, context.sub(line.number, line.last)), 0, place);
  return made;
}

} // namespace ptxasw::passes
