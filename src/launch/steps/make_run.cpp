// Which entries can do steps of a run, and the calls of the driver that make it.
#include "launch/steps/make_run.hpp"

#include "launch/driver/device_memory.hpp"
#include "launch/driver/in_context.hpp"
#include "launch/log.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace ptxasw::launch {
namespace {

// A variable of the module that a step reads is an array's.
bool overlap(std::span<const contract::TouchedRange> ranges,
             const std::vector<contract::TouchedRange>& variables) {
  return std::ranges::any_of(ranges, [&](const contract::TouchedRange& range) {
    return std::ranges::any_of(variables, [&](const contract::TouchedRange& variable) {
      return contract::overlap(range, variable);
    });
  });
}

double blocks_of(const RunEntry& entry) {
  return static_cast<double>(count(entry.fitted.grid));
}

std::uint64_t address_of(const Run& run, unsigned kind, unsigned part) {
  return contract::address_in(run.step(kind).parameters, part);
}

// Of the next launch, where an array of ours takes the place of one that is written or, behind an
// odd number of groups, of the one that is read.
class OursInstead {
public:
  OursInstead(Run& run, std::vector<void*>& parameters) {
    const contract::Swap& swap = run.motion->swaps[0];
    const unsigned part = run.next == 0 ? swap.out : swap.in, number = contract::number_of(part);
    const auto* const own = static_cast<const unsigned char*>(parameters[number]);
    bytes_.assign(own, own + run.kernel->contract.places[number].size);
    std::memcpy(bytes_.data() + contract::byte_of(part), &run.fourth, sizeof run.fourth);
    parameters[number] = bytes_.data();
  }

private:
  std::vector<unsigned char> bytes_; // of the parameter
};

// What `entry` does of the run, from its next launch on.
bool launch_entry(Run& run, const RunEntry& entry, bool is_behind_entry,
                  contract::StepArrays* arrays) {
  Request request = run.request;
  request.function = entry.function;
  request.grid = entry.fitted.grid;
  request.block = entry.fitted.block;
  request.shared = 0;
  std::vector<void*> parameters = run.pointers[run.next];
  std::optional<OursInstead> instead;
  if (run.is_apart) instead.emplace(run, parameters);
  auto threads = entry.fitted.threads;
  parameters.push_back(threads.data());
  if (arrays != nullptr) parameters.push_back(arrays);
  request.parameters = parameters.data();
  if (entry.waits && is_behind_entry && run.launch->ahead(request) == CUDA_SUCCESS) return true;
  return (*run.launch)(request) == CUDA_SUCCESS;
}

} // namespace

// The entries that can do steps of the run. Asked once there are enough launches for one: the
// driver takes as long for the answers as for a launch.
bool RunMaker::fit(Run& run) {
  if (run.is_fitted) return !run.entries.empty();
  run.is_fitted = true;
  const contract::Contract& contract = run.kernel->contract;
  CUdevice device = 0;
  std::string why = driver().ctx_get_device(&device) == CUDA_SUCCESS ? "" : "no device";
  std::vector<std::uint64_t> known;
  bool is_slow = false;
  for (std::size_t n = 0; n < contract.steps.size() && why.empty(); ++n) {
    const contract::Steps& steps = contract.steps[n];
    const Entry& entry = run.kernel->steps[n];
    if (entry.function == nullptr || !contract::move_alike(steps, *run.motion) ||
        count(steps.block) > static_cast<unsigned long long>(entry.most_threads))
      continue;
    if (!run.shape->step_times.pays(static_cast<unsigned>(n))) {
      is_slow = true;
      continue;
    }
    // Of entries for as many steps the first one that has enough blocks for each processor.
    RunEntry* const larger = !run.entries.empty() && run.entries.back().count == steps.count
                                 ? &run.entries.back()
                                 : nullptr;
    if (larger != nullptr &&
        blocks_of(*larger) >= contract.steps[larger->number].blocks_each * run.kernel->processors)
      continue;
    const auto& variables = run.kernel->variables[n];
    auto fitted = contract::fit(contract, steps, run.step(0));
    if (!fitted)
      why = fitted.error();
    else if (!std::ranges::all_of(fitted->ranges, [&](const auto& range) {
               return is_private(range, device, known);
             }))
      why = "its arrays are not the device's alone";
    else if (overlap(fitted->ranges, variables) ||
             std::ranges::any_of(run.back, [&](const CopyBack& copy) {
               return overlap(copy.touched(), variables);
             }))
      why = "the arrays overlap";
    else if (!run.back.empty() && !(why = why_not_back(run, steps, *fitted)).empty())
      continue;
    else if (RunEntry made{entry.function, steps.count, launches_at_a_time(steps),
                           std::move(*fitted), static_cast<unsigned>(n), steps.waits};
             larger == nullptr)
      run.entries.push_back(std::move(made));
    else if (blocks_of(made) > blocks_of(*larger))
      *larger = std::move(made);
  }
  if (why.empty() && (run.motion->rotation || run.is_apart) && !run.entries.empty() &&
      !find_scratch(run))
    why = "there is no room for a fourth array";
  if (!why.empty()) run.entries.clear();
  if (why.empty() && run.entries.empty() && is_slow)
    leave_alone(run);
  else if (run.entries.empty())
    run.back_off(why);
  return !run.entries.empty();
}

