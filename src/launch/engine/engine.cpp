// Takes launches, picks a variant, measures, and keeps the report.
#include "launch/engine/engine.hpp"

#include "image/seen_sequences.hpp"
#include "launch/choose/model.hpp"
#include "launch/choose/profile.hpp"
#include "launch/choose/sampler.hpp"
#include "launch/choose/trials.hpp"
#include "launch/log.hpp"
#include "launch/own_pages.hpp"
#include "launch/report/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <pthread.h>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr int exit_difference = 86; // --check has found one

// It does nothing else, so it may belong to a step.
bool is_copy(const Kernel& kernel) {
  return kernel.contract.copy && kernel.contract.steps.empty();
}

// Whether this thread makes a launch already.
class Within {
public:
  Within() : before_(std::exchange(now, true)) {}
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() { now = before_; }
  [[nodiscard]] bool is_first() const { return !before_; }

private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool now;
  const bool before_;
};
constinit thread_local bool Within::now = false;

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

// The program wants each launch to have ended, with its error, when the call returns.
bool launches_block() {
  return is_set("CUDA_LAUNCH_BLOCKING");
}

// The user wants the driver to compile all PTX, or none.
bool is_compiling_special() {
  return is_set("CUDA_FORCE_PTX_JIT") || is_set("CUDA_FORCE_JIT") ||
         is_set("CUDA_DISABLE_PTX_JIT") || is_set("CUDA_DISABLE_JIT");
}

} // namespace

Engine::Engine(Settings settings)
    : settings_(std::move(settings)),
      decisions_(settings_.policy == Policy::measure ? Decisions::usual_file() : "") {
  if (settings_.images && !is_compiling_special())
    images_ = std::make_unique<Images>(settings_.report);
  if (images_ != nullptr) {
    kernels_.look_beside(images_->late());
    kernels_.look_ahead(images_->ahead());
  }
  if (!settings_.steps && !settings_.early && !settings_.batch) return;
  if (launches_block()) {
    log("no launch waits or begins early: CUDA_LAUNCH_BLOCKING is set");
    return;
  }
  if (settings_.early) front_ = std::make_unique<Front>();
  if ((settings_.batch || settings_.steps) && settings_.check == 0) {
    const auto load = [this](const Kernel& kernel) { merger_->load_entries(kernel); };
    const auto memory = [this](Decisions::Together how) {
      return settings_.policy == Policy::measure ? decisions_.of_launches(how) : LaunchMemory();
    };
    batcher_ = std::make_unique<Batcher>(
        turn_, std::chrono::microseconds(settings_.longest_wait),
        std::chrono::microseconds(settings_.tries_behind), settings_.batch,
        memory(Decisions::Together::graph),
        settings_.steps ? std::make_unique<Passes>(load, memory(Decisions::Together::passes))
                        : nullptr,
        [this](CUstream stream) {
          if (front_ != nullptr) front_->forget(stream);
        });
  }
  if (!settings_.steps) return;
  if (images_ != nullptr) {
    seen_ = std::make_unique<SeenLaunches>();
    images_->look_for_sequences([this] { return look_for_sequences(); });
  }
  RunMaker::Check check;
  if (settings_.check != 0) check = std::bind_front(&Engine::check_merged, this);
  merger_ = std::make_unique<Merger>(
      turn_,
      [this](const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch) {
        const auto forget = [&] {
          if (front_ != nullptr) front_->forget(request.stream);
        };
        forget(); // groups of its run may be in front
        const CUresult result = run({&kernel, &shape, shape.chosen, PutOff::no}, request, launch);
        forget(); // an event may follow
        return result;
      },
      std::move(check), std::chrono::microseconds(settings_.longest_wait),
      std::chrono::microseconds(settings_.tries_behind));
  kernels_.prepare_steps([this] { merger_->start_threads(); });
}

// How many launches like this one go by from now on: nobody counts launches, compares them, asks
// what is in front or looks for sequences. Whether they may be put off as steps is for the merger
// to say. What may not begin early goes by where nothing is in front (passing_now).
std::uint64_t Engine::may_pass(const Kernel& kernel, const Shape* shape,
                               const Request& request) const {
  if (settings_.watches_times() || settings_.check != 0 || (seen_ && seen_->is_looking())) return 0;
  std::uint64_t times = for_good;
  if (shape != nullptr && may_be_early(kernel, shape->chosen.load(std::memory_order_relaxed)))
    times = front_->left_alone();
  if (batcher_ && goes_out_together(kernel))
    times = std::min(times, batcher_->left_alone(kernel, request));
  return times;
}

