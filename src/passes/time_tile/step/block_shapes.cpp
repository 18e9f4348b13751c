// Reads shapes off the kernel's own numbers: how far a block's first thread is from the next
// block's, and how large the tile is.
#include "passes/time_tile/step/block_shapes.hpp"

#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>
#include <set>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using sym::Kind;
using sym::Term;

namespace {

constexpr unsigned widest_halo = 8, threads_of_a_block = 1024;

class ShapeFinder {
public:
  explicit ShapeFinder(const emulator::Kernel& kernel) : k_(kernel), c_(*kernel.context) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      thread_[axis] = k_.trace.special(ptx::along(ptx::Special::tid_x, axis));
      block_[axis] = k_.trace.special(ptx::along(ptx::Special::ctaid_x, axis));
    }
  }

  std::vector<BlockShape> run() {
    const auto& told = k_.body.function->reqntid;
    if (std::ranges::none_of(told, [](std::uint32_t size) { return size == 0; })) return {told};
    find_strides();
    for (const bool with_ends : {true, false})
      for (const unsigned halo : halos())
        add(halo, with_ends);
    return std::move(all_);
  }

  BlockShape strides() {
    find_strides();
    return strides_;
  }

private:
  [[nodiscard]] bool used(unsigned axis) const {
    return thread_[axis].valid() && !c_.value(thread_[axis]);
  }

  void add(unsigned halo, bool with_ends) {
    BlockShape shape{1, 1, 1};
    for (unsigned axis = 0; axis < 3; ++axis)
      if (used(axis))
        shape[axis] = strides_[axis] != 0             ? strides_[axis]
                      : with_ends && ends_[axis] != 0 ? ends_[axis]
                                                      : inside(axis, halo);
    const std::uint64_t threads = std::uint64_t{shape[0]} * shape[1] * shape[2];
    if (threads != 0 && threads <= threads_of_a_block &&
        std::ranges::find(all_, shape) == all_.end())
      all_.push_back(shape);
  }

  // Sums of a block's number times a constant and a thread's.
  void find_strides() {
    std::vector<Term> work;
    for (const Event& event : k_.trace.events)
      if (event.address.valid()) work.push_back(event.address);
    for (const Term fact : k_.trace.entry_fact)
      if (fact.valid()) work.push_back(fact);
    std::set<Term> seen;
    while (!work.empty()) {
      const Term t = work.back();
      work.pop_back();
      if (!seen.insert(t).second) continue;
      c_.spend(1);
      for (unsigned axis = 0; axis < 3; ++axis) {
        if (!used(axis)) continue;
        if (c_.kind(t) == Kind::poly) look(t, axis);
        if (c_.kind(t) == Kind::eq) look_for_end(t, axis);
      }
      work.insert(work.end(), c_.args(t).begin(), c_.args(t).end());
    }
  }

  void look(Term sum, unsigned axis) {
    const sym::Bits threads = coefficient(sum, thread_[axis]),
                    blocks = coefficient(sum, block_[axis]);
    if (threads == 0 || blocks == 0 || blocks % threads != 0) return;
    if (blocks / threads <= threads_of_a_block && strides_[axis] == 0)
      strides_[axis] = static_cast<std::uint32_t>(blocks / threads);
  }

  // %tid is compared with its last value.
  void look_for_end(Term equal, unsigned axis) {
    const auto& parts = c_.args(equal);
    for (const unsigned n : {0U, 1U})
      if (const auto last = c_.value(parts[1 - n]);
          parts[n] == thread_[axis] && last && *last<threads_of_a_block&& * last> 0)
        ends_[axis] = std::max(ends_[axis], static_cast<std::uint32_t>(*last) + 1);
  }

  [[nodiscard]] sym::Bits coefficient(Term sum, Term of) const {
    const sym::Poly poly = c_.poly(sum);
    for (const sym::Monomial& monomial : poly.terms)
      if (monomial.factors == std::vector{of}) return monomial.coefficient;
    return 0;
  }

  // --- The tile ----------------------------------------------------------------------------------

  [[nodiscard]] std::vector<unsigned> halos() {
    bool by_tile = false;
    for (unsigned axis = 0; axis < 3; ++axis)
      by_tile |= used(axis) && strides_[axis] == 0;
    if (by_tile) measure(EventKind::load);
    if (by_tile && places_ == std::array<std::uint32_t, 3>{}) measure(EventKind::store);
    if (!by_tile) return {0};
    std::vector<unsigned> all; // as wide on both sides, as a rule
    for (unsigned halo = 2; halo <= 2 * widest_halo; halo += 2)
      all.push_back(halo);
    for (unsigned halo = 0; halo < 2 * widest_halo; halo += halo == 0 ? 1 : 2)
      all.push_back(halo);
    return all;
  }

  // How many places the largest tile has along each axis of its threads. Who reads is a neighbour
  // of its own place; tiles may be filled in another order.
  void measure(EventKind kind) {
    std::uint64_t largest = 0;
    for (const Event& event : k_.trace.events) {
      if (event.kind != kind || event.space != ptx::Space::shared) continue;
      Term t = event.address;
      if (const sym::Poly whole = c_.poly(t);
          whole.terms.size() == 1 && whole.terms[0].factors.size() == 1)
        t = whole.terms[0].factors[0];
      if (c_.kind(t) == Kind::zext) t = c_.args(t)[0];
      std::array<sym::Bits, 3> by{};
      for (unsigned axis = 0; axis < 3; ++axis)
        by[axis] = used(axis) ? coefficient(t, thread_[axis]) : 0;
      const std::uint64_t size = size_of(t);
      if (by[0] == 0 || size <= largest) continue;
      largest = size;
      std::uint64_t end = size;
      for (unsigned axis = 3; axis-- > 0;)
        if (by[axis] != 0) {
          places_[axis] = static_cast<std::uint32_t>(end / static_cast<std::uint64_t>(by[axis]));
          end = static_cast<std::uint64_t>(by[axis]);
        }
    }
  }

  [[nodiscard]] std::uint64_t size_of(Term address) const {
    for (const Term atom : c_.atoms(address)) {
      const sym::Atom& info = c_.atom_info(atom);
      if (info.kind == static_cast<std::uint32_t>(emulator::AtomKind::symbol))
        return k_.body.symbols[info.tag].size;
    }
    return 0;
  }

  [[nodiscard]] std::uint32_t inside(unsigned axis, unsigned halo) const {
    return places_[axis] > halo ? places_[axis] - halo : 0;
  }

  const emulator::Kernel& k_;
  const sym::Context& c_;
  std::array<Term, 3> thread_, block_;
  std::array<std::uint32_t, 3> strides_{}, ends_{}, places_{};
  std::vector<BlockShape> all_;
};

} // namespace

std::vector<BlockShape> likely_shapes(const emulator::Kernel& kernel) {
  return ShapeFinder(kernel).run();
}

BlockShape block_strides(const emulator::Kernel& kernel) {
  return ShapeFinder(kernel).strides();
}

void require_size(std::vector<contract::Condition>& conditions, unsigned axis, std::uint32_t size,
                  std::string_view otherwise) {
  const contract::Expression block{{.kind = contract::Token::Kind::block, .value = axis}};
  add_equal(conditions, block, number(size), otherwise);
}

} // namespace ptxasw::passes
