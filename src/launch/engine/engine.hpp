// What becomes of a launch.
//
// A launch of a kernel without a contract goes through as it came. Of one with a contract the
// policy picks a variant, once for each shape. Whatever fails on our side ends in the launch that
// the program asked for, whose result is returned.
#pragma once

#include "launch/batch/batch.hpp"
#include "launch/choose/check.hpp"
#include "launch/choose/decisions.hpp"
#include "launch/early/front.hpp"
#include "launch/images/images.hpp"
#include "launch/kernels/kernels.hpp"
#include "launch/kernels/passing.hpp"
#include "launch/settings.hpp"
#include "launch/steps/merge.hpp"
#include "launch/steps/seen.hpp"
#include "launch/waiting/trampolines.hpp"

#include <atomic>
#include <memory>
#include <mutex>

namespace ptxasw::launch {

class Engine {
public:
  explicit Engine(Settings settings);

  // `launch` is the driver's own.
  CUresult launch(const Request& request, const Launch& launch);
  // A copy within a device. True: it will be made.
  bool take_copy(const DeviceCopy& copy);
  bool take_copy(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  // A module, a library or a context goes.
  void forget_handles() {
    flush();
    if (merger_ != nullptr) merger_->forget_handles();
    if (batcher_ != nullptr) batcher_->forget_handles();
    if (seen_ != nullptr) seen_->forget_handles();
    passing_epoch().fetch_add(1, std::memory_order_acq_rel);
    kernels_.forget_all();
  }
  // The program has waited for all that runs in the current context.
  void context_is_idle() {
    if (images_ != nullptr && images_->late().load_here()) forget_handles();
  }
  // The program has waited for all but streams that do not wait for the default one.
  void blocking_streams_are_idle() {
    if (are_all_blocking_.load(std::memory_order_relaxed)) context_is_idle();
  }
  void note_stream_that_is_not_blocking() {
    are_all_blocking_.store(false, std::memory_order_relaxed);
  }
  // Which sequences were seen so far, where steps may be merged. By a thread of the preparer's.
  Preparer::Seen look_for_sequences();
  // Makes the launches that wait for others of their kind.
  void flush() {
    if (is_waiting(Waits::run) && merger_ != nullptr) merger_->flush();
    flush_all_but_run();
  }
  // The program is about to wait for all that runs in a context; null: one that is not known.
  void before_wait(CUcontext context) {
    if (is_waiting(Waits::run) && merger_ != nullptr) merger_->before_wait(context);
    flush_all_but_run();
  }
  // One with attributes, which is none of ours, for the report.
  void count_with_attributes() {
    if (settings_.report) with_attributes_.fetch_add(1, std::memory_order_relaxed);
  }
  // One that may count on as many blocks as fit on the chip, for the profile.
  void count_cooperative(CUfunction function);
  // Null where they are loaded as they are.
  [[nodiscard]] Images* images() { return images_.get(); }
  // Null where nothing is ever put off.
  [[nodiscard]] Merger* merger() { return merger_.get(); }
  // It has to know of every call of the driver.
  [[nodiscard]] bool watches() const { return merger_ || front_ || batcher_; }
  // Not all of them can be seen.
  void lose_sight(const char* why);
  void before_fork();
  void behind_fork(bool in_child);
  void write_report();

private:
  void decide(const Kernel& kernel, Shape& shape);
  unsigned named(const Kernel& kernel, const Shape& shape, const std::string& name) const;
  unsigned trial(const Kernel& kernel, Shape& shape);
  enum class PutOff : std::uint8_t { no, maybe };
  // What becomes of a launch, as far as it was decided.
  struct How {
    const Kernel* kernel = nullptr; // null: not known
    Shape* shape = nullptr;         // null: of a kernel without a contract, or one of too many
    unsigned variant = 0;
    PutOff put_off = PutOff::no;
  };
  CUresult step(const Kernel& kernel, Shape& shape, const Request& request, const Launch& launch);
  CUresult run(const How& how, const Request& request, const Launch& launch);
  CUresult make(const How& how, const Request& made, const Launch& launch);
  CUresult timed(const Kernel& kernel, Shape& shape, const Request& request, unsigned variant,
                 bool is_trial, const Launch& launch);
  CUresult checked(const Kernel& kernel, Shape& shape, const Request& request,
                   const Launch& launch);
  enum class Tries : std::uint8_t { none, its_turn };
  CUresult directly(const Kernel& kernel, Shape& shape, const Request& request,
                    const Launch& launch, Tries tries);
  void check_merged(const Kernel& kernel, Shape& shape, const Request& first,
                    const decltype(Candidate::run)& singly, const decltype(Candidate::run)& merged);
  void conclude(const Kernel& kernel, Shape& shape, const Checked& found);

  void flush_run();
  void flush_all_but_run() {
    if (is_waiting(Waits::batch) && batcher_ != nullptr) batcher_->flush();
    if (is_waiting(Waits::front) && front_ != nullptr) front_->forget_all();
  }
  void keep_steps(const std::vector<std::shared_ptr<Shapes>>& kernels);

  [[nodiscard]] std::uint64_t may_pass(const Kernel& kernel, const Shape* shape,
                                       const Request& request) const;
  // So many launches like this one are made as chosen, and not looked at. False: they are.
  bool let_pass(const Kernel& kernel, const Shape& shape, const Request& request,
                const Launch& launch, std::uint64_t epoch, std::uint64_t times) const;
  // Launched so it waits for what is in front, and so may begin early.
  [[nodiscard]] bool may_be_early(const Kernel& kernel, unsigned variant) const {
    return front_ && !front_->is_stopped() && kernel.contract.variants[variant].waits;
  }
  // It belongs to a sequence, whose launches wait together.
  [[nodiscard]] bool is_stage(const Kernel& kernel) const { return batcher_ && kernel.is_stage; }
  // It is a time step by itself, or a copy that may belong to one.
  [[nodiscard]] bool may_merge(const Kernel& kernel) const;
  // Its launches go out together: one that is timed would stand between them, so none is tried.
  [[nodiscard]] bool goes_out_together(const Kernel& kernel) const {
    return settings_.batch || is_stage(kernel);
  }

  Settings settings_;
  Kernels kernels_;
  Decisions decisions_;
  CheckMemory check_memory_;
  Turn turn_;                                // one for all that may put launches off
  std::mutex asynchronous_;                  // held by the preparer's thread while it is in here
  std::atomic<bool> are_all_blocking_{true}; // streams
  bool is_forking_ = false;
  std::unique_ptr<Merger> merger_;
  std::unique_ptr<Batcher> batcher_;
  std::unique_ptr<Front> front_; // null: no launch begins early
  std::unique_ptr<Images> images_;
  std::unique_ptr<SeenLaunches> seen_;            // null: nothing is remembered of sequences
  std::atomic<std::uint64_t> with_attributes_{0}; // launches, for the report
};

Engine* make_engine();
// Null where the launcher is switched off. Made when first needed, and never destroyed.
inline Engine* engine() {
  static constinit std::atomic<Engine*> known{nullptr};
  Engine* const found = known.load(std::memory_order_acquire);
  if (found != nullptr) [[likely]]
    return found;
  Engine* const made = make_engine();
  known.store(made, std::memory_order_release);
  return made;
}

} // namespace ptxasw::launch
