// Which of the launches that wait are passes, and the launches of entries for them.
#include "launch/batch/passes.hpp"

#include "launch/driver/device_memory.hpp"
#include "launch/log.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace ptxasw::launch {
namespace {

using Launches = std::span<const GraphLaunch>;

constexpr unsigned first_skip = 16, most_skip = 4096; // passes that are not tried
constexpr std::uint64_t aligned = 16;                 // each array of ours
constexpr std::size_t most_known = 256;               // addresses

// A sequence of which passes begin with some launch.
struct Found {
  const Kernel* kernel = nullptr;
  std::size_t number = 0; // in its contract
  unsigned passes = 0;
  [[nodiscard]] const contract::Sequence& sequence() const {
    return kernel->contract.sequences[number];
  }
  [[nodiscard]] std::size_t launches() const {
    return passes == 0 ? 0 : passes * sequence().stages.size();
  }
};

bool is_pass(const Kernel& first, const contract::Sequence& sequence, Launches launches) {
  return std::ranges::equal(launches, sequence.stages, [&](const auto& one, const auto& stage) {
    return one.stage != nullptr && one.shared == 0 && one.stage->module == first.module &&
           one.stage->context == first.context && one.stage->name == stage.kernel;
  });
}

bool same_kernels(const GraphLaunch& a, const GraphLaunch& b) {
  return a.same_kernel(b) && a.stage_grid == b.stage_grid && a.stage_block == b.stage_block;
}

// But for those parameters of the stage.
bool same_launches(const GraphLaunch& a, const GraphLaunch& b, const contract::Sequence& sequence,
                   std::size_t stage, std::span<const contract::Sequence::Part> but) {
  if (!same_kernels(a, b) || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes == b.bytes) return true;
  std::vector<unsigned char> bytes = a.bytes;
  for (const contract::Sequence::Part& part : but) {
    if (part.stage != stage) continue;
    const auto [offset, size] = sequence.stages[stage].places[contract::number_of(part.part)];
    if (std::uint64_t{offset} + size > bytes.size()) return false;
    std::memcpy(&bytes[offset], &b.bytes[offset], size);
  }
  return bytes == b.bytes;
}

// Whether launches a pass apart are those of a stage.
using Same = bool (*)(const GraphLaunch& a, const GraphLaunch& b,
                      const contract::Sequence& sequence, std::size_t stage);
bool by_kernels(const GraphLaunch& a, const GraphLaunch& b, const contract::Sequence&,
                std::size_t) {
  return same_kernels(a, b);
}
bool by_parameters(const GraphLaunch& a, const GraphLaunch& b, const contract::Sequence& sequence,
                   std::size_t stage) {
  return same_launches(a, b, sequence, stage, sequence.varying);
}

// The sequence of which most launches are passes that begin with the first one; two at least.
Found find(Launches launches, Same same) {
  Found best;
  const Kernel* const kernel = launches.front().stage;
  if (kernel == nullptr) return best;
  for (std::size_t n = 0; n < kernel->contract.sequences.size(); ++n) {
    const contract::Sequence& sequence = kernel->contract.sequences[n];
    const std::size_t stages = sequence.stages.size();
    if (launches.size() < 2 * stages || !is_pass(*kernel, sequence, launches.first(stages)))
      continue;
    std::size_t end = stages;
    while (end < launches.size() &&
           same(launches[end], launches[end - stages], sequence, end % stages))
      ++end;
    const Found found{kernel, n, static_cast<unsigned>(end / stages)};
    const bool may_launch =
        !kernel->are_steps_ready.load(std::memory_order_acquire) ||
        (kernel->sequences[n].function != nullptr &&
         count(found.sequence().block) <=
             static_cast<unsigned long long>(kernel->sequences[n].most_threads));
    if (found.passes >= 2 && may_launch && found.launches() > best.launches()) best = found;
  }
  return best;
}

// Calls `take` with each of them and where it begins.
void find_all(Launches launches, Same same, const auto& take) {
  for (std::size_t at = 0; at < launches.size();) {
    const Found found = find(launches.subspan(at), same);
    if (found.passes != 0) take(found, at);
    at += std::max<std::size_t>(found.launches(), 1);
  }
}

// As the contract asks for it. The parameters of an entry of the stage begin with its own.
bool is_as(const std::vector<contract::ParameterSlot>& places, const GraphLaunch& launch) {
  if (launch.parameters.size() < places.size()) return false;
  for (std::size_t n = 0; n < places.size(); ++n)
    if (std::uint64_t{places[n].offset} + places[n].size > launch.bytes.size() ||
        launch.parameters[n] != launch.bytes.data() + places[n].offset)
      return false;
  return true;
}

contract::StepLaunch step_of(const GraphLaunch& launch, std::size_t parameters) {
  return {launch.stage_grid, launch.stage_block,
          [&launch, parameters](unsigned number) -> const void* {
            return number < parameters ? launch.parameters[number] : nullptr;
          },
          launch.shared};
}

// What varies, of these passes, and of as many more as an entry is given values of at most.
std::vector<std::uint64_t> values_of(const contract::Sequence& sequence, Launches passes) {
  const std::size_t stages = sequence.stages.size();
  std::vector<std::uint64_t> values;
  for (std::size_t begin = 0; begin < passes.size(); begin += stages)
    for (const contract::Sequence::Part& part : sequence.varying) {
      const auto [offset, size] =
          sequence.stages[part.stage].places[contract::number_of(part.part)];
      std::memcpy(&values.emplace_back(0), &passes[begin + part.stage].bytes[offset], size);
    }
  values.resize(values.size() + contract::bytes_of_values(sequence) / sizeof values[0]);
  return values;
}

std::uint64_t own_bytes(const contract::FittedSequence& fitted) {
  std::uint64_t bytes = 0;
  for (const contract::FittedArray& array : fitted.arrays)
    bytes += (contract::own_bytes(array) + aligned - 1) / aligned * aligned;
  return bytes;
}

// Of the first and the second entry of a pair.
std::array<std::vector<contract::ArrayPlace>, 2> paired(const contract::FittedSequence& fitted,
                                                        std::uint64_t own) {
  std::array<std::vector<contract::ArrayPlace>, 2> made;
  for (const contract::FittedArray& array : fitted.arrays) {
    const std::uint64_t ours = contract::own_address(array, own);
    made[0].push_back({.read = array.pointer, .write = ours});
    made[1].push_back({.read = ours, .write = array.pointer});
    own += (contract::own_bytes(array) + aligned - 1) / aligned * aligned;
  }
  return made;
}

} // namespace

