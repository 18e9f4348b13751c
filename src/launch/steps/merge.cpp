// When launches are put off, and when those that were are made.
#include "launch/steps/merge.hpp"

#include "launch/choose/trials.hpp"
#include "launch/driver/device_memory.hpp"
#include "launch/kernels/passing.hpp"
#include "launch/log.hpp"
#include "launch/steps/forecast.hpp"
#include "launch/waiting/direct_calls.hpp"
#include "launch/waiting/trampolines.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr unsigned most_steps = 64; // that may be made before memory is as it should be
using numbers::launch::least_needed, numbers::launch::least_run, numbers::launch::most_needed;
constexpr unsigned least_timed = 4; // steps of a run, some of which are timed
// Launches of a shape that did not follow, before two of so many are looked at.
constexpr unsigned most_mismatches = 8, look_again = 16;

} // namespace

Merger::Merger(Turn& turn, RunMaker::Single single, RunMaker::Check check,
               std::chrono::microseconds longest_wait, std::chrono::microseconds tries_behind)
    : turn_(turn), maker_(std::move(single), std::move(check)), longest_wait_(longest_wait),
      tries_behind_(tries_behind) {}

Merger::~Merger() {
  flush();
}

// --- Launches ------------------------------------------------------------------------------------

std::uint64_t Merger::left_alone(const Shape& shape) const {
  if (stopped_.load(std::memory_order_relaxed) ||
      shape.is_merging_slow.load(std::memory_order_relaxed))
    return for_good;
  const std::uint64_t number = shape.launches.load(std::memory_order_relaxed),
                      until = shape.back_off_until.load(std::memory_order_relaxed);
  if (number < until) return until - number;
  const bool are_strangers = shape.mismatches.load(std::memory_order_relaxed) >= most_mismatches;
  return are_strangers && number % look_again > 1 ? look_again - number % look_again : 0;
}

bool Merger::take(const Kernel& kernel, Shape& shape, const Request& request,
                  const Launch& launch) {
  const Turn::Holder turn(turn_);
  if (!turn) return false;
  if (run_ != nullptr && run_->waits_as_before() && run_->continues(kernel, request, launch)) {
    if (!run_->is_ahead())
      add();
    else
      take_ahead();
  } else {
    make_all();
    if (!look_at(kernel, shape, request, launch)) return false;
    if (!is_time() || !start(launch)) {
      if (previous_ != nullptr) made_as_it_came();
      return false;
    }
  }
  last_taken_ = std::chrono::steady_clock::now();
  return true;
}

// Puts off one launch more.
void Merger::add() {
  ++run_->waiting;
  ++run_->taken;
  run_->goes_on();
  run_->copied = 0;
  if (run_->back.empty()) make_groups(); // or else behind the copies that belong to it
}

void Merger::make_groups() {
  const RunMaker::Next next = maker_.make_groups(*run_);
  if (next == RunMaker::Next::as_they_come || next == RunMaker::Next::time)
    go_on_as_they_come(next == RunMaker::Next::time);
  else if (next == RunMaker::Next::no_entry || run_->since_single + run_->waiting >= most_steps)
    make_all();
}

// Behind a step that was made as the program asked both arrays hold the same, and steps may be put
// off. So the launch that tells that its array is copied back may not be the first that waits.
bool Merger::take_copy(const CopyCall& copy) {
  const Turn::Holder turn(turn_);
  if (!turn) return false;
  const bool launches = copy.shape == nullptr || copy.shape->launched;
  if (run_ != nullptr && !run_->back.empty() && launches && run_->copies_back(copy)) {
    if (run_->copied == run_->back.size()) make_groups();
    last_taken_ = std::chrono::steady_clock::now();
    return true;
  }
  if (run_ != nullptr && run_->length == 1) go_on_as_they_come();
  if (run_ == nullptr && is_previous_last_ && !previous_->has_waited &&
      previous_->copies_back(copy)) {
    previous_->shape->copies_back = true;
    return false;
  }
  end_run();
  return false;
}

// As long as the run, no group is to come; or only behind some launches that are timed.
void Merger::go_on_as_they_come(bool is_timed) {
  maker_.make_all(*run_);
  previous_ = std::move(run_);
  previous_->is_timed = is_timed;
  previous_->followed = is_timed ? 0 : previous_->length - 1;
  is_previous_last_ = true;
}

