// The queue of launches that were put off, and who empties it.
#include "launch/merge.hpp"

#include "launch/direct_calls.hpp"
#include "launch/log.hpp"
#include "launch/trampolines.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <span>
#include <typeinfo>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;

constexpr unsigned most_steps = 64; // that may be made before memory is as it should be
constexpr auto look_every = 50us;
constexpr auto watch_awake = 5ms;         // without a run
constexpr unsigned most_lonely = 8;       // runs of one launch, before a shape is left alone
constexpr std::uint64_t left_alone = 512; // for so many launches

// What stands behind the launch of a run with these parameters, for the contract's questions.
contract::StepLaunch step_of(const Request& request, std::span<void* const> parameters) {
  return {request.grid, request.block,
          [parameters](unsigned number) -> const void* { return parameters[number]; }};
}

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
  const std::lock_guard lock(mutex_);
  if (run_ != nullptr && continues(*run_, kernel, request, launch)) {
    ++run_->waiting;
    ++run_->taken;
    if (check_ == nullptr) make_groups();
    if (run_->since_single + run_->waiting >= most_steps) make_all();
  } else {
    make_all();
    if (!start(kernel, shape, request, launch)) return false;
  }
  last_taken_ = std::chrono::steady_clock::now();
  return true;
}

bool Merger::continues(const Run& run, const Kernel& kernel, const Request& request,
                       const Launch& launch) const {
  const unsigned last = (run.next + run.waiting + 1) % 2; // of the one taken last
  if (run.kernel.get() != &kernel || run.thread != std::this_thread::get_id() ||
      run.request.function != request.function || run.request.stream != request.stream ||
      run.request.shared != request.shared || typeid(*run.launch) != typeid(launch))
    return false;
  const auto parameters = [&](unsigned number) {
    const contract::Place& place = kernel.contract.places[number];
    return parameter_of(request, number, place.offset, place.size);
  };
  return contract::follows(kernel.contract, *run.swaps, step_of(run.request, run.pointers[last]),
                           {request.grid, request.block, parameters});
}

// Empty, or why this launch may not be put off.
std::string Merger::why_not(const Kernel& kernel, const Shape& shape,
                            const Request& request) const {
  const Driver& d = driver();
  if (stopped_) return "nothing is put off any more";
  if (!d.ctx_push || !d.ctx_pop || !d.ctx_get_current || !d.ctx_get_device ||
      !d.pointer_get_attribute || kernel.context == nullptr)
    return "this driver does not tell enough";
  if (kernel.contract.places.size() != kernel.contract.parameters)
    return "where its parameters lie is not known";
  if (!shape.launched || !shape.decided) return "it was not launched before";
  if (request.stream == CU_STREAM_PER_THREAD) return "its stream is the thread's own";
  if (request.shared != 0) return "it takes dynamic shared memory";
  return unseen_caller();
}