void make_launch(const GraphLaunch& one, CUstream stream, const Launch& launch) {
  const Request request{one.function,
                        one.grid,
                        one.block,
                        one.shared,
                        stream,
                        const_cast<void**>(one.parameters.data()), // only read
                        nullptr};
  if (launch(request) != CUDA_SUCCESS) log("a launch that was put off fails");
}

// --- What may be merged --------------------------------------------------------------------------

// By the kernels alone. Their entries are loaded if they are not there yet.
PassPlan::Kind Passes::find_kernels(Launches launches) {
  bool is_any = false, are_ready = true;
  find_all(launches, by_kernels, [&](const Found& found, std::size_t) {
    is_any = true;
    if (found.kernel->are_steps_ready.load(std::memory_order_acquire)) return;
    are_ready = false;
    load_(*found.kernel);
  });
  if (!is_any) return PassPlan::Kind::none;
  return are_ready ? PassPlan::Kind::some : PassPlan::Kind::not_known;
}

void Passes::recall(PassPlan& plan, Launches launches) const {
  plan.launches = hash_of(launches);
  if (const auto gains = memory_.recall(plan.launches, chip_of_context()))
    plan.gain = *gains ? PassPlan::Gain::expected : PassPlan::Gain::no;
}

// By the times that were read.
void Passes::compare_times(PassPlan& plan, Launches launches) const {
  using Gain = PassPlan::Gain;
  const bool is_expected = plan.gain == Gain::expected;
  const unsigned times = is_expected ? 1 : StepTimes::enough;
  const auto share = plan.times.share_of(PassPlan::merged, times, times);
  if (!share) return;
  const bool gains = *share <= numbers::launch::merged_worth_it;
  plan.gain = gains ? Gain::yes : is_expected ? Gain::not_known : Gain::no;
  if (plan.gain == Gain::no)
    log("a sequence of %zu launches: they are as fast as passes that are merged", launches.size());
  const bool is_clear =
      *share <= numbers::launch::batch_clear || *share >= numbers::launch::batch_hopeless;
  if (is_clear && !is_expected) memory_.keep(plan.launches, chip_of_context(), gains);
}

