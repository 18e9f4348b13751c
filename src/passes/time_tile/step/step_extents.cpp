// Takes the launch's extents for sizes.
#include "passes/time_tile/step/step_extents.hpp"

#include <algorithm>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

namespace {

bool asks_for_extent(const emulator::Kernel& kernel, unsigned axis) {
  return kernel.trace.special(ptx::along(ptx::Special::nctaid_x, axis)).valid() &&
         kernel.trace.special(ptx::along(ptx::Special::ntid_x, axis)).valid();
}

} // namespace

std::vector<LaunchSize> find_extents(const emulator::Kernel& kernel, const StepLoops& loops,
                                     const std::array<Place, 3>& places,
                                     const WrittenExtents& written,
                                     std::vector<contract::Condition>& conditions) {
  using Of = Quantity::Of;
  const auto of_launch = [](unsigned axis, Of of) {
    return IntegerPolynomial(Quantity{.number = axis, .of = of});
  };
  std::vector<LaunchSize> found;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (places.at(axis) != Place::threads || loops.along(axis) != nullptr ||
        !asks_for_extent(kernel, axis))
      continue;
    LaunchSize& size =
        found.emplace_back(LaunchSize{of_launch(axis, Of::block_size) * of_launch(axis, Of::blocks),
                                      of_launch(axis, Of::threads), axis});
    const auto as_written = written.find(axis);
    if (as_written == written.end()) continue;
    size.is = as_written->second;
    add_equal(conditions, threads(axis), number(as_written->second),
              "its threads are not as many as the program says");
  }
  return found;
}

// A row is n elements away; x == n - 1, x < n, x > n - 2.
std::vector<WrittenExtents> guess_extents(const emulator::Kernel& kernel) {
  constexpr Number least = 16, most = 1 << 20;
  constexpr std::size_t most_guesses = 6;
  std::vector<unsigned> axes;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (asks_for_extent(kernel, axis)) axes.push_back(axis);
  if (axes.empty()) return {};
  sym::Context& c = *kernel.context;
  std::vector<Number> numbers;
  const auto add = [&](Number number) {
    if (number >= least && number <= most && !std::ranges::count(numbers, number) &&
        numbers.size() < most_guesses)
      numbers.push_back(number);
  };
  for (const emulator::Event& event : kernel.trace.events)
    if (event.address.valid() && event.element_bytes != 0)
      add(signed_value(c.poly(event.address).constant, 64) / event.element_bytes);
  for (const emulator::Definition& definition : kernel.trace.definitions) {
    const Term whole = c.negated(definition.value).value_or(definition.value);
    const Kind kind = c.kind(whole);
    if (kind != Kind::eq && kind != Kind::slt && kind != Kind::ult) continue;
    for (const Term side : c.args(whole))
      if (const auto value = c.value(side))
        for (const bool is_likely : {true, false})
          add(signed_value(*value, c.width(side)) + (is_likely == (kind == Kind::eq) ? 1 : 0));
  }
  std::vector<WrittenExtents> guesses(numbers.size());
  for (std::size_t n = 0; n < numbers.size(); ++n)
    for (const unsigned axis : axes)
      guesses[n].emplace(axis, numbers[n]);
  return guesses;
}

} // namespace ptxasw::passes
