// The queue of launches that were put off, and who empties it.
#include "launch/merge.hpp"

#include "launch/direct_calls.hpp"
#include "launch/log.hpp"
#include "launch/trampolines.hpp"
#include "numbers/numbers.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <utility>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;

constexpr unsigned most_steps = 64; // that may be made before memory is as it should be
constexpr auto look_every = 50us;
constexpr auto watch_awake = 5ms; // without a run
using numbers::launch::least_needed, numbers::launch::least_run, numbers::launch::most_needed;
constexpr std::uint64_t left_alone = 512; // launches of a shape that cannot be merged
// Launches of a shape that did not follow, before two of so many are looked at.
constexpr unsigned most_strangers = 8, look_again = 16;

// Memory that only this device can reach, as far as the driver tells. `known`: addresses that it
// has been asked about; entries for different numbers of steps touch mostly the same.
bool is_private(const contract::TouchedRange& range, int device,
                std::vector<std::uint64_t>& known) {
  const auto ask = driver().pointer_get_attribute;
  if (range.begin == range.end) return true;
  for (const std::uint64_t at : {range.begin, range.end - 1}) {
    if (std::ranges::find(known, at) != known.end()) continue;
    unsigned type = 0, managed = 1;
    int ordinal = -1;
    if (ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS ||
        ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) != CUDA_SUCCESS ||
        ask(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE || managed != 0 || ordinal != device)
      return false;
    known.push_back(at);
  }
  return true;
}

double blocks_of(const RunEntry& entry) {
  return static_cast<double>(count(entry.fitted.grid));
}