CUresult Engine::launch(const Request& request, const Launch& launch) {
  const Within within;
  // A library between us and the driver makes the launch that we made, or a tool one of its own.
  if (!within.is_first()) return launch(request);
  const std::uint64_t epoch = passing_epoch().load(std::memory_order_acquire);
  const Kernel* const kernel = kernels_.find(request.function);
  const bool known = kernel != nullptr && kernel->shapes != nullptr;
  if (seen_ != nullptr && kernel != nullptr) seen_->look(*kernel, request);
  if (!known || !kernel->has_contract) {
    flush_run();
    if (known && settings_.watches_times())
      kernel->shapes->launches.fetch_add(1, std::memory_order_relaxed);
    if (const std::uint64_t times = known ? may_pass(*kernel, nullptr, request) : 0; times != 0)
      launch.pass_from_now_on(request, epoch, times);
    return make({kernel, nullptr, 0, PutOff::maybe}, request, launch);
  }
  Shape* shape = kernel->shapes->find(request, [&](Shape& made) { decide(*kernel, made); });
  std::uint64_t alone = for_good;
  if (merger_ != nullptr) {
    if (shape != nullptr && !kernel->contract.steps.empty() && !is_stage(*kernel))
      alone = merger_->left_alone(*shape);
    if (alone == 0) return step(*kernel, *shape, request, launch);
    if (shape == nullptr || !is_copy(*kernel) || is_stage(*kernel))
      flush_run();
    else if (take_copy(*kernel, *shape, request, launch))
      return CUDA_SUCCESS;
  }
  if (shape == nullptr) return make({kernel, nullptr, 0, PutOff::no}, request, launch);
  // Those that the merger leaves alone are counted ahead.
  const std::uint64_t passed = shape->decided ? 0 : launch.passed(request);
  if (alone == for_good) shape->launches.fetch_add(passed, std::memory_order_relaxed);
  const std::uint64_t times =
      std::min({may_pass(*kernel, shape, request), alone - 1, launches_until_trial(*shape)});
  if (times != 0 && let_pass(*kernel, *shape, request, launch, epoch, times) && alone != for_good)
    shape->launches.fetch_add(times, std::memory_order_relaxed);
  const CUresult result = directly(*kernel, *shape, request, launch, Tries::its_turn);
  if (alone != for_good || is_copy(*kernel)) shape->launched = result == CUDA_SUCCESS;
  return result;
}

bool Engine::let_pass(const Kernel& kernel, const Shape& shape, const Request& request,
                      const Launch& launch, std::uint64_t epoch, std::uint64_t times) const {
  const unsigned chosen = shape.chosen.load(std::memory_order_relaxed);
  if (chosen == 0 || !shape.can_use(chosen)) {
    launch.pass_from_now_on(request, epoch, times);
    return true;
  }
  if (request.extra != nullptr) return false; // those are never remembered
  const VariantLaunch made(request, kernel.contract, kernel.contract.variants[chosen],
                           kernel.entries[chosen].function);
  if (!made.usable()) return false;
  launch.pass_by_variant_from_now_on(request, epoch, made, kernel.context, times);
  return true;
}

void Engine::count_cooperative(CUfunction function) {
  if (settings_.profile.empty()) return;
  const Within within;
  const Kernel* const kernel = kernels_.find(function);
  if (kernel != nullptr && kernel->shapes != nullptr)
    kernel->shapes->cooperative.fetch_add(1, std::memory_order_relaxed);
}

// It may follow another one.
CUresult Engine::step(const Kernel& kernel, Shape& shape, const Request& request,
                      const Launch& launch) {
  if (batcher_ != nullptr && is_waiting(Waits::batch)) batcher_->flush();
  if (merger_->take(kernel, shape, request, launch)) {
    shape.launches.fetch_add(1, std::memory_order_relaxed);
    return CUDA_SUCCESS;
  }
  // A trial would stand between it and the next one.
  const CUresult result = directly(kernel, shape, request, launch, Tries::none);
  shape.launched = result == CUDA_SUCCESS;
  return result;
}

bool Engine::take_copy(const DeviceCopy& copy) {
  if (front_ != nullptr) front_->forget_all();
  if (batcher_ != nullptr && is_waiting(Waits::batch)) batcher_->flush();
  return merger_ != nullptr && is_waiting(Waits::run) && merger_->take_copy({.copy = copy});
}