bool Merger::start(const Kernel& kernel, Shape& shape, const Request& request,
                   const Launch& launch) {
  if (kernel.contract.steps.empty() || shape.launches < shape.alone_until) return false;
  if (is_capturing(request.stream)) return false; // says nothing of launches behind that
  auto run = std::make_unique<Run>();
  std::string why = why_not(kernel, shape, request);
  if (why.empty()) {
    run->kernel = kernel.shared_from_this();
    run->shape = &shape;
    run->thread = std::this_thread::get_id();
    run->launch = launch.copy();
    run->request = request;
    run->request.extra = nullptr;
    run->swaps = &kernel.contract.steps[0];
    const auto& places = kernel.contract.places;
    for (std::size_t parity = 0; parity < 2; ++parity) {
      run->bytes[parity].resize(kernel.contract.parameter_bytes);
      for (const contract::Place& place : places)
        run->pointers[parity].push_back(run->bytes[parity].data() + place.offset);
    }
    for (unsigned number = 0; number < places.size(); ++number) {
      unsigned next = number; // where its value stands in the launch that follows
      for (const contract::Swap& swap : run->swaps->swaps)
        next = number == swap.in ? swap.out : number == swap.out ? swap.in : next;
      const void* value = parameter_of(request, number, places[number].offset, places[number].size);
      if (value == nullptr || places[next].size != places[number].size) {
        why = "its parameters come in a form that is not known";
        break;
      }
      std::memcpy(run->pointers[0][number], value, places[number].size);
      std::memcpy(run->pointers[1][next], value, places[number].size);
    }
  }
  if (!why.empty() || !fit_entries(*run)) {
    if (!why.empty() && shape.launched) log("%s: not merged: %s", kernel.name.c_str(), why.c_str());
    shape.alone_until = shape.launches + (shape.launched ? left_alone : 1);
    return false;
  }
  run->waiting = run->taken = 1;
  run_ = std::move(run);
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

bool Merger::fit_entries(Run& run) const {
  const contract::Contract& contract = run.kernel->contract;
  CUdevice device = 0;
  std::string why = driver().ctx_get_device(&device) == CUDA_SUCCESS ? "" : "no device";
  std::vector<std::uint64_t> known;
  for (std::size_t n = 0; n < contract.steps.size() && why.empty(); ++n) {
    const contract::Steps& steps = contract.steps[n];
    const launch::Entry& entry = run.kernel->steps[n];
    if (entry.function == nullptr || steps.swaps != run.swaps->swaps ||
        count(steps.block) > static_cast<unsigned long long>(entry.most_threads))
      continue;
    auto fitted = contract::fit(contract, steps, step_of(run.request, run.pointers[0]));
    if (!fitted)
      why = fitted.error();
    else if (!std::ranges::all_of(fitted->ranges, [&](const auto& range) {
               return is_private(range, device, known);
             }))
      why = "its arrays are not the device's alone";
    else
      run.entries.push_back({entry.function, steps.count, std::move(*fitted)});
  }
  if (!why.empty()) log("%s: not merged: %s", run.kernel->name.c_str(), why.c_str());
  return why.empty() && !run.entries.empty();
}

// As many groups as there are, one launch held back.
void Merger::make_groups() {
  const Entry& most = run_->entries.front();
  while (run_->waiting > most.count)
    make_group(*run_, most);
}

void Merger::make_single(Run& run) const {
  Request request = run.request;
  request.parameters = run.pointers[run.next].data();
  const CUresult result = single_(*run.kernel, *run.shape, request, *run.launch);
  if (result != CUDA_SUCCESS) log("%s: a launch that was put off fails", run.kernel->name.c_str());
  run.next ^= 1U;
  --run.waiting;
  run.since_single = 0;
}

void Merger::make_group(Run& run, const Entry& entry) const {
  Request request = run.request;
  request.function = entry.function;
  request.grid = entry.fitted.grid;
  request.block = entry.fitted.block;
  std::vector<void*> parameters = run.pointers[run.next];
  std::array<std::uint32_t, 3> threads = entry.fitted.threads;
  parameters.push_back(threads.data());
  request.parameters = parameters.data();
  if ((*run.launch)(request) != CUDA_SUCCESS) {
    log("%s: its %u steps do not launch", run.kernel->name.c_str(), entry.count);
    for (unsigned n = 0; n < entry.count; ++n)
      make_single(run);
    return;
  }
  ++run.groups;
  run.next ^= entry.count % 2;
  run.waiting -= entry.count;
  run.since_single += entry.count;
}

// The last one is single: it overwrites what a group left behind (contract/steps.hpp).
void Merger::make_rest(Run& run) const {
  while (run.waiting > 0) {
    const auto fits = [&](const Entry& entry) { return entry.count < run.waiting; };
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
  shape.lonely = run_->taken > 1 ? 0 : shape.lonely + 1;
  if (shape.lonely >= most_lonely) {
    shape.lonely = 0;
    shape.alone_until = shape.launches + left_alone;
  }
  run_.reset();
  set_waiting(false);
}

void Merger::flush() {
  const std::lock_guard lock(mutex_);
  make_all();
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