// The run's context, on a thread that may have another one.
class InContext {
public:
  explicit InContext(CUcontext context) {
    CUcontext now = nullptr;
    driver().ctx_get_current(&now);
    pushed_ = now != context && driver().ctx_push(context) == CUDA_SUCCESS;
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  ~InContext() {
    CUcontext mine = nullptr;
    if (pushed_) driver().ctx_pop(&mine);
  }

private:
  bool pushed_ = false;
};

// Behind another entry it may begin before that has ended.
CUresult launch_ahead(const Request& request) {
  const Driver& d = driver();
  if (d.launch_kernel_ex == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  CUlaunchAttribute ahead{};
  ahead.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  ahead.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config{.gridDimX = request.grid[0],
                              .gridDimY = request.grid[1],
                              .gridDimZ = request.grid[2],
                              .blockDimX = request.block[0],
                              .blockDimY = request.block[1],
                              .blockDimZ = request.block[2],
                              .sharedMemBytes = 0,
                              .hStream = request.stream,
                              .attrs = &ahead,
                              .numAttrs = 1};
  return d.launch_kernel_ex(&config, request.function, request.parameters, nullptr);
}

} // namespace

Merger::Merger(Single single, Check check, std::chrono::microseconds longest_wait)
    : single_(std::move(single)), check_(std::move(check)), longest_wait_(longest_wait) {}

Merger::~Merger() {
  {
    const std::lock_guard lock(mutex_);
    make_all();
    ending_ = true;
    wake_.notify_one();
  }
  if (watcher_.joinable()) watcher_.join();
}

bool Merger::take(const Kernel& kernel, Shape& shape, const Request& request,
                  const Launch& launch) {
  const std::uint64_t number = shape.launches.load(std::memory_order_relaxed);
  const bool is_stranger = shape.strangers.load(std::memory_order_relaxed) >= most_strangers;
  if (number < shape.alone_until.load(std::memory_order_relaxed) ||
      (is_stranger && number % look_again > 1)) {
    if (is_waiting()) flush();
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (run_ != nullptr && run_->continues(kernel, request, launch)) {
    ++run_->waiting;
    ++run_->taken;
    if (check_ == nullptr) make_groups();
    if (run_ != nullptr && run_->since_single + run_->waiting >= most_steps) make_all();
  } else {
    make_all();
    if (!look(kernel, shape, request, launch)) return false;
    if (former_->followed < shape.needed || !start(launch)) {
      if (former_ != nullptr) made_as_it_came();
      return false;
    }
  }
  last_taken_ = std::chrono::steady_clock::now();
  return true;
}

// Does this launch follow the former one? It is the former one now. False: it cannot be.
bool Merger::look(const Kernel& kernel, Shape& shape, const Request& request,
                  const Launch& launch) {
  if (is_former_last_ && former_->continues(kernel, request, launch)) {
    ++former_->followed;
    shape.strangers.store(0, std::memory_order_relaxed);
    return true;
  }
  shape.strangers.fetch_add(1, std::memory_order_relaxed);
  is_former_last_ = false;
  if (former_ == nullptr) former_ = std::make_unique<Run>();
  if (former_->begin(kernel, shape, request, launch)) return true;
  leave_alone(*former_, "its parameters come in a form that is not known");
  return false;
}

// Whoever calls the driver next comes here, unless it is by a launch that follows.
void Merger::made_as_it_came() {
  former_->next = (former_->next + 1) % former_->kinds();
  is_former_last_ = true;
  set_waiting(true);
}

void Merger::leave_alone(const Run& run, const std::string& why) {
  Shape& shape = *run.shape;
  if (!why.empty() && shape.launched)
    log("%s: not merged: %s", run.kernel->name.c_str(), why.c_str());
  shape.alone_until = shape.launches + (shape.launched ? left_alone : 1);
}

// Empty, or why launches like these may not be put off.
std::string Merger::why_not(const Run& run) const {
  const Driver& d = driver();
  const Shape& shape = *run.shape;
  if (stopped_) return "nothing is put off any more";
  if (!d.ctx_push || !d.ctx_pop || !d.ctx_get_current || !d.ctx_get_device ||
      !d.pointer_get_attribute || run.kernel->context == nullptr)
    return "this driver does not tell enough";
  if (!shape.launched || !shape.decided) return "it was not launched before";
  if (run.request.stream == CU_STREAM_PER_THREAD) return "its stream is the thread's own";
  if (run.request.shared != 0) return "it takes dynamic shared memory";
  return unseen_caller();
}

// Puts off the launch that was looked at.
bool Merger::start(const Launch& launch) {
  if (is_capturing(former_->request.stream)) return false; // says nothing of launches behind that
  if (const std::string why = why_not(*former_); !why.empty()) {
    leave_alone(*former_, why);
    return false;
  }
  run_ = std::move(former_);
  is_former_last_ = false;
  run_->launch = launch.copy();
  run_->waiting = run_->taken = 1;
  set_waiting(true);
  if (!watcher_.joinable()) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watcher_ = std::thread([this] { watch(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  } else if (asleep_) {
    wake_.notify_one();
  }
  return true;
}

// The entries that can do steps of the run. Asked once there are enough launches for one: the
// driver takes as long for the answers as for a launch.
bool Merger::fit(Run& run) {
  if (run.is_fitted) return !run.entries.empty();
  run.is_fitted = true;
  const contract::Contract& contract = run.kernel->contract;
  CUdevice device = 0;
  std::string why = driver().ctx_get_device(&device) == CUDA_SUCCESS ? "" : "no device";
  std::vector<std::uint64_t> known;
  for (std::size_t n = 0; n < contract.steps.size() && why.empty(); ++n) {
    const contract::Steps& steps = contract.steps[n];
    const Entry& entry = run.kernel->steps[n];
    if (entry.function == nullptr || !contract::move_alike(steps, *run.motion) ||
        count(steps.block) > static_cast<unsigned long long>(entry.most_threads))
      continue;
    // Of entries for as many steps the first one that leaves no processor without a block.
    RunEntry* const larger = !run.entries.empty() && run.entries.back().count == steps.count
                                 ? &run.entries.back()
                                 : nullptr;
    if (larger != nullptr && blocks_of(*larger) >= run.kernel->processors) continue;
    auto fitted = contract::fit(contract, steps, run.step(0));
    if (!fitted)
      why = fitted.error();
    else if (!std::ranges::all_of(fitted->ranges, [&](const auto& range) {
               return is_private(range, device, known);
             }))
      why = "its arrays are not the device's alone";
    else if (RunEntry made{entry.function, steps.count, launches_at_a_time(steps),
                           std::move(*fitted), steps.waits};
             larger == nullptr)
      run.entries.push_back(std::move(made));
    else if (blocks_of(made) > blocks_of(*larger))
      *larger = std::move(made);
  }
  if (why.empty() && run.motion->rotation && !run.entries.empty() && !find_fourth(run))
    why = "there is no room for a fourth array";
  if (!why.empty()) run.entries.clear();
  if (run.entries.empty()) leave_alone(run, why);
  return !run.entries.empty();
}

// The array that the program does not have. Entries of a kernel touch the same of its own.
bool Merger::find_fourth(Run& run) {
  const contract::FittedSteps& first = run.entries.front().fitted;
  std::erase_if(run.entries, [&](const RunEntry& entry) {
    return entry.fitted.next->begin != first.next->begin ||
           entry.fitted.next->end != first.next->end;
  });
  const CUdeviceptr begin = fourth_.find(run.request.stream, contract::fourth_bytes(first));
  if (begin == 0) return false;
  std::uint64_t next = 0;
  std::memcpy(&next, run.step(0).parameters(run.motion->rotation->next), sizeof next);
  run.fourth = contract::fourth_at(first, next, begin);
  return true;
}

// As many groups as there are, the last launches held back.
void Merger::make_groups() {
  if (run_->waiting < run_->fewest()) return;
  if (!fit(*run_)) return make_all();
  const RunEntry& most = run_->entries.front();
  while (run_->waiting >= most.launches + singles_behind(*run_->motion))
    make_group(*run_, most);
}

void Merger::make_single(Run& run) const {
  Request request = run.request;
  request.parameters = run.pointers[run.next].data();
  const CUresult result = single_(*run.kernel, *run.shape, request, *run.launch);
  if (result != CUDA_SUCCESS) log("%s: a launch that was put off fails", run.kernel->name.c_str());
  run.next = (run.next + 1) % run.kinds();
  --run.waiting;
  run.since_single = 0;
}

bool Merger::launch_entry(const Run& run, const RunEntry& entry, bool is_behind_entry,
                          contract::StepArrays* arrays) {
  Request request = run.request;
  request.function = entry.function;
  request.grid = entry.fitted.grid;
  request.block = entry.fitted.block;
  std::vector<void*> parameters = run.pointers[run.next];
  std::array<std::uint32_t, 3> threads = entry.fitted.threads;
  parameters.push_back(threads.data());
  if (arrays != nullptr) parameters.push_back(arrays);
  request.parameters = parameters.data();
  if (entry.waits && is_behind_entry && launch_ahead(request) == CUDA_SUCCESS) return true;
  return (*run.launch)(request) == CUDA_SUCCESS;
}

// Of a pair the first one alone has changed nothing that the launches read that it stands for.
void Merger::make_group(Run& run, const RunEntry& entry) const {
  bool is_made = true, is_behind_entry = run.since_single != 0;
  if (const auto& rotation = run.motion->rotation)
    for (contract::StepArrays arrays :
         contract::paired(*rotation, run.step(run.next).parameters, run.fourth))
      is_made = is_made && launch_entry(run, entry, std::exchange(is_behind_entry, true), &arrays);
  else
    is_made = launch_entry(run, entry, is_behind_entry, nullptr);
  if (!is_made) {
    log("%s: its %u steps do not launch", run.kernel->name.c_str(), entry.count);
    for (unsigned n = 0; n < entry.launches; ++n)
      make_single(run);
    return;
  }
  run.groups += entry.launches / entry.count;
  run.next = (run.next + entry.launches) % run.kinds();
  run.waiting -= entry.launches;
  run.since_single += entry.launches;
}

// The last ones are single: they overwrite what a group left behind (contract/steps.hpp).
void Merger::make_rest(Run& run) const {
  while (run.waiting > 0) {
    const auto fits = [&](const RunEntry& entry) {
      return entry.launches + singles_behind(*run.motion) <= run.waiting;
    };
    const auto found = std::ranges::find_if(run.entries, fits);
    if (found == run.entries.end())
      make_single(run);
    else
      make_group(run, *found);
  }
}

void Merger::make_all() {
  if (run_ == nullptr) return;
  const InContext context(run_->kernel->context);
  Run& run = *run_;
  if (run.waiting >= run.fewest()) fit(run);
  if (check_ != nullptr && run.waiting > 2) {
    Request first = run.request;
    first.parameters = run.pointers[run.next].data();
    const auto again = [&run, waiting = run.waiting, next = run.next] {
      run.waiting = waiting;
      run.next = next;
    };
    check_(
        *run.kernel, *run.shape, first,
        [&] {
          for (again(); run.waiting > 0;)
            make_single(run);
          return CUDA_SUCCESS;
        },
        [&] {
          again();
          make_rest(run);
          return CUDA_SUCCESS;
        });
    run.waiting = 0;
  } else {
    make_rest(run);
  }
  finish();
}

void Merger::finish() {
  Shape& shape = *run_->shape;
  shape.merged += run_->groups == 0 ? 0 : run_->taken;
  shape.groups += run_->groups;
  if (run_->taken > 1) shape.strangers = 0;
  const bool pays = run_->groups != 0 && run_->followed + run_->taken >= least_run;
  shape.needed = pays ? 0 : std::clamp(2 * shape.needed, least_needed, most_needed);
  run_.reset();
  set_waiting(false);
}

void Merger::flush() {
  const std::lock_guard lock(mutex_);
  make_all();
  is_former_last_ = false;
  set_waiting(false);
}

void Merger::stop(const std::string& why) {
  const std::lock_guard lock(mutex_);
  make_all();
  if (!stopped_) log("nothing is merged any more: %s", why.c_str());
  stopped_ = true;
}

void Merger::before_fork() {
  mutex_.lock();
  make_all();
}

void Merger::behind_fork(bool in_child) {
  if (in_child) stopped_ = true; // the driver does not work there, nor is there a thread to watch
  mutex_.unlock();
}

// A host that looks at memory, or at nothing at all, sees progress.
void Merger::watch() {
  std::unique_lock lock(mutex_);
  auto idle_since = std::chrono::steady_clock::now();
  while (!ending_) {
    const auto now = std::chrono::steady_clock::now();
    if (run_ != nullptr) {
      idle_since = now;
      if (now - last_taken_ >= longest_wait_) make_all();
    }
    if (now - idle_since > watch_awake) {
      asleep_ = true;
      wake_.wait(lock, [this] { return run_ != nullptr || ending_; });
      asleep_ = false;
      idle_since = std::chrono::steady_clock::now();
    }
    lock.unlock();
    std::this_thread::sleep_for(look_every);
    lock.lock();
  }
}

} // namespace ptxasw::launch