void Merger::make_all() {
  if (run_ == nullptr) return;
  if (run_->is_ahead()) learn_of_ahead(*run_);
  maker_.make_all(*run_);
  learn(*run_);
  run_.reset();
  set_waiting(Waits::run, false);
}

// Does this launch follow the one before? It is that one now. False: it cannot be.
bool Merger::look_at(const Kernel& kernel, Shape& shape, const Request& request,
                     const Launch& launch) {
  if (is_previous_last_ && previous_->waits_as_before() &&
      previous_->continues(kernel, request, launch)) {
    ++previous_->followed;
    previous_->goes_on();
    previous_->copied = 0;
    time_singles();
    shape.mismatches.store(0, std::memory_order_relaxed);
    if (previous_->followed >= numbers::launch::load_behind ||
        (previous_->is_waited && 2 * previous_->followed >= shape.waited.needed))
      load_entries(kernel);
    return true;
  }
  shape.mismatches.fetch_add(1, std::memory_order_relaxed);
  end_previous();
  if (previous_ == nullptr) previous_ = std::make_unique<Run>();
  if (previous_->begin(kernel, shape, request, launch)) {
    begin_period(*previous_);
    return true;
  }
  previous_->back_off("its parameters come in a form that is not known");
  return false;
}

// A run of the shape begins. Where its length is known and it may pay entries are needed.
void Merger::begin_period(Run& run) const {
  Period& period = run.shape->period;
  const unsigned first = run.shape->copies_back ? 1 : 0;
  period.begin([] { return std::chrono::steady_clock::now(); },
               [&] { return forecast(run, period.expected(), first).measured(); }, tries_behind_);
}

// From the launch that was looked at on, or up to it. Not among the first of a run whose length
// nobody knows: it may be over soon.
void Merger::time_singles() {
  const Run& run = *previous_;
  if (run.is_waited) {
    if (run.followed > 1) run.shape->waited.end(1, false);
    return run.shape->waited.begin();
  }
  StepTimes& times = run.shape->step_times;
  const unsigned expected = run.shape->period.expected();
  unsigned first = 1, steps = StepTimes::single_steps;
  if (run.is_timed) {
    // Behind a group.
  } else if (expected > 3 + StepTimes::single_steps) {
    first = 3; // behind those that found the device idle
  } else if (expected >= least_timed && !run.shape->period.is_young() &&
             !times.was_asked(StepTimes::singly)) {
    steps = std::min(steps, expected - 2); // once: events take as long as some of its steps
  } else if (expected == 0) {
    first = numbers::launch::load_behind;
    steps = numbers::launch::first_needed - first;
  } else {
    return;
  }
  if (run.followed == first && times.wants(StepTimes::singly))
    times.begin(run.request.stream);
  else if (run.followed == first + steps)
    times.end(run.request.stream, StepTimes::singly, steps);
}

// Its last launch was made.
void Merger::end_previous() {
  if (previous_ != nullptr && previous_->shape != nullptr) previous_->shape->step_times.cancel();
  if (std::exchange(is_previous_last_, false)) learn(*previous_);
}

// What the run that has ended teaches about the next one.
void Merger::learn(Run& run) {
  Shape& shape = *run.shape;
  if (run.length > 1) shape.waited.is_usual = run.is_waited;
  shape.merged += run.groups == 0 ? 0 : run.taken;
  shape.groups += run.groups;
  if (run.taken > 1) shape.mismatches = 0;
  const bool wasted = run.taken != 0 && run.groups == 0;
  const unsigned before = shape.period.expected();
  shape.period.end(run.length, run.groups != 0, wasted);
  leave_quiet(run, before);
  if (run.taken == 0 || (run.expected != 0 && !wasted)) return;
  const bool pays = run.groups != 0 && run.length >= least_run;
  shape.trigger_count = pays ? 0 : std::clamp(2 * shape.trigger_count, least_needed, most_needed);
}