Passes::How Passes::how(PassPlan& plan, Launches launches, bool young) {
  if (plan.launches == 0) recall(plan, launches);
  if (!may_gain(plan) || (young && plan.gain == PassPlan::Gain::not_known)) return How::neither;
  if (plan.kind == PassPlan::Kind::not_known) plan.kind = find_kernels(launches);
  if (plan.kind != PassPlan::Kind::some) return How::neither;
  if (plan.skip != 0) {
    --plan.skip;
    return How::neither;
  }
  if (plan.gain != PassPlan::Gain::yes) compare_times(plan, launches);
  switch (plan.gain) {
  case PassPlan::Gain::yes: return How::merged;
  case PassPlan::Gain::no: return How::neither;
  default: break;
  }
  const bool as_they_come =
      plan.times.wants(StepTimes::singly) &&
      (!plan.times.was_asked(StepTimes::singly) || plan.times.is_turn_of_singles());
  return as_they_come ? How::as_they_come : How::merged;
}

bool Passes::is_full(Launches launches, std::size_t most) {
  if (launches.empty() || launches.back().stage == nullptr) return false;
  for (std::size_t period = 2; period <= contract::most_stages; ++period) {
    if (launches.size() % period != 0 || launches.size() + period <= most ||
        launches.size() < 3 * period)
      continue;
    // A pass begins somewhere in the first of its length.
    bool is_any = false;
    find_all(launches.first(3 * period), by_kernels, [&](const Found& found, std::size_t at) {
      is_any = is_any || (at < period && found.sequence().stages.size() == period);
    });
    const auto behind = launches.subspan(period);
    if (is_any && std::equal(behind.begin(), behind.end(), launches.begin(), same_kernels))
      return true;
  }
  return false;
}

// --- Of certain parameters -----------------------------------------------------------------------

// Empty, or why nothing is merged.
std::string Passes::fit(PassPlan& plan, Launches launches) {
  plan.parts.clear();
  plan.own_bytes = 0;
  plan.is_private = false;
  std::string why = "no pass has the parameters of the one before";
  find_all(launches, by_parameters, [&](const Found& found, std::size_t at) {
    if (!found.kernel->are_steps_ready.load(std::memory_order_acquire)) {
      load_(*found.kernel); // by the kernels alone passes began elsewhere
      why = "an entry is not loaded";
      return;
    }
    const contract::Sequence& sequence = found.sequence();
    std::vector<contract::Sequence::Part> free;
    std::ranges::copy_if(sequence.varying, std::back_inserter(free),
                         [&](const auto& part) { return !contract::is_asked(sequence, part); });
    const std::size_t stages = sequence.stages.size();
    const bool is_first_all = free.size() == sequence.varying.size();
    std::vector<contract::StepLaunch> asked;
    for (const GraphLaunch& one : launches.subspan(at, is_first_all ? stages : found.launches())) {
      const auto& places = sequence.stages[asked.size() % stages].places;
      if (!is_as(places, one)) {
        why = "a kernel has other parameters than its contract says";
        return;
      }
      asked.push_back(step_of(one, places.size()));
    }
    auto fitted = contract::fit(sequence, asked);
    if (!fitted) {
      why = fitted.error();
      return;
    }
    plan.own_bytes = std::max(plan.own_bytes, own_bytes(*fitted));
    plan.parts.push_back({at, found.passes, &sequence,
                          found.kernel->sequences[found.number].function, std::move(*fitted),
                          std::move(free)});
  });
  plan.is_current = true;
  return plan.parts.empty() ? why : "";
}

void PassPlan::look_at(std::size_t n, const GraphLaunch& now, const GraphLaunch& before) {
  if (!is_current) return;
  for (const Part& part : parts) {
    const std::size_t stages = part.sequence->stages.size();
    if (n < part.begin || n >= part.begin + part.passes * stages) continue;
    is_current = same_launches(now, before, *part.sequence, (n - part.begin) % stages, part.free);
    return;
  }
  is_current = same_kernels(now, before) && now.bytes == before.bytes;
}

// Asked again whenever the driver was asked for something else: an address may be another
// allocation's.
std::string Passes::why_not_private(PassPlan& plan) const {
  if (plan.asked != other_calls_ || plan.known.size() > most_known) {
    plan.known.clear();
    plan.is_private = false;
    plan.asked = other_calls_;
  }
  if (plan.is_private) return {};
  CUdevice device = 0;
  if (driver().ctx_get_device(&device) != CUDA_SUCCESS) return "no device";
  const auto is_ours = [&](const contract::TouchedRange& range) {
    return is_private(range, device, plan.known);
  };
  plan.is_private = std::ranges::all_of(plan.parts, [&](const PassPlan::Part& part) {
    return std::ranges::all_of(part.fitted.arrays, is_ours, &contract::FittedArray::range) &&
           std::ranges::all_of(part.fitted.read, is_ours);
  });
  return plan.is_private ? "" : "its arrays are not the device's alone";
}

