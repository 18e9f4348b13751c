// Walks both at the same time, from where the original branches for the first time.
#include "sass/same_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace ptxasw::sass {
namespace {

constexpr std::size_t most_of_question = 8; // instructions
constexpr unsigned no_barrier = 7;

using Instructions = std::span<const Instruction>;

bool ends_block(const Instruction& now) {
  return now.branch.jumps || now.branch.ends;
}

std::size_t end_of_block(Instructions code, std::size_t from) {
  return static_cast<std::size_t>(std::ranges::find_if(code.subspan(from), ends_block) -
                                  code.begin());
}

std::optional<std::size_t> target(Instructions code, std::size_t n) {
  const Instruction& now = code[n];
  if (!now.branch.jumps && now.operation != Operation::call) return std::nullopt;
  const auto to = static_cast<std::int64_t>(n + 1) + now.branch.distance;
  if (to < 0 || to >= static_cast<std::int64_t>(code.size())) return std::nullopt;
  return static_cast<std::size_t>(to);
}

// How many there are of each.
class Bag {
public:
  void add(Instructions code) {
    for (const Instruction& now : code)
      ++counts_[now.shape];
  }
  bool take(const Instruction& now) {
    const auto found = counts_.find(now.shape);
    if (found == counts_.end() || found->second == 0) return false;
    --found->second;
    return true;
  }

private:
  std::map<Shape, unsigned> counts_;
};

class Walk {
public:
  Walk(Instructions original, Instructions larger, Bag in_front)
      : original_(original), larger_(larger), in_front_(std::move(in_front)),
        counterpart_(original.size(), unknown) {}

  std::string run(std::size_t from, std::size_t in_larger) {
    open_.push_back({from, in_larger, {0, 1, 2, 3, 4, 5, no_barrier, no_barrier}});
    while (!open_.empty()) {
      ProgramPoint place = open_.back();
      open_.pop_back();
      if (std::string why = follow(place); !why.empty()) return why;
    }
    return {};
  }

private:
  // Which barrier stands for the original's.
  using Barriers = std::array<unsigned, 8>;
  struct ProgramPoint {
    std::size_t in_original = 0, in_larger = 0;
    Barriers barriers{};
  };
  static constexpr std::size_t unknown = ~std::size_t{0};

  // To the end of the path, or to where it has been before.
  std::string follow(ProgramPoint& place) {
    auto& [n, m, barriers] = place;
    unsigned was = 0, is = 0; // cycles
    for (;; ++n, ++m) {
      if (n >= original_.size() || m >= larger_.size()) return "it ends elsewhere";
      if (counterpart_[n] != unknown)
        return counterpart_[n] == m ? "" : at(n, "is reached from elsewhere");
      counterpart_[n] = m;
      const Instruction &before = original_[n], &after = larger_[m];
      if (before.shape != after.shape) {
        if (before.operation != Operation::constant || !in_front_.take(before))
          return at(n, fmt::format("is another one ({:#x} instead of {:#x})", after.opcode,
                                   before.opcode));
        was += before.schedule.stall;
        --m;
        continue;
      }
      was += before.schedule.stall;
      is += after.schedule.stall;
      if (!is_scheduled_alike(before, after, barriers)) return at(n, "is scheduled anew");
      if (const auto there = target(original_, n)) {
        const auto here = target(larger_, m);
        if (!here) return at(n, "leads elsewhere");
        open_.push_back({*there, *here, barriers});
      }
      if (!ends_block(before)) continue;
      if (is > was) return at(n, fmt::format("comes after {} cycles instead of {}", is, was));
      was = is = 0;
      if (before.branch.leaves || before.branch.anywhere) return {};
    }
  }

  static bool is_scheduled_alike(const Instruction& before, const Instruction& after,
                                 Barriers& barriers) {
    const Schedule &was = before.schedule, &is = after.schedule;
    if (was.reuse != is.reuse) return false;
    unsigned waits = 0;
    for (unsigned b = 0; b < 6; ++b)
      if ((was.wait >> b & 1U) != 0) waits |= 1U << barriers[b];
    if (waits != is.wait) return false;
    for (const auto& [old, now] :
         {std::pair(was.write_barrier, is.write_barrier), {was.read_barrier, is.read_barrier}}) {
      if ((old < 6) != (now < 6)) return false;
      barriers[old] = now;
    }
    return true;
  }

  static std::string at(std::size_t n, std::string_view what) {
    return fmt::format("machine instruction {} {}", n, what);
  }

  Instructions original_, larger_;
  Bag in_front_;
  std::vector<std::size_t> counterpart_; // in the larger one
  std::vector<ProgramPoint> open_;
};

// With the body behind the question at `begin`; nothing where there is none that does what the
// original does first.
std::optional<std::string> why_not_at(Instructions original, Instructions larger,
                                      std::size_t question, std::size_t begin) {
  const std::size_t first = end_of_block(original, 0), end = end_of_block(larger, begin);
  if (end == larger.size()) return std::nullopt;
  Bag in_front;
  in_front.add(larger.first(question));
  in_front.add(larger.subspan(begin, end - begin));
  for (const Instruction& now : original.first(first))
    if (!in_front.take(now)) return std::nullopt;
  if (question + end - begin > first + most_of_question) return "more is done in front of it";
  return Walk(original, larger, std::move(in_front)).run(first, end);
}

} // namespace

std::string why_not_same_body(std::span<const Instruction> original,
                              std::span<const Instruction> larger) {
  const std::size_t question = end_of_block(larger, 0);
  if (question == larger.size() || end_of_block(original, 0) == original.size())
    return "it never branches";
  const auto behind = why_not_at(original, larger, question, question + 1);
  if (behind && behind->empty()) return {};
  const auto there = target(larger, question);
  const auto other = there ? why_not_at(original, larger, question, *there) : std::nullopt;
  if (other) return *other;
  return behind.value_or("what its first block does is done elsewhere, or not at all");
}

} // namespace ptxasw::sass