// The array that the program does not have. Entries of a kernel touch the same of its own.
bool RunMaker::find_scratch(Run& run) {
  const contract::FittedSteps& first = run.entries.front().fitted;
  std::erase_if(run.entries, [&](const RunEntry& entry) {
    return entry.fitted.next->begin != first.next->begin ||
           entry.fitted.next->end != first.next->end;
  });
  run.scratch = scratch_.find(run.request.stream, contract::fourth_bytes(first));
  if (run.scratch == 0) return false;
  const unsigned next = run.is_apart ? run.motion->swaps[0].out : run.motion->rotation->next;
  const std::uint64_t address = address_of(run, 0, next);
  run.fourth = contract::fourth_at(first, address, run.scratch);
  run.filled_from = first.next->begin - address;
  run.filled_bytes = first.next->end - first.next->begin;
  return true;
}

// Empty, or why steps with this copy behind them may not be merged.
std::string RunMaker::why_not_back(Run& run, const contract::Steps& steps,
                                   const contract::FittedSteps& fitted) {
  const CopyBack::Covers covers = CopyBack::covers(run.back, steps, fitted);
  if (covers == CopyBack::Covers::nothing)
    return "what is copied back is not known to be all that it writes";
  CUdevice device = 0;
  std::vector<std::uint64_t> known;
  const auto is_the_devices = [&](const CopyBack& copy) {
    return std::ranges::all_of(copy.touched(),
                               [&](const auto& range) { return is_private(range, device, known); });
  };
  if (driver().ctx_get_device(&device) != CUDA_SUCCESS ||
      !std::ranges::all_of(run.back, is_the_devices))
    return "what is copied back is not the device's alone";
  run.is_apart = run.is_apart || covers != CopyBack::Covers::all;
  run.shape->copies_less = run.is_apart;
  return {};
}

// What no step writes, as the array has it that the steps read: with all that lies between.
bool RunMaker::fill_scratch(Run& run) {
  if (run.is_filled) return true;
  const auto make = driver().copy_on_device;
  const std::uint64_t read = address_of(run, 0, run.motion->swaps[0].in);
  run.is_filled = make != nullptr && make(run.fourth + run.filled_from, read + run.filled_from,
                                          run.filled_bytes, run.request.stream) == CUDA_SUCCESS;
  return run.is_filled;
}

RunMaker::Next RunMaker::make_groups(Run& run) {
  if (check_ != nullptr || run.whole() < run.fewest()) return Next::wait;
  if (!fit(run)) return Next::no_entry;
  const auto fits = [&](unsigned launches) {
    return [launches, behind = run.singles()](const RunEntry& entry) {
      return entry.launches + behind <= launches;
    };
  };
  for (;;) {
    auto next = run.entries.begin();
    if (run.expected != 0) next = std::ranges::find_if(run.entries, fits(run.left()));
    if (next == run.entries.end()) return Next::as_they_come;
    if (!fits(run.whole())(*next)) return Next::wait;
    make_group(run, *next);
    // A long run, as far as one can know: launches that are timed may cost a little of it.
    constexpr unsigned long_so_far = 80, enough_left = 32;
    if (run.back.empty() && run.shape->step_times.is_turn_of_singles() &&
        (run.expected == 0 ? run.length >= long_so_far : run.left() >= enough_left))
      return Next::time;
  }
}

// For as long as the program lasts.
void RunMaker::leave_alone(Run& run) {
  run.shape->is_merging_slow = true;
  log("%s: single launches are as fast", run.kernel->name.c_str());
}

void RunMaker::make_all(Run& run) {
  const InContext context(run.kernel->context);
  if (run.is_ahead()) return make_again(run);
  if (run.whole() >= run.fewest()) fit(run);
  if (check_ != nullptr && run.waiting > 2)
    make_checked(run);
  else
    make_rest(run);
  if (run.scratch != 0) scratch_.done(run.scratch, run.request.stream);
  run.is_filled = false; // somebody else may have it from now on
}

bool RunMaker::make_ahead(Run& run, unsigned most) {
  if (check_ != nullptr || run.motion->rotation || !run.back.empty() || !fit(run)) return false;
  const auto found = std::ranges::find_if(
      run.entries, [&](const RunEntry& entry) { return entry.launches <= most; });
  if (found == run.entries.end()) return false;
  if (!launch_entry(run, *found, false, nullptr)) {
    run.back_off("its steps do not launch");
    return false;
  }
  run.groups += found->launches / found->count;
  run.next = (run.next + found->launches) % run.kinds();
  run.asked = 1;
  run.ahead = found->launches - 1;
  return true;
}