void Passes::fail(PassPlan& plan, const std::string& why) {
  plan.skip = std::min(first_skip << std::min(plan.failed, 16U), most_skip);
  ++plan.failed;
  plan.times.cancel();
  plan.is_current = false;
  log("passes are not merged: %s", why.c_str());
}

// --- Making them ---------------------------------------------------------------------------------

unsigned Passes::make(PassPlan& plan, Launches launches, CUstream stream, const Launch& launch) {
  std::string why = plan.is_current && !plan.parts.empty() ? "" : fit(plan, launches);
  if (why.empty()) why = why_not_private(plan);
  CUdeviceptr own = 0;
  if (why.empty() && (own = scratch_.find(stream, plan.own_bytes)) == 0)
    why = "there is no room for arrays of our own";
  std::size_t next = 0; // launch that was not made
  const auto make_until = [&](std::size_t end) {
    for (; next < end; ++next)
      make_launch(launches[next], stream, launch);
  };
  unsigned all = 0;
  for (const PassPlan::Part& part : plan.parts) {
    if (!why.empty() || part.begin >= launches.size()) break;
    const bool is_behind_entry = all != 0 && next == part.begin;
    make_until(part.begin);
    const auto behind = launches.subspan(part.begin);
    const std::size_t stages = part.sequence->stages.size();
    const unsigned passes = std::min(part.passes, static_cast<unsigned>(behind.size() / stages));
    if (passes < 2) continue;
    const unsigned made =
        make_part(part, behind.first(passes * stages), own, is_behind_entry, stream, launch);
    if (made < passes / 2 * 2) why = "an entry does not launch";
    next += made * stages;
    all += made;
  }
  make_until(launches.size());
  if (own != 0) scratch_.done(own, stream);
  if (!why.empty())
    fail(plan, why);
  else
    plan.failed = 0;
  merged_ += all;
  return all;
}

// By pairs of entries, as few as can be, each of as many passes as the others or one more. How many
// passes were made: of a pair the first one alone has changed nothing that they read.
unsigned Passes::make_part(const PassPlan::Part& part, Launches launches, std::uint64_t own,
                           bool is_behind_entry, CUstream stream, const Launch& launch) {
  const contract::Sequence& sequence = *part.sequence;
  const auto passes = static_cast<unsigned>(launches.size() / sequence.stages.size());
  unsigned entries = (passes + sequence.count - 1) / sequence.count;
  entries += entries % 2;
  if (entries > passes) entries -= 2; // one pass each, and the last one is single
  const unsigned together = std::min(passes, entries * sequence.count);
  std::vector<void*> parameters;
  for (std::size_t n = 0; n < sequence.stages.size(); ++n)
    parameters.insert(parameters.end(), launches[n].parameters.begin(),
                      launches[n].parameters.begin() +
                          static_cast<std::ptrdiff_t>(sequence.stages[n].places.size()));
  auto threads = part.fitted.threads;
  auto places = paired(part.fitted, own);
  std::vector<std::uint64_t> values = values_of(sequence, launches);
  const std::size_t own_ones = parameters.size(), varying = sequence.varying.size();
  parameters.insert(parameters.end(), {threads.data(), nullptr, nullptr});
  if (varying == 0) parameters.pop_back();
  const Request request{.function = part.entry,
                        .grid = part.fitted.grid,
                        .block = part.fitted.block,
                        .stream = stream,
                        .parameters = parameters.data()};
  unsigned made = 0, half = 0, begun = 0; // half: of the first entry of a pair
  for (unsigned n = 0; n < entries; ++n) {
    const unsigned told = together / entries + (n < together % entries ? 1 : 0);
    threads.back() = told;
    parameters[own_ones + 1] = places.at(n % 2).data();
    if (varying != 0) parameters.back() = &values[begun * varying];
    begun += told;
    const bool early = sequence.waits && std::exchange(is_behind_entry, true);
    if ((!early || launch.ahead(request) != CUDA_SUCCESS) && launch(request) != CUDA_SUCCESS) break;
    ++entries_;
    if (n % 2 == 0)
      half = told;
    else
      made += half + told;
  }
  return made;
}

} // namespace ptxasw::launch