// Some are launched once more, what was made ahead of them was in vain: worth it in long runs.
void Merger::learn_of_ahead(Run& run) {
  WaitedSteps& waited = run.shape->waited;
  const bool is_long = run.taken >= 8 * run.fewest();
  waited.needed = is_long ? numbers::launch::waited_needed
                          : std::min(2 * waited.needed, numbers::launch::most_quiet);
  run.taken -= run.asked;
}

// Runs of the length that is expected gain nothing, or are not merged yet: some launches are not
// looked at, and more each time that the next one has that length, too.
void Merger::leave_quiet(Run& run, unsigned before) {
  Shape& shape = *run.shape;
  const Period& period = shape.period;
  const unsigned expected = period.expected();
  if (expected != before || expected == 0) shape.quiet = numbers::launch::quiet;
  const bool may_gain = expected >= run.fewest() && !period.is_left_alone() && !period.is_young();
  if (expected == 0 || may_gain) return;
  shape.back_off_until = shape.launches + shape.quiet;
  shape.quiet = std::min(2 * shape.quiet, numbers::launch::most_quiet);
  shape.period.pass_over();
}

// Entries that were not loaded ahead are asked for where launches follow one another.
void Merger::load_entries(const Kernel& kernel) {
  if (stopped_ || std::exchange(kernel.are_steps_asked_for, true)) return;
  start_threads();
  loader_.ask(kernel.shared_from_this());
}

// By any thread, more than one at a time perhaps.
void Merger::start_threads() {
  const Turn::Holder turn(turn_);
  if (stopped_) return;
  loader_.start();
  watcher_.start();
}

// Is the launch that was looked at to be put off?
bool Merger::is_time() {
  Run& run = *previous_;
  Shape& shape = *run.shape;
  // The first step that is copied back, or that may be waited for, is made as it comes.
  const unsigned first = !run.back.empty() || shape.copies_back || shape.waited.is_usual ? 1 : 0;
  const unsigned expected = shape.period.expected();
  run.expected = expected < run.length ? 0 : expected;
  if (!shape.launched || (run.length == 1 && first != 0)) return false;
  if (run.is_waited) return is_time_to_go_ahead();
  if (run.is_timed)
    return run.followed > StepTimes::single_steps &&
           (run.expected == 0 || run.left() + 1 >= run.fewest());
  if (run.expected == 0)
    return run.followed >= std::max(first, shape.trigger_count) && are_entries_there(*run.kernel);
  return run.followed == first && run.expected - first >= run.fewest() &&
         is_expected_to_pay(run, first) && are_entries_there(*run.kernel);
}

// Where the program waits behind each launch.
bool Merger::is_time_to_go_ahead() {
  Run& run = *previous_;
  const Shape& shape = *run.shape;
  const Period& period = shape.period;
  if (run.motion->rotation) return false;
  if (run.expected != 0 &&
      (run.left() < run.fewest() || period.is_left_alone() || !period.merges()))
    return false;
  return run.followed >= (run.expected != 0 ? 1 : shape.waited.needed) &&
         are_entries_there(*run.kernel);
}

// Of a run whose length is known.
bool Merger::is_expected_to_pay(Run& run, unsigned first) {
  Period& period = run.shape->period;
  if (period.is_left_alone()) return false;
  if (forecast(run, run.expected, first).pays()) return period.merges();
  log("%s: runs of %u steps gain nothing", run.kernel->name.c_str(), run.expected);
  period.leave_alone();
  return false;
}

// If not they are asked for.
bool Merger::are_entries_there(const Kernel& kernel) {
  if (kernel.are_steps_ready.load(std::memory_order_acquire)) return true;
  load_entries(kernel);
  return false;
}

// Whoever calls the driver next comes here, unless it is by a launch that follows.
void Merger::made_as_it_came() {
  if (previous_->back.empty()) previous_->next = (previous_->next + 1) % previous_->kinds();
  is_previous_last_ = true;
  set_waiting(Waits::run, true);
}