// Somebody may look at memory: it becomes what the launches so far leave. The entry read one array
// and wrote the other one, so the first is as it was in front of it, and single launches from there
// write all of the second one, and then of the first. The program has waited for them; so what it
// calls next finds them done.
void RunMaker::make_again(Run& run) const {
  const unsigned launches = run.asked + run.ahead;
  run.next = (run.next + (run.kinds() - 1) * launches) % run.kinds(); // - launches
  run.waiting = run.asked;
  run.asked = run.ahead = 0;
  while (run.waiting > 0)
    make_single(run);
  const Relaxed relaxed;
  driver().stream_synchronize(run.request.stream);
}

// Singly and merged on copies of memory, then as the program asked.
void RunMaker::make_checked(Run& run) const {
  const auto on_copies = [&run](const auto& make) {
    return [&run, &make, waiting = run.waiting, next = run.next](const Request&,
                                                                 const Copies& copies) {
      const auto own = run.bytes;
      const auto back = run.back;
      for (CopyBack& copy : run.back)
        copy.redirect(copies);
      for (std::vector<unsigned char>& parameters : run.bytes)
        for (const contract::ParameterSlot& place : run.kernel->contract.places)
          copies.redirect(std::span(parameters).subspan(place.offset, place.size));
      make();
      for (std::size_t kind = 0; kind < own.size(); ++kind)
        std::ranges::copy(own[kind], run.bytes[kind].begin()); // where `pointers` lead
      run.back = back;
      run.waiting = waiting;
      run.next = next;
      return CUDA_SUCCESS;
    };
  };
  const auto singly = [&] {
    while (run.waiting > 0)
      make_single(run);
  };
  const auto merged = [&] { make_rest(run); };
  Request first = run.request;
  first.parameters = run.pointers[run.next].data();
  check_(*run.kernel, *run.shape, first, on_copies(singly), on_copies(merged));
  singly();
}

// The last ones are single: they overwrite what a group left behind (contract/steps.hpp).
void RunMaker::make_rest(Run& run) const {
  while (run.waiting > 0) {
    const auto fits = [&](const RunEntry& entry) {
      return entry.launches + run.singles() <= run.whole();
    };
    const auto found = std::ranges::find_if(run.entries, fits);
    if (found == run.entries.end())
      make_single(run);
    else
      make_group(run, *found);
  }
}

// Of a pair the first one alone has changed nothing that the launches read that it stands for.
void RunMaker::make_group(Run& run, const RunEntry& entry) const {
  StepTimes& times = run.shape->step_times;
  bool is_made = !run.is_apart || fill_scratch(run);
  if (times.wants_now(entry.number)) times.begin(run.request.stream);
  bool is_behind_entry = run.since_single != 0 && !times.is_running();
  if (const auto& rotation = run.motion->rotation)
    for (contract::StepArrays arrays :
         contract::paired(*rotation, run.step(run.next).parameters, run.fourth))
      is_made = is_made && launch_entry(run, entry, std::exchange(is_behind_entry, true), &arrays);
  else
    is_made = is_made && launch_entry(run, entry, is_behind_entry, nullptr);
  if (!is_made) {
    times.cancel();
    log("%s: its %u steps do not launch", run.kernel->name.c_str(), entry.count);
    for (unsigned n = 0; n < entry.launches; ++n)
      make_single(run);
    return;
  }
  times.end(run.request.stream, entry.number, entry.launches);
  run.groups += entry.launches / entry.count;
  run.next = (run.next + entry.launches) % run.kinds();
  run.waiting -= entry.launches;
  run.since_single += entry.launches;
}

// A copy that is left out has one in front of a single launch in its place: groups of an odd number
// of steps leave what the last one computed in the other array. Where that is ours, one more single
// launch brings it back: it writes to where steps read from, and another one is behind it.
void RunMaker::make_single(Run& run) const {
  const bool is_from_ours = run.is_apart && run.next != 0;
  if (!run.back.empty() && run.next != 0 && !is_from_ours) {
    make_copies(run, run.back.size());
    run.next = 0;
  }
  Request request = run.request;
  std::vector<void*> parameters = run.pointers[run.next];
  std::optional<OursInstead> instead;
  if (is_from_ours) instead.emplace(run, parameters);
  request.parameters = parameters.data();
  const CUresult result = single_(*run.kernel, *run.shape, request, *run.launch);
  if (result != CUDA_SUCCESS) log("%s: a launch that was put off fails", run.kernel->name.c_str());
  if (run.back.empty() || is_from_ours)
    run.next = (run.next + 1) % run.kinds();
  else
    make_copies(run, run.whole() != 0 ? run.back.size() : run.copied);
  --run.waiting;
  run.since_single = 0;
}

// The first ones.
void RunMaker::make_copies(const Run& run, std::size_t count) const {
  for (std::size_t n = 0; n < count; ++n)
    run.back[n].make(single_);
}

} // namespace ptxasw::launch
