// One row for each chip.
#include "target/chips.hpp"

#include "target/numbers.hpp"

#include <algorithm>

namespace ptxasw::numbers {
namespace {

constexpr Cost measured(double cycles) {
  return {cycles, Provenance::measured, "profile"};
}
constexpr Cost estimated(double cycles, std::string_view origin) {
  return {cycles, Provenance::estimated, origin};
}

constexpr CoarsenConstants h200_costs{
    .memory = model::memory,
    .l2 = model::l2,
    .wavefront = model::wavefront,
    .instruction = model::instruction,
    .start = model::start,
    .idle = model::idle,
    .latency = model::latency,
    .overlap = model::overlap,
    .scattered = model::scattered,
    .apart = model::apart,
    .launch = model::launch,
    .tail = model::tail,
    .block = model::block,
    .cover = model::cover,
    .occupancy = model::occupancy,
    .barrier = model::barrier,
    .load_latency = model::load_latency,
    .margin = coarsen::margin,
    .worst = coarsen::worst,
    .least_waves = coarsen::least_waves,
    .provenance = Provenance::measured,
    .harmless = true,
};

// Of a chip on which no launch was timed: the H200's cycles, and more asked for.
constexpr CoarsenConstants taken_from_h200() {
  CoarsenConstants costs = h200_costs;
  costs.margin = coarsen::careful_margin;
  costs.least_waves = coarsen::careful_waves;
  costs.provenance = Provenance::estimated;
  return costs;
}

// What all chips that nobody has measured have in common.
struct Unmeasured {
  std::string_view architecture, name;
  Cost shuffle, load, line, corner;
  unsigned processors, threads_per_sm, shared_per_sm;
};

constexpr unsigned registers_per_sm = sm::partitions * sm::registers_of_partition;

constexpr Chip chip(const Unmeasured& known) {
  return {.architecture = known.architecture,
          .name = known.name,
          .shuffle = known.shuffle,
          .load = known.load,
          .line = known.line,
          .corner = known.corner,
          .guard = estimated(pipe::guard, "as_hopper"),
          .fetch = estimated(pipe::fetch, "l2"),
          .margin = shuffles::careful_margin,
          .kernel_margin = shuffles::kernel_margin,
          .rotate_margin = rotation::margin,
          .rotate_registers = rotation::most_registers,
          .coarsen = taken_from_h200(),
          .processors = known.processors,
          .threads_per_sm = known.threads_per_sm,
          .registers_per_sm = registers_per_sm,
          .shared_per_sm = known.shared_per_sm};
}

constexpr Chip hopper{.architecture = "sm_90",
                      .name = "Hopper",
                      .shuffle = measured(pipe::shuffle),
                      .load = measured(pipe::load),
                      .line = measured(pipe::line),
                      .corner = measured(pipe::corner),
                      .guard = measured(pipe::guard),
                      .fetch = estimated(pipe::fetch, "l2"),
                      .margin = shuffles::margin,
                      .kernel_margin = shuffles::kernel_margin,
                      .rotate_margin = rotation::margin,
                      .rotate_registers = rotation::most_registers,
                      .coarsen = h200_costs,
                      .processors = 132,
                      .threads_per_sm = 2048,
                      .registers_per_sm = registers_per_sm,
                      .shared_per_sm = 228U << 10};

constexpr Cost guide_shuffle = estimated(1.0, "guide");
constexpr Cost as_hopper = estimated(1.0, "as_hopper"), corner = estimated(1.8, "as_hopper");
constexpr Cost l1_128 = estimated(1.0, "l1_128"), one_tag = estimated(1.0, "one_tag");

constexpr std::array all_chips{
    chip({.architecture = "sm_75",
          .name = "Turing",
          .shuffle = guide_shuffle,
          .load = estimated(2.0, "l1_64"),
          .line = estimated(2.0, "l1_64"),
          .corner = estimated(2.8, "as_load"),
          .processors = 68,
          .threads_per_sm = 1024,
          .shared_per_sm = 64U << 10}),
    chip({"sm_80", "Ampere", guide_shuffle, l1_128, one_tag, corner, 108, 2048, 164U << 10}),
    chip({"sm_86", "Ampere", guide_shuffle, l1_128, one_tag, corner, 84, 1536, 100U << 10}),
    chip({"sm_89", "Ada", guide_shuffle, l1_128, one_tag, corner, 128, 1536, 100U << 10}),
    hopper,
    chip({"sm_100", "Blackwell", as_hopper, as_hopper, as_hopper, corner, 148, 2048, 228U << 10}),
    chip({"sm_120", "Blackwell", as_hopper, as_hopper, as_hopper, corner, 170, 1536, 100U << 10}),
};

} // namespace

bool Chip::measured() const {
  const auto is = [](const Cost& cost) { return cost.provenance == Provenance::measured; };
  return is(shuffle) && is(load) && is(line) && is(corner) && is(guard);
}

std::span<const Chip> chips() {
  return all_chips;
}

const Chip* find_chip(std::string_view architecture) {
  if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
  const auto found = std::ranges::find(all_chips, architecture, &Chip::architecture);
  return found == all_chips.end() ? nullptr : &*found;
}

std::string whose_numbers(std::string_view architecture) {
  const Chip* chip = find_chip(architecture);
  const std::string name(architecture.empty() ? "this target" : architecture);
  if (chip == nullptr)
    return "nothing was measured on " + name +
           ", and nothing is known of it: no rewrite that has "
           "to pay is made";
  if (chip->measured() && chip->coarsen.provenance == Provenance::measured) return {};
  return "nothing was measured on " + name +
         ": what pays is judged by the numbers of an H200 "
         "(sm_90) and of the vendor's guides, and more is asked of a gain";
}

} // namespace ptxasw::numbers
