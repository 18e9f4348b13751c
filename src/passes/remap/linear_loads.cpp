// Evaluates addresses at places in the middle of a plane.
#include "passes/remap/linear_loads.hpp"

#include "passes/shared/accesses.hpp"

#include <algorithm>
#include <map>

namespace ptxasw::passes {
namespace {

using emulator::AtomKind;
using ptx::Special;
using sym::Bits;

// Where the addresses are looked at: far enough from borders that clamped indices are not.
constexpr std::uint32_t row = 40, column = 200;
// Of the made-up parameters of 32 bits, the width of the plane among them: no two alike.
constexpr std::uint32_t least_size = 1024, size_step = 8;

class Places {
public:
  Places(const emulator::Kernel& kernel, const LinearIndex& index) : context_(*kernel.context) {
    const sym::Term threads = kernel.trace.special(Special::ntid_x);
    if (threads.valid())
      if (const auto known = context_.value(threads)) threads_ = static_cast<std::uint32_t>(*known);
    width_ = static_cast<std::uint32_t>(context_.evaluate(index.width, value_at(0), function));
  }
  [[nodiscard]] bool fit() const {
    return threads_ != 0 && width_ > 2 * column && width_ < 1U << 20;
  }
  [[nodiscard]] std::uint64_t address(sym::Term term, std::uint32_t x, std::uint32_t y) const {
    return static_cast<std::uint64_t>(context_.evaluate(term, value_at(y * width_ + x), function));
  }

private:
  [[nodiscard]] sym::Context::AtomValue value_at(std::uint32_t index) const {
    return [index, threads = threads_](const sym::Atom& atom, sym::Term) -> Bits {
      switch (static_cast<AtomKind>(atom.kind)) {
      case AtomKind::special:
        switch (static_cast<Special>(atom.tag)) {
        case Special::ctaid_x: return index / threads;
        case Special::tid_x: return index % threads;
        case Special::ntid_x: return threads;
        default: return 0;
        }
      case AtomKind::parameter:
        if (atom.width < 64) return least_size + atom.tag * size_step;
        return Bits{atom.tag + 1} << 36;
      case AtomKind::symbol: return Bits{atom.tag + 1} << 44;
      case AtomKind::iteration: return 3;
      default: return 0;
      }
    };
  }
  static Bits function(sym::FunctionKey, unsigned, std::span<const Bits>) { return 0; }

  const sym::Context& context_;
  std::uint32_t threads_ = 64; // of a block, where the kernel does not say
  std::uint32_t width_ = 0;
};

// The loads that count.
std::vector<const emulator::Event*> hottest(const emulator::Kernel& kernel) {
  constexpr std::uint32_t no_loop = ~0U;
  std::map<std::uint32_t, std::vector<const emulator::Event*>> by_loop;
  for (const emulator::Event& event : kernel.trace.events) {
    const std::uint32_t loop = kernel.loops.innermost[event.block];
    if (event.kind == emulator::EventKind::load && is_global(event) && loop != no_loop)
      by_loop[loop].push_back(&event);
  }
  std::vector<const emulator::Event*> most;
  for (const auto& [loop, events] : by_loop)
    if (events.size() > most.size()) most = events;
  return most;
}

} // namespace

std::vector<LinearLoad> linear_loads(const emulator::Kernel& kernel, const LinearIndex& index) {
  std::vector<LinearLoad> loads;
  const Places places(kernel, index);
  if (!places.fit()) return loads;
  std::vector<std::uint64_t> seen;
  for (const emulator::Event* event : hottest(kernel)) {
    const std::uint64_t at = places.address(event->address, column, row);
    LinearLoad load{.bytes = event->element_bytes * event->elements};
    const std::uint64_t right = places.address(event->address, column + 1, row);
    load.follows_x = right != at;
    if (load.follows_x && right != at + load.bytes) return {};
    load.follows_y = places.address(event->address, column, row + 1) != at;
    load.shares_line = std::ranges::any_of(seen, [&](std::uint64_t other) {
      return std::max(at, other) - std::min(at, other) < target::line_bytes;
    });
    seen.push_back(at);
    loads.push_back(load);
  }
  return loads;
}

} // namespace ptxasw::passes
