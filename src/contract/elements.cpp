// Boxes of elements, from the longest stride down.
#include "contract/elements.hpp"

#include <algorithm>
#include <span>

namespace ptxasw::contract {
namespace {

using Along = PlacedElements::Along;

// Far above any allocation; sums and products of two stay exact.
constexpr Number most = Number{1} << 48;

// Bytes from the first one of the first element to the last one of the last.
Number extent(std::uint64_t bytes, std::span<const Along> along) {
  Number sum = bytes;
  for (const auto& [stride, count] : along)
    sum += Number{stride} * (count - 1);
  return sum;
}

// Rows without a gap, and planes of such rows.
void merge_whole(PlacedElements& elements) {
  while (!elements.along.empty() && elements.along[0].stride == elements.bytes) {
    elements.bytes *= elements.along[0].count;
    elements.along.erase(elements.along.begin());
  }
}

// `some`, beginning so many bytes behind the first element of `all`.
bool is_within(std::uint64_t behind, std::uint64_t bytes, std::vector<Along> some,
               std::uint64_t all_bytes, std::span<const Along> all) {
  if (all.empty()) return behind + extent(bytes, some) <= Number{all_bytes};
  const auto& [stride, count] = all.back();
  const std::uint64_t row = behind / stride;
  std::uint64_t rows = 1;
  const auto same = std::ranges::find(some, stride, &Along::stride);
  if (same != some.end()) {
    rows = same->count;
    some.erase(same);
  }
  return row + Number{rows} <= count &&
         is_within(behind % stride, bytes, std::move(some), all_bytes, all.first(all.size() - 1));
}

} // namespace

std::uint64_t PlacedElements::end() const {
  return first + static_cast<std::uint64_t>(extent(bytes, along));
}

std::optional<PlacedElements> place(const Elements& elements, const Quantities& quantities,
                                    std::uint64_t base, bool merges) {
  PlacedElements made{.first = 0, .bytes = elements.bytes, .along = {}};
  const auto begin = evaluate(elements.begin, quantities);
  if (!begin) return std::nullopt;
  for (const auto& [stride, count] : elements.along) {
    const auto step = evaluate(stride, quantities), times = evaluate(count, quantities);
    if (!step || !times || *step < 1 || *times < 1 || *step > most || *times > most)
      return std::nullopt;
    if (*times > 1)
      made.along.push_back({static_cast<std::uint64_t>(*step), static_cast<std::uint64_t>(*times)});
  }
  std::ranges::sort(made.along, {}, &Along::stride);
  const Number first = base + *begin, bytes = extent(made.bytes, made.along);
  if (first < 0 || bytes > most || first + bytes > Number{~std::uint64_t{0}}) return std::nullopt;
  made.first = static_cast<std::uint64_t>(first);
  if (merges) merge_whole(made);
  return made;
}

bool contains(const PlacedElements& all, const PlacedElements& some) {
  return some.first >= all.first &&
         is_within(some.first - all.first, some.bytes, some.along, all.bytes, all.along);
}

} // namespace ptxasw::contract