// Empty, or why launches like these may not be put off.
std::string Merger::why_not(const Run& run) const {
  const Driver& d = driver();
  if (stopped_) return "nothing is put off any more";
  if (!d.ctx_push || !d.ctx_pop || !d.ctx_get_current || !d.ctx_get_device ||
      !d.pointer_get_attribute || (run.is_waited && !d.stream_synchronize) ||
      run.kernel->context == nullptr)
    return "this driver does not tell enough";
  if (run.request.stream == CU_STREAM_PER_THREAD) return "its stream is the thread's own";
  const std::string caller = unseen_caller();
  if (!caller.empty() || !run.is_waited) return caller;
  if (!is_only_device()) return "the program uses several devices";
  return unseen_reader();
}

// Puts off the launch that was looked at.
bool Merger::start(const Launch& launch) {
  if (is_capturing(previous_->request.stream)) return false; // which says nothing of later launches
  if (!knows_choice(*previous_->shape)) { // trials are made where launches are left alone
    previous_->shape->back_off_until =
        previous_->shape->launches + numbers::launch::launches_of_trials;
    return false;
  }
  if (const std::string why = why_not(*previous_); !why.empty()) {
    previous_->back_off(why);
    return false;
  }
  previous_->shape->step_times.cancel();
  run_ = std::move(previous_);
  is_previous_last_ = false;
  run_->is_timed = false;
  run_->launch = launch.copy();
  if (run_->is_waited) return go_ahead();
  run_->waiting = 1;
  ++run_->taken;
  set_waiting(Waits::run, true);
  watcher_.wake();
  return true;
}

// The launch that was looked at, and more behind it. False: it is made as it comes, and behind it
// memory is as it should be.
bool Merger::go_ahead() {
  Run& run = *run_;
  const unsigned most = run.expected == 0 ? most_steps : run.expected - run.length;
  if (maker_.make_ahead(run, most)) {
    ++run.taken;
    set_waiting(Waits::run, true);
    return true;
  }
  as_they_come();
  return false;
}

void Merger::as_they_come() {
  previous_ = std::move(run_);
  previous_->asked = previous_->ahead = previous_->followed = 0;
}

// The launch is one of those that were made ahead, or the next one.
void Merger::take_ahead() {
  Run& run = *run_;
  run.goes_on();
  if (run.ahead != 0) {
    --run.ahead;
    ++run.asked;
    ++run.taken;
    return;
  }
  WaitedSteps& waited = run.shape->waited;
  waited.end(run.asked, true);
  waited.begin();
  run.expected = run.expected < run.length ? 0 : run.expected;
  if (!waited.pays()) {
    log("%s: launches of their own are as fast", run.kernel->name.c_str());
    run.shape->is_merging_slow = true;
  } else if (why_not(run).empty() && go_ahead()) {
    return;
  }
  if (run_ != nullptr) as_they_come();
  ++previous_->taken;
  maker_.make_next(*previous_); // in this turn: until then memory is not as it should be
  is_previous_last_ = true;
}

// --- Who ends a run ------------------------------------------------------------------------------

void Merger::flush() {
  const Turn::Holder turn(turn_);
  if (turn) end_run(); // or a tool asks, within a call that makes what waits
}

void Merger::end_run() {
  make_all();
  end_previous();
  set_waiting(Waits::run, false);
}

// What was made ahead is waited for with the rest. Behind the first launch of a run, or behind
// each, the next one follows all the same.
void Merger::before_wait(CUcontext context) {
  const Turn::Holder turn(turn_);
  if (!turn) return;
  Run* const last = run_ != nullptr ? run_.get() : is_previous_last_ ? previous_.get() : nullptr;
  if (last != nullptr && last->may_be_waited_for() && last->kernel->context == context &&
      last->thread == std::this_thread::get_id() && (run_ == nullptr || run_->is_ahead()))
    last->has_waited = true;
  else
    end_run();
}

void Merger::forget_handles() {
  flush();
  if (!stopped_) loader_.forget();
}

void Merger::stop(const std::string& why) {
  if (!stopped_.exchange(true)) log("nothing is merged any more: %s", why.c_str());
  const Turn::Holder turn(turn_);
  if (turn) make_all();
}

// Whether a run still waits.
bool Merger::look() {
  const Turn::Holder turn(turn_);
  if (!turn || run_ == nullptr || run_->is_ahead()) return false;
  if (std::chrono::steady_clock::now() - last_taken_ >= longest_wait_) make_all();
  return run_ != nullptr;
}

} // namespace ptxasw::launch