// By a kernel. What waits is made if it is not taken and does not belong to it.
bool Engine::take_copy(const Kernel& kernel, Shape& shape, const Request& request,
                       const Launch& launch) {
  if (batcher_ != nullptr && is_waiting(Waits::batch)) batcher_->flush();
  if (!is_waiting(Waits::run)) return false;
  const auto call = copy_call(kernel, shape, request, launch);
  if (!call) {
    flush_run();
    return false;
  }
  if (!merger_->take_copy(*call)) return false;
  shape.launches.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// By the variant that was chosen, timed or checked where it is this launch's turn.
CUresult Engine::directly(const Kernel& kernel, Shape& shape, const Request& request,
                          const Launch& launch, Tries tries) {
  const std::uint64_t number = shape.launches.fetch_add(1, std::memory_order_relaxed);
  const bool is_own = shape.decided && shape.chosen == 0 && settings_.check == 0;
  // A node of a graph is the program's to look at and to change, by the function and the parameters
  // that it knows.
  if (!is_own && is_capturing(request.stream))
    return make({&kernel, &shape, 0, PutOff::no}, request, launch);
  if (settings_.check != 0 && number % settings_.check == 0)
    return checked(kernel, shape, request, launch);
  if (tries == Tries::its_turn && may_try(shape, number)) {
    const unsigned variant = trial(kernel, shape);
    if (variant != no_variant) return timed(kernel, shape, request, variant, true, launch);
  } else if (settings_.watches_times() && number % launches_between_looks == 0) {
    const unsigned variant = variant_to_sample(shape, number);
    if (variant != no_variant) {
      const auto begin = std::chrono::steady_clock::now();
      const CUresult result = timed(kernel, shape, request, variant, false, launch);
      sampled(shape, std::chrono::steady_clock::now() - begin);
      return result;
    }
  }
  const PutOff put_off = may_merge(kernel) && !is_stage(kernel) ? PutOff::no : PutOff::maybe;
  return run({&kernel, &shape, shape.chosen.load(std::memory_order_relaxed), put_off}, request,
             launch);
}

unsigned Engine::named(const Kernel& kernel, const Shape& shape, const std::string& name) const {
  const auto& variants = kernel.contract.variants;
  for (unsigned n = 0; n < variants.size(); ++n)
    if (shape.usable[n] && variants[n].name == name) return n;
  return no_variant;
}

// No lock is held, and nothing waits for the device here.
void Engine::decide(const Kernel& kernel, Shape& shape) {
  describe_shape(kernel, shape);
  shape.by_model = best_by_model(kernel.contract, shape);
  shape.chosen = shape.by_model; // until more is known
  if (settings_.policy == Policy::named) {
    const unsigned n = named(kernel, shape, settings_.name);
    shape.chosen = n == no_variant ? 0 : n;
  } else if (settings_.policy == Policy::measure) {
    const auto known = decisions_.find(kernel, shape);
    const unsigned n = known ? named(kernel, shape, *known) : no_variant;
    if (n != no_variant)
      shape.chosen = n;
    else
      shape.decided = goes_out_together(kernel) || std::ranges::count(shape.usable, true) < 2;
    shape.next_trial = numbers::launch::first_trial;
    if (merger_ != nullptr && !kernel.contract.steps.empty())
      decisions_.recall_steps(kernel, shape);
  }
  log("%s %ux%ux%u of %ux%ux%u: %s", kernel.name.c_str(), shape.grid[0], shape.grid[1],
      shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
      kernel.contract.variants[shape.chosen].name.c_str());
}

bool Engine::may_merge(const Kernel& kernel) const {
  return merger_ && (!kernel.contract.steps.empty() || kernel.contract.copy);
}

// The variant that this launch tries; none where it tries nothing. Keeps what was found out.
unsigned Engine::trial(const Kernel& kernel, Shape& shape) {
  collect(shape);
  unsigned variant = no_variant;
  {
    const std::lock_guard lock(shape.mutex);
    if (!shape.decided) variant = next_trial(shape);
    if (!shape.decided || shape.is_kept) return variant;
    shape.is_kept = true;
  }
  const std::string& name = kernel.contract.variants[shape.chosen].name;
  log("%s %ux%ux%u: %s is the fastest", kernel.name.c_str(), shape.grid[0], shape.grid[1],
      shape.grid[2], name.c_str());
  decisions_.keep(kernel, shape, name);
  return variant;
}

CUresult Engine::run(const How& how, const Request& request, const Launch& launch) {
  const Kernel& kernel = *how.kernel;
  Shape& shape = *how.shape;
  How original = how;
  original.variant = 0;
  if (how.variant == 0 || !shape.can_use(how.variant)) return make(original, request, launch);
  const contract::Variant& variant = kernel.contract.variants[how.variant];
  const VariantLaunch made(request, kernel.contract, variant, kernel.entries[how.variant].function);
  if (made.usable() && make(how, made.request(), launch) == CUDA_SUCCESS) return CUDA_SUCCESS;
  shape.failed |= std::uint64_t{1} << how.variant;
  if (shape.chosen.exchange(0) != 0)
    log("%s: %s does not launch", kernel.name.c_str(), variant.name.c_str());
  return make(original, request, launch);
}

// The call itself, or one that puts it off. Behind another entry that waits, in its stream, one
// that waits may begin early.
CUresult Engine::make(const How& how, const Request& made, const Launch& launch) {
  const Kernel* const kernel = how.kernel;
  const bool waits =
      kernel != nullptr && how.shape != nullptr && may_be_early(*kernel, how.variant);
  if (batcher_ != nullptr && kernel != nullptr && how.put_off == PutOff::maybe &&
      goes_out_together(*kernel)) {
    const Shape* const shape = how.shape;
    const Batcher::Asked asked{kernel, shape == nullptr ? made.grid : shape->grid,
                               shape == nullptr ? made.block : shape->block,
                               how.variant == 0 ? kernel->function : made.function, waits};
    if (batcher_->take(asked, made, launch)) {
      if (front_ != nullptr) front_->forget(made.stream);
      return CUDA_SUCCESS;
    }
  } else if (batcher_ != nullptr && is_waiting(Waits::batch)) {
    batcher_->flush();
  }
  if (front_ != nullptr &&
      front_->pass(made.stream, kernel == nullptr ? nullptr : kernel->context, waits)) {
    if (launch.ahead(made) == CUDA_SUCCESS) {
      how.shape->early.fetch_add(1, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    }
    log("%s: it does not launch to begin early, and no other one will", kernel->name.c_str());
    front_->stop();
  }
  const CUresult result = launch(made);
  if (result == CUDA_SUCCESS) return result;
  if (front_ != nullptr) front_->forget(made.stream);
  if (batcher_ != nullptr) batcher_->failed();
  return result;
}

Preparer::Seen Engine::look_for_sequences() {
  const std::lock_guard lock(asynchronous_);
  const bool are_all = seen_->is_over();
  return {seen_->found(), are_all};
}

// No lock is left behind that a thread of ours holds: the child may still ask for it, as it ends.
// A thread that has its turn is within a call of the driver's, and what holds the first lock may
// wait for that.
void Engine::before_fork() {
  if (turn_.is_mine()) return;
  asynchronous_.lock();
  (void)turn_.take();
  is_forking_ = true;
  if (merger_ != nullptr) merger_->before_fork();
  if (batcher_ != nullptr) batcher_->before_fork();
}

// The driver does not work in the child, nor is there a thread to watch.
void Engine::behind_fork(bool in_child) {
  if (in_child && merger_ != nullptr) merger_->behind_fork_in_child();
  if (in_child && batcher_ != nullptr) batcher_->behind_fork_in_child();
  if (!std::exchange(is_forking_, false)) return;
  turn_.give();
  asynchronous_.unlock();
}

void Engine::flush_run() {
  if (merger_ != nullptr && is_waiting(Waits::run)) merger_->flush();
}

void Engine::lose_sight(const char* why) {
  if (merger_ != nullptr) merger_->stop(why);
  if (front_ != nullptr) front_->stop();
  if (batcher_ == nullptr) return;
  batcher_->stop();
  batcher_->flush();
}

CUresult Engine::timed(const Kernel& kernel, Shape& shape, const Request& request, unsigned variant,
                       bool is_trial, const Launch& launch) {
  if (batcher_ != nullptr) batcher_->flush(); // an event comes
  Stopwatch watch(request.stream);
  if (!watch.runs()) variant = shape.chosen;
  if (front_ != nullptr) front_->forget(request.stream); // an event is in front
  const CUresult result = run({&kernel, &shape, variant, PutOff::no}, request, launch);
  if (watch.runs() && result == CUDA_SUCCESS && shape.can_use(variant))
    watch.stop(shape, variant, is_trial);
  if (front_ != nullptr) front_->forget(request.stream); // and now another one
  return result;
}

CUresult Engine::checked(const Kernel& kernel, Shape& shape, const Request& request,
                         const Launch& launch) {
  std::vector<Candidate> others;
  for (unsigned n = 1; n < kernel.entries.size(); ++n) {
    if (!shape.usable[n]) continue;
    others.push_back(
        {kernel.contract.variants[n].name, [&, n](const Request& copied, const Copies&) {
           const VariantLaunch made(copied, kernel.contract, kernel.contract.variants[n],
                                    kernel.entries[n].function);
           return made.usable() ? launch(made.request()) : CUDA_ERROR_NOT_SUPPORTED;
         }});
  }
  const Candidate own{"the original",
                      [&](const Request& copied, const Copies&) { return launch(copied); }};
  conclude(kernel, shape, check(kernel, request, own, others, check_memory_));
  if (front_ != nullptr) front_->forget(request.stream); // copies are in front
  return run({&kernel, &shape, shape.chosen, PutOff::no}, request, launch);
}

void Engine::check_merged(const Kernel& kernel, Shape& shape, const Request& first,
                          const decltype(Candidate::run)& singly,
                          const decltype(Candidate::run)& merged) {
  conclude(kernel, shape,
           check(kernel, first, {"single steps", singly}, {{"several steps in one", merged}},
                 check_memory_));
}

void Engine::conclude(const Kernel& kernel, Shape& shape, const Checked& found) {
  switch (found.outcome) {
  case Checked::Outcome::equal: ++shape.checked; break;
  case Checked::Outcome::not_done:
    ++shape.unchecked;
    log("%s: not checked: %s", kernel.name.c_str(), found.text.c_str());
    break;
  case Checked::Outcome::differs:
    say("%s, grid %ux%ux%u, block %ux%ux%u: %s", kernel.name.c_str(), shape.grid[0], shape.grid[1],
        shape.grid[2], shape.block[0], shape.block[1], shape.block[2], found.text.c_str());
    ::_exit(exit_difference);
  }
}

void Engine::keep_steps(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  const Turn::Holder turn(turn_);
  for (const auto& shapes : kernels)
    for (const Shape* shape : shapes->all())
      decisions_.keep_steps(*shape);
}

void Engine::write_report() {
  if (merger_ != nullptr) merger_->stop("the program ends");
  if (batcher_ != nullptr) {
    batcher_->stop();
    batcher_->flush();
  }
  if (seen_ != nullptr) image::add_seen(images_->folder(), seen_->found());
  const auto images = images_ == nullptr ? std::vector<ImageRow>() : images_->finish();
  const auto kernels = kernels_.all_shapes();
  if (settings_.policy == Policy::measure && merger_ != nullptr) keep_steps(kernels);
  if (!settings_.profile.empty()) write_profile(kernels, settings_.profile);
  if (!settings_.report) return;
  Totals totals{.with_attributes = with_attributes_, .images = images};
  if (batcher_ != nullptr) {
    totals.batched = batcher_->batched();
    totals.graphs = batcher_->graphs();
    if (const Passes* const passes = batcher_->passes(); passes != nullptr) {
      totals.passes = passes->merged();
      totals.entries = passes->entries();
    }
  }
  if (kernels.empty() && images.empty() && totals.with_attributes == 0 &&
      !settings_.report_file.empty())
    return; // a shell, for instance
  write_report_to(settings_.report_file, report(kernels, totals, settings_));
}

Engine* make_engine() {
  static Engine* const made = []() -> Engine* {
    const char* words = std::getenv("PTXASW_LAUNCH");
    Settings settings = read_settings(words == nullptr ? "" : words);
    set_log(settings.log);
    if (!settings.complaint.empty()) say("'%s' is no setting", settings.complaint.c_str());
    if (settings.off) return nullptr;
    map_own_pages();
    auto* const engine = new Engine(std::move(settings)); // kept: programs launch until the end
    static Engine* forks = nullptr;
    forks = engine;
    if (engine->watches() || engine->images() != nullptr)
      ::pthread_atfork([] { forks->before_fork(); }, [] { forks->behind_fork(false); },
                       [] { forks->behind_fork(true); });
    return engine;
  }();
  return made;
}

} // namespace ptxasw::launch

void ptxasw_make_waiting() {
  if (ptxasw::launch::Engine* const launcher = ptxasw::launch::engine()) launcher->flush();
}
